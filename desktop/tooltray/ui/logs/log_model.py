"""The loaded lines of a log, some consecutive pages, of which the far end is dropped when more are loaded; the reader that adds pages to
them, the newest, older and newer ones, and the ones around a time; and the search in a whole log. Knows no widget.
"""

import asyncio
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from msgspec.structs import replace
from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, Qt

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.activity import START, LogFilter, LogLine, LogPage
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.ui.i18n import say, tr
from tooltray.ui.link.qt_mcp_presenter import QtMcpPresenter
from tooltray.ui.state_language import Look, look

MOST_LINES = 5000  # at hand; further ones are read when somebody scrolls there
LEVELS = {"error": Phrase("Error"), "warning": Phrase("Warning"), "info": Phrase("Info"), "debug": Phrase("Debug")}
PAGE = 200  # lines: several screens
SAVED_PAGE = 1000  # lines that are written into a file at once
AROUND = 100  # lines before and after a place
MOST_TURNS = 4  # of a page whose lines are rare; then a person sees how far it is, and can go on
AFTER_S = 1.0  # what stands right behind a failure tells of it, too
FOUND_PAGE = 500  # lines with a text that is searched; only where they stand is kept
MOST_FOUND = 10_000  # more than anybody steps through
Index = QModelIndex | QPersistentModelIndex


class LogModel(QAbstractListModel):
    """A model of log lines.

    Attributes:
        lines: oldest first.
    """

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[LogLine] = []

    def set_lines(self, lines: Sequence[LogLine]) -> None:
        self.beginResetModel()
        self.lines = list(lines)
        self.endResetModel()

    def prepend(self, lines: Sequence[LogLine]) -> str:
        """Adds older lines; returns where the dropped newest lines began, empty if none were dropped."""
        if not lines:
            return ""
        self.beginInsertRows(QModelIndex(), 0, len(lines) - 1)
        self.lines[:0] = lines
        self.endInsertRows()
        gone = max(0, len(self.lines) - MOST_LINES)
        first = self.lines[MOST_LINES].position if gone else ""
        self._remove(MOST_LINES, gone)
        return first

    def append(self, lines: Sequence[LogLine]) -> int:
        """Adds newer lines; returns how many of the oldest ones were dropped."""
        if not lines:
            return 0
        self.beginInsertRows(QModelIndex(), len(self.lines), len(self.lines) + len(lines) - 1)
        self.lines += lines
        self.endInsertRows()
        gone = max(0, len(self.lines) - MOST_LINES)
        self._remove(0, gone)
        return gone

    def find(self, position: str) -> int:
        """Returns the row of a line; -1 if the line is not loaded."""
        return next((row for row, line in enumerate(self.lines) if line.position == position), -1)

    def _remove(self, first: int, count: int) -> None:
        if count:
            self.beginRemoveRows(QModelIndex(), first, first + count - 1)
            del self.lines[first : first + count]
            self.endRemoveRows()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 (Qt's signature)
        return 0 if parent.isValid() else len(self.lines)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        line = self.lines[index.row()]
        if role == Qt.ItemDataRole.UserRole:
            return line
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return " ".join(filter(None, (clock(line.at), level_word(line.level), shown_text(line))))
        return None


def clock(at: float) -> str:
    """Returns the time of a line as shown; empty if unknown."""
    return f"{datetime.fromtimestamp(at):%H:%M:%S}" if at else ""


def day_and_clock(at: float) -> str:
    """Returns the full time of a line, for copied text."""
    return f"{datetime.fromtimestamp(at):%Y-%m-%d %H:%M:%S.%f}"[:-3] if at else ""


def level_word(level: str) -> str:
    """Returns a level in the user's language; empty for a line without one."""
    return say(LEVELS.get(level, ""))


def shown_text(line: LogLine) -> str:
    """Returns the text of a line: for a mark the state in words, for a message its direction, too."""
    if line.kind == "mark":
        shape = state_look(line.text)
        return ": ".join(filter(None, (shape.word if shape is not None else line.text, line.detail)))
    if line.kind == "message":
        arrow = "→" if line.direction == "out" else "←"
        took = f" · {duration(line.ms)}" if line.ms is not None else ""
        return f"{arrow} {line.text}{took}"
    return line.text


def state_look(value: str) -> Look | None:
    """Returns the look of a state, by its value; None for one that only a newer hub knows."""
    return look(ServerState(value)) if value in {state.value for state in ServerState} else None


def duration(ms: float) -> str:
    """Returns whole milliseconds, as everywhere, so that numbers in a column can be compared."""
    return "< 1 ms" if 0 < ms < 1 else f"{ms:,.0f} ms"


def copied_text(lines: Sequence[LogLine], *, with_times: bool) -> str:
    """Returns lines as text for the clipboard or a file."""
    return "\n".join(" ".join(filter(None, (day_and_clock(line.at) if with_times else "", shown_text(line)))) for line in lines)


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

    async def read_around(self, position: str) -> str:
        """Replaces the lines by the ones around a line, and returns its position."""
        await self._add_newer(await self._get(before=position, limit=AROUND), position)
        return position

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
