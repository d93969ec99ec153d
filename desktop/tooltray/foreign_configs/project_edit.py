"""Writes one entry into a project's `.mcp.json`, or takes it out: a text goes in, a text comes out, and every other byte stays.

Above it: whoever writes such files. Below it: json_edit, mcp_json (where in a file the entries are). Knows no disk.
"""

from collections.abc import Mapping
from typing import Any

from tooltray.files.json_edit import with_member, without_member
from tooltray.files.json_places import CannotRead, Value, read
from tooltray.foreign_configs.config_page import CannotUse
from tooltray.foreign_configs.mcp_json import HOLDERS, holder_of

EMPTY = "{}\n"
"""What a file begins with that is not there yet, or has nothing in it."""


def with_entry(text: str, name: str, entry: Mapping[str, Any]) -> str:
    """The text with this entry, new or in the place of one of the same name.

    Raises:
        CannotRead: the text is no list of servers, or the entry has no JSON form.
    """
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    if not text.removeprefix("\ufeff").strip():
        text = mark + EMPTY
    document = _read(text)
    path = _path(document)
    if path and (path[0] not in document.members or _holder(document) is None):
        return with_member(text, path, {name: entry})
    return with_member(text, (*path, name), entry)


def without_entry(text: str, name: str) -> str:
    """The text without the entry of this name, wherever it stands in it.

    Raises:
        CannotRead: the text is no list of servers, or has no such entry.
    """
    path = _path(_read(text))
    text = without_member(text, (*path, name))
    while name in _servers(text):  # it stood there twice
        text = without_member(text, (*path, name))
    return text


def _servers(text: str) -> Mapping[str, Any]:
    holder = _holder(_read(text))
    return holder.members if holder else {}


def _read(text: str) -> Value:
    document = read(text)
    _holder(document)
    return document


def _holder(document: Value) -> Value | None:
    try:
        return holder_of(document)
    except CannotUse as reason:
        raise CannotRead(reason.reason, reason.at) from None


def _path(document: Value) -> tuple[str, ...]:
    """The keys that lead to the servers, or should: entries without anything around them stay so."""
    for key in HOLDERS:
        if key in document.members:
            return (key,)
    holder = _holder(document)
    return () if holder and holder.members else HOLDERS[:1]
