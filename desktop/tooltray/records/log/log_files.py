"""Where lines of the structured log go: into files, and to stderr.

There is a file each day, more on a busy day; old ones are removed. Several processes may write to one folder: files are opened for
appending only, and each write ends with a whole line. Only StructuredLog's writer thread uses this.
"""

import os
import re
import sys
import threading
import time
from collections import deque
from contextlib import suppress
from pathlib import Path

from tooltray.foundation.lazy_patterns import lazy_pattern
from tooltray.foundation.moments import day_of, days_kept
from tooltray.foundation.regular_file import open_regular

MAX_FILE_BYTES = 20 * 2**20  # of one file; a day may have several, so that old hours can be removed and editors can open each
MAX_TOTAL_BYTES = 100 * 2**20
KEPT_DAYS = 14  # besides today; days with records count, so that a clock that jumps forward removes nothing
NEWLINE = 0x0A
LOOKS_AT_CUT_LINE, LOOK_AGAIN_S = 10, 0.02  # a write in progress is seen in parts, and takes long on a busy machine

_NAME = lazy_pattern(r"tooltray-(\d{4}-\d\d-\d\d)(?:-(\d{1,6}))?\.jsonl", re.ASCII)

MAX_WAITING_BYTES = 2**20
RETRY_S = 0.05  # for a stderr that the parent process made non-blocking


if sys.platform == "win32":
    import _winapi
    import msvcrt

    APPEND_DATA = 0x0004  # FILE_APPEND_DATA
    SHARED = 0x0007  # FILE_SHARE_READ, _WRITE and _DELETE: others may append too, and remove old files
    OPEN_ALWAYS, NORMAL = 4, 0x80  # FILE_ATTRIBUTE_NORMAL

    def open_to_append(path: Path) -> int:
        """Opens a file for reading and for appending; creates it if it does not exist, with the access list of its folder.

        Python's O_APPEND is of no use here: the C library looks for the end and writes in two steps. A handle that may append but not write
        makes Windows do both in one ("File Access Rights Constants", FILE_APPEND_DATA).

        Returns:
            a descriptor. Each write goes to the end in one step, also between the writes of other processes.

        Raises:
            OSError: it cannot be opened.
        """
        handle = _winapi.CreateFile(str(path), _winapi.GENERIC_READ | APPEND_DATA, SHARED, 0, OPEN_ALWAYS, NORMAL, 0)
        return msvcrt.open_osfhandle(handle, os.O_BINARY)
else:

    def open_to_append(path: Path) -> int:
        """Opens a file for reading and for appending; creates it if it does not exist, only for this user.

        Returns:
            a descriptor. Each write goes to the end in one step, also between the writes of other processes.

        Raises:
            OSError: it cannot be opened.
        """
        return open_regular(path, os.O_RDWR | os.O_APPEND | os.O_CREAT)


