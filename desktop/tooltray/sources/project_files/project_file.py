"""The `.mcp.json` of one project: its last valid reading, and the servers of it that may run.

Above it: ServerFiles. Below it: Trust, and readings of the file. Reads no files itself.

A server runs with the content to which a person consented. It goes on running while a changed entry waits for consent and while the file is
malformed. A server that is removed from the file or disabled there stops at once.
"""

import os
from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from tooltray.config.settings.file_server import FILE_NAME, PROJECT_FOLDER, FileEntry, FileReading, FileServer
from tooltray.foundation.errors import Problem
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.files import FileEntrySnapshot, FileProblem, ServerFileSnapshot
from tooltray.servers.upstream.project_folder import shown
from tooltray.sources.project_files.trusted_entries import Trust

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
