"""Reads `.mcp.json`, a project's own list of servers, as Claude Code, Copilot CLI and others write it; and sets or removes one entry in it.

The rules, where programs differ:

- `mcpServers` around the entries may be missing (Copilot CLI), or be called `servers` (Visual Studio).
- `type`, `transport` and `transportType` are one field; without it a command means stdio and a URL means HTTP.
- `timeout` is in milliseconds (Claude Code, Copilot CLI); a number below 1000 can only be meant as seconds (Roo, Kiro).
- `tools` (Copilot CLI) is an allow list of tools, unless `*` is in it.
- An entry in which two spellings of one field have different values is refused.
"""

from collections.abc import Callable, Iterator, Mapping

from tooltray.config.foreign_configs.config_source import CannotUse, ConfigSource, RawEntry
from tooltray.config.settings.file_server import FileEntry
from tooltray.foundation.files.json_edit import with_member, without_member
from tooltray.foundation.files.json_places import CannotRead, Value, read
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.verbs import JsonObject

LEAST_MILLISECONDS = 1000
"""A `timeout` below it is in seconds: no call is limited to less than a second, and one above 16 minutes is written in milliseconds."""

HOLDERS = ("mcpServers", "servers")
FIELD_SPELLINGS = {
    "command": ("cmd",),
    "args": ("arguments",),
    "env": ("envs", "environment"),
    "cwd": ("working_directory", "workingDirectory"),
    "url": ("baseUrl", "serverUrl", "httpUrl", "uri"),
    "headers": ("customHeaders", "http_headers"),
    "type": ("transport", "transportType"),
    "autoApprove": ("alwaysAllow",),
    "descriptions": ("description",),
}
_TYPES = {
    "stdio": "stdio",
    "local": "stdio",
    "http": "http",
    "remote": "http",
    "streamable-http": "http",
    "streamable_http": "http",
    "streamableHttp": "http",
    "http-stream": "http",
    "sse": "sse",
}
WITHOUT_EFFECT = frozenset(
    {
        *(
            "approval",
            "bundled",
            "connectionTimeout",
            "default_tools_approval_mode",
            "dev",
            "display_name",
            "displayName",
            "enabled",
            "icon",
        ),
        *("id", "name", "required", "source", "start_on_launch", "startup_timeout_ms", "startup_timeout_sec"),
        *("supports_parallel_tool_calls", "title", "version", "watchPaths"),
    }
)
"""Members of entries by which clients show a server or watch over its start; an import may leave them out."""
_OF_TARGETS = ("command", "cmd", "url", "baseUrl", "serverUrl", "httpUrl", "uri")

PlaceOf = Callable[[str], int]
"""Returns where a field of an entry begins in the text."""


def read_mcp_json(source: ConfigSource, document: Value) -> tuple[FileEntry, ...]:
    """Reads the servers of a document; unusable entries become problems of the source.

    Raises:
        CannotUse: the document is not a list of servers.
    """
    source.remark_repeated(document)
    holder = holder_of(document)
    return source.entries(holder, _entry) if holder else ()


def holder_of(document: Value) -> Value | None:
    """Returns the object whose members are the servers; None: the file has none.

    Raises:
        CannotUse: the document is not a list of servers.
    """
    if not isinstance(document.content, dict):
        raise CannotUse(Phrase('the file must be an object with "mcpServers" in it'), document.start)
    for key in HOLDERS:
        if key in document.members:
            at, holder = document.members[key]
            if holder.content is None:
                return None
            if not isinstance(holder.content, dict):
                raise CannotUse(Phrase("'{field}' must be an object", field=key), at)
            return holder
    if any(isinstance(document.content.get(key), str | list) for key in _OF_TARGETS):
        raise CannotUse(Phrase('this is one server\'s entry; it needs a name, and "mcpServers" around it'), document.start)
    bare = {name: member for name, member in document.members.items() if isinstance(member[1].content, dict)}
    return Value(document.content, document.start, document.end, bare)


def _entry(raw: RawEntry) -> FileEntry:
    return FileEntry(raw.name, raw.checked(in_our_spelling(raw.written, raw.place_of)), raw.written, raw.line)


def in_our_spelling(written: Mapping[str, object], place_of: PlaceOf) -> dict[str, object]:
    """Returns the entry with the fields of our settings; unknown fields stay.

    Raises:
        CannotUse: two of its fields contradict each other, or one has an unknown value.
    """
    entry = {key: value for key, value in written.items() if value is not None}
    for ours, others in FIELD_SPELLINGS.items():
        _join(entry, ours, others, place_of)
    if isinstance(words := entry.get("command"), list):
        entry |= {"command": words[0] if words else None, "args": [*words[1:], *_list_of(entry, "args", place_of)]}
    entry |= dict(_translated(entry, written, place_of))
    for key in ("disabled", "enabled", "timeout", "tools"):
        entry.pop(key, None)
    if "url" in entry and isinstance(given := entry.get("headers", {}), Mapping) and (headers := take_request_headers(entry)):
        entry["headers"] = {**given, **headers}
    return entry


