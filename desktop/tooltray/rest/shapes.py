"""Converts our structs to JSON with camelCase members, and to types from which msgspec generates schemas.

Above it: operations, their results and the OpenAPI document. Below it: msgspec. Knows no particular snapshot.

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
from typing import Any, Union, get_args, get_origin

import msgspec


def camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.title() for word in others)


def encoded(value: Any) -> Any:
    """Converts a result to plain JSON values."""
    if isinstance(value, msgspec.Struct):
        return {camel(name): encoded(getattr(value, name)) for name in value.__struct_fields__}
    if isinstance(value, Mapping):
        return {str(key): encoded(member) for key, member in value.items()}
    if isinstance(value, str):
        return str(value)  # a Phrase becomes plain text
    if isinstance(value, Enum):
        return encoded(value.value)
    if isinstance(value, Sequence | set | frozenset):
        return [encoded(member) for member in value]
    if isinstance(value, Decimal):
        return encoded(float(value))
    return None if isinstance(value, float) and not math.isfinite(value) else value


def in_json(value: Any) -> bytes:
    """Encodes plain values as a response body or an event's data.

    Raises:
        RecursionError: they are nested too deeply.
    """
    try:
        return msgspec.json.encode(value)
    except (UnicodeEncodeError, OverflowError):  # a file name that is not UTF-8; a number with hundreds of digits
        return json.dumps(value).encode()


def mirror(kind: Any, *, is_given: bool = False) -> Any:
    """Returns a msgspec type with the same members as the JSON form of a type of ours.

    Args:
        is_given: the value comes from a caller: members with a default may be missing, and unknown members are refused.
    """
    return _mirror(kind, is_given)


@cache
def _mirror(kind: Any, is_given: bool) -> Any:
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return _struct(kind, is_given)
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return functools.reduce(operator.or_, (_mirror(each, is_given) for each in arguments))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return dict[str, _mirror(arguments[1], is_given)]  # type: ignore[misc]
    if isinstance(origin, type) and issubclass(origin, Sequence):
        return list[_mirror(arguments[0], is_given)]  # type: ignore[misc]
    return kind


def _struct(kind: Any, is_given: bool) -> Any:
    members: list[Any] = []
    for field in msgspec.structs.fields(kind):
        member = _mirror(field.type, is_given)
        default = _default(field) if is_given else ()
        members.append((field.name, member, *default))
    name = f"{kind.__name__}{'Given' if is_given else ''}"
    return msgspec.defstruct(name, members, rename="camel", forbid_unknown_fields=is_given, kw_only=True)


def _default(field: msgspec.structs.FieldInfo) -> tuple[Any, ...]:
    if field.default is not msgspec.NODEFAULT:
        return (field.default,)
    if field.default_factory is not msgspec.NODEFAULT:
        return (msgspec.field(default_factory=field.default_factory),)
    return ()


def built(kind: Any, value: Any) -> Any:
    """Builds an object of ours, recursively, from the struct that mirrors it."""
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return kind(**{field.name: built(field.type, getattr(value, field.name)) for field in msgspec.structs.fields(kind)})
    if isinstance(value, list):
        inner = (get_args(kind) or (Any,))[0]
        return [built(inner, each) for each in value]
    return value
