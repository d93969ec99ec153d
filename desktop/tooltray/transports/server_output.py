"""What one process of a server writes besides messages: its stderr, and the lines of its stdout that are no protocol.

Above it: stdio_transport. Below it: the server's log and LastWords. Everything is cut and masked before it is kept.
"""

import asyncio
import re
from collections import deque
from collections.abc import Callable

from tooltray.tasks import finish_in_thread
from tooltray.transports.last_words import LastWords
from tooltray.transports.server_log import LAUNCHER_MARK, STDOUT_MARK

LINE_BYTES = 2000  # of a line that is kept
_URL = re.compile(r"https?://(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\])(?::\d+)?[^\s'\"<>),]*")


class ServerOutput:
    """Satisfies Output; belongs to the event loop."""

    def __init__(self, *, log: deque[str], mask: Callable[[str], str], launcher_log: Callable[[], str] = str) -> None:
        """
        Args:
            log: the server's, over all its processes.
            mask: takes secrets out of a text.
            launcher_log: see Output; reads folders, so it is called in a thread.
        """
        self._log, self._mask, self._launcher_log = log, mask, launcher_log
        self._last_words = LastWords()
        self.last_at = self.text_since = 0.0
        self.text = self.last_line = self.url = self._noted = ""

    def wrote(self, line: bytes) -> None:
        """A line of stderr."""
        if text := self._kept(line):
            self.last_line = text
            self._last_words.add(text, self.last_at)
            self._log.append(text)

    def printed(self, line: bytes | bytearray) -> None:
        """A line of stdout that was no message."""
        if text := self._kept(line):
            self.text_since = self.text_since or self.last_at
            self.text = text
            self._log.append(f"{STDOUT_MARK}{text}")

    def touch(self) -> None:
        """Something came, if only a part of a line."""
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
        """The recent ones of stderr."""
        return self._last_words.lines

    @property
    def words(self) -> str:
        """What says most of why it ended: of stderr, else of stdout."""
        return str(self._last_words) or self.text

    async def launcher_log(self) -> str:
        """It is noted in the server's log, too."""
        path = await finish_in_thread(self._launcher_log)
        if path and path != self._noted:
            self._noted = path
            self._log.append(f"{LAUNCHER_MARK}{path}")
        return path
