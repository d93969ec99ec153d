"""Sets and takes out entries in the text of an AI client's file: the smallest edit, in whichever format it is."""

import json
from collections.abc import Iterable, Sequence
from typing import ClassVar, TypeAlias

from tooltray.config.foreign_configs.documents import Format
from tooltray.foundation.files import json_edit, toml_edit, yaml_edit
from tooltray.foundation.files.json_places import CannotRead, read
from tooltray.foundation.files.member_change import MISSING, NAME, check_change, member_of
from tooltray.foundation.files.toml_places import read_toml
from tooltray.foundation.files.yaml_places import read_yaml
from tooltray.foundation.hidden_fields import HidesFields
from tooltray.foundation.phrases import Phrase
from tooltray.sources.clients.found_entries import FoundEntry

NamedPlace: TypeAlias = tuple[str, ...]
"""Keys from the document to an entry; the key of an item in a list is its name."""


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
    """Returns an entry's place by names, so that it is found again when others are added and removed."""
    *above, last = entry.place
    return (*map(str, above), entry.name if isinstance(last, int) else str(last))


def full_content(entry: FoundEntry) -> dict[str, object]:
    """Returns an entry as it is written; an item of a list with its name."""
    return ({NAME: entry.name} if isinstance(entry.place[-1], int) else {}) | dict(entry.entry)


def content_of(text: str, format: Format) -> object:
    """Returns the content of a text, as its editor writes it back; None: it is empty.

    Raises:
        CannotRead: it is malformed, or JSON5, which is read but not edited.
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
    """Returns the outermost holder that has to be made for an entry; empty: all are there.

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
        CannotRead: it is malformed, or one of the changes cannot be made without changing anything else.
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
        raise CannotRead(Phrase("there is no {name}", name=place[-1]))
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
