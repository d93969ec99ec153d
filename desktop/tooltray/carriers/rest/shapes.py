"""Converts Tooltray's structs to JSON with camelCase members, and to types from which msgspec generates schemas.

`encoded` and `mirror` follow the same rules, so that a result always matches its schema: all members of a struct are present, in
camelCase; the keys of mappings stay unchanged.
"""

import functools
import json
import math
import operator
import types
from collections.abc import Mapping, Sequence
from decimal import Decimal
from enum import Enum
from functools import cache
from typing import Any, TypeAlias, Union, get_args, get_origin

import msgspec

Kind: TypeAlias = Any  # a type, also a union or a generic one, for which the type system has no name


def camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.title() for word in others)


def encoded(value: object) -> Any:
    """Converts a result to plain JSON values."""
    match value:
        case msgspec.Struct():
            return {camel(name): encoded(getattr(value, name)) for name in value.__struct_fields__}
        case Mapping():
            return {str(key): encoded(member) for key, member in value.items()}
        case str():
            return str(value)  # a Phrase becomes plain text
        case Enum():
            return encoded(value.value)
        case Sequence() | set() | frozenset():
            return [encoded(member) for member in value]
        case Decimal():
            return encoded(float(value))
    return None if isinstance(value, float) and not math.isfinite(value) else value


def in_json(value: object) -> bytes:
    """Encodes plain values as a response body or an event's data.

    Raises:
        RecursionError: they are nested too deeply.
    """
    try:
        return msgspec.json.encode(value)
    except (UnicodeEncodeError, OverflowError):  # a file name that is not UTF-8; a number with hundreds of digits
        return json.dumps(value).encode()


def mirror(kind: Kind, *, is_given: bool = False) -> Kind:
    """Returns a msgspec type with the same members as the JSON form of a type of ours.

    Args:
        is_given: the value comes from a caller: members with a default may be missing, and unknown members are refused. `msgspec.convert`
            with `from_attributes` makes the value of ours from it.
    """
    return _mirror(kind, is_given)


@cache  # a type has one mirror: schemas are named for it
def _mirror(kind: Kind, is_given: bool) -> Kind:
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        fields = msgspec.structs.fields(kind)
        members = [(each.name, _mirror(each.type, is_given), *(_default(each) if is_given else ())) for each in fields]
        name = f"{kind.__name__}{'Given' if is_given else ''}"
        return msgspec.defstruct(name, members, rename="camel", forbid_unknown_fields=is_given, kw_only=True)
    origin: Any = get_origin(kind)
    arguments = get_args(kind)
    if origin in (Union, types.UnionType):
        return functools.reduce(operator.or_, (_mirror(each, is_given) for each in arguments))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return dict[str, _mirror(arguments[1], is_given)]  # type: ignore[misc]
    if isinstance(origin, type) and issubclass(origin, Sequence):
        return list[_mirror(arguments[0], is_given)]  # type: ignore[misc]
    return kind


def _default(field: msgspec.structs.FieldInfo) -> tuple[Any, ...]:
    if field.default is not msgspec.NODEFAULT:
        return (field.default,)
    if field.default_factory is not msgspec.NODEFAULT:
        return (msgspec.field(default_factory=field.default_factory),)
    return ()
