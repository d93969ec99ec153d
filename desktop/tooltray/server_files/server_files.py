"""Servers from other files than the settings: which files are in use, which of their servers may run, and reloads of changed files.

Above it: the presenter. Below it: McpConfHelper, which combines these servers with those of the settings; the readers of files; the
consents of a person.
"""

import contextlib
import logging
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

from tooltray.errors import NotFound, Problem, TooltrayError
from tooltray.events import ConfigChanged, EventBus, ServerFilesChanged
from tooltray.files.file_history import FileHistory
from tooltray.phrases import Phrase
from tooltray.projects.project_folders import ProjectFolders
from tooltray.projects.projects import OWN, Projects
from tooltray.protocol.deadlines import DeadlineWheel
from tooltray.server_files.file_readings import SECOND_LOOK_S, FileReadings, is_sure
from tooltray.server_files.file_reports import ProblemReports, first_problems, served_lines, waiting_lines
from tooltray.server_files.files_in_use import AnyFile, FilesInUse, settings_snapshot
from tooltray.server_files.folders_in_use import FoldersInUse
from tooltray.server_files.hot_reload import WatchedFileChanged
from tooltray.server_files.project_edits import ProjectEdits
from tooltray.server_files.project_file import ProjectFile
from tooltray.server_files.reload_plan import Known, kept, left_out, plan, unusable, waiting
from tooltray.server_files.trust_decisions import Environ, ReadFile, TrustDecisions, read_project_file
from tooltray.server_files.trust_store import TrustStore
from tooltray.sessions.caller import Session
from tooltray.sessions.session_state import SessionState, SessionStates
from tooltray.settings.file_server import FileReading, FileServer
from tooltray.settings.mcp_conf_helper import McpConfHelper
from tooltray.snapshots.files import ReloadChange, ServerFileSnapshot
from tooltray.snapshots.trust import TrustedEntry, TrustRequest
from tooltray.tasks import Spawn

logger = logging.getLogger(__name__)
USUAL_RULES = ("autoApprove", ["read"])  # the default for a project's file; not written into it, since other programs read it too
LISTING_WAIT_S = 2.0  # a list waits for the first reading of its project's file, but not for a disk that hangs


class Watching(Protocol):
    """The part of HotReload that is used here."""

    def follow(self, paths: Iterable[str]) -> None: ...


