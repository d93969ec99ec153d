"""The files that the hub was started with (`serve --config`): how they were last understood, and how their servers are called here.

Above it: ServerFiles. Below it: what was read of them. Knows no disk. A person named these files, so what is in them runs.
"""

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from tooltray.server_files.server_names import server_name
from tooltray.settings.file_server import FileEntry, FileReading, FileServer
from tooltray.snapshots.files import FileEntrySnapshot, FileProblem, ServerFileSnapshot

MERGED = "mcp-hub"  # its files are read as one: an entry may move from one to another


class ServedFile:
    """One of them. Belongs to the engine's loop.

    Attributes:
        path: absolute.
        latest: as it was last read; None: not yet.
        understood: the last that could be understood, with entries of before in the place of those that cannot be used now.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.latest: FileReading | None = None
        self.understood: FileReading | None = None

    @property
    def problems(self) -> tuple[FileProblem, ...]:
        """What is wrong with the file now."""
        return self.latest.problems if self.latest else ()

    def adopt(self, reading: FileReading) -> None:
        """It says this now."""
        self.latest = reading
        if reading.is_understood:
            written = {entry.name for entry in reading.entries}
            broken = {problem.entry for problem in reading.problems} - written
            kept = tuple(entry for entry in self.understood.entries if entry.name in broken) if self.understood else ()
            self.understood = replace(reading, entries=reading.entries + kept)

    def copied(self) -> "ServedFile":
        """The same file, for looking what another reading would do to it."""
        other = ServedFile(self.path)
        other.latest, other.understood = self.latest, self.understood
        return other


class ServedNames:
    """How their servers are called; kept while the hub runs."""

    def __init__(self, *, is_taken: Callable[[str], bool], reserved: Collection[str]) -> None:
        """
        Args:
            is_taken: whether a server besides those of these files is called that.
            reserved: names that only servers of ours have.
        """
        self._is_taken, self._reserved = is_taken, reserved
        self._names: dict[tuple[str, str], str] = {}  # by file and name there; mcp-hub's files are as one

    def __contains__(self, name: str) -> bool:
        return name in self._names.values()

    def name(self, file: ServedFile, entry: str) -> str:
        """Found out when it is first asked for, and when the settings have taken it."""
        key = ("" if _kind(file) == MERGED else file.path, entry)
        known = self._names.get(key, "")
        if not known or self._is_taken(known):
            folder = os.path.dirname(file.path)
            known = server_name(entry, folder, lambda name: name not in self and not self._is_taken(name), self._reserved)
            self._names[key] = known
        return known


def served_entries(files: Sequence[ServedFile]) -> Iterator[tuple[ServedFile, FileEntry]]:
    """What of several files counts: of mcp-hub's the later one, where two have a name; of all others each."""
    last = {entry.name: file for file in files for entry in _entries(file) if _kind(file) == MERGED}
    for file in files:
        for entry in _entries(file):
            if _kind(file) != MERGED or last[entry.name] is file:
                yield file, entry


def served_servers(files: Sequence[ServedFile], names: ServedNames) -> Mapping[str, FileServer]:
    """By their names here."""
    return {names.name(file, entry.name): _server(file, entry) for file, entry in served_entries(files)}


def served_snapshot(file: ServedFile, files: Sequence[ServedFile], names: ServedNames, url: str) -> ServerFileSnapshot:
    """
    Args:
        url: of the endpoint that the file asks for, if it is open.
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
    """Of what goes on, too, while the file is not understood."""
    reading = file.understood or file.latest
    return reading.kind if reading else MERGED


def _server(file: ServedFile, entry: FileEntry) -> FileServer:
    """Other programs ask about no call; whoever wants that says so in the file."""
    if "auto_approve" not in entry.config.model_fields_set:
        entry = replace(entry, config=entry.config.model_copy(update={"auto_approve": ("all",)}))
    return FileServer(entry, file.path, "served", folder=os.path.dirname(file.path))
