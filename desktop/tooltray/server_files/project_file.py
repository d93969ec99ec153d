"""One project's own file: how it was last understood, and which of its servers may run.

Above it: ServerFiles. Below it: Trust, and what was read of the file. Knows no disk.

What runs of a file is what a person said yes to, and it goes on while a changed entry waits, or while the file is not understood; what is
taken out of the file, or switched off there, goes at once.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace

from tooltray.errors import Problem
from tooltray.phrases import Phrase
from tooltray.server_files.trusted_entries import Trust
from tooltray.settings.file_server import FILE_NAME, PROJECT_FOLDER, FileEntry, FileReading, FileServer
from tooltray.snapshots.files import FileEntrySnapshot, FileProblem, ServerFileSnapshot
from tooltray.upstream.project_folder import shown

MOST_ENTRIES = 200  # of one file; nobody reads more, and each would be given a name here


class ProjectFile:
    """Belongs to the engine's loop.

    Attributes:
        folder: the project's, a real path.
        path: of the file.
        is_for_all: all sessions have its servers, and not those of this project alone.
        latest: as it was last read; None: not yet.
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
        """What the file says, as far as it was understood."""
        return self._understood.entries[:MOST_ENTRIES] if self._understood else ()

    @property
    def problems(self) -> tuple[FileProblem, ...]:
        """What is wrong with the file now."""
        if self.latest is None:
            return ()
        left_out = len(self.latest.entries) - MOST_ENTRIES
        return self.latest.problems + ((_too_many(self.path, left_out),) if left_out > 0 else ())

    def adopt(self, reading: FileReading) -> None:
        """It says this now."""
        self.latest = reading
        if reading.is_understood:
            self._understood = reading
        self.settle()

    def keep_names(self) -> None:
        """What stands in the file has its name for good; what does not, and was never trusted, has none any more."""
        if self._understood is None:
            return
        for entry in self.entries:
            self._trust.name(self.folder, entry.name)
        self._trust.forget_unseen(self.folder, {entry.name for entry in self.entries} | _broken(self._understood))

    def settle(self) -> None:
        """What the file says, or what is trusted of it, is another thing."""
        if self._understood is None:
            return
        written = {entry.name: entry for entry in self.entries}
        there = written.keys() | _broken(self._understood)
        off = {name for name, entry in written.items() if entry.config.disable}
        goes_on = {name: entry for name, entry in self._running.items() if name in there - off and self._is_trusted(entry)}
        running = goes_on | {name: entry for name, entry in written.items() if self._is_trusted(entry)}
        self._running = {name: running[name] for name in dict.fromkeys((*written, *running)) if name in running}

    def copied(self) -> "ProjectFile":
        """The same file, for looking what another reading would do to it."""
        other = ProjectFile(self.folder, self._trust, is_for_all=self.is_for_all)
        other.latest, other._understood, other._running = self.latest, self._understood, dict(self._running)
        return other

    def running(self, entry: str) -> FileEntry | None:
        """What runs of an entry: the content that a person said yes to."""
        return self._running.get(entry)

    def waiting(self) -> Iterator[FileEntry]:
        """What needs a person's yes; what is switched off does not."""
        return (entry for entry in self.entries if not entry.config.disable and not self._is_trusted(entry))

    def name(self, entry: FileEntry) -> str:
        """How its server is called here."""
        return self._trust.name(self.folder, entry.name)

    def servers(self) -> Mapping[str, FileServer]:
        """Those that may run, by their names here."""
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
        if self._is_trusted(entry):
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
