"""The files of logs, and the lines in them. Knows bytes and line ends, not the lines' content. Blocks, for a thread.

A log is several files, oldest first; each has a key, and the keys sort as the files do. A place is `KEY:OFFSET`. So a place stays valid
while files are added and removed; if its file is gone, it means the start of the oldest remaining file. A file that has become shorter was
truncated, and is read from its start. The last line of the newest file counts only with its line end: before, more may be appended to it.

A server's files are `NAME-HASH.NUMBER.log`; the number counts up, and the newest is the one that is written to. Only this user may read
them.
"""

import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from tooltray.foundation.home.home import file_stem
from tooltray.foundation.lazy_patterns import lazy_pattern
from tooltray.foundation.moments import day_of, days_kept
from tooltray.foundation.regular_file import open_regular
from tooltray.foundation.snapshots.activity import START
from tooltray.records.log.log_files import open_to_append

CHUNK_BYTES = 64 * 1024  # one chunk delays other threads for less than 0.2 ms
MAX_LINE_BYTES = 64 * 1024  # of a line that are read; the rest of a longer one is skipped
MAX_FILE_BYTES = 5 * 2**20  # an editor still opens it
KEPT_FILES = 2  # of one server: its last 5 to 10 MB of output
MAX_TOTAL_BYTES = 200 * 2**20  # of all servers together
KEPT_DAYS = 14  # besides today, as the hub's own log; days on which something was written count
_NUMBER = lazy_pattern(r"(.+-[0-9a-f]{12})\.(\d{6})\.log", re.ASCII)

Skips = Callable[[bytes], bool]
"""Reports that no line in a piece of text can be wanted, so that the piece need not be split into lines."""


class Segment(msgspec.Struct, frozen=True):
    """One file of a log."""

    key: str
    path: Path


class Place(msgspec.Struct, frozen=True, order=True):
    """A place between two lines."""

    key: str
    offset: int

    def __str__(self) -> str:
        return f"{self.key}:{self.offset}"


class Found(msgspec.Struct, frozen=True):
    """A line: its begin and end, and its bytes without the line end. `is_cut`: it is longer than MAX_LINE_BYTES."""

    start: int
    end: int
    line: bytes
    is_cut: bool = False


class Passed(msgspec.Struct, frozen=True):
    """The progress after a chunk: its size in bytes, and the offset reached, which is the beginning of a line."""

    offset: int
    size: int


def read_place(text: str) -> Place | None:
    """Parses a place; None if the text is not one."""
    key, _, offset = text.rpartition(":")
    is_number = offset.isascii() and offset.isdigit() and len(offset) <= 18
    return Place(key, int(offset)) if is_number and (key or text == START) else None


