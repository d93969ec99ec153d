"""The files in use that define servers besides the settings, and all their servers together.

Above it: ServerFiles. Below it: ProjectFile and ServedFile. Reads no files itself.
"""

import os
from collections.abc import Collection, Iterable, Iterator, Mapping

from tooltray.config.settings.file_server import FileReading, FileServer
from tooltray.config.settings.given_entries import BUILTIN_NAMES
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.snapshots.files import FileEntrySnapshot, ServerFileSnapshot
from tooltray.sources.project_files.project_file import ProjectFile
from tooltray.sources.project_files.served_files import ServedFile, ServedNames, served_servers, served_snapshot
from tooltray.sources.project_files.server_names import look
from tooltray.sources.project_files.trust_store import TrustStore
from tooltray.sources.project_files.trusted_entries import Trust

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
