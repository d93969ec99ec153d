"""What connecting, disconnecting and removing would change in which file; nothing is written here.

Above it: client_edits. Below it: client_look (the files as they are now), entry_shapes, entry_changes. Blocks for as long as reading takes.

Who makes an edit that was shown computes it anew and compares the revision, so that it is made of what is there.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import ClassVar

from msgspec.structs import replace

from tooltray.config.foreign_configs.documents import Document, read_document
from tooltray.foundation.errors import Problem
from tooltray.foundation.files.file_text import CannotOpen
from tooltray.foundation.files.json_places import CannotRead, Lines
from tooltray.foundation.files.member_change import MISSING, is_same, member_of
from tooltray.foundation.hidden_fields import HidesFields
from tooltray.foundation.phrases import Phrase
from tooltray.sources.clients.client_connection import OwnEntry, connection_of
from tooltray.sources.clients.client_kinds import ClientFiles, ClientKind
from tooltray.sources.clients.client_look import ClientLook, ReadFile
from tooltray.sources.clients.client_places import ClientPlace
from tooltray.sources.clients.edit_names import Action, name_of
from tooltray.sources.clients.entry_changes import EntryChange, changed, full_content, named_place
from tooltray.sources.clients.entry_shapes import KEY, bridge_entry_for, mended_entry
from tooltray.sources.clients.found_entries import FoundEntry

ABSENT = "absent"
"""The revision of a file that is not there."""


class FileEdit(HidesFields, frozen=True):
    """A change of one file, based on what was read.

    Attributes:
        text: of the file afterwards; the same as before where nothing is to be done.
        problem: why it cannot be made; `text` is as before then.
        document: None: the file could not be read.
    """

    hidden: ClassVar = ("text",)

    kind: ClientKind
    action: Action
    path: Path
    document: Document | None = None
    changes: tuple[EntryChange, ...] = ()
    text: str = ""
    problem: Problem | None = None

    @property
    def id(self) -> str:
        return name_of(self.action, self.kind.id, str(self.path))

    @property
    def revision(self) -> str:
        """Of the file that it is based on; empty: it could not be read."""
        return (self.document.digest or ABSENT) if self.document else ""

    @property
    def is_change(self) -> bool:
        """Whether anything is to be done."""
        return self.problem is None and self.document is not None and self.text != self.document.text

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(change.place[-1] for change in self.changes))


def connecting(kind: ClientKind, look: ClientLook, own: OwnEntry, environ: Mapping[str, str]) -> Iterator[FileEdit]:
    """The edits that connect a client: a new entry in its file, or one that is outdated or broken mended. No edit: there is no file.

    Args:
        environ: where the programs of entries are looked up.
    """
    for file in _targets(kind, look):
        ours = [entry for entry in file.entries if entry.kind == "bridge" and not entry.project]
        if not ours:
            yield _new(kind, file, own.words)
        elif connection_of(ours, own, environ) == "connected":
            yield _edit(kind, "connect", file, ())
        else:
            mended = mended_entry(kind.shape, own.words, full_content(ours[0]))
            yield _edit(kind, "mend", file, [EntryChange(named_place(ours[0]), mended)])


def disconnecting(kind: ClientKind, look: ClientLook) -> Iterator[FileEdit]:
    """The edits that take every entry of ours out of a client's files, those of projects included."""
    for file in look.files(kind):
        ours = [entry for entry in file.entries if entry.kind == "bridge"]
        if ours:
            yield _edit(kind, "disconnect", file, [EntryChange(named_place(entry)) for entry in ours])


def removing(entries: Iterable[FoundEntry]) -> Iterator[FileEdit]:
    """The edits that take servers out of their files. An entry that is another one by now is a problem; one that is gone needs nothing."""
    for _, group in groupby(sorted(entries, key=_file_of), key=_file_of):
        found = list(group)
        yield _removal(found[0].client, found[0].path, found)


def _file_of(entry: FoundEntry) -> tuple[str, str]:
    return str(entry.path), entry.client.id


def _targets(kind: ClientKind, look: ClientLook) -> list[ReadFile]:
    """The files that a client needs an entry in: the first one that it reads, and that of each of its profiles."""
    own = [file for file in look.files(kind) if not file.project and file.place.path not in _only_read(kind, look)]
    of_profiles = {place.path for place in look.places.files(_with_files(kind, kind.files, has_star=True))}
    profiles = [file for file in own if file.place.path in of_profiles]
    others = [file for file in own if file not in profiles]
    first = sorted(others, key=lambda file: all(entry.kind != "bridge" for entry in file.entries))[:1]
    return [*(file for file in first if file.place.exists or not profiles), *profiles]


def _only_read(kind: ClientKind, look: ClientLook) -> set[Path]:
    return {place.path for place in look.places.files(_with_files(kind, kind.also_reads))}


def _with_files(kind: ClientKind, files: ClientFiles, *, has_star: bool = False) -> ClientKind:
    """The client as if it had these files alone, none of which would be made."""
    chosen = {name: tuple(each for each in getattr(files, name) if "*" in each or not has_star) for name in files.__struct_fields__}
    return replace(kind, files=ClientFiles(**chosen), also_reads=ClientFiles(), creates=False)


def _new(kind: ClientKind, file: ReadFile, words: Sequence[str]) -> FileEdit:
    document = _document(file)
    content = document.content if document else None
    holder = _holder(kind, content)
    entry = bridge_entry_for(kind.shape, words)
    if len(holder) > 1 and kind.shape == "opencode":  # its second version, where other keys say so
        del entry["enabled"], entry["timeout"]
    place = (*holder, KEY)
    edit = _edit(kind, "connect", file, [EntryChange(place, entry, kind.is_list)])
    if member_of(content, place) is not MISSING and not edit.problem:
        message = Phrase("there is an entry '{name}' already, which is not Tooltray", name=KEY)
        return replace(edit, text=document.text if document else "", problem=_not_changed(file.place.path, message, Phrase("Rename it")))
    return edit


def _holder(kind: ClientKind, content: object) -> tuple[str, ...]:
    """Where a new entry goes: the innermost of the client's places that is there, else the first one."""
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
            message = Phrase("'{name}' is another server by now", name=entry.name)
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
    """What was read; of a file that is to be made, nothing that was."""
    return file.document if file.document or file.place.exists else read_document(file.place.path, file.kind.format_of(file.place.path))


def _not_changed(path: Path, message: str, hint: str = "") -> Problem:
    return Problem(
        Phrase("{file} is not changed by Tooltray", file=path.name), message, hint or Phrase("Change it by hand in {file}", file=str(path))
    )
