"""The files that the hub was started with (`serve --config`): their last valid readings, and the names of their servers in the hub.

Above it: ServerFiles. Below it: readings of files. Reads no files itself. A person named these files, so their servers need no consent.
"""

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from msgspec.structs import replace

from tooltray.config.settings.file_server import FileEntry, FileReading, FileServer
from tooltray.foundation.snapshots.files import FileEntrySnapshot, FileProblem, ServerFileSnapshot
from tooltray.sources.project_files.server_names import server_name

MERGED = "mcp-hub"  # the kind whose files are merged: an entry may move from one to another


class ServedFile:
    """One such file. Belongs to the engine's loop.

    Attributes:
        path: absolute path.
        latest: the last reading; None before the first.
        understood: the last valid reading; an entry that has become unusable is kept as it was before.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.latest: FileReading | None = None
        self.understood: FileReading | None = None

    @property
    def problems(self) -> tuple[FileProblem, ...]:
        """The problems of the last reading."""
        return self.latest.problems if self.latest else ()

    def adopt(self, reading: FileReading) -> None:
        """Takes over a new reading."""
        self.latest = reading
        if reading.is_understood:
            written = {entry.name for entry in reading.entries}
            broken = {problem.entry for problem in reading.problems} - written
            kept = tuple(entry for entry in self.understood.entries if entry.name in broken) if self.understood else ()
            self.understood = replace(reading, entries=reading.entries + kept)

    def copied(self) -> "ServedFile":
        """Returns a copy, to preview the effect of another reading."""
        other = ServedFile(self.path)
        other.latest, other.understood = self.latest, self.understood
        return other


class ServedNames:
    """The names of the files' servers in the hub; stable while the hub runs."""

    def __init__(self, *, is_taken: Callable[[str], bool], reserved: Collection[str]) -> None:
        """
        Args:
            is_taken: returns whether a server that is not from these files has a name.
            reserved: names of built-in servers.
        """
        self._is_taken, self._reserved = is_taken, reserved
        self._names: dict[tuple[str, str], str] = {}  # by path and name in the file; an empty path for all of mcp-hub's

    def __contains__(self, name: str) -> bool:
        return name in self._names.values()

    def name(self, file: ServedFile, entry: str) -> str:
        """Returns the name of an entry's server; chooses one at first, and again after the settings have taken it."""
        key = ("" if _kind(file) == MERGED else file.path, entry)
        known = self._names.get(key, "")
        if not known or self._is_taken(known):
            folder = os.path.dirname(file.path)
            known = server_name(entry, folder, lambda name: name not in self and not self._is_taken(name), self._reserved)
            self._names[key] = known
        return known


def served_entries(files: Sequence[ServedFile]) -> Iterator[tuple[ServedFile, FileEntry]]:
    """Yields the effective entries of several files: of mcp-hub's files the last one of a name, of other files each."""
    last = {entry.name: file for file in files for entry in _entries(file) if _kind(file) == MERGED}
    for file in files:
        for entry in _entries(file):
            if _kind(file) != MERGED or last[entry.name] is file:
                yield file, entry


def served_servers(files: Sequence[ServedFile], names: ServedNames) -> Mapping[str, FileServer]:
    """Returns the servers of the files by their names in the hub."""
    return {names.name(file, entry.name): _server(file, entry) for file, entry in served_entries(files)}


def served_snapshot(file: ServedFile, files: Sequence[ServedFile], names: ServedNames, url: str) -> ServerFileSnapshot:
    """Returns the snapshot of one file.

    Args:
        url: URL of the endpoint that the file asks for; empty if it is not open.
    """
    used = {entry.name for owner, entry in served_entries(files) if owner is file}
    return ServerFileSnapshot(
        path=file.path,
        kind=_kind(file),
        exists=file.latest is not None and bool(file.latest.digest),
        entries=tuple(_entry_snapshots(file, used, names)),
        problems=file.problems,
        url=url,
    )


def _entry_snapshots(file: ServedFile, used: Collection[str], names: ServedNames) -> Iterator[FileEntrySnapshot]:
    broken = {problem.entry: problem.line for problem in file.problems if problem.entry}
    latest = {entry.name: entry for entry in (file.latest.entries if file.latest and file.latest.is_understood else _entries(file))}
    for entry in latest.values():
        state = "off" if entry.config.disable or entry.name not in used else "used"
        yield FileEntrySnapshot(entry.name, names.name(file, entry.name) if entry.name in used else "", state, entry.line)
    for name, line in broken.items():
        if name not in latest:
            yield FileEntrySnapshot(name, names.name(file, name) if name in used else "", "broken", line)


def _entries(file: ServedFile) -> tuple[FileEntry, ...]:
    return file.understood.entries if file.understood else ()


def _kind(file: ServedFile) -> str:
    """Returns the kind of a file; while it is malformed, the kind of its last valid reading."""
    reading = file.understood or file.latest
    return reading.kind if reading else MERGED


def _server(file: ServedFile, entry: FileEntry) -> FileServer:
    """Makes the server of an entry. Without `autoApprove` all calls are approved, as in the programs that these files come from."""
    if "auto_approve" not in entry.config.model_fields_set:
        entry = replace(entry, config=entry.config.model_copy(update={"auto_approve": ("all",)}))
    return FileServer(entry, file.path, "served", folder=os.path.dirname(file.path))
