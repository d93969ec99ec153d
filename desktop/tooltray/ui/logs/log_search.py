"""Finds a text in a whole log, from the newest line to the oldest, page after page, so that what is found so far can be shown."""

from collections.abc import Sequence

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.snapshots.activity import LogFilter, LogLine
from tooltray.ui.link.qt_mcp_presenter import QtMcpPresenter
from tooltray.ui.logs.log_model import shown_text

PAGE = 500  # lines that have it; only where they stand is kept
MOST_FOUND = 10_000  # more than anybody steps through


class LogSearch:
    """A search in a log; ends at MOST_FOUND.

    Attributes:
        text: what is searched; empty: nothing.
        found: the positions of lines with the text, the newest first.
        current: the place in `found` that is shown; -1: none is.
        share: how much of the log was searched, from 0 to 1.
        is_running: the search has not ended; set to False to stop it.
    """

    def __init__(self, hub: QtMcpPresenter, source: str, text: str = "", levels: Sequence[str] = ()) -> None:
        self._hub, self._source, self.text = hub, source, text
        self._wanted = LogFilter(text=text, levels=tuple(levels))
        self._before, self._searched = "", 0
        self.found: list[str] = []
        self.current, self.share, self.is_running = -1, 0.0, bool(text)

    async def read_page(self) -> None:
        """Searches the next page; adds nothing if the search was stopped meanwhile."""
        try:
            page = await self._hub.logs.get_log(self._source, self._wanted, self._before, "", PAGE)
        except TooltrayError:
            self.is_running = False
        if not self.is_running:
            return
        self._searched, self._before = self._searched + page.searched_bytes, page.before
        self.found += [line.position for line in reversed(page.lines)]
        self.share = min(1.0, self._searched / page.total_bytes) if page.total_bytes and page.before else 1.0
        self.is_running = bool(page.before) and len(self.found) < MOST_FOUND

    def take(self, lines: Sequence[LogLine]) -> None:
        """Adds the matches among new lines of the log."""
        needle = self.text.casefold()
        new = [line.position for line in lines if needle and needle in shown_text(line).casefold()]
        self.found[:0] = reversed(new)
        self.current += len(new) if self.current >= 0 else 0

    def step(self, step: int) -> str:
        """Returns the position of another place, which is current then: 1 is the next older one, -1 the next newer one, around the ends.
        Empty: nothing was found.
        """
        if not self.found:
            return ""
        self.current = (self.current + step) % len(self.found)
        return self.found[self.current]