def take_request_headers(entry: JsonObject) -> dict[str, object]:
    """Removes and returns the headers of a remote server that are not in `headers`: of `requestOptions` and `apiKey` (Continue, whose key
    replaces a header `Authorization`), and of `requestInit`. Other request options stay.
    """
    found: dict[str, object] = {}
    for key in ("requestInit", "requestOptions"):
        options = entry.get(key)
        if isinstance(options, Mapping) and isinstance(headers := options.get("headers"), Mapping):
            found |= {str(name): value for name, value in headers.items()}
            entry[key] = {name: value for name, value in options.items() if name != "headers"}
            if not entry[key]:
                del entry[key]
    if isinstance(api_key := entry.get("apiKey"), str) and api_key:
        del entry["apiKey"]
        found["Authorization"] = f"Bearer {api_key}"
    return found


def _join(entry: dict[str, object], ours: str, others: tuple[str, ...], place_of: PlaceOf) -> None:
    given = [(key, entry.pop(key)) for key in (ours, *others) if key in entry]
    if any(value != given[0][1] for _, value in given[1:]):
        names = " / ".join(key for key, _ in given)
        raise CannotUse(Phrase("{fields} differ; keep one of them", fields=names), place_of(given[-1][0]))
    if given:
        entry[ours] = given[0][1]


def _list_of(entry: Mapping[str, object], key: str, place_of: PlaceOf) -> list[object]:
    found = entry.get(key, [])
    if not isinstance(found, list):
        raise CannotUse(Phrase("'{field}' must be a list", field=key), place_of(key))
    return found


def _translated(entry: Mapping[str, object], written: Mapping[str, object], place_of: PlaceOf) -> Iterator[tuple[str, object]]:
    if "type" in entry:
        yield "type", our_type(entry["type"], written, place_of)
    if isinstance(approved := entry.get("autoApprove"), bool):
        yield "autoApprove", ["all"] if approved else []
    if is_off(entry, place_of):
        yield "disable", True
    if "timeout" in entry and "callTimeout" not in entry:
        yield "callTimeout", _seconds(entry["timeout"], place_of)
    if "tools" in entry and "*" not in (tools := _list_of(entry, "tools", place_of)):
        yield "toolFilter", {"mode": "allow", "list": tools}


def our_type(given: object, written: Mapping[str, object], place_of: PlaceOf) -> str:
    """Returns the transport as our settings name it: stdio, http or sse.

    Raises:
        CannotUse: no such transport exists.
    """
    if not isinstance(given, str) or given not in _TYPES:
        key = next(key for key in ("type", *FIELD_SPELLINGS["type"]) if key in written)
        raise CannotUse(Phrase("its type must be stdio, http or sse"), place_of(key))
    return _TYPES[given]


def is_off(entry: Mapping[str, object], place_of: PlaceOf) -> bool:
    """Returns whether the entry disables its server.

    Raises:
        CannotUse: the field is neither true nor false.
    """
    for key in ("disable", "disabled", "enabled"):
        if not isinstance(entry.get(key, False), bool):
            raise CannotUse(Phrase("'{field}' must be true or false", field=key), place_of(key))
    return entry.get("disable") is True or entry.get("disabled") is True or entry.get("enabled") is False


def _seconds(given: object, place_of: PlaceOf) -> float:
    if isinstance(given, bool) or not isinstance(given, int | float) or not given > 0:
        raise CannotUse(Phrase("'{field}' must be a number above 0", field="timeout"), place_of("timeout"))
    return given / 1000 if given >= LEAST_MILLISECONDS else float(given)


# edits, which leave every other byte as it is


def with_entry(text: str, name: str, entry: Mapping[str, object]) -> str:
    """Returns the text with this entry, which is new or replaces the entry of the same name.

    Raises:
        CannotRead: the text is not a list of servers, or the entry has no JSON form.
    """
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    if not text.removeprefix("\ufeff").strip():
        text = mark + "{}\n"
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
    """Returns the keys from the document to the servers; empty if the entries are at the top, where they stay."""
    for key in HOLDERS:
        if key in document.members:
            return (key,)
    holder = _holder(document)
    return () if holder and holder.members else HOLDERS[:1]
