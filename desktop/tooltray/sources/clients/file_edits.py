"""Plans the edits of clients' files that connect, disconnect or remove entries, each the smallest edit of the text in its format. Nothing
is written here. Blocks while files are read.

An edit that was previewed is computed again before it is made, and its revision compared, so that it is based on the file as it is now.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import ClassVar, Literal, TypeAlias, cast, get_args

from msgspec.structs import replace

from tooltray.config.foreign_configs.documents import Document, Format, read_document
from tooltray.foundation.errors import Conflict, NotFound, Problem
from tooltray.foundation.files import json_edit, toml_edit, yaml_edit
from tooltray.foundation.files.file_text import CannotOpen, read_text
from tooltray.foundation.files.json_places import CannotRead, Lines, read
from tooltray.foundation.files.member_change import MISSING, NAME, check_change, is_same, member_of
from tooltray.foundation.files.toml_edit import read_toml
from tooltray.foundation.files.yaml_edit import read_yaml
from tooltray.foundation.hidden_fields import HidesFields
from tooltray.foundation.phrases import Phrase
from tooltray.sources.clients.bridge_entries import KEY, bridge_entry_for, connection_of, mended_entry
from tooltray.sources.clients.client_kinds import ClientFiles, ClientKind, ClientPlace, read_client_kinds, why_not_of
from tooltray.sources.clients.client_look import ClientLook, ReadFile
from tooltray.sources.clients.found_entries import FoundEntry

NamedPlace: TypeAlias = tuple[str, ...]
"""Keys from the document to an entry; for an item in a list its name."""


class EntryChange(HidesFields, frozen=True):
    """
    Attributes:
        content: the new entry, an item of a list with its name; MISSING removes it.
    """

    hidden: ClassVar = ("content",)

    place: NamedPlace
    content: object = MISSING
    is_list: bool = False


def named_place(entry: FoundEntry) -> NamedPlace:
    """Returns an entry's place by names, which stay valid when other entries are added and removed."""
    *above, last = entry.place
    return (*map(str, above), entry.name if isinstance(last, int) else str(last))


def full_content(entry: FoundEntry) -> dict[str, object]:
    """Returns an entry in the form for the file; an item of a list with its name."""
    return ({NAME: entry.name} if isinstance(entry.place[-1], int) else {}) | dict(entry.entry)


def content_of(text: str, format: Format) -> object:
    """Returns the content of a text, as its editor writes it back; None for an empty text.

    Raises:
        CannotRead: the text is malformed, or JSON5, which is read but not edited.
    """
    bare = text.removeprefix("\ufeff")
    if not bare.strip():
        return None
    match format:
        case "toml":
            return read_toml(text)
        case "yaml":
            return read_yaml(bare)[0]
    try:
        return json.loads(bare)  # takes a hundredth of the time
    except (ValueError, RecursionError):
        return read(text).content


def made_for(content: object, place: Sequence[str]) -> NamedPlace:
    """Returns the place of the outermost object that has to be added for an entry; empty if all exist.

    Args:
        content: of the document.
    """
    for length in range(1, len(place)):
        if member_of(content, place[:length]) in (MISSING, None):
            return tuple(place[:length])
    return ()


def changed(text: str, format: Format, changes: Iterable[EntryChange]) -> str:
    """Returns the text after some changes.

    Raises:
        CannotRead: the text is malformed, or a change would also change other parts.
    """
    for change in changes:
        text = _changed(text, format, change)
    return text


def _changed(text: str, format: Format, change: EntryChange) -> str:
    if change.content is MISSING:
        return without(text, format, change.place)
    if format == "json":
        return _json_with(text, change)
    if format == "toml":
        return toml_edit.with_member(text, change.place, change.content)
    holder = change.place[:-1]
    if change.is_list and member_of(content_of(text, format), holder) in (MISSING, None):
        return yaml_edit.with_member(text, holder, [change.content])
    return yaml_edit.with_member(text, change.place, change.content)


