"""The files of all AI clients of this computer, read once, for scanning, connecting and importing; and the description of what they have:
which clients are installed, which servers their files have, and which of the clients use Tooltray.

A file that cannot be read never hides the others. No program is started; a description has the names of secrets in plain text, never their
values.
"""

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path

import msgspec
from msgspec.structs import replace

from tooltray.config.foreign_configs.document_lines import Place
from tooltray.config.foreign_configs.documents import Document, read_document
from tooltray.config.settings.secret_looks import looks_secret
from tooltray.foundation.errors import Problem
from tooltray.foundation.files.file_text import CannotOpen
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.ai_clients import AiClient, AiClientFile, ClientScan, ClientServer
from tooltray.sources.clients.bridge_entries import OwnEntry, best, connection_of
from tooltray.sources.clients.client_kinds import ClientKind, ClientPlace, ClientPlaces, WorkTrees, note_of, why_not_of
from tooltray.sources.clients.found_entries import (
    Approvals,
    Entry,
    FoundEntry,
    approvals_of,
    entries_in,
    headers_of,
    is_extension_off,
    url_of,
    variables_of,
    words_of,
)
from tooltray.sources.entries.pasted import secrets_in
from tooltray.sources.entries.pasted_parts import ASSIGNMENT, is_placeholder, parameters, without_keys

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
            message = Phrase("line {line}: '{name}' occurs twice; the last one counts", line=line, name=str(place[-1]))
            return Problem(title, message, Phrase("Remove one of them in {file}", file=str(document.path))), line
    return None, 0


HIDDEN = "…"
MAX_TARGET = 300  # characters of a shown line; the longest known lines have a hundred

_URL = re.compile(r"[a-z][a-z0-9+.-]*://\S+", re.IGNORECASE)
_HEADER_OPTIONS = ("--header", "-H")
_REFERENCE = re.compile(r"\$\{\{[^}]*\}\}|\$\{[^}]*\}|\{(?:env|file):[^}]*\}")
_NOTHING = re.compile(r"(?:(?:Bearer|Basic|Token|ApiKey)\b)?\s*(?:\$[A-Za-z_]\w*|%\w+%)?\s*", re.IGNORECASE)
_NESTED = ("auth", "oauth")
_DROPPED_WORDS = ("-y", "--yes", "-q", "--quiet")


def scan(look: ClientLook, kinds: Iterable[ClientKind]) -> ClientScan:
    """Describes some clients, the installed ones first. Blocks while their files are read."""
    described = _Described(look)
    clients = sorted(map(described.client, kinds), key=lambda each: (not each.is_installed, each.name.lower()))
    return ClientScan(tuple(clients), *described.totals())


class _Described:
    """Snapshots of clients, files and servers."""

    def __init__(self, look: ClientLook) -> None:
        self._look, self._trees = look, WorkTrees()
        self._servers: dict[tuple[Path, Place], ClientServer] = {}

    def client(self, kind: ClientKind) -> AiClient:
        files = [shown for file in self._look.files(kind) for shown in self._files(file)]
        why_not = why_not_of(kind) or _why_no_file(kind, files)
        return AiClient(
            kind.id,
            kind.name,
            is_installed=self._look.places.is_installed(kind),
            is_running=self._look.places.is_running(kind),
            connection=best(file.connection for file in files if not file.project),
            files=tuple(files),
            can_connect=not why_not,
            way=kind.way,
            why_not=why_not,
            note=note_of(kind),
            link=kind.link,
        )

    def _files(self, file: ReadFile) -> Iterator[AiClientFile]:
        """Yields a file, and once more for each folder for which it has a list of its own."""
        of_folder = {folder: list(each) for folder, each in groupby(file.entries, lambda entry: entry.project)}
        for folder in dict.fromkeys((file.project, *of_folder)):
            entries = of_folder.get(folder, [])
            yield AiClientFile(
                str(file.place.path),
                exists=file.place.exists,
                project=folder,
                connection=connection_of(entries, self._look.own, self._look.places.environ),
                servers=tuple(map(self._server, entries)),
                is_version_controlled=self._trees.holds(file.place.path),
                problem=file.problem,
                line=file.line,
            )

    def _server(self, entry: FoundEntry) -> ClientServer:
        """Describes an entry once: several clients may have the same file."""
        key = (entry.path, entry.place)
        if key not in self._servers:
            place, secrets = tuple(map(str, entry.place)), plain_secrets_of(entry.entry)
            self._servers[key] = ClientServer(entry.name, place, target_of(entry.entry), entry.kind, entry.state, secrets, entry.line)
        return self._servers[key]

    def totals(self) -> tuple[int, int, int]:
        """Returns how many servers there are, how many different ones, and how many secrets in plain text."""
        servers = [entry for entry in self._look.entries() if entry.kind == "server"]
        return len(servers), len(set(map(_what_runs, servers))), sum(len(self._server(entry).secrets) for entry in servers)


