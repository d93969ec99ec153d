"""A server's log: what its processes write to stderr, and the lines of stdout that are no protocol messages.

Above it: stdio_transport, upstream and the doctor. Below it: LastWords. The log is bounded and outlives the processes; a separator line
stands between one process and the next, so that the errors of one attempt are not taken for another's. Every line is shortened and its
secrets are masked before it is stored.
"""

import asyncio
import re
import time
from collections import deque
from collections.abc import Callable, Sequence

from tooltray.tasks import finish_in_thread
from tooltray.transports.last_words import LastWords

LOG_LINES = 1000
LINE_BYTES = 2000  # of a line that is kept
SEPARATOR = "--- started again"
STDOUT_MARK = "stdout: "
LAUNCHER_MARK = "its launcher's own log: "
_URL = re.compile(r"https?://(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\])(?::\d+)?[^\s'\"<>),]*")


class ServerOutput:
    """Collects the output of one process. Satisfies Output; belongs to one event loop."""

    def __init__(self, *, log: deque[str], mask: Callable[[str], str], launcher_log: Callable[[], str] = str) -> None:
        """
        Args:
            log: the server's log over all its processes.
            mask: masks secrets in a text.
            launcher_log: returns the path described at `Output.launcher_log`; reads folders, so it is called in a thread.
        """
        self._log, self._mask, self._launcher_log = log, mask, launcher_log
        self._last_words = LastWords()
        self.last_at = self.text_since = 0.0
        self.text = self.last_line = self.url = self._noted = ""

    def wrote(self, line: bytes) -> None:
        """Takes a line of stderr."""
        if text := self._kept(line):
            self.last_line = text
            self._last_words.add(text, self.last_at)
            self._log.append(text)

    def printed(self, line: bytes | bytearray) -> None:
        """Takes a line of stdout that was no protocol message."""
        if text := self._kept(line):
            self.text_since = self.text_since or self.last_at
            self.text = text
            self._log.append(f"{STDOUT_MARK}{text}")

    def touch(self) -> None:
        """Notes that output arrived, if only part of a line."""
        self.last_at = asyncio.get_running_loop().time()

    def _kept(self, line: bytes | bytearray) -> str:
        text = bytes(line[:LINE_BYTES]).decode(errors="replace").rstrip()
        if not text:
            return ""
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
