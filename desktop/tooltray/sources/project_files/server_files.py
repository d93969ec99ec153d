"""Servers from other files than the settings: which files are in use, which of their servers may run, and reloads of changed files.

Above it: the presenter. Below it: McpConfHelper, which combines these servers with those of the settings; the readers of files; the
consents of a person.
"""

import contextlib
import logging
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Protocol

from tooltray.config.settings.file_server import FileReading
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.events import ConfigChanged, EventBus, ServerFilesChanged
from tooltray.foundation.snapshots.files import ReloadChange, ServerFileSnapshot
from tooltray.foundation.tasks import Spawn
from tooltray.sources.project_files.file_readings import FileReadings, is_sure
from tooltray.sources.project_files.file_reports import ProblemReports, first_problems, served_lines, waiting_lines
from tooltray.sources.project_files.files_in_use import AnyFile, FilesInUse, settings_snapshot
from tooltray.sources.project_files.folders_in_use import FoldersInUse
from tooltray.sources.project_files.hot_reload import WatchedFileChanged
from tooltray.sources.project_files.project_file import ProjectFile
from tooltray.sources.project_files.reload_plan import Known, kept, left_out, plan, unusable, waiting
from tooltray.sources.project_files.trust_decisions import ReadFile, read_project_file

logger = logging.getLogger(__name__)


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
