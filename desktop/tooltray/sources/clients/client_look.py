"""The files of all AI clients of this computer, read once, for scanning, connecting and importing.

A file that cannot be read never hides the others.
"""

from collections.abc import Iterable
from pathlib import Path

import msgspec
from msgspec.structs import replace

from tooltray.config.foreign_configs.documents import Document, read_document
from tooltray.foundation.errors import Problem
from tooltray.foundation.files.file_text import CannotOpen
from tooltray.foundation.phrases import Phrase
from tooltray.sources.clients.bridge_entries import OwnEntry
from tooltray.sources.clients.client_kinds import ClientKind
from tooltray.sources.clients.client_places import ClientPlace, ClientPlaces
from tooltray.sources.clients.found_entries import Approvals, FoundEntry, approvals_of, entries_in, is_extension_off

MAX_SERVERS = 2000  # in all files; the result is sent to a window or a command in one piece
MAX_PROJECTS = 100  # a user has some; each costs forty file names


class ReadFile(msgspec.Struct, frozen=True):
    """A client's file, as read.

    Attributes:
        project: the folder of a project's own file; empty for a file for all projects.
        entries: for all folders for which the file has lists.
        document: None if the file does not exist, or could not be read for the reason in `problem`.
        problem: why the file must not be changed.
    """

    kind: ClientKind
    place: ClientPlace
    project: str = ""
    entries: tuple[FoundEntry, ...] = ()
    document: Document | None = None
    problem: Problem | None = None
    line: int = 0


class ClientLook:
    """One reading of all files: each is read once, also if several clients share it. Blocks while the disk is read; for one thread.

    Attributes:
        own: the bridge's entry in its present form.
    """

    def __init__(self, places: ClientPlaces, *, own: OwnEntry = OwnEntry(), projects: Iterable[str] = ()) -> None:  # noqa: B008 (frozen)
        """
        Args:
            own: entries with its URL count as Tooltray.
            projects: absolute folders whose files are read, too; only the first MAX_PROJECTS are used.
        """
        self.places, self.own, self._projects = places, own, _folders(projects)
        self._documents: dict[Path, Document | CannotOpen] = {}
        self._files: dict[str, list[ReadFile]] = {}
        self._found = 0

    def files(self, kind: ClientKind) -> list[ReadFile]:
        """Returns a client's own files, including one that could be made, and the client's files in the projects."""
        if kind.id not in self._files:
            own = [(place, "") for place in self.places.files(kind)]
            of_projects = [(place, str(folder)) for folder in self._projects for place in self.places.project_files(kind, folder)]
            self._files[kind.id] = [self._read(kind, place, project) for place, project in (*own, *of_projects)]
        return self._files[kind.id]

    def entries(self) -> list[FoundEntry]:
        """Returns the entries of all clients whose files were requested; the entries of a shared file once."""
        all_entries = (entry for files in self._files.values() for file in files for entry in file.entries)
        return list({(entry.path, entry.place): entry for entry in all_entries}.values())

    def _read(self, kind: ClientKind, place: ClientPlace, project: str) -> ReadFile:
        if not place.exists:
            return ReadFile(kind, place)
        document = self._document(kind, place.path)
        if isinstance(document, CannotOpen):
            return ReadFile(kind, place, project, problem=_problem(place.path, document), line=document.line)
        approvals = self._approvals(kind, project)
        try:
            found = entries_in(kind, document, project=project, approvals=approvals, own_url=self.own.url)
            if self._found + len(found) > MAX_SERVERS:
                raise CannotOpen(Phrase("there are more than {number} servers in it and the files before it", number=MAX_SERVERS))
        except CannotOpen as error:
            self._documents[place.path] = _without_frames(error)
            return ReadFile(kind, place, project, problem=_problem(place.path, error))
        self._found += len(found)
        if kind.shape == "extension" and is_extension_off(place.path):
            found = [replace(entry, state="off") for entry in found]
        problem, line = _doubled(kind, document, is_project=bool(project))
        return ReadFile(kind, place, project, tuple(found), document, problem, line)

    def _document(self, kind: ClientKind, path: Path) -> Document | CannotOpen:
        if path not in self._documents:
            try:
                self._documents[path] = read_document(path, kind.format_of(path))
            except CannotOpen as error:
                self._documents[path] = _without_frames(error)
        return self._documents[path]

    def _approvals(self, kind: ClientKind, project: str) -> Approvals | None:
        if kind.shape != "claude" or not project:
            return None
        own_folder = self.places.moved_home(kind) or self.places.home / ".claude"
        return approvals_of(Path(project), own_folder, self._claude_projects(kind))

    def _claude_projects(self, kind: ClientKind) -> object:
        """Returns Claude Code's data about each folder."""
        documents = (self._document(kind, place.path) for place in self.places.files(kind) if place.exists)
        contents = (document.content for document in documents if isinstance(document, Document))
        return next((content.get("projects") for content in contents if isinstance(content, dict)), None)


def _without_frames(error: CannotOpen) -> CannotOpen:
    """Returns a copy of an error for storing: a raised error refers to its stack frames, and so to all data read from its file."""
    return CannotOpen(error.reason, error.line, error.digest)


def _folders(projects: Iterable[str]) -> list[Path]:
    usable = (Path(each) for each in projects if "\0" not in each)
    return list(dict.fromkeys(each for each in usable if each.is_absolute()))[:MAX_PROJECTS]


def _problem(path: Path, error: CannotOpen) -> Problem:
    message = Phrase("line {line}: {reason}", line=error.line, reason=error.reason) if error.line else error.reason
    return Problem(
        Phrase("{file} cannot be read", file=path.name), message, Phrase("Correct it in {file}; Tooltray does not touch it", file=str(path))
    )


def _doubled(kind: ClientKind, document: Document, *, is_project: bool) -> tuple[Problem | None, int]:
    """Finds a key that occurs twice on the way to a server, or in its entry: programs disagree on which one is valid."""
    places = kind.places_in(is_project=is_project)
    for place, line in document.repeated():
        if any(place[: len(each)] == each[: len(place)] for each in places):
            title = Phrase("{file} is not changed by Tooltray", file=document.path.name)
            message = Phrase("line {line}: '{name}' stands here a second time; the last one counts", line=line, name=str(place[-1]))
            return Problem(title, message, Phrase("Remove one of them in {file}", file=str(document.path))), line
    return None, 0
