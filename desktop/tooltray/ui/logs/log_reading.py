"""Reads pages of one log into its model: the newest, older and newer ones, the ones around a time, and new lines. Knows no widget. One read
runs at a time; a read from a new place makes an old one void."""

from collections.abc import Callable, Coroutine

from msgspec.structs import replace
from PySide6.QtCore import QObject, Signal

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.snapshots.activity import LogFilter, LogPage
from tooltray.foundation.tasks import TaskKeeper
from tooltray.ui.link.qt_mcp_presenter import QtMcpPresenter
from tooltray.ui.logs.log_model import MOST_LINES, LogModel

PAGE = 200  # lines: several screens
AROUND = 100  # lines before and after a place
MOST_TURNS = 4  # of a page whose lines are rare; then a person sees how far it is, and can go on
AFTER_S = 1.0  # what stands right behind a failure tells of it, too


class LogReading(QObject):
    """The reader of one log. `changed`: a page was read. `failed`: a Problem, or None. `prepended` and `appended`: how many lines were
    added. `shown`: lines around a place were loaded; carries the position of the line at that place.

    Attributes:
        source: of the log.
        levels: the ones that are shown; empty: all lines are.
        is_at_end: the newest lines are loaded, so that new ones can follow them.
        has_older: older lines can be read.
        is_following: whether the newest lines are in sight, set by the view.
        page: the last answer; None before the first one.
    """

    changed = Signal()
    failed = Signal(object)
    prepended = Signal(int)
    appended = Signal(int)
    renewed = Signal()
    shown = Signal(str)

    def __init__(self, hub: QtMcpPresenter, tasks: TaskKeeper, model: LogModel, source: str) -> None:
        super().__init__()
        self._hub, self._tasks, self._model, self.source = hub, tasks, model, source
        self.levels: tuple[str, ...] = ()
        self._before = self._after = ""
        self.is_at_end = self.is_following = True
        self.page: LogPage | None = None
        self._generation = 0
        self._is_busy = self._has_to_look = False

    @property
    def has_older(self) -> bool:
        return bool(self._before)

    def set_source(self, source: str) -> None:
        """Replaces the log by another one."""
        self.source = source
        self.read_newest()

    def set_levels(self, levels: tuple[str, ...]) -> None:
        self.levels = levels
        self.read_newest()

    def read_newest(self) -> None:
        """Replaces the lines by the newest ones."""
        self._begin(self._read_newest)

    def read_around_time(self, at: float) -> None:
        """Replaces the lines by the ones around a time, in unix seconds."""
        self._begin(lambda: self._read_around_time(at))

    def read_around(self, position: str) -> None:
        """Replaces the lines by the ones around a line."""
        self._begin(lambda: self._read_around(position))

    def read_older(self) -> None:
        if self._before and not self._is_busy:
            self._spawn(self._read_older)

    def look(self) -> None:
        """Reads new lines, if the newest lines are shown."""
        if self._is_busy:
            self._has_to_look = True
        elif self.page is None:
            self.read_newest()
        elif not self.is_following and len(self._model.lines) + PAGE > MOST_LINES:
            self.is_at_end = False  # else the lines that somebody reads would have to go
        elif self.is_at_end:
            self._spawn(self._read_what_came)

    def read_newer(self) -> None:
        """Reads newer lines, if the newest ones are not loaded."""
        if not self.is_at_end and not self._is_busy and self._after:
            self._spawn(self._read_newer)

    def _begin(self, read: Callable[[], Coroutine[object, object, None]]) -> None:
        self._generation += 1
        self._is_busy = False
        self._spawn(read)

    def _spawn(self, read: Callable[[], Coroutine[object, object, None]]) -> None:
        self._is_busy = True
        self._tasks.spawn(self._run(read, self._generation), name=f"log {self.source}")

    async def _run(self, read: Callable[[], Coroutine[object, object, None]], generation: int) -> None:
        try:
            await read()
        except _Void:
            return
        except TooltrayError as error:
            if generation == self._generation:
                self.page = None
                self.failed.emit(error.problem)
        else:
            if generation == self._generation:
                self.failed.emit(None)
        finally:
            if generation == self._generation:
                self._is_busy = False
        if generation == self._generation:
            self.changed.emit()
            if self._has_to_look:
                self._has_to_look = False
                self.look()

    async def _get(self, *, before: str = "", after: str = "", limit: int = PAGE, until: float = 0.0) -> LogPage:
        """Returns one page; reads further pages, up to MOST_TURNS, where matching lines are rare."""
        generation, wanted = self._generation, LogFilter(levels=self.levels, until=until)
        whole: LogPage | None = None
        for _ in range(MOST_TURNS):
            have = whole.lines if whole else ()
            page = await self._hub.logs.get_log(self.source, wanted, before, after, limit - len(have))
            if generation != self._generation:
                raise _Void
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

    async def _read_newest(self) -> None:
        page = await self._get()
        self._before, self._after, self.is_at_end = page.before, page.after, True
        self._model.set_lines(page.lines)
        self.renewed.emit()

    async def _read_older(self) -> None:
        page = await self._get(before=self._before)
        self._before = page.before
        if first_gone := self._model.prepend(page.lines):
            self._after, self.is_at_end = first_gone, False
        self.prepended.emit(len(page.lines))

    async def _read_newer(self) -> None:
        page = await self._get(after=self._after)
        self._after = page.after
        if self._model.append(page.lines):
            self._before = self._model.lines[0].position
        self.is_at_end = len(page.lines) < PAGE and not page.is_partial
        self.appended.emit(len(page.lines))

    async def _read_what_came(self) -> None:
        for _ in range(MOST_TURNS):
            await self._read_newer()
            if self.is_at_end:
                return
        await self._read_newest()  # more than anybody could have read

    async def _read_around_time(self, at: float) -> None:
        older = await self._get(until=at + AFTER_S, limit=AROUND)
        await self._show(older, older.lines[-1].position if older.lines else "")

    async def _read_around(self, position: str) -> None:
        older = await self._get(before=position, limit=AROUND)
        await self._show(older, position, after=position)

    async def _show(self, older: LogPage, position: str, after: str = "") -> None:
        newer = await self._get(after=after or older.after, limit=AROUND) if after or older.after else older
        lines = older.lines if newer is older else (*older.lines, *newer.lines)
        self._before, self._after = older.before, newer.after
        self.is_at_end = len(newer.lines) < AROUND and not newer.is_partial
        self._model.set_lines(lines)
        self.shown.emit(position)


class _Void(Exception):
    """A read that was superseded by a read from another place."""
