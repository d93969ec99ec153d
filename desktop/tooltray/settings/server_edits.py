"""Changes to the servers in the settings, and to what was chosen there for servers of other files: edits of the document.

Above it: McpConfHelper. Below it: the settings' models. Each function returns an edit that changes a document in place, and
raises TooltrayError where the result could not be used.
"""

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic.alias_generators import to_camel
from pydantic_core import to_jsonable_python

from tooltray.errors import Conflict, NotFound, TooltrayError
from tooltray.files.revisions import check_revision, revision_of
from tooltray.settings.document_parts import part
from tooltray.settings.migrations import Document
from tooltray.settings.server_config import SPELLINGS
from tooltray.settings.settings import read_usable_entry
from tooltray.settings.settings_file import Edit


class Watched:
    """An edit, and what it did to servers that were there.

    Attributes:
        edited: the names of those that it has changed or removed.
    """

    def __init__(self, edit: Edit) -> None:
        self._edit = edit
        self.edited: tuple[str, ...] = ()

    def __call__(self, document: Document) -> None:
        before = copy.deepcopy(_entries(document))
        self._edit(document)
        after = _entries(document)
        self.edited = tuple(name for name, written in before.items() if after.get(name) != written)


def entry(name: str, new: Mapping[str, Any], *, is_default: bool | None, revision: str, is_new: bool, before: Sequence[str] = ()) -> Edit:
    """See McpConfHelper.set_server.

    Args:
        before: an entry that is not there yet is put before the first of these that is; else it comes last.
    """

    def edit(document: Document) -> None:
        entries = part(document, "mcpServers")
        check_revision(revision_of(entries[name]) if name in entries else "", revision)
        if is_new and _is_usable(name, entries.get(name)):
            raise name_is_taken(name)
        behind = _from_first(entries, before) if name not in entries else []
        entries[name] = new
        for each in behind:
            entries[each] = entries.pop(each)
        if is_default is not None:
            _set_default(document, name, is_default)

    return edit


def _from_first(entries: Mapping[str, Any], names: Sequence[str]) -> list[str]:
    """The entries from the first of these names on."""
    there = list(entries)
    first = next((name for name in names if name in entries), None)
    return there[there.index(first) :] if first is not None else []


def fields(name: str, changed: Mapping[str, Any]) -> Edit:
    """See McpConfHelper.change_server."""

    def edit(document: Document) -> None:
        check_server(document, name)
        there = part(document["mcpServers"], name)
        for field, value in changed.items():
            _set_field(there, field, value)
        read_usable_entry(name, there)

    return edit


def without_entry(name: str, revision: str) -> Edit:
    """See McpConfHelper.remove_server."""

    def edit(document: Document) -> None:
        check_server(document, name)
        check_revision(revision_of(document["mcpServers"][name]), revision)
        del document["mcpServers"][name]
        _set_default(document, name, False)

    return edit


def default(name: str, is_default: bool, *, is_known: bool) -> Edit:
    """See McpConfHelper.set_default.

    Args:
        is_known: there is such a server, although it has no entry.
    """

    def edit(document: Document) -> None:
        if is_default and not is_known:
            check_server(document, name)
        _set_default(document, name, is_default)

    return edit


def choices(name: str, changed: Mapping[str, Any]) -> Edit:
    """What a person chooses here for a server whose entry is in another file.

    Args:
        changed: attributes of FileServerSettings; None: nothing is chosen any more.
    """

    def edit(document: Document) -> None:
        chosen = part(part(document, "fileServers"), name)
        for field, value in changed.items():
            _set_field(chosen, field, value)
        if not chosen:
            del document["fileServers"][name]

    return edit


def all_choices(chosen: Mapping[str, Mapping[str, Any]]) -> Edit:
    """See McpConfHelper.set_choices."""

    def edit(document: Document) -> None:
        servers = part(document, "fileServers")
        for name, fields in chosen.items():
            servers.pop(name, None)
            if fields:
                servers[name] = dict(fields)

    return edit


def name_is_taken(name: str) -> Conflict:
    return Conflict(f"there is a server '{name}' already", hint="Choose another name, or change the one that is there.")


def _entries(document: Document) -> Mapping[str, Any]:
    entries = document.get("mcpServers")
    return entries if isinstance(entries, dict) else {}


def _is_usable(name: str, written: Any) -> bool:
    try:
        read_usable_entry(name, written)
    except TooltrayError:
        return False
    return True


def check_server(document: Document, name: str) -> None:
    """
    Raises:
        NotFound: the settings have no server of this name.
    """
    entries = document.get("mcpServers")
    if not isinstance(entries, dict) or name not in entries:
        raise NotFound(f"There is no server '{name}'", hint="See which there are: tooltray servers list")


def _set_default(document: Document, name: str, is_default: bool) -> None:
    names = document.get("defaultServers")
    names = names if isinstance(names, list) else []
    if is_default != (name in names):
        document["defaultServers"] = [*names, name] if is_default else [other for other in names if other != name]


def _set_field(holder: dict[str, Any], field: str, value: Any) -> None:
    """Sets a field in the spelling that the entry has already, else in ours."""
    spellings = SPELLINGS.get(field, (to_camel(field),))
    for spelling in [spelling for spelling in spellings if spelling in holder] or spellings[:1]:
        if value is None:
            holder.pop(spelling, None)
        else:
            holder[spelling] = to_jsonable_python(value, by_alias=True, exclude_none=True)
