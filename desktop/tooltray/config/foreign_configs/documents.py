"""Reads one file of an AI client: JSON with or without comments, TOML or YAML, whatever state it is in.

Files of other programs are in any state: none blocks or takes more than some seconds, and a malformed one is an error with its line.
No error quotes a text of the file: it may be an API key.
"""

import contextlib
import json
import os
import re
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Literal, NoReturn, TypeAlias

import msgspec

from tooltray.config.foreign_configs import document_lines
from tooltray.config.foreign_configs.document_lines import Place, Positions
from tooltray.foundation.files.file_text import CannotOpen, FileText, read_text
from tooltray.foundation.files.json_places import CannotRead, Lines, Value, read
from tooltray.foundation.phrases import Phrase

Format: TypeAlias = Literal["json", "toml", "yaml", "text"]
"""Of a file; the content of "text" is the text itself."""
MAX_BYTES = 32 * 1024 * 1024  # Claude Code keeps its whole history in its file
MAX_SLOW_CHARACTERS = 1024 * 1024  # of TOML and YAML, whose readers take seconds for it; usual files have less than a tenth
MAX_VALUES = 100_000  # of JSON with comments; reading so many takes a second

_LINE_OF_TOML = re.compile(r"\(at line (\d+), column \d+\)")
_BESIDES = re.compile(r'"(?:[^"\\\n\r]|\\.)*"|//[^\n\r]*|/\*.*?\*/|,(?=(?:\s|//[^\n\r]*|/\*.*?\*/)*[}\]])', re.DOTALL)
_SEEN = re.compile(r"[^\n\r]")


class Content(msgspec.Struct, frozen=True):
    """The result of reading a text.

    Attributes:
        positions: returns where the keys are.
        may_repeat: whether a key may occur twice.
    """

    value: object
    positions: Callable[[], Positions]
    may_repeat: bool = True


class Document:
    """A file as it was read.

    Attributes:
        path: as it was given; a link is not followed in it.
        format: how it was read.
        content: dicts, lists, texts, numbers, booleans and None; None: the file does not exist, or it is empty.
        digest: `edited_files.digest_of_bytes` of the file; empty: the file does not exist.
    """

    def __init__(self, path: Path, format: Format, file: FileText, content: Content) -> None:
        self.path, self.format, self.content, self.digest = path, format, content.value, file.digest
        self._file, self._content = file, content

    @property
    def text(self) -> str:
        """The text, with a byte order mark if the file has one."""
        return self._file.text

    @property
    def encoding(self) -> str:
        """Python's name of the encoding; a new text is written in the same one."""
        return self._file.encoding

    @property
    def raw(self) -> bytes:
        """The bytes of the file."""
        return self._file.to_bytes(self._file.text)

    @property
    def exists(self) -> bool:
        return bool(self.digest)

    def line_of(self, place: Sequence[str | int]) -> int:
        """Returns the line where a value begins, from 1; else that of the object around it; 0: it does not exist."""
        found = next((at for at in map(self._positions.at.get, _upwards(place)) if at is not None), None)
        return 0 if found is None else self._lines.place(found)[0]

    def repeated(self) -> list[tuple[Place, int]]:
        """Returns the keys that occur in one object for a second time, with their lines; the last one counts."""
        if not self._content.may_repeat:
            return []
        return [(place, self._lines.place(at)[0]) for place, at in self._positions.repeated]

    @cached_property
    def _positions(self) -> Positions:
        try:
            return self._content.positions()
        except RecursionError:  # it could just be read, from a place that was not as deep as this one
            return Positions()

    @cached_property
    def _lines(self) -> Lines:
        return Lines(self.text)


def read_document(path: Path, format: Format) -> Document:
    """Reads a file; one that does not exist, or is empty, has the content None.

    Raises:
        CannotOpen: it is not a file, too large, not text, malformed, may not be read, or a link leads to another user's file.
    """
    _refuse_files_of_others(path)
    file = read_text(path, MAX_BYTES)
    try:
        return Document(path, format, file, read_content(file.text, format))
    except CannotRead as error:
        line = 0 if error.at is None else Lines(file.text).place(error.at)[0]
        raise CannotOpen(error.reason, line, file.digest) from None


