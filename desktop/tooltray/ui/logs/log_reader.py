"""Reads pages of one log into its model: the newest, older and newer ones, and the ones around a time; and finds a text in a whole log.
Knows no widget.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.snapshots.activity import START, LogFilter, LogLine, LogPage
from tooltray.ui.i18n import tr
from tooltray.ui.link.qt_mcp_presenter import QtMcpPresenter
from tooltray.ui.logs.log_model import MOST_LINES, LogModel, copied_text, shown_text

PAGE = 200  # lines: several screens
SAVED_PAGE = 1000  # lines that are written into a file at once
AROUND = 100  # lines before and after a place
MOST_TURNS = 4  # of a page whose lines are rare; then a person sees how far it is, and can go on
AFTER_S = 1.0  # what stands right behind a failure tells of it, too
FOUND_PAGE = 500  # lines with a text that is searched; only where they stand is kept
MOST_FOUND = 10_000  # more than anybody steps through


class Superseded(Exception):
    """A read has ended without a result, since a read from another place has begun."""


class LogReader:
    """The reader of one log.

    Attributes:
        source: of the log.
        levels: the ones that are shown; empty: all lines are.
        generation: raised to supersede the current read.
        is_at_end: the newest lines are loaded, so that new ones can follow them.
        page: the last answer; None before the first one, and after a failure.
    """

    def __init__(self, hub: QtMcpPresenter, model: LogModel, source: str) -> None:
        self._hub, self._model, self.source = hub, model, source
        self.levels: tuple[str, ...] = ()
        self.generation = 0
        self._before = self._after = ""
        self.is_at_end = True
        self.page: LogPage | None = None

    @property
    def has_older(self) -> bool:
        return bool(self._before)

    @property
    def has_newer(self) -> bool:
        """Whether newer lines can be read, since the newest ones are not loaded."""
        return bool(self._after) and not self.is_at_end

    @property
    def is_almost_full(self) -> bool:
        """Whether another page would remove lines at the other end."""
        return len(self._model.lines) + PAGE > MOST_LINES

    async def read_newest(self) -> None:
        """Replaces the lines by the newest ones."""
        page = await self._get()
        self._before, self._after, self.is_at_end = page.before, page.after, True
        self._model.set_lines(page.lines)

    async def read_older(self) -> int:
        """Adds older lines, and returns how many."""
        page = await self._get(before=self._before)
        self._before = page.before
        if first_gone := self._model.prepend(page.lines):
            self._after, self.is_at_end = first_gone, False
        return len(page.lines)

    async def read_newer(self) -> int:
        """Adds newer lines, and returns how many."""
        page = await self._get(after=self._after)
        self._after = page.after
        if self._model.append(page.lines):
            self._before = self._model.lines[0].position
        self.is_at_end = len(page.lines) < PAGE and not page.is_partial
        return len(page.lines)

    async def read_around_time(self, at: float) -> str:
        """Replaces the lines by the ones around a time, in unix seconds; returns the position of the line at that time."""
        older = await self._get(until=at + AFTER_S, limit=AROUND)
        await self._add_newer(older)
        return older.lines[-1].position if older.lines else ""

    async def read_around(self, position: str) -> None:
        """Replaces the lines by the ones around a line."""
        await self._add_newer(await self._get(before=position, limit=AROUND), position)

    async def save(self, path: str) -> int:
        """Writes the whole log with the chosen levels into a file, page by page, and returns how many lines; replaces an existing file.

        Raises:
            TooltrayError: the log cannot be read, or the file cannot be written.
        """
        source, wanted, file = self.source, LogFilter(levels=self.levels), Path(path)
        count, after = 0, START
        await asyncio.to_thread(_write, file, "w", "")
        while True:
            page = await self._hub.logs.get_log(source, wanted, "", after, SAVED_PAGE)
            if page.lines:
                await asyncio.to_thread(_write, file, "a", copied_text(page.lines, with_times=True) + "\n")
                count += len(page.lines)
            if page.after == after or not (page.is_partial or len(page.lines) == SAVED_PAGE):
                return count
            after = page.after

    async def _get(self, *, before: str = "", after: str = "", limit: int = PAGE, until: float = 0.0) -> LogPage:
        """Returns one page; reads further pages, up to MOST_TURNS, where matching lines are rare."""
        generation, wanted = self.generation, LogFilter(levels=self.levels, until=until)
        whole: LogPage | None = None
        for _ in range(MOST_TURNS):
            have = whole.lines if whole else ()
            page = await self._hub.logs.get_log(self.source, wanted, before, after, limit - len(have))
            if generation != self.generation:
                raise Superseded
            if whole is None:
                whole = page
            elif after:
                whole = replace(page, lines=(*have, *page.lines), before=whole.before)
            else:
                whole = replace(page, lines=(*page.lines, *have), after=whole.after)
            before, after = ("", page.after) if after else (page.before, "")
            if not page.is_partial:
                break
        assert whole is not None
        self.page = whole
        return whole

    async def _add_newer(self, older: LogPage, after: str = "") -> None:
        """Replaces the lines by a page and the lines behind it."""
        newer = await self._get(after=after or older.after, limit=AROUND) if after or older.after else older
        lines = older.lines if newer is older else (*older.lines, *newer.lines)
        self._before, self._after = older.before, newer.after
        self.is_at_end = len(newer.lines) < AROUND and not newer.is_partial
        self._model.set_lines(lines)


def _write(path: Path, mode: str, text: str) -> None:
    try:
        with path.open(mode, encoding="utf-8", errors="replace") as file:
            file.write(text)
    except OSError as error:
        raise TooltrayError(tr("The log could not be saved"), f"{path}: {error.strerror}") from error


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
            page = await self._hub.logs.get_log(self._source, self._wanted, self._before, "", FOUND_PAGE)
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
