"""References: the parts of a chain that stand for values of earlier steps. They select and join values, and compute nothing else.

A reference is an object with the member `$`: the name of a step with a JSON pointer (RFC 6901), or a list of values. Its other members are
applied in a fixed order: split, filter, map, first, count, join.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Annotated, Any

import msgspec
from msgspec import Raw

from tooltray.foundation.errors import TooltrayError
from tooltray.protocol.envelope import dump

REFERENCE, ITEM = "$", "item"
MOST_BYTES = 50 * 2**20  # of the values that a chain keeps, and of what one call or the result is made of: each is in memory as a whole
LONGEST_LIST = 100_000  # elements that a reference splits, filters or maps
DEEPEST = 100  # levels of what a model writes; no real arguments have 20
LONGEST_QUOTED, MOST_QUOTED = 60, 8  # characters of a name, and names, in an error
_INDEX = re.compile(r"(?:0|[1-9][0-9]{0,8})\Z")
_Pointer = Annotated[str, msgspec.Meta(pattern=r"^(/.*)?$")]
_Scalar = str | int | float | bool | None


class _Contains(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    contains: Annotated[str, msgspec.Meta(min_length=1)]


class _Written(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"source": REFERENCE}):
    """A reference as a model writes it.

    Attributes:
        source: the name of a step or ITEM, and a pointer; or a list of values.
        split: splits a text; empty pieces are left out.
        filter: keeps the elements that have these values at these pointers.
        map: replaces each element by its value at a pointer, or by an object of such values; null if the pointer finds nothing.
        first: keeps one element (True), or a list of so many.
        count: replaces a list by its length.
        join: joins a list to a text.
    """

    source: str | list[Any]
    split: Annotated[str, msgspec.Meta(min_length=1)] | None = None
    filter: Annotated[dict[_Pointer, _Scalar | _Contains], msgspec.Meta(min_length=1, max_length=20)] | None = None
    map: _Pointer | Annotated[dict[str, _Pointer], msgspec.Meta(min_length=1, max_length=20)] | None = None
    first: bool | Annotated[int, msgspec.Meta(ge=1)] = False
    count: bool = False
    join: str | None = None


class Reference(msgspec.Struct, frozen=True):
    """A reference that was read.

    Attributes:
        path: where it is, for errors.
        step: the name of a step, or ITEM; empty if it is a list of values.
        pointer: the members and indexes that lead to the value.
        parts: the list of values.
        written: the rest.
    """

    path: str
    step: str
    pointer: tuple[str, ...]
    parts: list[object]
    written: _Written


class Room:
    """The bytes that are left for values. An error if they are used up."""

    def __init__(self, what: str) -> None:
        """
        Args:
            what: the values, for the error.
        """
        self._what, self._left = what, MOST_BYTES

    @property
    def used_bytes(self) -> int:
        return MOST_BYTES - self._left

    def take(self, size_bytes: int) -> None:
        """Takes room for a value.

        Raises:
            TooltrayError: there is not enough.
        """
        if size_bytes > self._left:
            raise TooltrayError(f"{self._what} would have more than {MOST_BYTES // 2**20} MB", "select less")
        self._left -= size_bytes

    def take_value(self, value: object) -> None:
        """Takes room for a value by its approximate size. Raises TooltrayError as `take` does."""
        waiting = [value]
        while waiting:
            each = waiting.pop()
            self.take(len(each) + 2 if isinstance(each, str) else 4)
            if isinstance(each, dict):
                waiting += (*each, *each.values())
            elif isinstance(each, list):
                waiting += each


# reading


def read(value: object, path: str, known: Collection[str], depth: int = DEEPEST) -> object:
    """Returns a value with a Reference in the place of each reference in it.

    Args:
        path: where the value is, for errors.
        known: the steps that a reference may name.
        depth: how many levels the value may have.

    Raises:
        TooltrayError: a reference is wrong, or names no known step.
    """
    if not depth:
        raise TooltrayError(f"{path}: nested too deeply")
    if isinstance(value, dict):
        if REFERENCE in value:
            return _reference(value, path, known, depth - 1)
        return {name: read(each, f"{path}.{name}", known, depth - 1) for name, each in value.items()}
    if isinstance(value, list):
        return [read(each, f"{path}[{place}]", known, depth - 1) for place, each in enumerate(value)]
    return value


def checked(value: object, kind: type[Any], path: str) -> Any:
    """Returns a value as an object of a kind.

    Raises:
        TooltrayError: it does not fit; the error has the path and the reason.
    """
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        reason, _, inside = str(error).partition(" - at `")
        place = inside.removesuffix("`").removeprefix("key` in `").removeprefix("$")
        where = f"{path}{place}".removeprefix(".")
        raise TooltrayError(f"{where or 'the arguments'}: {reason.replace('`', chr(39))}") from None


def _reference(value: dict[str, Any], path: str, known: Collection[str], depth: int) -> Reference:
    written: _Written = checked(value, _Written, path)
    if isinstance(written.source, list):
        return Reference(
            path, "", (), [read(each, f"{path}.$[{place}]", known, depth) for place, each in enumerate(written.source)], written
        )
    step, *pointer = written.source.split("/")
    if step not in known:
        have = f"the values here are {_quoted(known)}" if known else "there is no earlier step"
        raise TooltrayError(f"{path}: '$' names {_quoted([step])}", have)
    return Reference(path, step, tuple(pointer), [], written)


def names(value: object) -> set[str]:
    """Returns the steps whose values a value needs, after `read`."""
    if isinstance(value, Reference):
        return {value.step, *names(value.parts)} - {""}
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return set[str]().union(*map(names, inside))


# values


def resolve(value: object, values: Mapping[str, object], room: Room) -> object:
    """Returns a value with the values of its references.

    Args:
        value: after `read`.
        values: of the steps by name.
        room: for what references bring in.

    Raises:
        TooltrayError: an earlier value lacks what a reference names, or is of another kind; there is not enough room.
    """
    if isinstance(value, Reference):
        return _value(value, values, room)
    if isinstance(value, dict):
        return {name: resolve(each, values, room) for name, each in value.items()}
    if isinstance(value, list):
        return [resolve(each, values, room) for each in value]
    return value


def _value(reference: Reference, values: Mapping[str, object], room: Room) -> object:
    written, path = reference.written, reference.path
    found = _at(values[reference.step], reference) if reference.step else resolve(reference.parts, values, room)
    if written.split is not None:
        found = _split(found, written.split, path)
    if written.filter is not None:
        conditions = [(_tokens(pointer), wanted) for pointer, wanted in written.filter.items()]
        found = [each for each in _list(found, "filter", path) if all(_fits(each, *condition) for condition in conditions)]
    if written.map is not None:
        found = list(map(_mapping(written.map), _list(found, "map", path)))
    if written.first is not False:
        found = _first(found, written.first, path)
    if written.count:
        found = len(_list(found, "count", path, longest=None))
    if written.join is not None:
        texts = map(_text, _list(found, "join", path))
        found = _joined(written.join, texts, Room(path))
    room.take_value(found)
    return found


def _at(value: object, reference: Reference) -> object:
    """Returns the value at a reference's pointer; raises TooltrayError with the names that exist."""
    for token in map(_unescaped, reference.pointer):
        found, is_found = _member(value, token)
        if not is_found:
            raise TooltrayError(f"{reference.path}: {_quoted([str(reference.written.source)])} is not there", _described(value, token))
        value = found
    return value


