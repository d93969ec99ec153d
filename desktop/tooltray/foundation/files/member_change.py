"""Checks that an edit of a text changed only one member of its document.

The documents before and after the edit come from a parser. Some programs write their servers as a list: there, a key
means the item with that `name`.
"""

import copy
from collections.abc import Sequence
from enum import Enum
from typing import Any, Final

from tooltray.foundation.files.json_places import CannotRead
from tooltray.foundation.phrases import Phrase

NAME = "name"


class Missing(Enum):
    """The type of `MISSING`, the value of a member that does not exist."""

    MISSING = 0


MISSING: Final = Missing.MISSING


def member_of(document: object, path: Sequence[str]) -> Any:
    """Returns the value of a member; MISSING if it does not exist."""
    for key in path:
        place = _place(document, key)
        if place is None:
            return MISSING
        document = document[place]  # type: ignore[index]  # it has a place for the key
    return document


def is_same(one: object, other: object) -> bool:
    """Returns whether two values are written the same way; for Python, 1 == True and nan != nan."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(is_same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(is_same, one, other))
    return type(one) is type(other) and (one == other or one != one)


def check_change(before: object, after: object, path: Sequence[str], content: object = MISSING) -> None:
    """Checks the result of a change.

    Args:
        before, after: the documents.
        path: keys to the member that was to change.
        content: its new value; MISSING: it was to be removed. Tables that contain nothing else may be added or removed with it.

    Raises:
        CannotRead: another member has changed, or this one does not have the new value.
    """
    expected = copy.deepcopy({} if before is None else before)
    _set(expected, path, content)
    found = copy.deepcopy({} if after is None else after)
    for document in (expected, found):
        _prune(document, path)
    if not is_same(expected, found):
        raise CannotRead(Phrase("the change would change more than it should"))


def _place(holder: object, key: str) -> Any:
    if isinstance(holder, dict):
        return key if key in holder else None
    if isinstance(holder, list):
        return next((index for index, item in enumerate(holder) if isinstance(item, dict) and item.get(NAME) == key), None)
    return None


def _set(document: Any, path: Sequence[str], content: object) -> None:
    for key in path[:-1]:
        place = _place(document, key)
        if place is None and isinstance(document, dict):
            document[place := key] = {}
        elif place is None:
            raise _not_there(key)
        elif document[place] is None:
            document[place] = {}
        document = document[place]
    place = _place(document, path[-1])
    if content is MISSING and place is not None:
        del document[place]
    elif content is MISSING or not isinstance(document, dict | list):
        raise _not_there(path[-1])
    elif isinstance(document, list) and place is None:
        document.append(content)
    else:
        document[path[-1] if place is None else place] = content  # type: ignore[index]  # of a list, the place is a number


def _not_there(key: str) -> CannotRead:
    return CannotRead(Phrase("{name} not found", name=key))


def _prune(document: Any, path: Sequence[str]) -> None:
    """Removes empty holders on the way to a member: a program reads the document in the same way with or without them."""
    for length in range(len(path) - 1, 0, -1):
        holder, place = member_of(document, path[: length - 1]), None
        if holder is not MISSING:
            place = _place(holder, path[length - 1])
        if place is not None and holder[place] in ({}, [], None):
            del holder[place]
