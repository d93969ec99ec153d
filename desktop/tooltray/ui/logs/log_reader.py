"""Reads pages of one log into its model: the newest, older and newer ones, and the ones around a time. Knows no widget."""

import asyncio
from pathlib import Path

from msgspec.structs import replace

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.snapshots.activity import START, LogFilter, LogPage
from tooltray.ui.i18n import tr
from tooltray.ui.link.qt_mcp_presenter import QtMcpPresenter
from tooltray.ui.logs.log_model import MOST_LINES, LogModel, copied_text

PAGE = 200  # lines: several screens
SAVED_PAGE = 1000  # lines that are written into a file at once
AROUND = 100  # lines before and after a place
MOST_TURNS = 4  # of a page whose lines are rare; then a person sees how far it is, and can go on
AFTER_S = 1.0  # what stands right behind a failure tells of it, too


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
