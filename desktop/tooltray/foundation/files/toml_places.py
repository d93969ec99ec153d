"""Finds the position of each table and each value in a TOML text.

The standard library decides whether a text is TOML and what it contains; this module adds only positions.
"""

import re
import tomllib
from typing import Any

import msgspec

from tooltray.foundation.files.json_places import MAX_DEPTH, CannotRead
from tooltray.foundation.phrases import Phrase

Keys = tuple[str, ...]
_BLANK = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_TEXT = re.compile(r'"""(?:\\.|[^\\])*?"""(?:"{0,2})|\'\'\'.*?\'\'\'(?:\'{0,2})|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'', re.DOTALL)
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_WORD = re.compile(r"[^,\]}\r\n#]+")  # a number, a date, true or false
_PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


class Pair(msgspec.Struct):
    """A key and its value.

    Attributes:
        path: keys from the document to the value, the table's included.
        keys: how many of them are written in this pair, with dots between.
        start: index where the first of these begins.
        value, end: indexes where the value begins, and behind its end.
        pairs: the members of an inline table; None: the value is not an inline table.
    """

    path: Keys
    keys: int
    start: int
    value: int
    end: int
    pairs: "list[Pair] | None" = None


class Header(msgspec.Struct):
    """The line `[path]` or `[[path]]`; `is_repeated`: it belongs to a list of tables, or to a table inside one."""

    path: Keys
    start: int
    end: int
    is_repeated: bool = False


def read_toml(text: str) -> dict[str, Any]:
    """Parses a text, with or without a byte order mark.

    Raises:
        CannotRead: it is not TOML, with the position.
    """
    mark = int(text.startswith("\ufeff"))
    try:
        return tomllib.loads(text[mark:])
    except tomllib.TOMLDecodeError as error:
        place = _PLACE.search(str(error))
        reason = _PLACE.sub("", str(error))
        raise CannotRead(Phrase("it is no TOML: {reason}", reason=reason), _index(text, place)) from None
    except RecursionError:
        raise CannotRead(Phrase("it is nested too deeply")) from None


def _index(text: str, place: re.Match[str] | None) -> int:
    if place is None or place[1] is None:
        return len(text)
    starts = [int(text.startswith("\ufeff")), *(found.end() for found in re.finditer("\n", text))]
    return min(starts[int(place[1]) - 1] + int(place[2]) - 1, len(text))


def statements(text: str) -> list[Header | Pair]:
    """Returns all headers, and all pairs outside of inline tables, in their order.

    Args:
        text: one that `read_toml` has read.

    Raises:
        CannotRead: it is nested too deeply.
    """
    return _Scanner(text).statements()


class _Scanner:
    """A scanner that reads a valid text once, and so does not check its syntax."""

    def __init__(self, text: str) -> None:
        self._text, self._at = text, int(text.startswith("\ufeff"))
        self._repeated: set[Keys] = set()

    def statements(self) -> list[Header | Pair]:
        found: list[Header | Pair] = []
        table: Keys = ()
        while self._skip() < len(self._text):
            if self._text[self._at] == "[":
                header = self._header()
                table = header.path
                found.append(header)
            else:
                found.append(self._pair(table, 0))
        return found

    def _skip(self) -> int:
        blank = _BLANK.match(self._text, self._at)
        self._at = blank.end() if blank else self._at
        return self._at

    def _header(self) -> Header:
        start, signs = self._at, 2 if self._text.startswith("[[", self._at) else 1
        self._at += signs
        path = self._keys()
        self._at += signs
        if signs == 2:
            self._repeated.add(path)
        is_repeated = any(path[:length] in self._repeated for length in range(1, len(path) + 1))
        return Header(path, start, self._at, is_repeated)

    def _keys(self) -> Keys:
        keys: list[str] = []
        while True:
            self._skip()
            keys.append(self._key())
            self._skip()
            if self._text[self._at] != ".":
                return tuple(keys)
            self._at += 1

    def _key(self) -> str:
        if found := _BARE_KEY.match(self._text, self._at):
            self._at = found.end()
            return found[0]
        start = self._at
        self._pass(_TEXT)
        return str(tomllib.loads(f"key = {self._text[start : self._at]}")["key"])

    def _pair(self, table: Keys, depth: int) -> Pair:
        start = self._at
        keys = self._keys()
        self._at += 1
        value, path = self._skip(), table + keys
        pairs = self._value(path, depth)
        return Pair(path, len(keys), start, value, self._at, pairs)

    def _value(self, path: Keys, depth: int) -> list[Pair] | None:
        """Moves behind a value; returns its pairs if it is an inline table."""
        if depth > MAX_DEPTH:
            raise CannotRead(Phrase("it is nested too deeply"), self._at)
        match self._text[self._at]:
            case "{":
                return self._inside("}", lambda: self._pair(path, depth + 1))
            case "[":
                self._inside("]", lambda: self._value(path, depth + 1))
            case '"' | "'":
                self._pass(_TEXT)
            case _:
                self._pass(_WORD)
                while self._text[self._at - 1] in " \t":
                    self._at -= 1
        return None

    def _inside(self, closing: str, read: Any) -> list[Any]:
        found: list[Any] = []
        self._at += 1
        while self._text[self._skip()] != closing:
            found.append(read())
            if self._text[self._skip()] == ",":
                self._at += 1
        self._at += 1
        return found

    def _pass(self, pattern: re.Pattern[str]) -> None:
        found = pattern.match(self._text, self._at)
        if found is None:
            raise CannotRead(Phrase("this sign means nothing here"), self._at)
        self._at = found.end()
