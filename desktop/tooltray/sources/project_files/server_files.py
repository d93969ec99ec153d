"""Servers from other files than the settings: which files are in use, which servers may run, and reloads of changed files."""

import contextlib
import copy
import logging
import os
from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from tooltray.config.settings.file_server import FileReading
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.events import ConfigChanged, EventBus, ServerFilesChanged
from tooltray.foundation.snapshots.setup import FileEntrySnapshot, ReloadChange, ServerFileSnapshot
from tooltray.foundation.tasks import Spawn
from tooltray.protocol.sessions.session_state import SessionState
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
from tooltray.sources.project_files.folders_in_use import FoldersInUse, FoldersInUseChanged
from tooltray.sources.project_files.followed_files import (
    FileRead,
    FileWatch,
    FollowedFile,
    ProjectFile,
    ServedFile,
    ServedNames,
    is_sure,
    merged_servers,
)
from tooltray.sources.project_files.trust import Trust, look

logger = logging.getLogger(__name__)
LISTING_WAIT_S = 2.0  # a list waits for the first reading of its project's file, but not for a disk that hangs


class ServerFiles:
    """The files with servers, their readings and reloads. Belongs to the engine's loop.

    Attributes:
        in_use: the folders whose files are in use.
    """

    def __init__(
        self,
        *,
        config: McpConfHelper,
        trust: Trust,
        configs: Sequence[str],
        folders_in_use: FoldersInUse,
        file_watch: FileWatch,
        bus: EventBus,
        spawn: Spawn,
    ) -> None:
        """
        Args:
            configs: absolute paths of the files that the hub was started with.
        """
        self._config, self._trust, self._watch = config, trust, file_watch
        self._bus, self._spawn = bus, spawn
        self.in_use = folders_in_use
        self._endpoints: Mapping[str, str] = {}
        self._names = ServedNames(is_taken=lambda name: name in config.names or trust.has_name(name))
        self._served = {path: ServedFile(path, self._names) for path in configs}
        self._projects: dict[str, ProjectFile] = {}  # by folder
        self._use_folders()
        self._reports = ProblemReports(bus)
        self._shown: list[ServerFileSnapshot] = []
        self._is_started = self._is_applying = False
        bus.subscribe(FoldersInUseChanged, self._on_folders_changed)
        bus.subscribe(FileRead, self._on_read)
        bus.subscribe(ConfigChanged, self._on_config_changed)

    async def start(self) -> None:
        """Reads the files that the hub was started with, so that their servers are started with all others."""
        for file in self._files:
            self._adopt(file, await self._watch.read(file), is_sure=True)
        self._apply()
        self._is_started = True

    # state

    @property
    def _files(self) -> list[FollowedFile]:
        return [*self._served.values(), *self._projects.values()]

    @property
    def project_files(self) -> tuple[ProjectFile, ...]:
        """The projects' files in use."""
        return tuple(self._projects.values())

    def project_file(self, folder: str) -> ProjectFile | None:
        """Returns the file of a project; None if it is not in use."""
        return self._projects.get(folder)

    def served(self) -> tuple[FileReading, ...]:
        """Returns the readings of the files that the hub was started with, in their order."""
        return tuple(file.latest for file in self._served.values() if file.latest)

    def has_content(self, folder: str) -> bool:
        """Returns whether a project's file has content, or has not been read yet."""
        file = self._projects.get(folder)
        return file is not None and (file.latest is None or bool(file.latest.digest))

    def is_taken(self, name: str) -> bool:
        """Returns whether a server that is not from a project's file has this name or one that looks like it."""
        return name in self._names or any(look(other) == look(name) for other in self._config.names)

    def snapshots(self) -> list[ServerFileSnapshot]:
        """Implements FilesApi.get_server_files."""
        files = [replace(file.snapshot(), url=self._endpoints.get(file.path, "")) for file in self._files]
        return [settings_snapshot(self._config), *files]

    def set_endpoints(self, endpoints: Mapping[str, str]) -> None:
        """Replaces the URLs of the endpoints that configs ask for, by the files' paths."""
        if endpoints != self._endpoints:
            self._endpoints = endpoints
            self._bus.publish(ServerFilesChanged())

    @property
    def startup_lines(self) -> tuple[str, ...]:
        """Lines for the user who starts the hub: the servers of files for all AI clients, and the entries that wait for consent."""
        return (*served_lines(self._shown), *waiting_lines(self._shown))

    def problems(self) -> Iterator[Problem]:
        """Yields the problems of the files and of the trust file."""
        if self._trust.problem:
            yield self._trust.problem
        for file in self._files:
            yield from first_problems(file.path, file.problems)

    # readings

    async def wait_for_project(self, state: SessionState) -> None:
        """Waits, at most `LISTING_WAIT_S`, until the file of a session's project has been read once, so that a list has its servers."""
        if state.project:
            self.in_use.note_use(state)
            await self._watch.wait_for_first(ProjectFile.path_in(state.project.path), within_s=LISTING_WAIT_S)

    def _use_folders(self) -> list[ProjectFile]:
        """Sets the projects whose files are in use, and returns the files that were not in use before."""
        folders, for_all = self.in_use.folders, self.in_use.project
        new = {each: ProjectFile(each, self._trust, is_for_all=each == for_all) for each in folders if each not in self._projects}
        self._projects = {folder: new.get(folder) or self._projects[folder] for folder in folders}
        return list(new.values())

    def _on_folders_changed(self, event: FoldersInUseChanged) -> None:
        for file in self._use_folders():
            self._watch.start_reading(file)
        self._apply()

    def _on_read(self, event: FileRead) -> None:
        file = event.file
        if file not in self._files:
            return  # the file's project is no longer in use
        if event.reading != file.latest:
            self._adopt(file, event.reading, is_sure=event.is_sure)
            self._apply()
            self.in_use.end_needless_leases()
        else:  # the second look found the same
            self._reports.report(file.path, file.problems)

    def _adopt(self, file: FollowedFile, reading: FileReading, *, is_sure: bool) -> None:
        file.adopt(reading)
        if isinstance(file, ProjectFile):
            file.keep_names()
        if is_sure:
            self._reports.report(file.path, file.problems)

    # effects

    def _on_config_changed(self, event: ConfigChanged) -> None:
        """Applies the files again: the settings may have taken or released a name."""
        if self._is_started and not self._is_applying:
            self._apply()

    def _apply(self) -> None:
        self._is_applying = True
        try:
            self._config.set_file_servers(merged_servers(self._files))
        finally:
            self._is_applying = False
        self._watch.follow(self._files)
        self._spawn(self._save_names(), name="drop the names of removed servers")
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
        """Implements FilesApi.preview_reload."""
        files = [await self._read_as_copy(file) for file in self._files]
        own, path = self._config.own_settings, str(self._config.path)
        try:
            found = await self._config.read_again()
            own, trouble = found.reading.settings, [*unusable(path, found.problems), *left_out(path, found.problems)]
        except TooltrayError as error:
            trouble = [kept("", path, error.problem)]
        before = Known(self._config.own_settings, path, merged_servers(self._files))
        return [*plan(before, Known(own, path, merged_servers(files))), *trouble, *_left_alone(files)]

    async def reload(self) -> list[ReloadChange]:
        """Implements FilesApi.reload."""
        changes = await self.preview_reload()
        with contextlib.suppress(TooltrayError):  # the error is published, and is among the changes
            await self._config.reload()
        for file in self._files:
            self._on_read(FileRead(file, await self._watch.read(file), True))
        return changes

    async def _read_as_copy(self, file: FollowedFile) -> FollowedFile:
        """Reads a file and returns a copy that has adopted the reading; the file itself stays unchanged."""
        reading, changed = await self._watch.read(file), copy.copy(file)
        changed.adopt(reading)
        return changed

    # changes by ProjectServers

    async def read_now(self, folder: str) -> None:
        """Applies at once what was just written into a file or trusted, if the file is in use."""
        if file := self._projects.get(folder):
            reading = await self._watch.read(file)
            if is_sure(reading, file.latest):
                self._adopt(file, reading, is_sure=True)
            else:  # another program is just saving the file
                file.settle()
            self._watch.start_reading(file)  # an older reading may end after this one
        self._apply()

    def settle(self, folder: str) -> None:
        """Applies at once what was just decided about entries of a folder's file."""
        if file := self._projects.get(folder):
            file.settle()
        self._apply()


def _left_alone(files: Sequence[FollowedFile]) -> Iterator[ReloadChange]:
    """Yields the parts that a reload leaves unchanged although their file has changed."""
    for file in files:
        if file.latest and not file.latest.is_understood:
            yield kept("", file.path, file.problems[0].problem)
        yield from unusable(file.path, file.problems)
        if isinstance(file, ProjectFile):
            for entry in file.waiting():
                yield waiting(file.name(entry), file.path, is_change=file.running(entry.name) is not None)


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
    for name, line in broken.items():  # the server keeps running as it was
        yield FileEntrySnapshot(name, name if name in servers else "", "broken", line)
