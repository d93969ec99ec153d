"""The files of servers' logs: some for each server, each bounded; the oldest are deleted. Knows lines, not their content. Blocks on the
disk.

A server's files are `NAME-HASH.NUMBER.log`; the number counts up, and the newest is the one that is written to. Only this user may read
them.
"""

import os
import re
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from tooltray.foundation.home.server_stem import file_stem
from tooltray.foundation.moments import day_of, days_kept
from tooltray.servers.logs.log_segments import Segment

if sys.platform == "win32":
    from tooltray.records.activity.appending_windows import open_to_append
else:
    from tooltray.records.activity.appending_posix import open_to_append

MAX_FILE_BYTES = 5 * 2**20  # an editor still opens it
KEPT_FILES = 2  # of one server: 5 to 10 MB of its last words
MAX_TOTAL_BYTES = 200 * 2**20  # of all servers together
KEPT_DAYS = 14  # besides today, as the hub's own log; days on which something was written count
_NUMBER = re.compile(r"(.+-[0-9a-f]{12})\.(\d{6})\.log", re.ASCII)


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
