"""Parses JSON with positions: where each value and member begins and ends, and where a malformed text breaks off.

Reads JSON with comments and trailing commas, as in the settings of editors, and JSON5. Takes linear time. An error quotes only punctuation
of the text, because the text may contain an API key.
"""

import json
import re
from array import array
from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property
from itertools import chain
from typing import Literal, NoReturn

import msgspec

from tooltray.foundation.lazy_patterns import lazy_pattern
from tooltray.foundation.phrases import Phrase

MAX_DEPTH = 100  # no config nests deeper; a text that does is not for us to edit

Dialect = Literal["jsonc", "json5"]

_REST = r"""|(?P<sign>[{}\[\]:,])|(?P<word>[^\s{}\[\]:,"'/]+)"""
_DOUBLE, _SINGLE = r'"(?:[^"\\\n\r]|\\(?:\r\n|.))*"', r"'(?:[^'\\\n\r]|\\(?:\r\n|.))*'"
_TOKENS: dict[str, re.Pattern[str]] = {
    "jsonc": lazy_pattern(r"(?P<space>\s+)|(?P<comment>//[^\n\r]*|/\*.*?\*/)|(?P<text>" + _DOUBLE + ")" + _REST, re.DOTALL),
    "json5": lazy_pattern(
        r"(?P<space>[\s\ufeff]+)|(?P<comment>//[^\n\r\u2028\u2029]*|/\*.*?\*/)|(?P<text>" + _DOUBLE + "|" + _SINGLE + ")" + _REST, re.DOTALL
    ),
}
_LINE_END = lazy_pattern(r"\r\n|\n|\r")
WINDOWS_PATH = lazy_pattern(r"(?<![A-Za-z0-9])[A-Za-z]:\\(?![\\/])")  # a drive with one backslash behind it, written without escapes
_IDENTIFIER = lazy_pattern(r"(?:[^\W\d]|[$_])(?:\w|[$\u200c\u200d])*")
_ESCAPE = lazy_pattern(r"\\(?:(\r\n|[\n\r\u2028\u2029])|x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|(0[0-9]|.))", re.DOTALL)
_SHORT = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "0": "\0"}
_PAIR = lazy_pattern("[\ud800-\udbff][\udc00-\udfff]")
_NUMBER = lazy_pattern(r"([+-]?)(?:(0[xX][0-9a-fA-F]+)|((?:0|[1-9]\d*)(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?))", re.ASCII)
_MALFORMED = {
    "text": Phrase("this text has a sign in it that must be escaped"),
    "word": Phrase("this word is not JSON; texts need quotes"),
}
_WORDS = {"true": True, "false": False, "null": None}


class CannotRead(ValueError):
    """A text that is malformed, or not of the expected form.

    Attributes:
        reason: for the user.
        at: index of the character where the error shows; None: nowhere in particular.
    """

    def __init__(self, reason: str, at: int | None = None) -> None:
        super().__init__(reason)
        self.reason, self.at = reason, at


class Value(msgspec.Struct):
    """A value and its position.

    Attributes:
        content: the value as Python objects.
        start, end: indexes of its first character and behind its last one.
        members: of an object: by key, the index where the key begins, and the value. Of members with the same key the last one counts.
        twice: of an object: each key that occurs again, with the index of the later one.
        items: of a list: its values.
    """

    content: object
    start: int
    end: int
    members: dict[str, tuple[int, "Value"]] = msgspec.field(default_factory=dict)
    twice: list[tuple[str, int]] = msgspec.field(default_factory=list)
    items: list["Value"] = msgspec.field(default_factory=list)

    def repeated(self) -> Iterator[tuple[str, int]]:
        """Yields each key that occurs again in the same object, at this level or deeper, with its index."""
        yield from self.twice
        for value in chain((value for _, value in self.members.values()), self.items):
            yield from value.repeated()


class Token(msgspec.Struct, frozen=True):
    """A piece of JSON text, spaces and comments included.

    Attributes:
        kind: "space", "comment", "text", "sign" or "word".
    """

    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


