"""Finds a text in a whole log, from the newest line to the oldest, page after page, and shows what is found so far. A search can be ended
between any two pages; it ends at MOST_FOUND."""

from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.snapshots.activity import LogFilter, LogLine
from tooltray.foundation.tasks import TaskKeeper
from tooltray.ui.link.qt_mcp_presenter import QtMcpPresenter
from tooltray.ui.logs.log_model import shown_text

PAGE = 500  # lines that have it; only where they stand is kept
MOST_FOUND = 10_000  # more than anybody steps through


class LogSearch(QObject):
    """A search in a log. `changed`: more was found, or the search has ended. `went_to`: the position of the line to be shown.

    Attributes:
        text: what is searched; empty: nothing.
        found: the positions of lines with the text, the newest first.
        current: the place in `found` that is shown; -1: none is.
        share: how much of the log was searched, from 0 to 1.
        is_running: the search has not ended.
        problem: why the search failed.
    """

    changed = Signal()
    went_to = Signal(str)

    def __init__(self, hub: QtMcpPresenter, tasks: TaskKeeper) -> None:
        super().__init__()
        self._hub, self._tasks = hub, tasks
        self._generation = 0
        self._levels: Sequence[str] = ()
        self._clear("")

    def _clear(self, text: str) -> None:
        self._generation += 1
        self.text, self.found, self.current = text, list[str](), -1
        self.share, self.is_running = 0.0, False

    def find(self, source: str, text: str, levels: Sequence[str] = ()) -> None:
        """Begins a search; an empty text ends it."""
        self._clear(text)
        self._levels = levels
        if text:
            self.is_running = True
            self._tasks.spawn(self._run(source, self._generation), name=f"search {source}")
        self.changed.emit()

    def stop(self) -> None:
        """Ends the search; its results stay."""
        self._generation += 1
        self.is_running = False
        self.changed.emit()

    def take(self, lines: Sequence[LogLine]) -> None:
        """Adds the matches among new lines of the log."""
        needle = self.text.casefold()
        new = [line.position for line in lines if needle and needle in shown_text(line).casefold()]
        if new:
            self.found[:0] = reversed(new)
            self.current += len(new) if self.current >= 0 else 0
            self.changed.emit()

    def go(self, step: int) -> None:
        """Shows another place: 1 is the next older one, -1 the next newer one; wraps around at the ends."""
        if self.found:
            self.current = (self.current + step) % len(self.found)
            self.changed.emit()
            self.went_to.emit(self.found[self.current])

    async def _run(self, source: str, generation: int) -> None:
        wanted = LogFilter(text=self.text, levels=tuple(self._levels))
        before, searched = "", 0
        while True:
            try:
                page = await self._hub.logs.get_log(source, wanted, before, "", PAGE)
            except TooltrayError:
                if generation == self._generation:
                    self.stop()
                return
            if generation != self._generation:
                return
            searched, before = searched + page.searched_bytes, page.before
            self.found += [line.position for line in reversed(page.lines)]
            self.share = min(1.0, searched / page.total_bytes) if page.total_bytes and before else 1.0
            self.is_running = bool(before) and len(self.found) < MOST_FOUND
            if self.current < 0 and self.found:
                self.go(1)
            self.changed.emit()
            if not self.is_running:
                return
