"""One file with servers that is in use: a project's `.mcp.json`, or a config that the hub was started with. Reads no files itself."""

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from msgspec.structs import replace

from tooltray.config.settings.file_server import FILE_NAME, PROJECT_FOLDER, FileEntry, FileReading, FileServer
from tooltray.foundation.errors import Problem
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.files import FileEntrySnapshot, FileProblem, ServerFileSnapshot
from tooltray.servers.upstream.project_folder import shown
from tooltray.sources.project_files.server_names import server_name
from tooltray.sources.project_files.trust import Trust

MOST_ENTRIES = 200  # of one file; nobody reads more, and each would get a name in the hub


class ProjectFile:
    """Belongs to the engine's loop.

    Attributes:
        folder: real path of the project's folder.
        path: path of the file.
        is_for_all: whether its servers are for all sessions, and not only for those of the project.
        latest: the last reading; None before the first.
    """

    def __init__(self, folder: str, trust: Trust, *, is_for_all: bool = False) -> None:
        self.folder, self.path = folder, os.path.join(folder, FILE_NAME)
        self.is_for_all = is_for_all
        self.latest: FileReading | None = None
        self._trust = trust
        self._understood: FileReading | None = None
        self._running: dict[str, FileEntry] = {}  # by the name in the file

    @property
    def entries(self) -> tuple[FileEntry, ...]:
        """The entries of the last valid reading, at most `MOST_ENTRIES`."""
        return self._understood.entries[:MOST_ENTRIES] if self._understood else ()

    @property
    def problems(self) -> tuple[FileProblem, ...]:
        """The problems of the last reading."""
        if self.latest is None:
            return ()
        left_out = len(self.latest.entries) - MOST_ENTRIES
        return self.latest.problems + ((_too_many(self.path, left_out),) if left_out > 0 else ())

    def adopt(self, reading: FileReading) -> None:
        """Takes over a new reading."""
        self.latest = reading
        if reading.is_understood:
            self._understood = reading
        self.settle()

    def keep_names(self) -> None:
        """Reserves the names of the file's entries, and releases those of removed entries that were never trusted."""
        if self._understood is None:
            return
        for entry in self.entries:
            self._trust.name(self.folder, entry.name)
        self._trust.forget_unseen(self.folder, {entry.name for entry in self.entries} | _broken(self._understood))

    def settle(self) -> None:
        """Recomputes which servers run, after the file or the trust in its entries has changed."""
        if self._understood is None:
            return
        written = {entry.name: entry for entry in self.entries}
        there = written.keys() | _broken(self._understood)
        off = {name for name, entry in written.items() if entry.config.disable}
        goes_on = {name: entry for name, entry in self._running.items() if name in there - off and self._is_trusted(entry)}
        running = goes_on | {name: entry for name, entry in written.items() if self._is_trusted(entry)}
        self._running = {name: running[name] for name in dict.fromkeys((*written, *running)) if name in running}

    def copied(self) -> "ProjectFile":
        """Returns a copy, to preview the effect of another reading."""
        other = ProjectFile(self.folder, self._trust, is_for_all=self.is_for_all)
        other.latest, other._understood, other._running = self.latest, self._understood, dict(self._running)
        return other

    def running(self, entry: str) -> FileEntry | None:
        """Returns the content with which an entry's server runs, to which a person consented; None if it does not run."""
        return self._running.get(entry)

    def waiting(self) -> Iterator[FileEntry]:
        """Yields the entries that wait for consent, those that start other files than before among them; disabled ones do not."""
        waiting = (entry for entry in self.entries if not entry.config.disable)
        return (entry for entry in waiting if self._trust.is_held(self.folder, entry.name) or not self._is_trusted(entry))

    def name(self, entry: FileEntry) -> str:
        """Returns the name of an entry's server in the hub."""
        return self._trust.name(self.folder, entry.name)

    def servers(self) -> Mapping[str, FileServer]:
        """Returns the servers that may run, by their names in the hub."""
        return {self._trust.name(self.folder, name): self._server(entry) for name, entry in self._running.items()}

    def snapshot(self) -> ServerFileSnapshot:
        return ServerFileSnapshot(
            path=self.path,
            kind="mcp.json",
            exists=self.latest is not None and bool(self.latest.digest),
            project=self.folder,
            is_for_all=self.is_for_all,
            entries=tuple(self._entry_snapshots()),
            problems=self.problems,
        )

    def _entry_snapshots(self) -> Iterator[FileEntrySnapshot]:
        for entry in self.entries:
            yield FileEntrySnapshot(entry.name, self._shown_name(entry.name), self._state(entry), entry.line)
        written = {entry.name for entry in self.entries}
        for problem in self.problems:
            if problem.entry and problem.entry not in written:
                written.add(problem.entry)
                yield FileEntrySnapshot(problem.entry, self._shown_name(problem.entry), "broken", problem.line)

    def _shown_name(self, entry: str) -> str:
        return self._trust.name(self.folder, entry) if entry in self._running else ""

    def _state(self, entry: FileEntry) -> str:
        if entry.config.disable:
            return "off"
        if self._is_trusted(entry) and not self._trust.is_held(self.folder, entry.name):
            return "used"
        return "changed" if entry.name in self._running else "waits"

    def _is_trusted(self, entry: FileEntry) -> bool:
        return self._trust.digest(self.folder, entry.name) == entry.digest

    def _server(self, entry: FileEntry) -> FileServer:
        variables = {PROJECT_FOLDER: self.folder, **entry.variables}
        project = "" if self.is_for_all else self.folder
        return FileServer(replace(entry, variables=variables), self.path, "project", folder=self.folder, project=project)


def _broken(reading: FileReading) -> set[str]:
    return {problem.entry for problem in reading.problems if problem.entry}


def _too_many(path: str, count: int) -> FileProblem:
    message = Phrase("it has {count} more than {most} servers", count=count, most=MOST_ENTRIES)
    title = Phrase("{file} is not fully used", file=shown(os.path.basename(path)))
    return FileProblem(Problem(title, message, Phrase("Take out what you do not need.")))


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