def without(text: str, format: Format, place: NamedPlace) -> str:
    """Returns the text without one member.

    Raises:
        CannotRead: as `changed`.
    """
    match format:
        case "toml":
            return toml_edit.without_member(text, place)
        case "yaml":
            return yaml_edit.without_member(text, place)
    before = content_of(text, format)
    if member_of(before, place) is MISSING:
        raise CannotRead(Phrase("{name} not found", name=place[-1]))
    after = json_edit.without_member(text, place)
    check_change(before, content_of(after, format), place)
    return after


def _json_with(text: str, change: EntryChange) -> str:
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    if not text.removeprefix("\ufeff").strip():
        text = mark + "{}\n"
    before = content_of(text, "json")
    path = made_for(before, change.place) or change.place
    content = change.content
    for key in reversed(change.place[len(path) :]):
        content = {key: content}
    after = json_edit.with_member(text, path, content)
    check_change(before, content_of(after, "json"), change.place, change.content)
    return after


Action: TypeAlias = Literal["connect", "disconnect", "mend", "remove", "skill"]
ABSENT = "absent"
"""The revision of a file that does not exist."""
SIGNS = ("tooltray_bridge", "tooltray-bridge")  # each entry that starts the bridge has one of them


class FileEdit(HidesFields, frozen=True):
    """A change of one file, based on its content when it was read.

    Attributes:
        text: the file's text after the change; equal to the present text if nothing has to change.
        problem: why the change cannot be made; `text` is then the present text.
        is_foreign: as in ClientEdit.
        document: None if the file could not be read.
    """

    hidden: ClassVar = ("text",)

    kind: ClientKind
    action: Action
    path: Path
    document: Document | None = None
    changes: tuple[EntryChange, ...] = ()
    text: str = ""
    problem: Problem | None = None
    is_foreign: bool = False

    @property
    def id(self) -> str:
        """The action, the client and the file, such as `connect:cursor:/home/me/.cursor/mcp.json`."""
        return f"{self.action}:{self.kind.id}:{self.path}"

    @property
    def revision(self) -> str:
        """Identifies the content that the edit is based on; empty if the file could not be read."""
        return (self.document.digest or ABSENT) if self.document else ""

    @property
    def is_change(self) -> bool:
        """Returns whether the file would change."""
        return self.problem is None and self.document is not None and self.text != self.document.text

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(change.place[-1] for change in self.changes))


def parse_edit_id(id: str) -> tuple[Action, str, str]:
    """Returns action, client and path of an edit's id; a malformed id gives a client that does not exist."""
    action, _, rest = id.partition(":")
    client, _, path = rest.partition(":")
    return (cast(Action, action), client, path) if action in get_args(Action) else ("connect", "", id)


def chosen_kinds(action: Action, clients: Sequence[str], look: ClientLook) -> list[ClientKind]:
    """Returns the clients with these ids; without ids, all clients that can have an entry.

    Raises:
        NotFound: one of the ids belongs to no client.
    """
    kinds = {kind.id: kind for kind in read_client_kinds()}
    for client in clients:
        if client not in kinds:
            raise NotFound(
                Phrase("AI client '{name}' not found", name=client), "", Phrase("See them: {command}", command="tooltray clients scan")
            )
    if clients:
        return [kinds[client] for client in dict.fromkeys(clients)]
    if action == "disconnect":
        return list(kinds.values())
    return [kind for kind in kinds.values() if _can_have_entry(kind) and look.places.is_installed(kind)]


def planned(action: Action, kinds: Iterable[ClientKind], look: ClientLook) -> list[FileEdit]:
    """Returns the edits that connect or disconnect clients; when disconnecting, a file that several clients share is edited once."""
    if action != "disconnect":
        return [edit for kind in kinds if _can_have_entry(kind) for edit in connecting(kind, look)]
    edits: dict[object, FileEdit] = {}
    for kind in kinds:
        for edit in disconnecting(kind, look):
            edits.setdefault((edit.path, edit.changes), edit)
    return list(edits.values())


