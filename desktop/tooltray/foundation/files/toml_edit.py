"""Changes members of a TOML text and leaves every other byte as it is: comments, order, line ends, and the way tables are written.

The standard library decides whether a text is TOML and what it contains; `statements` adds only positions. A new table goes to the end of
the text, after an empty line, where it is valid however its neighbours are written; a new value goes behind the last one of its table.
After each change the text is parsed, and only the requested member may differ.
"""

import datetime
import json
import math
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from tooltray.foundation.files.json_places import MAX_DEPTH, CannotRead
from tooltray.foundation.files.member_change import MISSING, check_change, is_same, member_of
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.verbs import JsonObject

Keys = tuple[str, ...]
_BLANK = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_TEXT = re.compile(r'"""(?:\\.|[^\\])*?"""(?:"{0,2})|\'\'\'.*?\'\'\'(?:\'{0,2})|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'', re.DOTALL)
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_WORD = re.compile(r"[^,\]}\r\n#]+")  # a number, a date, true or false
_PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_EMPTY_LINE = re.compile(r"(?:\A\ufeff?|\n)\r?\n\Z")


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


def read_toml(text: str) -> JsonObject:
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
        raise CannotRead(Phrase("it is not TOML: {reason}", reason=reason), _index(text, place)) from None
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
        """Skips a value; returns its pairs if it is an inline table."""
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
            raise CannotRead(Phrase("this character is not allowed here"), self._at)
        self._at = found.end()


def with_member(text: str, path: Sequence[str], content: object) -> str:
    """Returns the text with one member set. Missing tables are made; in an existing member only the parts that differ change.

    Args:
        path: keys from the document to the member; the last is the member's own.
        content: the member's new value, as `tomllib` gives it.

    Raises:
        CannotRead: the text is not TOML, the member cannot be set there, or the content has no TOML form.
    """
    after = _with(text, tuple(path), content, read_toml(text))
    check_change(read_toml(text), read_toml(after), path, content)
    return after


def without_member(text: str, path: Sequence[str]) -> str:
    """Returns the text without one member: its tables, their subtables, and the comments inside them.

    Args:
        path: keys from the document to the member; the last is the member's own.

    Raises:
        CannotRead: the text is not TOML, has no such member, or the edit would remove more than the member.
    """
    before = read_toml(text)
    after = _without(text, tuple(path))
    check_change(before, read_toml(after), path)
    return after


def _with(text: str, path: Keys, content: object, document: object) -> str:
    before = member_of(document, path)
    if before is MISSING:
        return _with_new(text, path, content)
    if isinstance(before, dict) and isinstance(content, Mapping):
        for key in content:
            if key not in before or not is_same(before[key], content[key]):
                text = _with(text, (*path, key), content[key], document)
        for key in before:
            text = text if key in content else _without(text, (*path, key))
        return text
    pair = next((pair for pair in _all_pairs(statements(text)) if pair.path == path), None)
    if pair is None:
        return _with_new(_without(text, path), path, content)
    return text[: pair.value] + _written(content) + text[pair.end :]


def _all_pairs(parts: Iterable[Header | Pair]) -> Iterator[Pair]:
    for part in parts:
        if isinstance(part, Pair):
            yield part
            yield from _all_pairs(part.pairs or ())


def _inline_above(text: str, path: Keys) -> Pair | None:
    """Returns the innermost inline table that a member is in or would be in."""
    above = [pair for pair in _all_pairs(statements(text)) if pair.pairs is not None and _is_below(path, pair.path)]
    return above[-1] if above else None


def _is_below(path: Keys, table: Keys) -> bool:
    return len(path) > len(table) and path[: len(table)] == table


def _with_new(text: str, path: Keys, content: object) -> str:
    if (inline := _inline_above(text, path)) is not None:
        pair = f"{_dotted(path[len(inline.path) :])} = {_written(content)}"
        at = inline.pairs[-1].end if inline.pairs else inline.value + 1
        return text[:at] + (", " if inline.pairs else " ") + pair + text[at:]
    if isinstance(content, Mapping):
        return _with_table(text, path, content)
    return _with_line(text, path, content)


def _with_table(text: str, path: Keys, content: Mapping[str, object]) -> str:
    """Appends the table to the text, which ends as it did: with or without a line end."""
    end = _line_end(text)
    lines = end.join(_table_lines(path, content))
    if not text.removeprefix("\ufeff"):
        return text + lines + end
    return text + (end + lines + end if text.endswith("\n") else end + end + lines)


def _table_lines(path: Keys, content: Mapping[str, object]) -> list[str]:
    lines = [f"[{_dotted(path)}]"]
    lines += [f"{_dotted((key,))} = {_written(value)}" for key, value in content.items() if not isinstance(value, Mapping)]
    for key, value in content.items():
        if isinstance(value, Mapping):
            lines += ["", *_table_lines((*path, key), value)]
    return lines


def _with_line(text: str, path: Keys, content: object) -> str:
    """Inserts the value on its own line: behind the last value of its table, or else after the table's header."""
    table, parts = path[:-1], statements(text)
    pairs = [part for part in parts if isinstance(part, Pair) and _is_below(part.path, table) and len(part.path) - part.keys <= len(table)]
    headers = [part for part in parts if isinstance(part, Header) and part.path == table]
    if not pairs and not headers:
        return _with_table(text, table, {path[-1]: content}) if table else _with_first_line(text, path, content)
    written_above = len(pairs[-1].path) - pairs[-1].keys if pairs else len(table)
    line = f"{_dotted(path[written_above:])} = {_written(content)}"
    at = _behind_line(text, (pairs or headers)[-1].end)
    end = _line_end(text)
    return text[:at] + (line + end if text[:at].endswith("\n") else end + line) + text[at:]


def _with_first_line(text: str, path: Keys, content: object) -> str:
    at = int(text.startswith("\ufeff"))
    return text[:at] + f"{_dotted(path)} = {_written(content)}{_line_end(text)}" + text[at:]


def _without(text: str, path: Keys) -> str:
    """Returns the text without all tables and values of a member, which may be in several places."""
    while True:
        parts = statements(text)
        own = [part.path[: len(path)] == path for part in parts]
        if True in own:
            first = own.index(True)
            last = first + own[first:].index(False) if False in own[first:] else len(own)
            text = _cut(text, parts[first], parts[last - 1])
        elif (inline := _inline_above(text, path)) is not None and (cut := _cut_inside(text, inline, path)) is not None:
            text = cut
        else:
            return text


def _cut(text: str, first: Header | Pair, last: Header | Pair) -> str:
    """Returns the text without the lines of some statements, and without the empty line before them if they begin a table."""
    start, end = text.rfind("\n", 0, first.start) + 1, _behind_line(text, last.end)
    before, after = text[: start or int(text.startswith("\ufeff"))], text[end:]
    is_last = not after and not text.endswith("\n")
    for _ in range(int(is_last) + int(isinstance(first, Header) and _EMPTY_LINE.search(before) is not None)):
        before = before.removesuffix("\n").removesuffix("\r")
    if not before.removeprefix("\ufeff") and isinstance(first, Header):
        after = after.removeprefix(_line_end(text))
    return before + after


def _cut_inside(text: str, inline: Pair, path: Keys) -> str | None:
    pairs = inline.pairs or []
    for index, pair in enumerate(pairs):
        if pair.path[: len(path)] == path:
            is_first_of_several = index == 0 and len(pairs) > 1
            start = pair.start if is_first_of_several else pairs[index - 1].end if index else inline.value + 1
            return text[:start] + text[pairs[1].start if is_first_of_several else pair.end :]
    return None


def _behind_line(text: str, at: int) -> int:
    found = text.find("\n", at)
    return len(text) if found < 0 else found + 1


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _dotted(keys: Keys) -> str:
    return ".".join(key if _BARE_KEY.fullmatch(key) else _quoted(key) for key in keys)


def _quoted(text: str) -> str:
    if _LONE_SURROGATE.search(text):
        raise _no_form()
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _written(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float() if math.isfinite(value):
            return repr(value)
        case str():
            return _quoted(value)
        case datetime.datetime() | datetime.date() | datetime.time():
            return value.isoformat()
        case list() | tuple():
            return f"[{', '.join(_written(item) for item in value)}]"
        case Mapping() if value:
            return f"{{ {', '.join(f'{_dotted((str(key),))} = {_written(item)}' for key, item in value.items())} }}"
        case Mapping():
            return "{}"
    raise _no_form()


def _no_form() -> CannotRead:
    return CannotRead(Phrase("the new content has no TOML form"))