def size_of(path: Path) -> int:
    """Returns the bytes of a file; 0 if it does not exist."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def end_of_lines(path: Path) -> int:
    """Returns where the last complete line ends."""
    size = size_of(path)
    with open(path, "rb", opener=open_regular) as file:
        while size:
            size, end = max(size - CHUNK_BYTES, 0), size
            file.seek(size)
            if (last := file.read(end - size).rfind(b"\n")) >= 0:
                return size + last + 1
    return 0


def lines_before(path: Path, end: int, skips: Skips | None = None) -> Iterator[Found | Passed]:
    """Yields the lines before an offset, newest first, and the progress after each chunk.

    Raises:
        OSError: the file cannot be read.
    """
    with open(path, "rb", opener=open_regular) as file:
        position = end = min(end, os.fstat(file.fileno()).st_size)
        tail = b""  # the beginning of the last line of the next chunk; it ends at `tail_end`
        tail_end, is_cut = end, False
        while position:
            start = max(position - CHUNK_BYTES, 0)
            file.seek(start)
            chunk = file.read(position - start)
            size, position = position - start, start
            body_at = chunk.find(b"\n") + 1 if start else 0
            if start and (not body_at or (body_at == len(chunk) and not tail)):
                tail = chunk + tail
                is_cut = is_cut or len(tail.removesuffix(b"\n")) > MAX_LINE_BYTES
                tail = tail[:MAX_LINE_BYTES]
                yield Passed(tail_end, size)
                continue
            body = chunk[body_at:] + tail
            if not (skips and skips(body)):
                yield from reversed(_split(body, start + body_at, tail_end, is_cut))
            tail, is_cut, tail_end = chunk[:body_at], False, start + body_at
            yield Passed(tail_end, size)


def lines_from(path: Path, start: int, skips: Skips | None = None) -> Iterator[Found | Passed]:
    """Yields the complete lines from an offset on, oldest first, and the progress after each chunk.

    Raises:
        OSError: the file cannot be read.
    """
    with open(path, "rb", opener=open_regular) as file:
        start = start if start <= os.fstat(file.fileno()).st_size else 0
        file.seek(start)
        rest, is_cut, position = b"", False, start
        while chunk := file.read(CHUNK_BYTES):
            position += len(chunk)
            body_end = chunk.rfind(b"\n") + 1
            if not body_end:
                is_cut = is_cut or len(rest) + len(chunk) > MAX_LINE_BYTES
                rest = (rest + chunk)[:MAX_LINE_BYTES]
                yield Passed(start, len(chunk))
                continue
            body, end = rest + chunk[:body_end], position - len(chunk) + body_end
            if not (skips and skips(body)):
                yield from _split_forward(body, start, end, is_cut)
            rest, is_cut, start = chunk[body_end:], False, end
            yield Passed(start, len(chunk))


def find_time(path: Path, at: float, time_of: Callable[[bytes], float]) -> int:
    """Returns where the first line begins that is as late as a time, if lines are in the order of their times.

    Args:
        time_of: a line's time in unix seconds; 0: it has none.

    Raises:
        OSError: the file cannot be read.
    """
    low, high = 0, end_of_lines(path)
    while low < high:
        middle = (low + high) // 2
        first = _first_with_time(path, middle, high, time_of)
        if first and first[1] < at:
            low = first[0].end
        else:
            high = middle
    found = _first_with_time(path, low, size_of(path), time_of)
    return found[0].start if found else end_of_lines(path)


def _first_with_time(path: Path, offset: int, end: int, time_of: Callable[[bytes], float]) -> tuple[Found, float] | None:
    """Returns the first line that begins at an offset or after it, before `end`, and has a time."""
    begin = offset
    if offset:
        with open(path, "rb", opener=open_regular) as file:
            file.seek(offset - 1)
            begin = offset - 1 + (file.read(MAX_LINE_BYTES).find(b"\n") + 1 or MAX_LINE_BYTES)
    for each in lines_from(path, begin):
        if isinstance(each, Passed):
            continue
        if each.start >= end:
            return None
        if at := time_of(each.line):
            return each, at
    return None


def _split(body: bytes, start: int, end: int, is_cut: bool) -> list[Found]:
    """Splits a piece that begins and ends with a line; the end of the last one may be missing in it."""
    found: list[Found] = []
    for line in body.split(b"\n"):
        found.append(Found(start, start + len(line) + 1, line[:MAX_LINE_BYTES], len(line) > MAX_LINE_BYTES))
        start += len(line) + 1
    if not found[-1].line:
        found.pop()
    last = found[-1]
    found[-1] = Found(last.start, end, last.line, is_cut or last.is_cut)
    return found


def _split_forward(body: bytes, start: int, end: int, is_cut: bool) -> list[Found]:
    """Splits a piece into lines, from its last line backwards; the middle of a very long first line may be missing."""
    found: list[Found] = []
    for line in reversed(body[:-1].split(b"\n")):
        begin = end - len(line) - 1
        found.append(Found(begin, end, line[:MAX_LINE_BYTES], len(line) > MAX_LINE_BYTES))
        end = begin
    first = found[-1]
    found[-1] = Found(start, first.end, first.line, is_cut or first.is_cut)
    return found[::-1]


class ServerLogFiles:
    """The files of all servers. Belongs to one thread at a time."""

    def __init__(self, folder: Path, *, clock: Callable[[], float] = time.time) -> None:
        """
        Args:
            clock: returns unix seconds.
        """
        self._folder, self._clock = folder, clock

    def segments(self, server: str) -> list[Segment]:
        """Returns the files of a server, oldest first."""
        stem = file_stem(server)
        return [Segment(number, path) for found, number, path in self._files() if found == stem]

    def append(self, server: str, lines: bytes) -> None:
        """Writes whole lines.

        Raises:
            OSError: the disk refuses them, or some of them.
        """
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = open_to_append(self._current(server))
        try:
            if _is_cut(descriptor):
                os.write(descriptor, b"\n")
            while lines:
                lines = lines[os.write(descriptor, lines) :]
        finally:
            os.close(descriptor)

    def remove_old(self) -> None:
        """Deletes files older than KEPT_DAYS, and the oldest beyond MAX_TOTAL_BYTES."""
        found: list[tuple[float, int, Path]] = []
        for _, _, path in self._files():
            with suppress(OSError):
                status = path.stat()
                found.append((status.st_mtime, status.st_size, path))
        kept = days_kept((day_of(at) for at, _, _ in found), day_of(self._clock()), KEPT_DAYS + 1)
        room = MAX_TOTAL_BYTES
        for at, size, path in sorted(found, reverse=True):
            room -= size
            if room < 0 or day_of(at) not in kept:
                _remove(path)

    def _current(self, server: str) -> Path:
        """Returns the file that is written to; a full one gets a successor."""
        segments = self.segments(server)
        number = int(segments[-1].key) if segments else 1
        if segments and segments[-1].path.stat().st_size >= MAX_FILE_BYTES:
            number += 1
            for old in segments[: len(segments) + 1 - KEPT_FILES]:
                _remove(old.path)
            self.remove_old()
        return self._folder / f"{file_stem(server)}.{number:06d}.log"

    def _files(self) -> list[tuple[str, str, Path]]:
        """Returns stem, number and path of each file, oldest first; other files are ignored."""
        try:
            names = os.listdir(self._folder)
        except OSError:
            return []
        matches = (_NUMBER.fullmatch(name) for name in names)
        return sorted((match[1], match[2], self._folder / match[0]) for match in matches if match)


def _is_cut(descriptor: int) -> bool:
    """Reports whether the last line has no end: the disk was full, or the hub was killed."""
    size = os.lseek(descriptor, 0, os.SEEK_END)
    if not size:
        return False
    os.lseek(descriptor, size - 1, os.SEEK_SET)
    return os.read(descriptor, 1) != b"\n"


def _remove(path: Path) -> None:
    with suppress(OSError):  # another program has it open, on Windows
        path.unlink()
