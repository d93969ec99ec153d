"""Servers from other files than the settings: which files are in use, which of their servers may run, and reloads of changed files."""

import contextlib
import logging
import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Protocol

from tooltray.config.settings.file_server import FileReading, FileServer
from tooltray.config.settings.given_entries import BUILTIN_NAMES
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.events import ConfigChanged, EventBus, ServerFilesChanged
from tooltray.foundation.snapshots.files import FileEntrySnapshot, ReloadChange, ServerFileSnapshot
from tooltray.foundation.tasks import Spawn
from tooltray.protocol.sessions.caller import Session
from tooltray.protocol.sessions.session_state import SessionStates
from tooltray.sources.project_files.file_reports import (
    Known,
    ProblemReports,
    first_problems,
    kept,
    left_out,
    plan,
    served_lines,
    unusable,
    waiting,
    waiting_lines,
)
from tooltray.sources.project_files.file_watch import FileReadings, WatchedFileChanged, is_sure
from tooltray.sources.project_files.folders_in_use import FoldersInUse
from tooltray.sources.project_files.followed_files import ProjectFile, ServedFile, ServedNames, served_servers, served_snapshot
from tooltray.sources.project_files.server_names import look
from tooltray.sources.project_files.trust import Trust, TrustStore
from tooltray.sources.project_files.trust_decisions import ReadFile, read_project_file
from tooltray.sources.projects.project_sources import ProjectSources

logger = logging.getLogger(__name__)


AnyFile = ProjectFile | ServedFile


class FilesInUse:
    """Belongs to the engine's loop.

    Attributes:
        trust: the trusted entries of projects' own files.
    """

    def __init__(self, *, config: McpConfHelper, store: TrustStore, configs: Iterable[str], project: str) -> None:
        """
        Args:
            configs: absolute paths of the files that the hub was started with.
            project: real path of a folder whose file's servers are for all sessions; empty for none.
        """
        self._config, self._project = config, project
        self.trust = Trust(store, is_taken=self._is_like_another, reserved=BUILTIN_NAMES)
        self._names = ServedNames(is_taken=lambda name: self._is_in_settings(name) or self.trust.has_name(name), reserved=BUILTIN_NAMES)
        self._served = {path: ServedFile(path) for path in configs}
        self._projects: dict[str, ProjectFile] = {}  # by folder
        self.use(())

    def __iter__(self) -> Iterator[AnyFile]:
        yield from self._served.values()
        yield from self._projects.values()

    @property
    def project_files(self) -> tuple[ProjectFile, ...]:
        return tuple(self._projects.values())

    @property
    def readings(self) -> tuple[FileReading, ...]:
        """The readings of the files that the hub was started with."""
        return tuple(file.latest for file in self._served.values() if file.latest)

    def use(self, folders: Collection[str]) -> list[AnyFile]:
        """Sets the projects whose files are in use, and returns the files that were not in use before."""
        wanted = dict.fromkeys((*([self._project] if self._project else []), *folders))
        new = [folder for folder in wanted if folder not in self._projects]
        made = {folder: ProjectFile(folder, self.trust, is_for_all=folder == self._project) for folder in new}
        self._projects = {folder: made.get(folder) or self._projects[folder] for folder in wanted}
        return list(made.values())

    def of_folder(self, folder: str) -> ProjectFile | None:
        return self._projects.get(folder)

    def says_something(self, folder: str) -> bool:
        """Returns whether a project's file has content, or has not been read yet."""
        file = self._projects.get(folder)
        return file is not None and (file.latest is None or bool(file.latest.digest))

    def at(self, path: str) -> AnyFile | None:
        return next((file for file in self if file.path == path), None)

    def servers(self) -> dict[str, FileServer]:
        """Returns all servers by their names in the hub."""
        return self._servers(self._served.values(), self._projects.values())

    def servers_with(self, readings: Mapping[str, FileReading]) -> dict[str, FileServer]:
        """Returns the servers that there would be with these readings; see `read_as`."""
        files = list(self.read_as(readings))
        served = [file for file in files if isinstance(file, ServedFile)]
        return self._servers(served, [file for file in files if isinstance(file, ProjectFile)])

    def read_as(self, readings: Mapping[str, FileReading]) -> Iterator[AnyFile]:
        """Yields copies of the files that have adopted new readings; the files themselves stay unchanged.

        Args:
            readings: new readings, by the files' paths.
        """
        for file in self:
            copy = file.copied()
            if reading := readings.get(file.path):
                copy.adopt(reading)
            yield copy

    def _servers(self, served: Iterable[ServedFile], projects: Iterable[ProjectFile]) -> dict[str, FileServer]:
        servers = dict(served_servers(list(served), self._names))
        for file in projects:
            servers.update(file.servers())
        return servers

    def snapshots(self, url_of: Mapping[str, str]) -> list[ServerFileSnapshot]:
        """Returns snapshots of all files in use.

        Args:
            url_of: URLs of the endpoints that files ask for, by the files' paths.
        """
        served = list(self._served.values())
        return [served_snapshot(file, served, self._names, url_of.get(file.path, "")) for file in served] + [
            file.snapshot() for file in self._projects.values()
        ]

    def _is_like_another(self, name: str) -> bool:
        return name in self._names or any(look(other) == look(name) for other in self._config.own_settings.mcp_servers)

    def _is_in_settings(self, name: str) -> bool:
        return name in self._config.own_settings.mcp_servers