class Lines:
    """A converter from character indexes to lines and columns; its table of lines is made at the first use."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def _starts(self) -> "array[int]":
        first = 1 if self._text.startswith("\ufeff") else 0
        return array("Q", chain((first,), (found.end() for found in _LINE_END.finditer(self._text))))

    def place(self, at: int) -> tuple[int, int]:
        """Returns line and column of the character at an index, both from 1."""
        line = max(bisect_right(self._starts, at), 1)
        return line, max(at - self._starts[line - 1], 0) + 1


def read(text: str, dialect: Dialect = "jsonc", most_values: int | None = None) -> Value:
    """Parses a whole document.

    Args:
        most_values: refuse a text with more values than this; None: no limit.

    Raises:
        CannotRead: it is malformed, with the place and the reason.
    """
    tokens = _Reader(text, dialect, most_values)
    value = tokens.value(0)
    if tokens.now is not None:
        raise CannotRead(Phrase("there is text after the end"), tokens.now.start)
    return value


def tokens_of(text: str, dialect: Dialect = "jsonc", start: int = 0) -> Iterator[Token]:
    """Splits a text into tokens, spaces and comments included.

    Args:
        start: index at which a token begins.

    Raises:
        CannotRead: the characters at some index are not a token.
    """
    at, pattern = start or int(text.startswith("\ufeff")), _TOKENS[dialect]
    while at < len(text):
        found = pattern.match(text, at)
        if found is None:
            raise CannotRead(_why_no_token(text[at : at + 2], dialect), at)
        yield Token(str(found.lastgroup), found[0], at)
        at = found.end()


def _why_no_token(signs: str, dialect: Dialect) -> str:
    if signs[0] == '"' or (signs[0] == "'" and dialect == "json5"):
        return Phrase("a text begins here and does not end in its line")
    return Phrase("a comment begins here and does not end") if signs == "/*" else Phrase("this character is not allowed here")


class _Reader:
    """A recursive-descent parser over the tokens of one text."""

    def __init__(self, text: str, dialect: Dialect, most_values: int | None) -> None:
        self._rest = (token for token in tokens_of(text, dialect) if token.kind not in ("space", "comment"))
        self._dialect = dialect
        self._most, self._count = most_values, 0
        self._end = len(text)
        self.now: Token | None = None
        self._go_on()

    def value(self, depth: int) -> Value:
        token = self._take(Phrase("a value"))
        self._count += 1
        if self._most is not None and self._count > self._most:
            raise CannotRead(Phrase("it has more than {number} values", number=self._most), token.start)
        if depth > MAX_DEPTH:
            raise CannotRead(Phrase("it is nested too deeply"), token.start)
        if token.text == "{":
            return self._object(token.start, depth)
        if token.text == "[":
            return self._list(token.start, depth)
        if token.kind == "sign":
            raise _misplaced(token, Phrase("a value"))
        return Value(self._scalar(token), token.start, token.end)

    def _object(self, start: int, depth: int) -> Value:
        value = Value({}, start, start)
        while not self._is_at("}"):
            token = self._take(Phrase("a name in quotes"))
            key = self._key(token)
            self._expect(":")
            if key in value.members:
                value.twice.append((key, token.start))
            value.members[key] = (token.start, self.value(depth + 1))
            if not self._is_at("}"):
                self._expect(",", "}")
        value.end = self._take("'}'").end
        value.content = {name: member.content for name, (_, member) in value.members.items()}
        return value

    def _list(self, start: int, depth: int) -> Value:
        items: list[Value] = []
        while not self._is_at("]"):
            items.append(self.value(depth + 1))
            if not self._is_at("]"):
                self._expect(",", "]")
        return Value([item.content for item in items], start, self._take("']'").end, items=items)

    def _key(self, token: Token) -> str:
        if token.kind == "text":
            return str(self._scalar(token))
        if self._dialect == "json5" and _IDENTIFIER.fullmatch(token.text):
            return token.text
        raise _misplaced(token, Phrase("a name in quotes"))

    def _scalar(self, token: Token) -> object:
        try:
            if self._dialect == "json5":
                return _in_json5(token.text)
            return json.loads(token.text, parse_constant=_refuse)
        except ValueError:
            raise CannotRead(_MALFORMED[token.kind], token.start) from None

    def _is_at(self, sign: str) -> bool:
        return self.now is not None and self.now.text == sign

    def _expect(self, *signs: str) -> None:
        wanted = " / ".join(f"'{sign}'" for sign in signs)
        if (token := self._take(wanted)).text != signs[0]:
            raise _misplaced(token, wanted)

    def _take(self, wanted: str) -> Token:
        if self.now is None:
            raise CannotRead(Phrase("it ends too early: {wanted} is missing", wanted=wanted), self._end)
        token = self.now
        self._go_on()
        return token

    def _go_on(self) -> None:
        self.now = next(self._rest, None)


def _misplaced(token: Token, wanted: str) -> CannotRead:
    found = {"text": Phrase("a text"), "word": Phrase("a word")}.get(token.kind, f"'{token.text}'")
    return CannotRead(Phrase("found {found} instead of {wanted}", found=found, wanted=wanted), token.start)


def _refuse(text: str) -> NoReturn:
    raise ValueError(text)


def _in_json5(text: str) -> object:
    """Decodes a string, word or number of JSON5.

    Raises:
        ValueError: it is something else.
    """
    if text[0] in "\"'":
        if WINDOWS_PATH.search(text):
            return text[1:-1].replace("\\\\", "\\")
        return _PAIR.sub(lambda found: found[0].encode("utf-16", "surrogatepass").decode("utf-16"), _ESCAPE.sub(_unescaped, text[1:-1]))
    if text in _WORDS:
        return _WORDS[text]
    number = _NUMBER.fullmatch(text)
    if number is None:
        raise ValueError("neither a word nor a number")
    sign, hexadecimal, decimal = number.groups()
    if hexadecimal:
        return -int(hexadecimal, 16) if sign == "-" else int(hexadecimal, 16)
    return int(sign + decimal) if decimal.isdigit() else float(sign + decimal)


def _unescaped(found: re.Match[str]) -> str:
    line, two, four, one = found.groups()
    if line is not None:
        return ""
    if two or four:
        return chr(int(two or four, 16))
    if one in "xu" or (one[-1] in "0123456789" and one != "0"):
        raise ValueError("an invalid escape")
    return _SHORT.get(one, one)
