"""Readers of JSON values, by the annotations of a model's fields.

`bool`, `int`, `float` and `str` accept only values of these types, but a whole number may stand for a `float`. Lists become tuples.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

from tooltray.foundation.phrases import Phrase

Path = tuple[str | int, ...]
"""The keys and places in lists that lead to a value."""
Reader = Callable[[Any], Any]
"""Reads a JSON value; raises ValueError with the reason if it is refused."""
MUST_BE_OBJECT = Phrase("must be an object")
_MUST_BE_NUMBER = Phrase("must be a number")


class ValidationError(ValueError):
    """A refused value. No reason quotes it, since the user may have typed a key into it.

    Attributes:
        places: the reasons, each with the path of the wrong part.
    """

    def __init__(self, *places: tuple[Path, str]) -> None:
        super().__init__(*places)
        self.places = places


class Before(NamedTuple):
    """Mark of a value that is changed before it is read."""

    change: Reader


class After(NamedTuple):
    """Mark of a value that is changed or refused after it was read."""

    check: Reader


class Between(NamedTuple):
    """Mark of a number with bounds.

    Attributes:
        above: the number must be more than this.
        least, most: the number may be equal to them.
    """

    above: int | None = None
    least: int | None = None
    most: float | None = None


class Sized(NamedTuple):
    """Mark of a text, a list or an object with bounds for its length."""

    least: int = 0
    most: int | None = None


HIDDEN = "hidden"
"""Mark of a field that `repr` leaves out: people type keys into it."""


def reader_of(kind: Any) -> Reader:
    """Returns the reader of an annotation."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        read = reader_of(inner[0])
        for mark in inner[1:]:
            read = _marked(read, mark)
        return read
    if origin is Literal:
        return partial(_one_of, inner)
    if origin is tuple:
        return partial(_items, reader_of(inner[0]))
    if origin is Mapping:
        return partial(_members, reader_of(inner[1]))
    if origin in (Union, UnionType):
        choices = [each for each in inner if each is not NoneType]
        read = reader_of(choices[0]) if len(choices) == 1 else partial(_first_of, [(_tag(each), reader_of(each)) for each in choices])
        return partial(_unless_none, read) if NoneType in inner else read
    return _PLAIN.get(kind) or kind.model_validate


def places_under(step: str | int, error: ValueError) -> list[tuple[Path, str]]:
    """Returns the reasons of an error, with the paths from the object or list around the refused value. `step`: its key or place there."""
    return [((step, *path), reason) for path, reason in places_of(error)]


def places_of(error: ValueError) -> tuple[tuple[Path, str], ...]:
    """Returns the reasons of an error with their paths."""
    return error.places if isinstance(error, ValidationError) else (((), error.args[0]),)


def _marked(read: Reader, mark: object) -> Reader:
    match mark:
        case Before(change):
            return lambda value: read(change(value))
        case After(check):
            return lambda value: check(read(value))
        case Between():
            return lambda value: _within(mark, read(value))
        case Sized():
            return lambda value: _sized(mark, read(value))
    return read


def _within(bounds: Between, number: float) -> float:
    if bounds.most is not None and number > bounds.most:
        raise ValueError(Phrase("must be {most} or less", most=bounds.most))
    if bounds.least is not None and number < bounds.least:
        raise ValueError(Phrase("must be {least} or more", least=bounds.least))
    if bounds.above is not None and number <= bounds.above:
        raise ValueError(Phrase("must be more than {least}", least=bounds.above))
    return number


def _sized(bounds: Sized, value: Any) -> object:
    if len(value) < bounds.least:
        raise ValueError(Phrase("must not be empty"))
    if bounds.most is not None and len(value) > bounds.most:
        raise ValueError(Phrase("is too long") if isinstance(value, str) else Phrase("has too many values"))
    return value


def _bool(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError(Phrase("must be true or false"))
    return value


def _int(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(Phrase("must be a whole number"))
    return value


def _float(value: object) -> float:
    try:
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
            return float(value)
    except OverflowError:
        pass
    raise ValueError(_MUST_BE_NUMBER)


def _str(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(Phrase("must be text"))
    return value


_PLAIN: Mapping[type, Reader] = {bool: _bool, int: _int, float: _float, str: _str}


def _one_of(choices: tuple[object, ...], value: object) -> object:
    if value not in choices:
        raise ValueError(Phrase("must be one of {values}", values=", ".join(map(repr, choices))))
    return value


def _items(read: Reader, value: object) -> tuple[object, ...]:
    if not isinstance(value, list | tuple):
        raise ValueError(Phrase("must be a list"))
    return tuple(_each(read, enumerate(value)).values())


def _members(read: Reader, value: object) -> Mapping[Any, object]:
    if not isinstance(value, Mapping):
        raise ValueError(MUST_BE_OBJECT)
    return _each(read, value.items())


def _each(read: Reader, values: Iterable[tuple[Any, object]]) -> dict[Any, object]:
    found, wrong = {}, []
    for step, value in values:
        try:
            found[step] = read(value)
        except ValueError as error:
            wrong += places_under(step, error)
    if wrong:
        raise ValidationError(*wrong)
    return found


def _unless_none(read: Reader, value: object) -> object:
    return None if value is None else read(value)


def _first_of(choices: list[tuple[str, Reader]], value: object) -> object:
    wrong = []
    for tag, read in choices:
        try:
            return read(value)
        except ValueError as error:
            wrong += places_under(tag, error)
    raise ValidationError(*wrong)


def _tag(kind: Any) -> str:
    """Returns the name that reasons have for one of several kinds that a value may be of."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return f"constrained-{_tag(inner[0])}" if inner[0] is str else _tag(inner[0])
    if origin is tuple:
        return f"tuple[{_tag(inner[0])}, ...]"
    return f"literal[{','.join(map(repr, inner))}]" if origin is Literal else str(kind.__name__)