def edit_named(id: str, look: ClientLook) -> FileEdit:
    """Returns an edit by its id, based on the file as it is now.

    Raises:
        NotFound: the client does not exist.
        Conflict: such an edit is not needed any more.
    """
    action, client, path = parse_edit_id(id)
    for edit in planned(action, chosen_kinds(action, [client], look), look):
        if edit.id == id:
            return edit
    message = Phrase("the file is another one by now than when the change was shown")
    raise Conflict(Phrase("{file} has changed since", file=path or client), message, Phrase("Review the change again"))


def why_unable(kind: ClientKind, look: ClientLook) -> Problem | None:
    """Returns why a client, given by its id, cannot be connected; None if it can."""
    title = Phrase("{client} cannot be connected by Tooltray", client=kind.name)
    if reason := why_not_of(kind):
        return Problem(title, reason)
    if kind.way == "link":
        return Problem(title, Phrase("it keeps its servers where no file can be written"), Phrase("Use its link in the window"))
    if any(not file.project for file in look.files(kind)):
        return None
    return Problem(title, Phrase("its file cannot be located until it exists"), Phrase("Start {client} once", client=kind.name))


def _can_have_entry(kind: ClientKind) -> bool:
    return kind.way != "link" and not why_not_of(kind)


def unreadable(look: ClientLook, kinds: Iterable[ClientKind]) -> Iterator[tuple[ClientKind, Path]]:
    """Yields the malformed files with the bridge's name in them: the user has to remove it by hand."""
    for kind in kinds:
        yield from ((kind, file.place.path) for file in look.files(kind) if file.document is None and _names_bridge(file.place.path))


def _names_bridge(path: Path) -> bool:
    try:
        text = read_text(path).text
    except CannotOpen:
        return False
    return any(sign in text for sign in SIGNS)


def connecting(kind: ClientKind, look: ClientLook) -> Iterator[FileEdit]:
    """Yields the edits that connect a client: they add an entry to its file, or mend an outdated or broken one; empty if the client has no
    file.
    """
    for file in _targets(kind, look):
        ours = [entry for entry in file.entries if entry.kind == "bridge" and not entry.project]
        if not ours:
            yield _new(kind, file, look.own.words)
        elif connection_of(ours, look.own, look.places.environ) == "connected":
            yield _edit(kind, "connect", file, ())
        else:
            mended = mended_entry(kind.shape, look.own.words, full_content(ours[0]))
            yield _edit(kind, "mend", file, [EntryChange(named_place(ours[0]), mended)])


def disconnecting(kind: ClientKind, look: ClientLook) -> Iterator[FileEdit]:
    """Yields the edits that remove every entry of Tooltray from a client's files, files of projects included."""
    for file in look.files(kind):
        ours = [entry for entry in file.entries if entry.kind == "bridge"]
        if ours:
            yield _edit(kind, "disconnect", file, [EntryChange(named_place(entry)) for entry in ours])


def removing(entries: Iterable[FoundEntry]) -> Iterator[FileEdit]:
    """Yields the edits that remove servers from their files. A changed entry is a problem; a missing one is not."""
    for _, group in groupby(sorted(entries, key=_file_of), key=_file_of):
        found = list(group)
        yield _removal(found[0].client, found[0].path, found)


def _file_of(entry: FoundEntry) -> tuple[str, str]:
    return str(entry.path), entry.client.id


def _targets(kind: ClientKind, look: ClientLook) -> list[ReadFile]:
    """Returns the files in which a client needs an entry: its first file, and the file of each of its profiles."""
    own = [file for file in look.files(kind) if not file.project and file.place.path not in _only_read(kind, look)]
    of_profiles = {place.path for place in look.places.files(_with_files(kind, kind.files, has_star=True))}
    profiles = [file for file in own if file.place.path in of_profiles]
    others = [file for file in own if file not in profiles]
    first = sorted(others, key=lambda file: all(entry.kind != "bridge" for entry in file.entries))[:1]
    return [*(file for file in first if file.place.exists or not profiles), *profiles]