class LogFiles:
    """A writer that appends to the newest log file of a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._descriptor = -1
        self._day = ""
        self._ends_in_line = False  # a full disk may cut a line; the next line must not continue it

    def append(self, lines: bytes, now: float) -> int:
        """Writes whole lines.

        Args:
            now: unix seconds; its day in UTC decides the file.

        Returns:
            the number of bytes written; less than all if the disk refused the rest.
        """
        written = 0
        with suppress(OSError):
            self._open_for(now)
            if self._ends_in_line:
                os.write(self._descriptor, b"\n")
                self._ends_in_line = False
            while written < len(lines):
                written += os.write(self._descriptor, lines[written:] if written else lines)
                self._ends_in_line = lines[written - 1] != NEWLINE
        return written

    def close(self) -> None:
        """Closes the file. May be called twice."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _open_for(self, now: float) -> None:
        day = day_of(now)
        if self._descriptor >= 0:
            status = os.fstat(self._descriptor)
            if day == self._day and status.st_size < MAX_FILE_BYTES and status.st_nlink:
                return
            self.close()
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = self._newest_of(day)
        self._descriptor = open_to_append(path)
        self._day = day
        self._ends_in_line = self._is_cut()
        self._remove_old(path, now)

    def _is_cut(self) -> bool:
        """Returns whether the file's last line is incomplete, and is not just being written by another process."""
        for _ in range(LOOKS_AT_CUT_LINE):
            size = os.lseek(self._descriptor, 0, os.SEEK_END)
            if not size:
                return False
            os.lseek(self._descriptor, size - 1, os.SEEK_SET)
            if os.read(self._descriptor, 1)[0] == NEWLINE:
                return False
            time.sleep(LOOK_AGAIN_S)
        return True

    def _newest_of(self, day: str) -> Path:
        parts = [part for found_day, part, _ in self._files() if found_day == day]
        newest = max(parts, default=1)
        path = self._path(day, newest)
        return self._path(day, newest + 1) if path.exists() and path.stat().st_size >= MAX_FILE_BYTES else path

    def _path(self, day: str, part: int) -> Path:
        return self._folder / (f"tooltray-{day}.jsonl" if part == 1 else f"tooltray-{day}-{part}.jsonl")

    def _files(self) -> list[tuple[str, int, Path]]:
        """Returns day, part and path of every log file, oldest first; other files are ignored."""
        matches = ((_NAME.fullmatch(path.name), path) for path in self._folder.iterdir())
        return sorted((match[1], int(match[2] or 1), path) for match, path in matches if match)

    def _remove_old(self, current: Path, now: float) -> None:
        """Removes files beyond KEPT_DAYS, and the oldest until the rest, with room for a full current file, is within MAX_TOTAL_BYTES."""
        today, room = day_of(now), MAX_TOTAL_BYTES - MAX_FILE_BYTES
        files = sorted(self._files(), key=lambda each: (each[0] <= today, each), reverse=True)  # a day to come is of a clock once wrong
        kept = days_kept((day for day, _, _ in files), today, KEPT_DAYS + 1)
        for found_day, _, path in files:
            if path == current:
                continue
            with suppress(OSError):  # another process removes it in the same moment
                room -= path.stat().st_size
                if found_day not in kept or room < 0:
                    path.unlink()


def log_files(folder: Path) -> list[tuple[str, Path]]:
    """Returns all log files of a folder, oldest first, each with a key that sorts in the same order."""
    try:
        matches = [(_NAME.fullmatch(path.name), path) for path in folder.iterdir()]
    except OSError:
        return []
    return sorted((f"{match[1]}.{int(match[2] or 1):06d}", path) for match, path in matches if match)


class StderrCopy:
    """A writer of text to stderr, in order, that never blocks the log on its reader.

    An AI client may close its end of stderr, or keep it open and never read it: then a write blocks forever. So a separate thread writes,
    a daemon that ends with the process; lines that exceed its queue are only in the log files.
    """

    def __init__(self) -> None:
        """Duplicates descriptor 2, which may be closed and reused for something else later."""
        self._changed = threading.Condition()
        self._pieces: deque[bytes] = deque()
        self._waiting_bytes = 0
        self._is_open = True
        try:
            self._descriptor = os.dup(2)
        except OSError:  # started without a stderr
            self._is_open = False
            return
        self._thread = threading.Thread(target=self._run, name="tooltray-stderr", daemon=True)
        self._thread.start()

    def write(self, piece: bytes) -> None:
        """Queues a piece if there is room for it; never blocks."""
        with self._changed:
            if self._is_open and self._waiting_bytes + len(piece) <= MAX_WAITING_BYTES:
                self._pieces.append(piece)
                self._waiting_bytes += len(piece)
                self._changed.notify_all()

    def flush(self, timeout_s: float) -> bool:
        """Waits until all pieces are written or stderr is closed; returns False after `timeout_s` seconds."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._pieces, timeout_s)

    def close(self, timeout_s: float) -> None:
        """Writes queued pieces for `timeout_s` seconds at most. May be called twice."""
        with self._changed:
            was_open, self._is_open = self._is_open, False
            self._changed.notify_all()
        if was_open:
            self._thread.join(timeout_s)

    def _run(self) -> None:
        while piece := self._next():
            try:
                self._write_all(piece)
            except OSError:  # the reader has gone (EPIPE)
                self._drop_all()
                break
            with self._changed:
                self._pieces.popleft()
                self._waiting_bytes -= len(piece)
                self._changed.notify_all()
        os.close(self._descriptor)

    def _next(self) -> bytes:
        with self._changed:
            self._changed.wait_for(lambda: self._pieces or not self._is_open)
            return self._pieces[0] if self._pieces else b""

    def _write_all(self, piece: bytes) -> None:
        while piece:
            try:
                piece = piece[os.write(self._descriptor, piece) :]
            except BlockingIOError:
                time.sleep(RETRY_S)

    def _drop_all(self) -> None:
        with self._changed:
            self._is_open = False
            self._pieces.clear()
            self._waiting_bytes = 0
            self._changed.notify_all()