def read_content(text: str, format: Format) -> Content:
    """Reads a text that is from no file, or from one that was read already; an empty one has the value None.

    Args:
        text: may begin with a byte order mark.

    Raises:
        CannotRead: it is malformed, or too large.
    """
    if not text.strip("\ufeff \t\r\n"):
        return Content(None, Positions, may_repeat=False)
    if format != "json" and len(text) > MAX_SLOW_CHARACTERS:
        raise CannotRead(Phrase("it is larger than {size} MB", size=MAX_SLOW_CHARACTERS // 1024 // 1024))
    try:
        return _READERS[format](text)
    except RecursionError:
        raise CannotRead(Phrase("it is nested too deeply")) from None


def _upwards(place: Sequence[str | int]) -> list[Place]:
    return [tuple(place[:length]) for length in range(len(place), -1, -1)]


def _refuse_files_of_others(path: Path) -> None:
    """Checks that a link in the user's home does not lead to a file of another user, whose servers and keys are not ours.

    Raises:
        CannotOpen: it does.
    """
    real = os.path.realpath(path)
    if real == os.path.abspath(path):
        return
    try:
        owner = os.stat(real).st_uid
    except OSError:
        return
    if sys.platform != "win32" and owner not in (os.getuid(), 0):
        raise CannotOpen(Phrase("it is a link to another user's file"))


def _read_json(text: str) -> Content:
    """Reads JSON, also with comments, by the interpreter's own reader if it can, which takes a hundredth of the time."""
    with contextlib.suppress(ValueError):
        return _read_strict_json(text)
    with contextlib.suppress(ValueError):
        return _read_strict_json(_BESIDES.sub(_blank, text))
    value = _read_odd_json(text)
    return Content(value.content, lambda: document_lines.of_value(value))


def _read_strict_json(text: str) -> Content:
    """Reads JSON without comments. Raises ValueError if it is not strict."""
    has_repeated = False

    def as_object(pairs: list[tuple[str, object]]) -> dict[str, object]:
        nonlocal has_repeated
        made = dict(pairs)
        has_repeated = has_repeated or len(made) < len(pairs)
        return made

    content = json.loads(text.removeprefix("\ufeff"), parse_constant=_refuse, object_pairs_hook=as_object)
    start = len(text) - len(text.lstrip("\ufeff \t\r\n"))
    return Content(content, lambda: document_lines.of_json(text, start), has_repeated)


def _blank(found: re.Match[str]) -> str:
    """Returns texts unchanged, and spaces in place of comments and trailing commas, so that every index stays."""
    return found[0] if found[0].startswith('"') else _SEEN.sub(" ", found[0])


def _read_odd_json(text: str) -> Value:
    """Reads JSON5.

    Raises:
        CannotRead: it is malformed.
    """
    try:
        return read(text, "jsonc", MAX_VALUES)
    except CannotRead as error:
        with contextlib.suppress(CannotRead):
            return read(text, "json5", MAX_VALUES)
        raise error from None


def _refuse(word: str) -> NoReturn:
    raise ValueError(word)


def _read_toml(text: str) -> Content:
    try:
        content = tomllib.loads(text.removeprefix("\ufeff"))
    except ValueError as error:  # TOMLDecodeError, and the error for numbers with too many digits
        line = _LINE_OF_TOML.search(str(error))
        at = document_lines.start_of_line(text, int(line[1])) if line else len(text)
        raise CannotRead(Phrase("this is not TOML"), at) from None
    return Content(_plain(content), lambda: document_lines.of_toml(text), may_repeat=False)


def _plain(value: object) -> object:
    """Returns a value with dates and times of TOML as texts."""
    match value:
        case dict():
            return {key: _plain(inner) for key, inner in value.items()}
        case list():
            return [_plain(inner) for inner in value]
        case str() | int() | float():
            return value
    return str(value)


def _read_yaml(text: str) -> Content:
    from tooltray.config.foreign_configs.yaml_reading import (
        read_yaml,  # its library takes a tenth of a second to load, and few have such a client
    )

    value, positions = read_yaml(text)
    return Content(value, lambda: positions)


def _read_text(text: str) -> Content:
    return Content(text, Positions, may_repeat=False)


_READERS: Mapping[Format, Callable[[str], Content]] = {"json": _read_json, "toml": _read_toml, "yaml": _read_yaml, "text": _read_text}
