"""Positions of the keys of a document: for the line that is shown beside a server or a problem.

Each function takes a text that has been read without an error, and linear time.
"""

import json
import re
import tomllib
from collections.abc import Iterator
from itertools import accumulate
from typing import TypeAlias

import msgspec

from tooltray.foundation.files.json_places import Value

Place: TypeAlias = tuple[str | int, ...]
"""Keys and indexes from the document to a value."""

MAX_DEPTH = 7  # where Claude Code has a variable of a server of a project; lines of deeper values are not shown

_MEMBER = re.compile(r'[\s,]*"((?:[^"\\]|\\.)*)"\s*:\s*')
_DECODER = json.JSONDecoder()
_TOML_KEY = re.compile(r"""\s*(?:([A-Za-z0-9_-]+)|"((?:[^"\\]|\\.)*)"|'([^']*)')\s*(\.)?""")
_TOML_TEXT = re.compile(r"""\"\"\"|'''|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|#[^\n]*""")


class Positions(msgspec.Struct):
    """The positions of a document's keys.

    Attributes:
        at: by place, the index of the character where the key (of an item: the value) begins.
        repeated: places that occurred before, with the index of the later one.
    """

    at: dict[Place, int] = msgspec.field(default_factory=dict)
    repeated: list[tuple[Place, int]] = msgspec.field(default_factory=list)

    def add(self, place: Place, at: int) -> None:
        if place in self.at:
            self.repeated.append((place, at))
        self.at[place] = at


def start_of_line(text: str, line: int) -> int:
    """Returns the index of a line's first character.

    Args:
        line: from 1.
    """
    return sum(map(len, text.splitlines(keepends=True)[: line - 1]))


def of_value(value: Value) -> Positions:
    """Returns the positions in JSON that was read with them."""
    found = Positions()
    _add_value(found, (), value, value.start)
    return found


def _add_value(found: Positions, place: Place, value: Value, at: int) -> None:
    found.add(place, at)
    found.repeated += [((*place, key), again) for key, again in value.twice]
    if len(place) < MAX_DEPTH:
        for key, (start, inner) in value.members.items():
            _add_value(found, (*place, key), inner, start)
        for index, item in enumerate(value.items):
            _add_value(found, (*place, index), item, item.start)


def of_json(text: str, start: int) -> Positions:
    """Returns the positions in strict JSON, without those in lists, which are not needed: most of a large file is in lists.

    Args:
        start: index of the first character that is neither a space nor a byte order mark.
    """
    found = Positions({(): start})
    if text[start] == "{":
        _walk(found, text, (), start)
    return found


def _walk(found: Positions, text: str, place: Place, at: int) -> int:
    """Adds the members of the object that begins at an index; returns the index behind it."""
    at += 1
    while (member := _MEMBER.match(text, at)) is not None:
        name, value_at = member[1], member.end()
        inner = (*place, json.loads(f'"{name}"'))
        found.add(inner, member.start(1) - 1)
        if text[value_at] == "{" and len(inner) < MAX_DEPTH:
            at = _walk(found, text, inner, value_at)
        else:
            _, at = _DECODER.raw_decode(text, value_at)
    return text.index("}", at) + 1


def of_toml(text: str) -> Positions:
    """Returns the positions of tables and keys; members of an inline table have the position of its key."""
    found = Positions({(): 0})
    table: Place = ()
    for start, line in _toml_lines(text):
        if line.lstrip().startswith("["):
            table = _toml_keys(line.lstrip().lstrip("["))
            for length in range(1, len(table)):
                found.at.setdefault(table[:length], start)
            found.at[table] = start
        elif "=" in line:
            keys = _toml_keys(line)
            for length, _ in enumerate(keys, start=1):
                found.at.setdefault((*table, *keys[:length]), start)
    return found


def _toml_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yields the lines that do not begin within a text of several lines, with the index of each."""
    lines = text.splitlines(keepends=True)
    closing = ""
    for start, line in zip(accumulate(map(len, lines), initial=0), lines, strict=False):
        if not closing:
            yield start, line
        at = 0
        while True:
            if closing:
                end = line.find(closing, at)
                if end < 0:
                    break
                at, closing = end + 3, ""
            mark = _TOML_TEXT.search(line, at)
            if mark is None:
                break
            at, closing = mark.end(), mark[0] if mark[0] in ('"""', "'''") else ""


def _toml_keys(line: str) -> Place:
    """Returns the dotted key at the beginning of a line."""
    keys: list[str] = []
    at = 0
    while (part := _TOML_KEY.match(line, at)) is not None:
        bare, quoted, literal, dot = part.groups()
        keys.append(next(iter(tomllib.loads(f'"{quoted}" = 1'))) if quoted is not None else bare or literal)
        at = part.end()
        if not dot:
            break
    return tuple(keys)