def _member(value: object, token: str) -> tuple[object, bool]:
    if isinstance(value, dict) and token in value:
        return value[token], True
    if isinstance(value, list) and _INDEX.match(token) and int(token) < len(value):
        return value[int(token)], True
    return None, False


def _found(value: object, tokens: Sequence[str]) -> tuple[object, bool]:
    for token in tokens:
        value, is_found = _member(value, token)
        if not is_found:
            return None, False
    return value, True


def _tokens(pointer: str) -> Sequence[str]:
    return [_unescaped(token) for token in pointer.split("/")[1:]]


def _unescaped(token: str) -> str:
    return token.replace("~1", "/").replace("~0", "~")


def _split(value: object, separator: str, path: str) -> list[object]:
    if not isinstance(value, str):
        raise TooltrayError(f"{path}: split needs a text", f"this is {_kind(value)}")
    if value.count(separator) >= LONGEST_LIST:
        raise TooltrayError(f"{path}: split would give more than {LONGEST_LIST:,} elements")
    return [piece for each in value.split(separator) if (piece := each.removesuffix("\r"))]


def _list(value: object, what: str, path: str, *, longest: int | None = LONGEST_LIST) -> list[object]:
    if not isinstance(value, list):
        raise TooltrayError(f"{path}: {what} needs a list", f"this is {_kind(value)}")
    if longest is not None and len(value) > longest:
        raise TooltrayError(f"{path}: {what} takes at most {longest:,} elements", f"this list has {len(value):,}")
    return value


def _fits(element: object, tokens: Sequence[str], wanted: _Scalar | _Contains) -> bool:
    value, is_found = _found(element, tokens)
    if isinstance(wanted, _Contains):
        return isinstance(value, str) and wanted.contains in value
    return is_found and value == wanted and isinstance(value, bool) is isinstance(wanted, bool)


def _mapping(written: str | dict[str, str]) -> Callable[[object], object]:
    if isinstance(written, str):
        tokens = _tokens(written)
        return lambda element: _found(element, tokens)[0]
    members = {name: _tokens(pointer) for name, pointer in written.items()}
    return lambda element: {name: _found(element, tokens)[0] for name, tokens in members.items()}


def _first(value: object, first: bool | int, path: str) -> object:
    found = _list(value, "first", path, longest=None)
    if first is not True:
        return found[:first]
    if not found:
        raise TooltrayError(f"{path}: first finds nothing", "the list is empty")
    return found[0]


def dumped(value: object) -> Raw:
    """Returns a value as JSON. Raises TooltrayError if it is nested too deeply for that."""
    try:
        return dump(value)
    except RecursionError:
        raise TooltrayError("a value is nested too deeply") from None


def _text(value: object) -> str:
    return value if isinstance(value, str) else bytes(dumped(value)).decode()


def _joined(separator: str, texts: Iterable[str], room: Room) -> str:
    pieces = []
    for text in texts:
        room.take(len(text) + len(separator))
        pieces.append(text)
    return separator.join(pieces)


# words for errors


def _kind(value: object) -> str:
    kinds = ((str, "a text"), (bool, "true or false"), (int | float, "a number"), (list, "a list"), (dict, "an object"))
    return next((name for kind, name in kinds if isinstance(value, kind)), "null")


def _described(value: object, token: str) -> str:
    if isinstance(value, dict):
        return f"no member {_quoted([token])}; it has {_quoted(value) or 'none'}"
    if isinstance(value, list):
        return f"no element {_quoted([token])}; it has {len(value):,}"
    return f"{_kind(value)} has no member {_quoted([token])}"


def _quoted(texts: Collection[str]) -> str:
    shown = [repr(text[:LONGEST_QUOTED]) for text in list(texts)[:MOST_QUOTED]]
    return ", ".join(shown) + (f" and {more} more" if (more := len(texts) - len(shown)) else "")
