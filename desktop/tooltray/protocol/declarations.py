"""Declarations of clients and servers beyond the capabilities of their era: `extensions`, `experimental`, and the `tasks` of 2025-11-25.

Peers write these members, so wrongly typed, oversized or deeply nested ones are left out: AI clients refuse a whole greeting for a single
such member.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

import msgspec
from msgspec import Raw

from tooltray.protocol.envelope import dump, load
from tooltray.protocol.member_scanner import opened

EXTENSIONS, EXPERIMENTAL, TASKS = "extensions", "experimental", "tasks"
BEYOND = (EXTENSIONS, EXPERIMENTAL)
VIEWS_EXTENSION = "io.modelcontextprotocol/ui"  # MCP Apps (2026-01-26)
_VIEWS_HINT = b"modelcontextprotocol"  # the slash behind it may be escaped
MOST_NAMES = 64  # of one kind, from one side: the specification names three extensions, the busiest servers have a handful
MOST_BYTES = 65_536  # of one side's declarations together; the largest that are known have 2 kB
JOINED_BYTES = 262_144  # of all servers' declarations together: each greeting contains them
DEEPEST = 16  # levels of an extension's settings; a hostile text can nest far deeper than Python's stack

Declarations = Mapping[str, Mapping[str, object]]
"""The settings (an object), by the member of the capabilities and then by name."""


def read(capabilities: object, members: Sequence[str] = BEYOND) -> Declarations:
    """Returns the usable declarations of a peer's capabilities, which may have any type."""
    said = capabilities if isinstance(capabilities, dict) else {}
    found = {member: dict(islice(named.items(), MOST_NAMES)) for member in members if isinstance(named := said.get(member), dict)}
    return bounded(found, MOST_BYTES)


def read_raw(capabilities: Raw) -> Declarations:
    """Returns the usable declarations of capabilities as bytes. A search in the bytes spares most of them the parsing."""
    text = bytes(capabilities)
    if not any(b'"%b"' % member.encode() in text for member in BEYOND):
        return {}
    try:
        return read(load(capabilities))
    except ValueError:
        return {}


def bounded(declared: Declarations, most_bytes: int) -> Declarations:
    """Returns the declarations that fit into `most_bytes`, without settings that are not an object or are nested too deeply."""
    kept: dict[str, dict[str, object]] = {}
    for member, named in declared.items():
        for name, settings in named.items():
            size = _size(name, settings) if isinstance(settings, dict) else None
            if size is not None and size <= most_bytes:
                most_bytes -= size
                kept.setdefault(member, {})[name] = settings
    return kept


def names(declared: Declarations) -> frozenset[str]:
    """Returns the names of the declared extensions and experimental capabilities."""
    return frozenset(name for member in BEYOND for name in declared.get(member, ()))


def is_named_after(method: str, name: str) -> bool:
    """Returns whether a method belongs to an extension by its name: `foo/bar` and `com.example/foo/bar` belong to `com.example/foo`."""
    return any(method == each or method.startswith(f"{each}/") for each in (name, name.rpartition("/")[2]) if each)


def joined(declared: Iterable[Declarations]) -> dict[str, dict[str, object]]:
    """Returns what several peers declare together: objects and lists are united, a boolean is true if one of them declares true, and of
    other values the first one counts.
    """
    together: dict[str, dict[str, object]] = {}
    for each in declared:
        for member, named in each.items():
            so_far = together.setdefault(member, {})
            for name, settings in named.items():
                so_far[name] = _joined(so_far[name], settings) if name in so_far else settings
    return together


def _joined(first: object, other: object) -> object:
    if isinstance(first, dict) and isinstance(other, dict):
        added = {key: _joined(first[key], value) if key in first else value for key, value in other.items()}
        return {**first, **added}
    if isinstance(first, list) and isinstance(other, list):
        return list({bytes(dump(value)): value for value in (*first, *other)}.values())
    if isinstance(first, bool) and isinstance(other, bool):
        return first or other
    return first


def _size(name: str, settings: object) -> int | None:
    """Returns the size in bytes; None if the settings cannot be passed on."""
    try:
        return len(msgspec.json.encode({name: settings})) if _is_shallow(settings, DEEPEST) else None
    except ValueError:  # half a surrogate pair
        return None


def _is_shallow(value: object, levels: int) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return inner is None or (levels > 0 and all(_is_shallow(each, levels - 1) for each in inner))


def shows_views(capabilities: Raw) -> bool:
    """Returns whether a client with these capabilities shows the views of tools; a member of a wrong type declares nothing."""
    if _VIEWS_HINT not in bytes(capabilities):
        return False
    try:
        return bytes(opened(opened(capabilities)[EXTENSIONS])[VIEWS_EXTENSION]).startswith(b"{")
    except (KeyError, ValueError, RecursionError):
        return False
