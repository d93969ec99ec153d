"""Edits of the servers in the settings, and of the choices there for servers of other files; for `McpConfHelper.edit`."""

import copy
from collections.abc import Mapping, Sequence

from tooltray.config.settings.document import Document, Edit, members, part, texts
from tooltray.config.settings.given_entries import read_entry
from tooltray.config.settings.json_model import as_json, to_camel
from tooltray.config.settings.server_config import SPELLINGS
from tooltray.config.settings.settings_reading import check_counts
from tooltray.foundation.errors import Conflict, NotFound
from tooltray.foundation.files.json_text import check_revision, revision_of
from tooltray.foundation.phrases import Phrase


class Watched:
    """An edit that records which servers it has changed or removed.

    Attributes:
        edited: their names.
    """

    def __init__(self, edit: Edit) -> None:
        self._edit = edit
        self.edited: tuple[str, ...] = ()

    def __call__(self, document: Document) -> None:
        before = copy.deepcopy(members(document, "mcpServers"))
        self._edit(document)
        after = members(document, "mcpServers")
        self.edited = tuple(name for name, written in before.items() if after.get(name) != written)


def entry(
    name: str, new: Mapping[str, object], *, is_default: bool | None, revision: str, is_new: bool, before: Sequence[str] = ()
) -> Edit:
    """Adds or replaces an entry, see McpConfHelper.set_server.

    Args:
        before: a new entry is put before the first of these that exists; else it comes last.
    """

    def edit(document: Document) -> None:
        entries = part(document, "mcpServers")
        check_revision(revision_of(entries[name]) if name in entries else "", revision)
        if is_new and name in entries:
            raise name_is_taken(name)
        behind = _from_first(entries, before) if name not in entries else []
        entries[name] = new
        for each in behind:
            entries[each] = entries.pop(each)
        if is_default is not None:
            _set_default(document, name, is_default)

    return edit


def _from_first(entries: Mapping[str, object], names: Sequence[str]) -> list[str]:
    """Returns the entries from the first of these names on."""
    there = list(entries)
    first = next((name for name in names if name in entries), None)
    return there[there.index(first) :] if first is not None else []


def fields(name: str, changed: Mapping[str, object]) -> Edit:
    """Changes fields of an entry, by the names of MCPServerConfig; None removes one."""

    def edit(document: Document) -> None:
        _check_server(document, name)
        there = part(part(document, "mcpServers"), name)
        for field, value in changed.items():
            _set_field(there, field, value)
        read_entry(name, there)

    return edit


def enabled(is_enabled: bool, paused_until: float) -> Edit:
    """Switches all servers on or off. `paused_until`: unix seconds at which they resume; 0: when the user resumes them."""

    def edit(document: Document) -> None:
        document["mcpEnabled"] = is_enabled
        document.pop("pausedUntil", None)
        if paused_until and not is_enabled:
            document["pausedUntil"] = paused_until

    return edit


def without_entry(name: str, revision: str) -> Edit:
    """Removes a server, also from those that start with the hub."""

    def edit(document: Document) -> None:
        _check_server(document, name)
        entries = part(document, "mcpServers")
        check_revision(revision_of(entries[name]), revision)
        del entries[name]
        _set_default(document, name, False)

    return edit


def renamed(name: str, new_name: str) -> Edit:
    """Gives a server another name wherever the document names it: its entry, which keeps its place, the servers that start with the hub,
    profiles, and rules of AI clients. What still names an earlier server of the new name is dropped: the server must gain nothing by it.
    """

    def edit(document: Document) -> None:
        _check_server(document, name)
        if new_name in members(document, "mcpServers"):
            raise name_is_taken(new_name)
        _rename_keys(document, "mcpServers", name, new_name)
        _rename_items(document, "defaultServers", name, new_name)
        for profile in members(document, "profiles").values():
            if isinstance(profile, dict):
                _rename_items(profile, "servers", name, new_name)
                _rename_keys(profile, "tools", name, new_name)
                _rename_keys(profile, "skills", name, new_name)
        for client in members(members(document, "publish"), "clients").values():
            if isinstance(client, dict) and isinstance(rules := client.get("callRules"), list):
                client["callRules"] = [rule for rule in rules if not (isinstance(rule, dict) and rule.get("server") == new_name)]
                for rule in client["callRules"]:
                    if isinstance(rule, dict) and rule.get("server") == name:
                        rule["server"] = new_name

    return edit