def settings_snapshot(config: McpConfHelper) -> ServerFileSnapshot:
    """Returns the snapshot of settings.json for the list of files with servers."""
    path = str(config.path)
    entries = tuple(_settings_entries(config))
    return ServerFileSnapshot(path=path, kind="settings", exists=os.path.exists(path), entries=entries, problems=config.file_problems)


def _settings_entries(config: McpConfHelper) -> Iterator[FileEntrySnapshot]:
    servers = config.own_settings.mcp_servers
    broken = {problem.entry: problem.line for problem in config.file_problems if problem.entry}
    for name, server in servers.items():
        if name not in broken:
            yield FileEntrySnapshot(name, name, "off" if server.disable else "used")
    for name, line in broken.items():  # its server of before goes on
        yield FileEntrySnapshot(name, name if name in servers else "", "broken", line)


def read_in_use(read: ReadFile, file: AnyFile) -> FileReading:
    """Reads a file in use; blocks on the disk."""
    return read_project_file(read, file.folder) if isinstance(file, ProjectFile) else read(Path(file.path), None)


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
        files_in_use: FilesInUse,
        folders_in_use: FoldersInUse,
        file_readings: FileReadings[AnyFile],
        watching: Watching,
        bus: EventBus,
        spawn: Spawn,
    ) -> None:
        """
        Args:
            folders_in_use, file_readings: this is who hears of their changes.
        """
        self._config, self._files, self._in_use, self._readings = config, files_in_use, folders_in_use, file_readings
        self._watching, self._bus, self._spawn = watching, bus, spawn
        self.endpoints: dict[str, str] = {}
        self._trust = files_in_use.trust
        self._reports = ProblemReports(bus)
        self._shown: list[ServerFileSnapshot] = []
        self._is_started = self._is_applying = False
        folders_in_use.on_changed, file_readings.on_read = self._on_folders_changed, self._on_read
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

    def _on_folders_changed(self) -> None:
        for file in self._files.use(self._in_use.folders):
            self._readings.begin(file)
        self._apply()

    # readings

    def _on_file_changed(self, event: WatchedFileChanged) -> None:
        if file := self._files.at(event.path):
            self._readings.begin(file)

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

    # changes by ProjectServers

    async def read_now(self, folder: str) -> None:
        """Applies at once what was just written into a file or trusted, if the file is in use."""
        if file := self._files.of_folder(folder):
            reading = await self._readings.now(file)
            if is_sure(reading, file.latest):
                self._adopt(file, reading, is_sure=True)
            else:  # another program is just saving it
                file.settle()
            self._readings.begin(file)  # an older reading may end after this one
        self._apply()

    def settle(self, folder: str) -> None:
        """Applies at once what was just decided about entries of a folder's file."""
        if file := self._files.of_folder(folder):
            file.settle()
        self._apply()

    def touch(self, folder: str) -> None:
        """Takes a folder into use for a person without a session: who adds a server to a project wants to see it."""
        self._in_use.touch(folder)

    def is_in_use(self, folder: str) -> bool:
        """Returns whether a session works, or worked until recently, on a folder."""
        return folder in self._in_use


LISTING_WAIT_S = 2.0  # a list waits for the first reading of its project's file, but not for a disk that hangs


class ProjectLooks:
    """Belongs to the engine's loop; has no state of its own."""

    def __init__(
        self,
        *,
        project_sources: ProjectSources,
        states: SessionStates,
        files_in_use: FilesInUse,
        folders_in_use: FoldersInUse,
        file_readings: FileReadings[AnyFile],
    ) -> None:
        self._sources, self._states = project_sources, states
        self._files, self._in_use, self._readings = files_in_use, folders_in_use, file_readings

    async def look(self, session: Session) -> None:
        """Waits, at most `LISTING_WAIT_S`, until the file of a session's project has been read once, so that a list has its servers."""
        await self._sources.looked(session.state)
        if (project := session.state.project) is None:
            return
        if self._states.find(session.state.id) is not session.state:
            self._in_use.touch(project.path)  # a call by the person
        if file := self._files.of_folder(project.path):
            await self._readings.first(file.path, within_s=LISTING_WAIT_S)
