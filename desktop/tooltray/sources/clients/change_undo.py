"""What undoing a change would make of a file: its old content to the byte, or our change alone reversed.

Above it: change_writer, client_edits. Below it: entry_changes, change_store. Writes nothing.
"""

from collections.abc import Mapping
from pathlib import Path

from tooltray.config.foreign_configs.documents import Document, read_document
from tooltray.foundation.files.file_text import CannotOpen
from tooltray.foundation.files.json_places import CannotRead
from tooltray.foundation.files.json_text import digest_of
from tooltray.foundation.files.member_change import MISSING, member_of
from tooltray.foundation.phrases import Phrase
from tooltray.sources.clients.change_store import ChangeRecord, ChangeStore, EntryRecord
from tooltray.sources.clients.entry_changes import EntryChange, changed, content_of, without
from tooltray.sources.clients.own_entries import kind_of


def reversed_text(record: ChangeRecord, document: Document, before: object, own_url: str | None) -> str:
    """The present text of a file without what a change did to it. What has happened since already is left out.

    Args:
        before: the document before the change; None: it is not known, or there was none.
        own_url: as for `kind_of`.

    Raises:
        CannotRead: the file is malformed, or something else stands by now where the change was.
    """
    text = document.text
    for entry in reversed(record.entries):
        content = content_of(text, record.format)
        current = member_of(content, entry.place)
        if entry.written and current is not MISSING:
            _check_is_ours(entry, current, own_url)
            text = _without_new(text, record, entry) if entry.is_new else _with_old(text, record, entry, before)
        elif not entry.written and current is not MISSING:
            raise CannotRead(Phrase("there is another entry '{name}' by now", name=entry.place[-1]))
        elif not entry.written:
            text = _with_old(text, record, entry, before)
    return text


def undo_of(record: ChangeRecord, store: ChangeStore, digest: str) -> str:
    """What can be undone now, as `ClientChange.undo` says it; asks no keyring.

    Args:
        digest: of the file as it is now.
    """
    if record.state != "made" or record.action == "undo":
        return "none"
    has_old = not record.before or store.has_backup(record)
    if digest == record.after and has_old:
        return "exact"
    is_possible = any(_can_reverse(entry, content, has_old=has_old) for content in _contents(record) for entry in record.entries)
    return "entries" if is_possible else "none"


def _contents(record: ChangeRecord) -> list[object]:
    try:
        return [read_document(Path(record.path), record.format).content]
    except CannotOpen:
        return []


def _can_reverse(entry: EntryRecord, content: object, *, has_old: bool) -> bool:
    is_there = member_of(content, entry.place) is not MISSING
    return is_there and (entry.is_new or has_old) if entry.written else has_old and not is_there


def _check_is_ours(entry: EntryRecord, current: object, own_url: str | None) -> None:
    """An entry that a person or the client has added something to is ours still; one that starts something else is not."""
    is_ours = isinstance(current, Mapping) and kind_of(current, own_url) == "bridge"
    if digest_of(current) != entry.written and not is_ours:
        raise CannotRead(Phrase("'{name}' is another server by now", name=entry.place[-1]))


def _without_new(text: str, record: ChangeRecord, entry: EntryRecord) -> str:
    text = without(text, record.format, entry.place)
    for length in range(len(entry.place) - 1, len(entry.made) - 1 if entry.made else len(entry.place), -1):
        holder = member_of(content_of(text, record.format), entry.place[:length])
        if holder is MISSING:
            continue
        if holder not in ({}, [], None):
            break
        text = without(text, record.format, entry.place[:length])
    return text


def _with_old(text: str, record: ChangeRecord, entry: EntryRecord, before: object) -> str:
    old = member_of(before, entry.place)
    if old is MISSING:
        raise CannotRead(Phrase("nobody knows what '{name}' was before", name=entry.place[-1]))
    return changed(text, record.format, [EntryChange(entry.place, old, entry.is_list)])
