"""The lines of a text in which words or a regular expression stand, in time that grows with the text alone.

Above it: ResultReading. Below it: the regular expressions of pydantic-core, which are those of Rust: they know no look-around and no
references back, so that no pattern takes for ever, and the size of a compiled one is bounded. They only say whether a line has a match; so
long lines are looked at in overlapping windows, and a window with a match is what is shown.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from typing import Annotated

import msgspec
from pydantic import StringConstraints, TypeAdapter
from pydantic_core import SchemaError

from tooltray.foundation.errors import TooltrayError
from tooltray.gateway.kept_results.result_parts import text_of

LONGEST_PATTERN = 1000  # characters
WINDOW_BYTES = 400  # of a line that is longer than this; a match of more than half of it may be missed there
READ_BYTES = 2**18

LONGEST_SEARCH_S = 5.0  # the worst of patterns takes 40 ms for each window: hours for 50 MB

Matches = Callable[[str], bool]


class Line(msgspec.Struct, frozen=True):
    """A line, or a window of a long one.

    Attributes:
        number: of the line, from 1.
        at: where it begins, in bytes.
    """

    number: int
    at: int
    utf8: bytes


def matcher(words: str, *, is_pattern: bool) -> Matches:
    """What says whether a line has some words, or a match of a regular expression.

    Raises:
        TooltrayError: it is empty, too long, or no such expression; in words for a model.
    """
    if not words or len(words) > LONGEST_PATTERN:
        raise TooltrayError("grep cannot look for this", f"it takes 1 to {LONGEST_PATTERN} characters")
    if not is_pattern:
        return lambda line: words in line
    try:
        adapter: TypeAdapter[str] = TypeAdapter(Annotated[str, StringConstraints(pattern=words)])
    except SchemaError as error:
        reason = str(error).strip().splitlines()[-1]
        hint = "The syntax is that of Rust and RE2: no look-around, no references back. Or leave out regex."
        raise TooltrayError("this is no regular expression that can be used", reason, hint) from None
    return adapter.validator.isinstance_python


def lines(pieces: Iterable[bytes], *, at: int = 0, number: int = 1, only: bytes = b"") -> Iterator[Line]:
    """The lines of a text, without their ends; of long ones windows.

    Args:
        pieces: of UTF-8, each of whole characters.
        at, number: of the first line.
        only: lines without this may be left out.
    """
    rest = b""
    for piece in pieces:
        if only and only not in rest + piece and b"\n" in piece:
            skipped = rest + piece[: piece.rindex(b"\n") + 1]
            at, number = at + len(skipped), number + skipped.count(b"\n")
            rest, piece = b"", piece[len(skipped) - len(rest) :]
        *whole, rest = (rest + piece).split(b"\n")
        for each in whole:
            yield from _windows(Line(number, at, each))
            at, number = at + len(each) + 1, number + 1
        while len(rest) >= READ_BYTES:  # a line without end is not gathered
            yield from _windows(Line(number, at, rest))
            kept = _window_start(rest)
            at, rest = at + kept, rest[kept:]
    if rest:
        yield from _windows(Line(number, at, rest))


class Bounded:
    """Lines, until the time is over; iterated over once.

    Attributes:
        stopped_at: where the first line begins that was not looked at, in bytes; None: all were.
    """

    def __init__(self, lines: Iterable[Line], *, now: Callable[[], float] = time.monotonic) -> None:
        """
        Args:
            now: seconds by a clock that never goes back.
        """
        self._lines, self._now = lines, now
        self.stopped_at: int | None = None

    def __iter__(self) -> Iterator[Line]:
        ends = self._now() + LONGEST_SEARCH_S
        for line in self._lines:
            if self._now() >= ends:
                self.stopped_at = line.at
                return
            yield line


def _window_start(line: bytes) -> int:
    start = len(line) - WINDOW_BYTES // 2
    while line[start] & 0xC0 == 0x80:
        start -= 1
    return start


def _windows(line: Line) -> Iterator[Line]:
    if len(line.utf8) <= WINDOW_BYTES:
        yield line
        return
    start = 0
    while True:
        end = _character(line.utf8, start + WINDOW_BYTES)
        yield Line(line.number, line.at + start, line.utf8[start:end])
        if end == len(line.utf8):
            return
        start = _character(line.utf8, start + WINDOW_BYTES // 2)


def _character(utf8: bytes, at: int) -> int:
    while at < len(utf8) and utf8[at] & 0xC0 == 0x80:
        at -= 1
    return min(at, len(utf8))


def found(of: Iterable[Line], matches: Matches) -> Iterator[Line]:
    """Those with a match; of windows that overlap the first."""
    last = Line(0, 0, b"")
    for line in of:
        overlaps = line.number == last.number and line.at < last.at + len(last.utf8)
        if not overlaps and matches(text_of(line.utf8)):
            last = line
            yield line
