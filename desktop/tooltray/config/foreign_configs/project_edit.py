"""Sets or removes one entry in the text of a project's `.mcp.json`; every other byte stays.

Above it: project_edits. Below it: json_edit, mcp_json (where in a file the entries are). Knows no disk.
"""

from collections.abc import Mapping

from tooltray.config.foreign_configs.config_source import CannotUse
from tooltray.config.foreign_configs.mcp_json import HOLDERS, holder_of
from tooltray.foundation.files.json_edit import with_member, without_member
from tooltray.foundation.files.json_places import CannotRead, Value, read

EMPTY = "{}\n"
"""The initial text of a file that is missing or empty."""


def with_entry(text: str, name: str, entry: Mapping[str, object]) -> str:
    """Returns the text with this entry, new or in the place of one of the same name.

    Raises:
        CannotRead: the text is not a list of servers, or the entry has no JSON form.
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
    """Returns the text without the entry of this name.

    Raises:
        CannotRead: the text is not a list of servers, or has no such entry.
    """
    path = _path(_read(text))
    text = without_member(text, (*path, name))
    while name in _servers(text):  # the same name may occur twice
        text = without_member(text, (*path, name))
    return text


def _servers(text: str) -> Mapping[str, tuple[int, Value]]:
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
    """Keys from the document to the servers; empty if the entries are at the top, where they stay."""
    for key in HOLDERS:
        if key in document.members:
            return (key,)
    holder = _holder(document)
    return () if holder and holder.members else HOLDERS[:1]