def _only_read(kind: ClientKind, look: ClientLook) -> set[Path]:
    return {place.path for place in look.places.files(_with_files(kind, kind.also_reads))}


def _with_files(kind: ClientKind, files: ClientFiles, *, has_star: bool = False) -> ClientKind:
    """Returns the client with only these files, none of which is made if missing."""
    chosen = {name: tuple(each for each in getattr(files, name) if "*" in each or not has_star) for name in files.__struct_fields__}
    return replace(kind, files=ClientFiles(**chosen), also_reads=ClientFiles(), creates=False)


def _new(kind: ClientKind, file: ReadFile, words: Sequence[str]) -> FileEdit:
    document = _document(file)
    content = document.content if document else None
    holder = _holder(kind, content)
    entry = bridge_entry_for(kind.shape, words)
    if len(holder) > 1 and kind.shape == "opencode":  # opencode's second version has other keys
        del entry["enabled"], entry["timeout"]
    place = (*holder, KEY)
    edit = _edit(kind, "connect", file, [EntryChange(place, entry, kind.is_list)])
    if member_of(content, place) is not MISSING and not edit.problem:
        message = Phrase("there is an entry '{name}' already, which is not Tooltray", name=KEY)
        return replace(edit, text=document.text if document else "", problem=_not_changed(file.place.path, message, Phrase("Rename it")))
    return edit


def _holder(kind: ClientKind, content: object) -> tuple[str, ...]:
    """Returns the place for a new entry: the innermost existing place of the client, else its first place."""
    there = [place for place in kind.places if place and isinstance(member_of(content, place), dict | list)]
    return max(there, key=len, default=next((place for place in kind.places if place), ()))


def _removal(kind: ClientKind, path: Path, entries: Sequence[FoundEntry]) -> FileEdit:
    file = ReadFile(kind, ClientPlace(path, exists=True))
    try:
        file = replace(file, document=read_document(path, kind.format_of(path)))
    except CannotOpen as error:
        return FileEdit(kind, "remove", path, problem=_not_changed(path, error.reason))
    content = file.document.content if file.document else None
    there = [entry for entry in entries if member_of(content, named_place(entry)) is not MISSING]
    edit = _edit(kind, "remove", file, [EntryChange(named_place(entry)) for entry in there])
    for entry in there:
        if not is_same(member_of(content, named_place(entry)), full_content(entry)):
            message = Phrase("'{name}' has changed meanwhile", name=entry.name)
            return replace(edit, text=edit.document.text if edit.document else "", problem=_not_changed(path, message))
    return edit


def _edit(kind: ClientKind, action: Action, file: ReadFile, changes: Iterable[EntryChange]) -> FileEdit:
    path, document = file.place.path, _document(file)
    edit = FileEdit(kind, action, path, document, tuple(changes), document.text if document else "", file.problem)
    if edit.problem or document is None:
        return edit
    try:
        return replace(edit, text=changed(document.text, document.format, edit.changes))
    except CannotRead as error:
        where = (
            Phrase("line {line}: {reason}", line=Lines(document.text).place(error.at)[0], reason=error.reason) if error.at else error.reason
        )
        return replace(edit, problem=_not_changed(path, where))


def _document(file: ReadFile) -> Document | None:
    """Returns the document of a file, an empty one if the file is to be made."""
    return file.document if file.document or file.place.exists else read_document(file.place.path, file.kind.format_of(file.place.path))


def _not_changed(path: Path, message: str, hint: str = "") -> Problem:
    return Problem(
        Phrase("{file} is not changed by Tooltray", file=path.name), message, hint or Phrase("Change it by hand in {file}", file=str(path))
    )
