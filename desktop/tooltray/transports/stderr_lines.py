"""Splits a server's stderr into lines and limits their rate.

Above it: stdio_transport. Below it: the event loop's timers. A server that floods its stderr is paused by its pipe, since reading and
masking lines that nobody will see would slow down every other server. Of the dropped lines the last ones are kept: they explain an end.
"""

import asyncio
from collections import deque
from collections.abc import Callable

LINES_PER_S = 500  # a log has room for 1000
BYTES_PER_S = 2**20  # beyond this the pipe is not read until the second is over
LAST_LINES = 20
LINE_BYTES = 2000  # of a line that is kept


class StderrLines:
    """Reads the stderr of one process. Belongs to one event loop."""

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
        """Reads without pauses from now on: the process has ended, what is left in the pipe is bounded, and its end is awaited."""
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