def _why_no_file(kind: ClientKind, files: Sequence[AiClientFile]) -> str:
    own = [file for file in files if not file.project]
    if kind.way == "link" or any(not file.problem for file in own):
        return ""
    if own:
        return Phrase("its file cannot be changed as it is")
    return Phrase("its file is not there yet, and it is not certain where it has to be: start {client} once", client=kind.name)


def _what_runs(entry: FoundEntry) -> object:
    """Returns a key that is equal for entries with the same program or address, in any client's spelling."""
    words = words_of(entry.entry)
    if not words:
        return without_keys(url_of(entry.entry)).rstrip("/").lower() or (entry.path, entry.place)
    if len(words) > 2 and words[0].lower() in ("cmd", "cmd.exe") and words[1].lower() == "/c":
        words = words[2:]
    program = re.sub(r"\.(?:exe|cmd)$", "", re.split(r"[/\\]", words[0])[-1].lower())
    return (program, *(word.removesuffix("@latest") for word in words[1:] if word not in _DROPPED_WORDS))


class _Word(msgspec.Struct, frozen=True):
    """A word of a command line.

    Attributes:
        shown: the word without what may be a secret.
        secret: the name of the left-out secret; empty if nothing was left out.
    """

    shown: str
    secret: str = ""


def plain_secrets_of(entry: Entry) -> tuple[str, ...]:
    """Returns names of variables, headers, parameters and options with secrets in plain text; for an unnamed argument its number."""
    config = {"env": _plain(variables_of(entry)), "headers": _plain(headers_of(entry)), "url": url_of(entry)}
    found = [key for key, value in secrets_in(config).items() if value]
    found += [key for key, value in _signing_in(entry).items() if _is_secret(key, value)]
    found += [word.secret for word in _words(entry) if word.secret]
    return tuple(dict.fromkeys(found))


def target_of(entry: Entry) -> str:
    """Returns the command line or the URL, without secrets, in one line."""
    url = url_of(entry)
    text = without_keys(url) if url else shlex.join(word.shown for word in _words(entry)).replace(f"'{HIDDEN}'", HIDDEN)
    return " ".join(text.split())[:MAX_TARGET]


def _plain(values: Mapping[str, str]) -> dict[str, str]:
    """Returns values without mere references."""
    return {key: _without_references(value) for key, value in values.items()}


def _without_references(value: str) -> str:
    """Returns a value without references to variables, inputs or files; empty if it has only these."""
    rest = _REFERENCE.sub("", value)
    return "" if _NOTHING.fullmatch(rest) else rest


def _signing_in(entry: Entry) -> dict[str, str]:
    """Returns the sign-in data that some clients keep in entries, such as the secret of an OAuth client."""
    groups = (entry.get(key) for key in _NESTED)
    pairs = (pair for group in groups if isinstance(group, Mapping) for pair in group.items())
    return {str(key): value for key, value in pairs if isinstance(value, str)}


def _words(entry: Entry) -> Iterator[_Word]:
    before = ""
    for number, word in enumerate(words_of(entry)):
        yield _word(word, before, number) if number else _Word(word)
        before = word


def _word(word: str, before: str, number: int) -> _Word:
    """
    Args:
        before: the previous word, which may be the name of this one.
        number: of the argument, from 1.
    """
    if _URL.fullmatch(word):
        return _shown_url(word)
    option, equals, value = word.partition("=")
    if equals and (option.startswith("-") or ASSIGNMENT.match(word)):
        return _Word(f"{option}={HIDDEN}", option) if _is_secret(option, value) else _Word(word)
    name, colon, content = word.partition(":")
    if colon and before in _HEADER_OPTIONS:
        return _Word(f"{name}: {HIDDEN}", name) if _is_secret(name, content.strip()) else _Word(word)
    if word.startswith("-") or not _is_secret(before if before.startswith("-") else "", word):
        return _Word(word)
    return _Word(HIDDEN, before if before.startswith("-") else f"#{number}")


def _shown_url(word: str) -> _Word:
    bare = without_keys(word)
    named = next((key for key, value in parameters(word) if _is_secret(key, value)), "")
    is_signed_in = bare.partition("?")[0] != re.split("[?#]", word)[0]
    return _Word(bare if named or is_signed_in else word, named or ("password" if is_signed_in else ""))


def _is_secret(key: str, value: str) -> bool:
    rest = _without_references(value)
    return bool(rest) and looks_secret(key.lstrip("-"), rest) and not is_placeholder(rest)
