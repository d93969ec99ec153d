"""A server's log: what its processes write to stderr, and the lines of stdout that are no protocol messages.

The log is bounded and outlives the processes; a separator line between two processes keeps the errors of one attempt from being taken for
another's. Every line is shortened and its secrets are masked before it is stored. StderrLines reads stderr no faster than so many lines a
second.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence

from tooltray.foundation.lazy_patterns import lazy_pattern
from tooltray.foundation.tasks import finish_in_thread
from tooltray.servers.launch.npm_config import is_fetch
from tooltray.servers.transports.process_failure import LastWords

LOG_LINES = 1000
LINES_PER_S = 500  # the lines that are kept of one process
LINE_BYTES = 2000  # the kept part of a line
SEPARATOR = "--- started again"
STDOUT_MARK = "stdout: "
LAUNCHER_MARK = "its launcher's own log: "
_URL = lazy_pattern(r"https?://(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\])(?::\d+)?[^\s'\"<>),]*")


class ServerOutput:
    """The output of one process. Belongs to one event loop.

    Attributes:
        last_at: the time of the last output, by the loop's clock; 0 if there was none.
        text: the last line of stdout that was no message; empty if there was none.
        text_since: the time of the first such line; 0 if there was none.
        last_line: the last line of stderr; while packages are downloaded it shows the progress.
        url: a URL of this machine in the output, where the server may serve HTTP; empty if there was none.
    """

    def __init__(self, *, log: deque[str], mask: Callable[[str], str], launcher_log: Callable[[], str] = str) -> None:
        """
        Args:
            log: the server's log over all its processes.
            mask: masks secrets in a text.
            launcher_log: returns the path of the newest log of a launcher that prints nothing itself, empty without such a log; reads
                folders, so it is called in a thread.
        """
        self._log, self._mask, self._launcher_log = log, mask, launcher_log
        self._last_words = LastWords()
        self.last_at = self.text_since = 0.0
        self.text = self.last_line = self.url = self._noted = ""
        self._second, self._printed = 0.0, 0  # the time, and the lines of stdout since that time
        self.left_out = 0  # lines of stdout

    def wrote(self, line: bytes) -> None:
        """Takes a line of stderr. What npm fetches is progress and not kept, but for what it tries again."""
        if is_fetch(line):
            self.touch()
            self.last_line = self._mask(bytes(line[:LINE_BYTES]).decode(errors="replace").rstrip())
            if b" failed with " in line:
                self._log.append(self.last_line)
        elif text := self._kept(line):
            self.last_line = text
            self._last_words.add(text, self.last_at)
            self._log.append(text)

    def printed(self, line: bytes | bytearray) -> None:
        """Takes a line of stdout that was no protocol message; drops lines beyond `LINES_PER_S`."""
        now = asyncio.get_running_loop().time()
        if now - self._second >= 1.0:
            self._second, self._printed = now, 0
        self._printed += 1
        if self._printed > LINES_PER_S:
            self.last_at = now
            self.left_out += 1
            return
        if text := self._kept(line):
            self.text_since = self.text_since or self.last_at
            self.text = text
            self._log.append(f"{STDOUT_MARK}{text}")

    def touch(self) -> None:
        """Notes that output arrived, if only part of a line."""
        self.last_at = asyncio.get_running_loop().time()

    def _kept(self, line: bytes | bytearray) -> str | None:
        text = bytes(line[:LINE_BYTES]).decode(errors="replace").rstrip()
        if not text:
            return None
        self.touch()
        text = self._mask(text)
        if found := _URL.search(text):
            self.url = found[0]
        return text

    @property
    def lines(self) -> list[str]:
        """The recent lines of stderr."""
        return self._last_words.lines

    @property
    def words(self) -> str:
        """The most telling line of stderr, else the last line of stdout that was no message; may be empty."""
        return str(self._last_words) or self.text

    async def launcher_log(self) -> str:
        """Returns the path of the launcher's own log, and notes a new path in the server's log."""
        path = await finish_in_thread(self._launcher_log)
        if path and path != self._noted:
            self._noted = path
            self._log.append(f"{LAUNCHER_MARK}{path}")
        return path


def new_log() -> deque[str]:
    """Returns an empty log of at most `LOG_LINES` lines."""
    return deque(maxlen=LOG_LINES)


def begin_attempt(log: deque[str], now: float | None = None) -> None:
    """Appends a separator line, if the log has output of an earlier process.

    Args:
        now: unix seconds; None for the current time.
    """
    if log and not log[-1].startswith(SEPARATOR):
        log.append(f"{SEPARATOR} {time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(now))} ---")


def last_attempt(log: Sequence[str]) -> list[str]:
    """Returns the lines of the last process that wrote anything."""
    lines = list(log)
    while lines and lines[-1].startswith(SEPARATOR):
        del lines[-1]
    starts = [at for at, line in enumerate(lines) if line.startswith(SEPARATOR)]
    return lines[starts[-1] + 1 :] if starts else lines


BYTES_PER_S = 2**20  # beyond this the pipe is not read until the second is over
LAST_LINES = 20


class StderrLines:
    """The reader of one process's stderr. Belongs to one event loop."""

    def __init__(self, keep: Callable[[bytes], None], *, pause: Callable[[], object], resume: Callable[[], object]) -> None:
        """
        Args:
            keep: called with each line, without its line break.
            pause, resume: stop and continue reading the pipe.
        """
        self._keep, self._pause, self._resume = keep, pause, resume
        self._rest = b""
        self._lines = self._bytes = self._left_out = 0  # in this second
        self._last: deque[bytes] = deque(maxlen=LAST_LINES)  # of the dropped lines
        self._second: asyncio.TimerHandle | None = None
        self._is_paused = self._is_ending = False

    def feed(self, data: bytes) -> None:
        *lines, rest = (self._rest + data).split(b"\n")
        self._rest = rest[-LINE_BYTES:]
        self._bytes += len(data)
        for line in lines:
            self._take(line)
        if self._second is None:
            self._second = asyncio.get_running_loop().call_later(1.0, self._on_second_over)
        if self._bytes > BYTES_PER_S and not (self._is_paused or self._is_ending):
            self._is_paused = True
            self._pause()

    def read_on(self) -> None:
        """Reads without pauses from now on: the process has ended, the rest in the pipe is bounded, and its end is awaited."""
        self._is_ending = True
        self._go_on()

    def finish(self) -> None:
        """Passes on an unfinished last line; no data will follow. May be called twice."""
        if self._second:
            self._second.cancel()
            self._second = None
        rest, self._rest = self._rest, b""
        if rest:
            self._take(rest)
        self._report_left_out()

    def _take(self, line: bytes) -> None:
        self._lines += 1
        if self._lines <= LINES_PER_S:
            self._keep(line)
        else:
            self._left_out += 1
            self._last.append(line)

    def _on_second_over(self) -> None:
        self._second = None
        self._report_left_out()
        self._lines = self._bytes = 0
        self._go_on()

    def _report_left_out(self) -> None:
        if omitted := self._left_out - len(self._last):
            self._keep(b"(%d lines left out: the server writes more than %d in a second)" % (omitted, LINES_PER_S))
        for line in self._last:
            self._keep(line)
        self._last.clear()
        self._left_out = 0

    def _go_on(self) -> None:
        if self._is_paused:
            self._is_paused = False
            self._resume()
