"""What a client or a server declares beyond what its era defines: `extensions`, `experimental`, and the `tasks` of 2025-11-25.

Above it: whoever reads, keeps or joins such capabilities. Below it: envelope. Written by others, so it is read with care: what has another
type is left out (AI clients refuse a whole greeting for one such member), and so is what is too much or too deep.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import islice

import msgspec
from msgspec import Raw

from tooltray.protocol.envelope import dump, load

EXTENSIONS, EXPERIMENTAL, TASKS = "extensions", "experimental", "tasks"
BEYOND = (EXTENSIONS, EXPERIMENTAL)
MOST_NAMES = 64  # of one kind, from one side: the specification names three extensions, the busiest servers have a handful
MOST_BYTES = 65_536  # of one side's declarations together; the largest that are known have 2 kB
JOINED_BYTES = 262_144  # of those of all servers together: they stand in each greeting
DEEPEST = 16  # levels of one's settings; Python's own stack ends far below that of a hostile text

Declarations = Mapping[str, Mapping[str, object]]
"""By the member of the capabilities, then by name: the settings, which are an object."""


def read(capabilities: object, members: Sequence[str] = BEYOND) -> Declarations:
    """Those that can be used of the capabilities that somebody sent, whatever type they have."""
    said = capabilities if isinstance(capabilities, dict) else {}
    found = {member: dict(islice(named.items(), MOST_NAMES)) for member in members if isinstance(named := said.get(member), dict)}
    return bounded(found, MOST_BYTES)


def read_raw(capabilities: Raw) -> Declarations:
    """The same of capabilities as they came; a look at the bytes spares most of them the rest."""
    text = bytes(capabilities)
    if not any(b'"%b"' % member.encode() in text for member in BEYOND):
        return {}
    try:
        return read(load(capabilities))
    except ValueError:
        return {}


def bounded(declared: Declarations, most_bytes: int) -> Declarations:
    """Without what is no object or nested too deeply, as much as there is room for."""
    kept: dict[str, dict[str, object]] = {}
    for member, named in declared.items():
        for name, settings in named.items():
            size = _size(name, settings) if isinstance(settings, dict) else None
            if size is not None and size <= most_bytes:
                most_bytes -= size
                kept.setdefault(member, {})[name] = settings
    return kept


def names(declared: Declarations) -> frozenset[str]:
    """The extensions and experimental capabilities among them."""
    return frozenset(name for member in BEYOND for name in declared.get(member, ()))


def is_named_after(method: str, name: str) -> bool:
    """Whether a method is by its own name one of an extension: `foo/bar` and `com.example/foo/bar` are of `com.example/foo`."""
    return any(method == each or method.startswith(f"{each}/") for each in (name, name.rpartition("/")[2]) if each)


def joined(declared: Iterable[Declarations], *, on_conflict: Callable[[str], None]) -> dict[str, dict[str, object]]:
    """What several declare together: objects and lists united, and true where one of them says so.

    Args:
        declared: the first goes before where two of them cannot be joined.
        on_conflict: gets the name of an extension whose settings have different types.
    """
    together: dict[str, dict[str, object]] = {}
    for each in declared:
        for member, named in each.items():
            so_far = together.setdefault(member, {})
            for name, settings in named.items():
                so_far[name] = _joined(so_far[name], settings, partial(on_conflict, name)) if name in so_far else settings
    return together


def _joined(first: object, other: object, on_conflict: Callable[[], None]) -> object:
    if isinstance(first, dict) and isinstance(other, dict):
        added = {key: _joined(first[key], value, on_conflict) if key in first else value for key, value in other.items()}
        return {**first, **added}
    if isinstance(first, list) and isinstance(other, list):
        return list({bytes(dump(value)): value for value in (*first, *other)}.values())
    if isinstance(first, bool) and isinstance(other, bool):
        return first or other
    if first != other:
        on_conflict()
    return first


def _size(name: str, settings: object) -> int | None:
    """In bytes; None of what cannot be passed on."""
    try:
        return len(msgspec.json.encode({name: settings})) if _is_shallow(settings, DEEPEST) else None
    except ValueError:  # half a surrogate pair
        return None


def _is_shallow(value: object, levels: int) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return inner is None or (levels > 0 and all(_is_shallow(each, levels - 1) for each in inner))
