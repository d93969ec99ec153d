"""JSON as models write it: a reader that mends mistakes with only one possible meaning, and reports the place of others. Mended are
trailing commas, texts in single quotes, Python's True, False and None, and brackets that are missing at the end. Not mended are a text that
does not end, a number at a torn end (its last digits may be missing) and a comma there: something was lost.
"""

import json
import re
from typing import NoReturn

MAX_DEPTH = 100  # arguments are flat; deeper values were not written by hand

_BLANK = re.compile(r"[ \t\r\n]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_WORD = re.compile(r"[A-Za-z]+")
_WORDS = {"true": True, "false": False, "null": None, "True": True, "False": False, "None": None}
_TEXT = re.compile(r"""(?P<quote>["'])(?P<body>(?:\\.|(?!(?P=quote))[^\\])*)(?P=quote)""", re.DOTALL)
_QUOTED = re.compile(r'\\.|"', re.DOTALL)


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
    """Returns the value that a text means.

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
            self._refuse("nothing should follow the end")
        return value

    def _next(self) -> str:
        """Returns the next character that is no blank; empty at the end."""
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
                self._refuse("a name in quotes is missing")
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
        """Steps over a comma or the closing bracket, which may be missing where the text ends after a whole value."""
        if not is_first and self._next() == ",":
            self._at += 1
            if not self._next():
                self._refuse("the text ends where more was to come")
        elif not is_first and self._next() not in ("", end):
            self._refuse("a comma or a closing bracket is missing")
        if self._next() and self._next() != end:
            return True
        if not self._next() and is_first:
            self._refuse("the text ends where it had just begun")
        if not self._next() and self._text.rstrip()[-1].isdigit():
            self._refuse("the text ends, perhaps within a number")
        self._at += 1
        self._depth -= 1
        return False

    def _string(self) -> str:
        found = _TEXT.match(self._text, self._at)
        if found is None:
            self._refuse("a text begins here that does not end")
        body = found["body"]
        if found["quote"] == "'":
            body = _QUOTED.sub(_requoted, body)
        try:
            value: str = json.loads(f'"{body}"', strict=False)
        except ValueError:
            self._refuse("this text has an escape that JSON does not know")
        self._at = found.end()
        return value

    def _plain(self) -> object:
        if number := _NUMBER.match(self._text, self._at):
            self._at = number.end()
            return json.loads(number[0])
        word = _WORD.match(self._text, self._at)
        if word is None or word[0] not in _WORDS:
            self._refuse("a value is missing" if word is None else f"{word[0]!r} is no value")
        self._at = word.end()
        return _WORDS[word[0]]

    def _refuse(self, reason: str) -> NoReturn:
        raise NotMeant(reason, self._at)


def _requoted(found: re.Match[str]) -> str:
    """Converts the text between single quotes to a text between double quotes."""
    return {'"': '\\"', "\\'": "'"}.get(found[0], found[0])