class ServerFiles:
    """Belongs to the engine's loop.

    Attributes:
        endpoints: URLs of the endpoints that served files ask for, by the files' paths; maintained by whoever opens them.
    """

    def __init__(
        self,
        *,
        config: McpConfHelper,
        store: TrustStore,
        projects: Projects,
        states: SessionStates,
        watching: Watching,
        read: ReadFile,
        environ: Environ,
        home: str,
        bus: EventBus,
        deadlines: DeadlineWheel,
        spawn: Spawn,
        configs: Iterable[str] = (),
        project: str = "",
        second_look_s: float = SECOND_LOOK_S,
        history: FileHistory | None = None,
    ) -> None:
        """
        Args:
            environ: returns the environment that servers get.
            home: the person's home folder.
            configs, project: see HubOptions.
            second_look_s: seconds until a malformed or missing file is read again.
            history: receives the previous contents of projects' files that are changed here.
        """
        self._config, self._projects, self._states = config, projects, states
        self._watching, self._read, self._bus, self._spawn = watching, read, bus, spawn
        self.endpoints: dict[str, str] = {}
        self._files = FilesInUse(config=config, store=store, configs=configs, project=project)
        self._trust = self._files.trust
        self._in_use = FoldersInUse(
            states=states, bus=bus, deadlines=deadlines, keeps=self._files.says_something, on_changed=self._on_folders_changed
        )
        self._folders = ProjectFolders(config=config, home=home)
        self._decisions = TrustDecisions(config=config, trust=self._trust, folders=self._folders, read=read, environ=environ)
        self._edits = ProjectEdits(history)
        self._readings = FileReadings[AnyFile](read=self._read_file, spawn=spawn, on_read=self._on_read, second_look_s=second_look_s)
        self._reports = ProblemReports(bus)
        self._shown: list[ServerFileSnapshot] = []
        self._is_started = self._is_applying = False
        bus.subscribe(WatchedFileChanged, self._on_file_changed)
        bus.subscribe(ConfigChanged, self._on_config_changed)

    async def start(self) -> None:
        """Reads the files that the hub was started with, so that their servers are started with all others."""
        for file in list(self._files):
            self._adopt(file, await self._readings.now(file), is_sure=True)
        self._apply()
        self._is_started = True

    # state

    def served(self) -> tuple[FileReading, ...]:
        """Returns the readings of the files that the hub was started with, in their order."""
        return self._files.readings

    def snapshots(self) -> list[ServerFileSnapshot]:
        """See FilesApi.get_server_files."""
        return [settings_snapshot(self._config), *self._files.snapshots(self.endpoints)]

    def project_servers(self) -> dict[str, dict[str, str]]:
        """Returns the names in the hub of servers of projects' own files, in use or not, by folder and name in the file."""
        return self._trust.servers

    def lost_projects(self) -> tuple[str, ...]:
        """Returns the trust files that cannot be read, whose projects are therefore unknown."""
        return self._trust.lost

    def keeps(self, server: str) -> bool:
        """Returns whether a server of a file has this name, also one of a project that is not in use."""
        return self._config.file_server(server) is not None or self._trust.is_trusted(server)

    @property
    def startup_lines(self) -> tuple[str, ...]:
        """Lines for the person who starts the hub: the servers of files for all AI clients, and the entries that wait for consent."""
        return (*served_lines(self._shown), *waiting_lines(self._shown))

    def problems(self) -> Iterator[Problem]:
        """Yields the problems of the files and of the trust file."""
        if self._trust.problem:
            yield self._trust.problem
        for file in self._files:
            yield from first_problems(file.path, file.problems)

    # sessions

    async def before_listing(self, session: Session) -> None:
        """Waits, at most `LISTING_WAIT_S`, until the file of a session's project has been read once, so that a list has its servers."""
        await self._projects.sources.looked(session.state)
        if (project := session.state.project) is None:
            return
        if self._states.find(session.state.id) is not session.state:
            self._in_use.touch(project.path)  # a call by the person
        if file := self._files.of_folder(project.path):
            await self._readings.first(file.path, within_s=LISTING_WAIT_S)

    def _on_folders_changed(self) -> None:
        for file in self._files.use(self._in_use.folders):
            self._readings.begin(file)
        self._apply()

    # readings

    def _on_file_changed(self, event: WatchedFileChanged) -> None:
        if file := self._files.at(event.path):
            self._readings.begin(file)

    def _read_file(self, file: AnyFile) -> FileReading:
        """Reads a file; blocks on the disk."""
        return read_project_file(self._read, file.folder) if isinstance(file, ProjectFile) else self._read(Path(file.path), None)

    def _on_read(self, file: AnyFile, reading: FileReading, is_sure: bool) -> None:
        if self._files.at(file.path) is not file:
            return  # its project is no longer in use
        if reading != file.latest:
            self._adopt(file, reading, is_sure=is_sure)
            self._apply()
            self._in_use.look()
        else:  # the second look found the same
            self._reports.report(file.path, file.problems)

    def _adopt(self, file: AnyFile, reading: FileReading, *, is_sure: bool) -> None:
        file.adopt(reading)
        if isinstance(file, ProjectFile):
            file.keep_names()
        if is_sure:
            self._reports.report(file.path, file.problems)

    # effects

    def _on_config_changed(self, event: ConfigChanged) -> None:
        """The settings may have taken or released a name."""
        if self._is_started and not self._is_applying:
            self._apply()

    def _apply(self) -> None:
        self._is_applying = True
        try:
            self._config.set_file_servers(self._files.servers())
        finally:
            self._is_applying = False
        self._watching.follow([file.path for file in self._files])
        self._spawn(self._save_names(), name="names of servers of files")
        if (shown := self.snapshots()) != self._shown:
            known, self._shown = set(waiting_lines(self._shown)), shown
            for line in waiting_lines(shown):
                if line not in known:
                    logger.info("%s", line)
            self._bus.publish(ServerFilesChanged())

    async def _save_names(self) -> None:
        try:
            await self._trust.save()
        except TooltrayError as error:
            logger.warning("%s", error)

    # reload

    async def preview_reload(self) -> list[ReloadChange]:
        """See FilesApi.preview_reload."""
        readings = {file.path: await self._readings.now(file) for file in list(self._files)}
        own, path = self._config.own_settings, str(self._config.path)
        try:
            found = await self._config.read_again()
            own, trouble = found.reading.settings, [*unusable(path, found.problems), *left_out(path, found.problems)]
        except TooltrayError as error:
            trouble = [kept("", path, error.problem)]
        before, after = self._known(), Known(own, path, self._files.servers_with(readings))
        return [*plan(before, after), *trouble, *self._left_alone(readings)]

    async def reload(self) -> list[ReloadChange]:
        """See FilesApi.reload."""
        changes = await self.preview_reload()
        with contextlib.suppress(TooltrayError):  # it is reported, and among the changes
            await self._config.reload()
        for file in list(self._files):
            reading = await self._readings.now(file)
            self._on_read(file, reading, True)
        return changes

    def _known(self) -> Known:
        return Known(self._config.own_settings, str(self._config.path), self._files.servers())

    def _left_alone(self, readings: Mapping[str, FileReading]) -> Iterator[ReloadChange]:
        """Yields what a reload leaves as it is, although its file says otherwise."""
        for file in self._files.read_as(readings):
            if file.latest and not file.latest.is_understood:
                yield kept("", file.path, file.problems[0].problem)
            yield from unusable(file.path, file.problems)
            if isinstance(file, ProjectFile):
                for entry in file.waiting():
                    yield waiting(file.name(entry), file.path, is_change=file.running(entry.name) is not None)

    # trust

    async def trust_requests(self, project: str) -> list[TrustRequest]:
        """See FilesApi.get_trust_requests."""
        files = [await self._decisions.file(project)] if project else self._files.project_files
        return [request for file in files for request in await self._requests(file)]

    async def _requests(self, file: ProjectFile) -> list[TrustRequest]:
        followed = self._files.of_folder(file.folder) or file
        return await self._decisions.requests(file, followed.running)

    async def trust(self, project: str, entries: Mapping[str, str]) -> list[str]:
        """See FilesApi.trust_entries."""
        file, names = await self._decisions.trust(project, entries)
        await self._read_now(file.folder)  # the reading for the decision may be outdated by now
        return names

    async def distrust(self, project: str, entry: str) -> None:
        """See FilesApi.distrust_entries."""
        folder = await self._decisions.distrust(project, entry)
        if file := self._files.of_folder(folder):
            file.settle()
        self._apply()

    def trusted(self) -> list[TrustedEntry]:
        """See FilesApi.get_trusted_entries."""
        return list(self._trust.entries())

    # changes

    async def add(self, project: str, name: str, entry: Mapping[str, Any]) -> str:
        """Writes a new entry into a project's own file and trusts it; returns the server's name in the hub."""
        folder = await self.folder_to_write(project)
        written = {key: value for key, value in entry.items() if (key, value) != USUAL_RULES}
        digest = await self._edits.add(folder, name, written)
        [server] = await self._decisions.trust_own(folder, name, digest, unasked=None if "autoApprove" in entry else ("all",))
        self._in_use.touch(folder)  # a person who adds a server to a project wants to see it
        await self._read_now(folder)
        return server

    async def change(self, server: str, entry: Mapping[str, Any], revision: str) -> None:
        """Replaces the entry of a server in the project's own file."""
        there = self._project_server(server)
        digest = await self._edits.change(there.folder, there.entry.name, entry, revision)
        await self._decisions.trust_own(there.folder, there.entry.name, digest)
        await self._read_now(there.folder)

    async def remove(self, server: str, revision: str) -> None:
        """Removes a server's entry from the project's own file, also if the project is not in use."""
        if not (place := None if self._config.file_server(server) else self._trust.place(server)):
            there = self._project_server(server)
            place = there.folder, there.entry.name
        folder, entry = place
        await self._edits.remove(folder, entry, revision)
        await self._decisions.distrust(folder, entry)
        await self._read_now(folder)

    async def folder_to_write(self, project: str) -> str:
        """Returns the real path of a folder whose file may be written: it is allowed, trusted or in use.

        Raises:
            TooltrayError: the folder's file may not be written.
        """
        folder = await self._folders.real(project)
        if folder in self._in_use or self._trust.knows(folder):
            return folder
        return await self._folders.permitted(folder, SessionState(OWN))

    def _project_server(self, server: str) -> FileServer:
        there = self._config.file_server(server)
        if there is None:
            title = Phrase("there is no server '{server}' of a project", server=server)
            raise NotFound(title, hint=Phrase("See which there are: tooltray servers list"))
        if there.origin == "served":
            title, where = Phrase("'{name}' is not changed", name=server), Phrase("its entry is in {file}", file=there.file)
            raise TooltrayError(title, where, Phrase("Change it there."))
        return there

    async def _read_now(self, folder: str) -> None:
        """Applies at once what was just written into a file or trusted, if the file is in use."""
        if file := self._files.of_folder(folder):
            reading = await self._readings.now(file)
            if is_sure(reading, file.latest):
                self._adopt(file, reading, is_sure=True)
            else:  # another program is just saving it
                file.settle()
            self._readings.begin(file)  # an older reading may end after this one
        self._apply()