def _rename_keys(holder: dict[str, object], member: str, name: str, new_name: str) -> None:
    if isinstance(there := holder.get(member), dict):
        holder[member] = {new_name if key == name else key: value for key, value in there.items() if key != new_name}


def _rename_items(holder: dict[str, object], member: str, name: str, new_name: str) -> None:
    if isinstance(there := holder.get(member), list):
        holder[member] = [new_name if each == name else each for each in there if each != new_name]


def default(name: str, is_default: bool, *, is_known: bool) -> Edit:
    """Decides whether a server starts with the hub.

    Args:
        is_known: whether the server exists without an entry.
    """

    def edit(document: Document) -> None:
        if is_default and not is_known:
            _check_server(document, name)
        _set_default(document, name, is_default)

    return edit


def choices(name: str, changed: Mapping[str, object]) -> Edit:
    """Changes the choices for a server whose entry is in another file.

    Args:
        changed: attributes of FileServerSettings; None deletes a choice.

    Raises:
        TooltrayError: the edit: other choices for it cannot be read, so that these would not count.
    """

    def edit(document: Document) -> None:
        servers = part(document, "fileServers")
        chosen = part(servers, name)
        for field, value in changed.items():
            _set_field(chosen, field, value)
        if not chosen:
            del servers[name]
        check_counts({"fileServers": servers}, ("fileServers", name))

    return edit


def all_choices(chosen: Mapping[str, Mapping[str, object]]) -> Edit:
    """Replaces all choices for servers of other files, also of files that are not read now.

    Args:
        chosen: by their names here, as `choices_of` returns them; empty for a server: deletes its choices.
    """
    kept = copy.deepcopy(dict(chosen))

    def edit(document: Document) -> None:
        servers = part(document, "fileServers")
        for name, fields in kept.items():
            servers.pop(name, None)
            if fields:
                servers[name] = dict(fields)

    return edit


def choices_of(document: Document, name: str) -> Mapping[str, object]:
    """Returns all choices for a server of another file, in the spelling of the settings."""
    return members(members(document, "fileServers"), name)


def name_is_taken(name: str) -> Conflict:
    return Conflict(
        Phrase("there is a server '{name}' already", name=name), hint=Phrase("Choose another name, or change the one that is there.")
    )


def written_entry(document: Document, name: str) -> Document:
    """Returns the entry of a server as it is written, also an unusable one.

    Raises:
        NotFound: the settings have no server of this name.
    """
    _check_server(document, name)
    entry: Document = members(document, "mcpServers")[name]  # type: ignore[assignment]  # one that cannot be used may be no object
    return entry


def _check_server(document: Document, name: str) -> None:
    if name not in members(document, "mcpServers"):
        raise NotFound(Phrase("Server '{name}' not found", name=name), hint=Phrase("List the servers: tooltray servers list"))


def _set_default(document: Document, name: str, is_default: bool) -> None:
    written = document.get("defaultServers")
    names = written if isinstance(written, list) else []
    if is_default and name not in names:
        texts(document, "defaultServers").append(name)
    elif not is_default and name in names:
        document["defaultServers"] = [other for other in names if other != name]


def _set_field(holder: dict[str, object], field: str, value: object) -> None:
    """Sets a field in the spelling that the entry already has, else in ours."""
    spellings = SPELLINGS.get(field, (to_camel(field),))
    for spelling in [spelling for spelling in spellings if spelling in holder] or spellings[:1]:
        if value is None:
            holder.pop(spelling, None)
        else:
            holder[spelling] = as_json(value, by_alias=True, exclude_none=True)
