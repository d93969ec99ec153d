"""Takes one member out of a JSON text and leaves every other byte as it is: comments, order, indentation.

Above it: client_entries. Below it: nothing. Reads JSON with comments and trailing commas, as editors' settings have them. Knows no program.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

MAX_DEPTH = 100  # no config nests deeper; a text that does is not for us to edit

_TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*|/\*.*?\*/)|(?P<text>"(?:[^"\\\n]|\\.)*")|(?P<sign>[{}\[\]:,])|(?P<word>[^\s{}\[\]:,"/]+)""", re.DOTALL
)


class CannotRead(ValueError):
    """The text is no JSON, not even with comments."""


@dataclass
class Value:
    """A value and where it stands.

    Attributes:
        content: as Python has it.
        members: of an object, with the place where each one's key begins.
    """

    content: Any
    start: int
    end: int
    members: dict[str, tuple[int, "Value"]] = field(default_factory=dict)


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def read(text: str) -> Value:
    """
    Raises:
        CannotRead: it is no JSON.
    """
    tokens = _Tokens(text)
    value = tokens.value(0)
    if tokens.now is not None:
        raise CannotRead("something stands behind the end")
    return value


def without_member(text: str, path: Sequence[str]) -> str:
    """Returns the text without one member; the comma before or behind it goes along, and its line where nothing else stands on it.

    Args:
        path: the keys that lead to the member, the last one its own.

    Raises:
        CannotRead: the text is no JSON, or has no such member.
    """
    holder = read(text)
    for key in path[:-1]:
        _, holder = _member(holder, key)
    start, value = _member(holder, path[-1])
    before, after = text[:start], text[value.end :]
    if following := re.match(r"\s*,", after):
        after = after[following.end() :]
        if re.search(r"\n[ \t]*\Z", before) and (rest := re.match(r"[ \t]*\r?\n[ \t]*", after)):
            after = after[rest.end() :]
        return before + after
    shortened = re.sub(r",(\s*)\Z", "", before)
    return (shortened if shortened != before else before.rstrip()) + after


def _member(holder: Value, key: str) -> tuple[int, Value]:
    try:
        return holder.members[key]
    except KeyError:
        raise CannotRead(f"there is no {key}") from None


class _Tokens:
    """The way through a text, one token after the other."""

    def __init__(self, text: str) -> None:
        self._rest = _tokens(text)
        self.now: _Token | None = None
        self._go_on()

    def value(self, depth: int) -> Value:
        token = self._take()
        if depth > MAX_DEPTH:
            raise CannotRead("it is nested too deeply")
        if token.text == "{":
            return self._object(token.start, depth)
        if token.text == "[":
            return self._list(token.start, depth)
        if token.kind == "sign":
            raise CannotRead(f"{token.text!r} stands where a value should be")
        try:
            return Value(json.loads(token.text), token.start, token.end)
        except ValueError as error:
            raise CannotRead(str(error)) from None

    def _object(self, start: int, depth: int) -> Value:
        members: dict[str, tuple[int, Value]] = {}
        while not self._is_at("}"):
            key = self._take()
            if key.kind != "text":
                raise CannotRead(f"{key.text!r} stands where a key should be")
            self._expect(":")
            members[json.loads(key.text, strict=False)] = (key.start, self.value(depth + 1))
            if not self._is_at("}"):
                self._expect(",")
        end = self._take().end
        return Value({name: value.content for name, (_, value) in members.items()}, start, end, members)

    def _list(self, start: int, depth: int) -> Value:
        values = []
        while not self._is_at("]"):
            values.append(self.value(depth + 1).content)
            if not self._is_at("]"):
                self._expect(",")
        return Value(values, start, self._take().end)

    def _is_at(self, sign: str) -> bool:
        return self.now is not None and self.now.text == sign

    def _expect(self, sign: str) -> None:
        if (token := self._take()).text != sign:
            raise CannotRead(f"{token.text!r} stands where {sign!r} should be")

    def _take(self) -> _Token:
        if self.now is None:
            raise CannotRead("it ends too early")
        token = self.now
        self._go_on()
        return token

    def _go_on(self) -> None:
        self.now = next(self._rest, None)


def _tokens(text: str) -> Iterator[_Token]:
    at = 1 if text.startswith("\ufeff") else 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise CannotRead(f"character {at} cannot be read")
        if found.lastgroup != "space":
            yield _Token(str(found.lastgroup), found[0], at)
        at = found.end()
