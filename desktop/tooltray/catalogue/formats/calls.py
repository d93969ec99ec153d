"""Turns a model's tool call, as its provider passes it on, into an MCPToolCall.

Some providers pass arguments as text, as the model wrote it, which is not always valid JSON. A mistake that can be corrected in only one
way is corrected; any other is refused with its place, so that the model can correct it.
"""

import json
import re
import uuid
from collections.abc import Mapping
from typing import NoReturn

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.lazy_patterns import lazy_pattern
from tooltray.foundation.snapshots.tools import MCPToolCall
from tooltray.foundation.verbs import JsonObject

MAX_DEPTH = 100  # levels; arguments are flat, and models do not write deeper values

_BLANK = lazy_pattern(r"[ \t\r\n]*")
_NUMBER = lazy_pattern(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_WORD = lazy_pattern(r"[A-Za-z]+")
_WORDS = {"true": True, "false": False, "null": None, "True": True, "False": False, "None": None}
_TEXT = lazy_pattern(r"""(?P<quote>["'])(?P<body>(?:\\.|(?!(?P=quote))[^\\])*)(?P=quote)""", re.DOTALL)
_QUOTED = lazy_pattern(r'\\.|"', re.DOTALL)


class NotMeant(Exception):
    """A text whose meaning is not certain.

    Attributes:
        reason: in words.
        place: of the first character that does not fit.
    """

    def __init__(self, reason: str, place: int) -> None:
        super().__init__(reason)
        self.reason, self.place = reason, place


def read(text: str) -> object:
    """Returns the value that a text means: trailing commas, single quotes, Python's True, False and None, and brackets that are missing at
    the end are mended. A text or a number that is cut off at the end is not mended: its rest is lost.

    Raises:
        NotMeant: the meaning is not certain.
    """
    return _Reader(text).whole()


class _Reader:
    def __init__(self, text: str) -> None:
        self._text, self._at, self._depth = text, 0, 0

    def whole(self) -> object:
        value = self._value()
        if self._next():
            self._refuse("unexpected text after the end")
        return value

    def _next(self) -> str:
        """Returns the next character after any blanks; empty at the end."""
        blank = _BLANK.match(self._text, self._at)
        self._at = blank.end() if blank else self._at
        return self._text[self._at : self._at + 1]

    def _value(self) -> object:
        first = self._next()
        if first == "{":
            return self._object()
        if first == "[":
            return self._array()
        if first and first in "\"'":
            return self._string()
        return self._plain()

    def _object(self) -> dict[str, object]:
        members: dict[str, object] = {}
        self._open()
        while self._has_more("}", is_first=not members):
            if self._next() not in ("'", '"'):
                self._refuse("a quoted name is missing")
            name = self._string()
            if self._next() != ":":
                self._refuse("a colon is missing")
            self._at += 1
            members[name] = self._value()
        return members

    def _array(self) -> list[object]:
        entries: list[object] = []
        self._open()
        while self._has_more("]", is_first=not entries):
            entries.append(self._value())
        return entries

    def _open(self) -> None:
        self._at += 1
        self._depth += 1
        if self._depth > MAX_DEPTH:
            self._refuse("it is nested too deeply")

    def _has_more(self, end: str, *, is_first: bool) -> bool:
        """Steps over a comma or the closing bracket, which may be missing if the text ends after a whole value."""
        if not is_first and self._next() == ",":
            self._at += 1
            if not self._next():
                self._refuse("the text ends too early")
        elif not is_first and self._next() not in ("", end):
            self._refuse("a comma or a closing bracket is missing")
        if self._next() and self._next() != end:
            return True
        if not self._next() and is_first:
            self._refuse("the text ends right after this")
        if not self._next() and self._text.rstrip()[-1].isdigit():
            self._refuse("the text ends, possibly within a number")
        self._at += 1
        self._depth -= 1
        return False

    def _string(self) -> str:
        found = _TEXT.match(self._text, self._at)
        if found is None:
            self._refuse("this string is not closed")
        body = found["body"]
        if found["quote"] == "'":
            body = _QUOTED.sub(_requoted, body)
        try:
            value: str = json.loads(f'"{body}"', strict=False)
        except ValueError:
            self._refuse("this string has an escape that JSON does not allow")
        self._at = found.end()
        return value

    def _plain(self) -> object:
        if number := _NUMBER.match(self._text, self._at):
            self._at = number.end()
            return json.loads(number[0])
        word = _WORD.match(self._text, self._at)
        if word is None or word[0] not in _WORDS:
            self._refuse("a value is missing" if word is None else f"{word[0]!r} is not a value")
        self._at = word.end()
        return _WORDS[word[0]]

    def _refuse(self, reason: str) -> NoReturn:
        raise NotMeant(reason, self._at)


def _requoted(found: re.Match[str]) -> str:
    """Converts the text between single quotes to a text between double quotes."""
    return {'"': '\\"', "\\'": "'"}.get(found[0], found[0])


MADE_UP = "tooltray-"  # the prefix of ids for calls without an id
MAX_ENCODINGS = 3  # JSON within a JSON text within ...; some models encode once too often

_FENCED = lazy_pattern(r"```[A-Za-z0-9]*[ \t]*\r?\n(?P<inside>.*?)\r?\n?[ \t]*```", re.DOTALL)


def tool_call(call: Mapping[str, object], *, kind: str, id: object, arguments: object) -> MCPToolCall:
    """Builds a call; tool and arguments still have the provider's names.

    Args:
        call: the provider's object, whose `name` is the tool.
        kind: what the object should be, in words, for errors.
        id: the provider's id; without one a new id is made.
        arguments: JSON text or an object.

    Raises:
        TooltrayError: the call names no tool, or its arguments are not a JSON object.
    """
    name = call.get("name")
    if not isinstance(name, str) or not name:
        raise no_call(kind, "it names no tool")
    return MCPToolCall(id if isinstance(id, str) and id else f"{MADE_UP}{uuid.uuid4().hex}", name, read_arguments(name, arguments))


def no_call(kind: str, reason: str) -> TooltrayError:
    return TooltrayError(f"this is not a {kind}", reason)


def read_arguments(tool: str, given: object) -> JsonObject:
    """Returns the arguments of a call as an object.

    Args:
        tool: the tool's name, for errors.
        given: JSON text or an object; None or an empty text means no arguments.

    Raises:
        TooltrayError: they are not an object, or cannot be parsed, with the place.
    """
    value = given
    for _ in range(MAX_ENCODINGS):
        if not isinstance(value, str):
            break
        value = _read(tool, value)
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise _no_object(tool, f"they are {_kind(value)}, not an object")
    return dict(value)


def _read(tool: str, text: str) -> object:
    text = text.strip().removeprefix("\ufeff")
    if fenced := _FENCED.fullmatch(text):
        text = fenced["inside"].strip()
    if not text:
        return None
    try:
        return json.loads(text, strict=False, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        pass
    try:
        return read(text)
    except NotMeant as error:
        before = text[: error.place]
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        raise _no_object(tool, f"line {line}, column {column}: {error.reason}") from None


def _no_object(tool: str, reason: str) -> TooltrayError:
    return TooltrayError(f"the arguments for '{tool}' are not a JSON object", reason, "Call the tool again with one JSON object.")


def _kind(value: object) -> str:
    kinds = ((str, "a text"), (bool, "true or false"), (list, "an array"), (int | float, "a number"))
    return next((words for kind, words in kinds if isinstance(value, kind)), "something else")


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")
