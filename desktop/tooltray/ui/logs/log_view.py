"""The log of a server or of the hub, of any length: followed, searched, filtered, copied and saved; and a sheet with one. A server has two
logs, its output and the recorded protocol messages; the hub has one."""

from collections.abc import Coroutine, Sequence

from PySide6.QtCore import QEvent, QModelIndex, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QHideEvent, QKeyEvent, QKeySequence, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QStackedWidget, QWidget

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.events import LogWritten
from tooltray.foundation.snapshots.activity import HUB, MESSAGES, SERVER, LogLine
from tooltray.foundation.snapshots.servers import ServerSnapshot
from tooltray.ui.i18n import many, tr
from tooltray.ui.kit.background import Work, timer
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.view import View
from tooltray.ui.logs.log_bar import LogBar, MessageRecording
from tooltray.ui.logs.log_list import LogDetails, LogList
from tooltray.ui.logs.log_model import MOST_TURNS, LogModel, LogReader, LogSearch, Superseded, copied_text
from tooltray.ui.widgets.banner import show_error
from tooltray.ui.widgets.button import Button, IconButton
from tooltray.ui.widgets.filter_tabs import FilterTabs
from tooltray.ui.widgets.label import ElidedLabel, Label
from tooltray.ui.widgets.surface import Surface, column, divider, fill, row
from tooltray.ui.zoom import px

HUB_LOOKED_AT_MS = 1000  # the hub's own log tells nobody of its lines: telling would be a line, too
SEARCH_AFTER_MS = 200  # since the last key: a search through a large file is not begun for each letter
OUTPUT_TAB, MESSAGES_TAB = 0, 1
SHEET_SIZE = QSize(960, 660)


class LogView(QWidget, View):
    """A view of a log, which reads only while it is visible. One read runs at a time; a read from another place supersedes it.

    Args:
        source: "hub" or "server:NAME".
    """

    def __init__(self, context: PageContext, source: str) -> None:
        super().__init__()
        theme = context.theme
        self.context, self._source = context, source
        self._model = LogModel()
        self._model.rowsAboutToBeInserted.connect(self._on_rows_coming)
        self.reader = LogReader(context.hub, self._model, source)
        self.search = LogSearch(context.hub, source)
        self._is_following = True  # the newest lines are in sight
        self._is_busy = self._has_to_refresh = False
        self._place: tuple[int, int] | None = None
        self._goes_to_time = 0.0
        self._tabs = FilterTabs(theme, (tr("Output"), tr("Messages")), name=tr("What is shown of the server"), have_counts=False)
        self._tabs.chosen.connect(self._on_tab)
        self._recording = MessageRecording(context, source.removeprefix(SERVER))
        self._faults = column()
        name = tr("Lines of Tooltray's log") if source == HUB else tr("Lines that {name} wrote", name=source.removeprefix(SERVER))
        self.list = LogList(self, self._model, name)
        self.bar = LogBar(self)
        fill(column(self, spacing=8), fill(row(), self._tabs, 1), self._recording, self.bar, self._faults, (self._make_frame(), 1))
        self._tabs.setVisible(source != HUB)
        self._timer = timer(self, HUB_LOOKED_AT_MS, self.refresh, repeats=True)
        self._search_timer = timer(self, SEARCH_AFTER_MS, self._begin_search)
        self.setFocusProxy(self.list)
        context.hub.on(LogWritten, self._on_log_written, self)

    def _make_frame(self) -> QWidget:
        theme = self.context.theme
        self.details = LogDetails(self)
        self._empty = Label(theme, "", "body", "secondary", wrap=True)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._parts = QStackedWidget()
        self._parts.addWidget(self.list)
        self._parts.addWidget(self._empty)
        frame = Surface(theme, "surface", "border", "m")
        fill(column(frame, margins=(1, 4, 1, 4)), (self._parts, 1), self.details)
        self._newest = Button(theme, tr("Jump to the newest"), icon="chevron-down", small=True, on_click=self.show_newest)
        self._newest.setParent(frame)
        self._newest.hide()
        return frame

    # what is shown

    @property
    def lines(self) -> Sequence[LogLine]:
        """The loaded lines."""
        return self._model.lines

    def show_newest(self) -> None:
        """Scrolls to the end of the log, and follows it."""
        self._is_following = True
        if self.reader.is_at_end and self.reader.page is not None:
            self.list.scrollToBottom()
            self.refresh()
        else:
            self.read_newest()

    def show_time(self, at: float) -> None:
        """Shows the lines around a time, in unix seconds."""
        self._tabs.choose(OUTPUT_TAB)
        self._goes_to_time = at
        self.reader.source = self._source
        if self.isVisible():
            self._go_to_time()

    def show_position(self, position: str) -> None:
        """Shows a line, which may have to be read first."""
        if (place := self._model.find(position)) >= 0:
            self._show_row(place)
        else:
            self._is_following = False
            self._supersede(lambda: self._read_around(self.reader.read_around(position)))

    def copy_all(self) -> None:
        """Copies the loaded lines."""
        self.context.copy(copied_text(self.lines, with_times=self.list.lines.has_times), tr("The log is copied"))

    def show_problem(self, problem: Problem | None) -> None:
        """Shows what failed, above the lines; None removes it."""
        show_error(self._faults, self.context.theme, problem)

    def _go_to_time(self) -> None:
        at, self._goes_to_time = self._goes_to_time, 0.0
        self._is_following = False
        self._supersede(lambda: self._read_around(self.reader.read_around_time(at)))

    def _show_row(self, place: int) -> None:
        self._is_following = False
        self.list.select_row(place)
        self._update_newest()

    def copy_selected(self) -> None:
        """Copies the selected lines."""
        if chosen := self.list.selected:
            toast = many(len(chosen), "1 line is copied", "{count} lines are copied")
            self.context.copy(copied_text(chosen, with_times=self.list.lines.has_times), toast)

    def choose_file(self) -> None:
        """Prompts for a file, and saves the whole log in it."""
        self.context.choose_new_file(tr("Save the log"), f"{self._source.removeprefix(SERVER)}.log".replace("/", "-"), self.save)

    def save(self, path: str) -> None:
        """Writes the whole log, with the levels that are chosen, into a file."""
        self.run(self._save(path))

    async def _save(self, path: str) -> None:
        count = await self.reader.save(path)
        self.context.say(tr("{count} lines are saved", count=f"{count:,}"))

    # what is read

    def refresh(self) -> None:
        """Reads new lines, if the newest lines are shown."""
        if self._is_busy:
            self._has_to_refresh = True
        elif self.reader.page is None:
            self.read_newest()
        elif not self._is_following and self.reader.is_almost_full:
            self.reader.is_at_end = False  # else the lines that somebody reads would have to go
        elif self.reader.is_at_end:
            self._start(self._read_what_came)

    def read_newest(self) -> None:
        """Replaces the lines by the newest ones."""
        self._supersede(self._read_newest)

    def read_older(self) -> None:
        """Reads older lines, if there are any."""
        if self.reader.has_older and not self._is_busy:
            self._start(self._read_older)

    def read_newer(self) -> None:
        """Reads newer lines, if the newest ones are not loaded."""
        if self.reader.has_newer and not self._is_busy:
            self._start(self._read_newer)

    def _supersede(self, read: Work) -> None:
        """Starts a read from another place; the current read ends without a result."""
        self.reader.generation += 1
        self._start(read)

    def _start(self, read: Work) -> None:
        self._is_busy = True
        self.run(self._read(read, self.reader.generation), show=lambda _: None)

    async def _read(self, read: Work, generation: int) -> None:
        """Awaits a read and shows how it ended, unless it is superseded."""
        problem: Problem | None = None
        try:
            await read()
        except Superseded:
            return
        except TooltrayError as error:
            problem = error.problem
        finally:
            if generation == self.reader.generation:
                self._is_busy = False
        if generation != self.reader.generation:
            return
        if problem is not None:
            self.reader.page = None
        self.show_problem(problem)
        self._draw()
        if self._has_to_refresh:
            self._has_to_refresh = False
            self.refresh()

    async def _read_newest(self) -> None:
        await self.reader.read_newest()
        self.list.go_to_end()

    async def _read_older(self) -> None:
        count = await self.reader.read_older()
        if self._place is not None and count:
            row_, offset = self._place
            self.list.keep_place(row_ + count, offset)
        self._place = None

    async def _read_newer(self) -> None:
        if count := await self.reader.read_newer():
            self.search.take(self._model.lines[-count:])
            self.bar.show_search(self.search)
        if self._is_following:
            self.list.go_to_end()

    async def _read_what_came(self) -> None:
        for _ in range(MOST_TURNS):
            await self._read_newer()
            if self.reader.is_at_end:
                return
        await self._read_newest()  # more than anybody could have read

    async def _read_around(self, read: Coroutine[object, object, str]) -> None:
        """Awaits a read, and shows the line at whose position it has read."""
        if (place := self._model.find(await read)) >= 0:
            self._show_row(place)

    # what is searched

    def _begin_search(self) -> None:
        self.search.is_running = False
        self.search = LogSearch(self.hub, self.reader.source, self.list.lines.needle, self.reader.levels)
        self.bar.show_search(self.search)
        self.run(self._search(self.search), show=lambda _: None)

    async def _search(self, search: LogSearch) -> None:
        """Shows what is found, page after page."""
        while search.is_running:
            await search.read_page()
            if search is self.search:
                if search.current < 0:
                    self.step(1)
                self.bar.show_search(search)

    def step(self, step: int) -> None:
        """Shows another place of the search: 1 is the next older one, -1 the next newer one."""
        if position := self.search.step(step):
            self.bar.show_search(self.search)
            self.show_position(position)

    def stop_search(self) -> None:
        """Ends the search; what was found stays."""
        self.search.is_running = False
        self.bar.show_search(self.search)

    # what happens

    def _on_tab(self, tab: int) -> None:
        self.details.hide()
        self._recording.setVisible(tab == MESSAGES_TAB)
        source = self._source if tab == OUTPUT_TAB else self._source.replace(SERVER, MESSAGES, 1)
        self._is_following = True
        self.reader.source = source
        self.read_newest()
        self._begin_search()

    def choose_levels(self, levels: tuple[str, ...]) -> None:
        """Shows only lines of these levels; none: all lines."""
        self._is_following = True
        self.reader.levels = levels
        self.read_newest()
        self._begin_search()

    def search_for(self, text: str) -> None:
        """Marks a text, and begins to search it in a moment."""
        self.list.set_needle(text.casefold())
        if text != self.search.text:
            self._search_timer.start()

    def _on_log_written(self, news: LogWritten) -> None:
        if news.source == self.reader.source and self.isVisible():
            self.refresh()

    def _on_rows_coming(self, _parent: QModelIndex, first: int, _last: int) -> None:
        """Remembers the top line, which stays in place when lines are inserted above it."""
        top = self.list.top_row
        self._place = (top, self.list.visualRect(self._model.index(top, 0)).top()) if not first and top >= 0 else None

    def show_scrolled(self) -> None:
        """Follows the log while its end is in sight."""
        self._is_following = self.list.is_at_end and self.reader.is_at_end
        self._update_newest()

    def _draw(self) -> None:
        page = self.reader.page
        if self.reader.source.startswith(MESSAGES) and page is not None:
            self._recording.set_until(page.recorded_until)
        self._parts.setCurrentIndex(0 if self._model.lines else 1)
        self._empty.setText(self._why_empty())
        if page is not None and page.problem is not None:
            self.show_problem(page.problem)
        self._update_newest()
        if self.isVisible() and not self.list.verticalScrollBar().maximum():
            self.read_older()  # there is room for more, and nothing to scroll by

    def _why_empty(self) -> str:
        page = self.reader.page
        if page is None:
            return ""
        if self.reader.levels and page.total_bytes:
            return tr("Looks through older lines...") if self.reader.has_older else tr("No line of this level was found.")
        if self.reader.source.startswith(MESSAGES):
            return tr("Messages appear here as they pass.") if page.recorded_until else tr("Recorded messages appear here.")
        return tr("Nothing yet. What the server writes to its error output appears here.")

    def _update_newest(self) -> None:
        is_away = not self.reader.is_at_end or not self.list.is_at_end
        self._newest.setVisible(is_away and bool(self._model.lines) and self._parts.currentIndex() == 0)
        size, corner = self._newest.sizeHint(), self._parts.geometry().bottomRight() - QPoint(px(24), px(12))
        self._newest.setGeometry(QRect(corner - QPoint(size.width(), size.height()), size))
        self._newest.raise_()

    # events

    def event(self, event: QEvent) -> bool:
        """Takes Ctrl+F while the keyboard is in the log, so that it does not start the page's own search."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and event.matches(QKeySequence.StandardKey.Find):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Find):
            self.bar.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
            self.bar.field.selectAll()
        elif event.key() == Qt.Key.Key_F3:
            self.step(-1 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1)
        elif event.key() == Qt.Key.Key_Escape and self.details.isVisible():
            self.details.close_line()
        else:
            super().keyPressEvent(event)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._source == HUB:
            self._timer.start()
        if self._goes_to_time:
            self._go_to_time()
        else:
            self.refresh()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._timer.stop()
        self.stop_search()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._update_newest()


class LogSheet(Surface):
    """A sheet with a log.

    Args:
        source: "hub" or "server:NAME".

    Attributes:
        log: the log itself.
    """

    close_requested = Signal()

    def __init__(self, context: PageContext, source: str) -> None:
        super().__init__(context.theme, "surface.raised", "border", "xl")
        self._server = source.removeprefix(SERVER) if source.startswith(SERVER) else ""
        self.setMaximumWidth(px(SHEET_SIZE.width()))
        name = tr("Log of {name}", name=self._server) if self._server else tr("Tooltray's log")
        self.setAccessibleName(name)
        self._fault, self.log = column(), LogView(context, source)
        self._problem: Problem | None = None
        close = IconButton(context.theme, "x", tr("Close"), small=True, on_click=self.close_requested.emit)
        head = fill(row(margins=(24, 14, 16, 14)), (ElidedLabel(context.theme, name, "heading"), 1), close)
        body = fill(column(margins=(24, 14, 24, 18), spacing=12), self._fault, (self.log, 1))
        fill(column(self), head, divider(), (body, 1))
        context.servers.server_changed.connect(self._on_server_changed)
        context.servers.server_removed.connect(self._on_server_removed)
        if server := context.servers.find(self._server):
            self._on_server_changed(server)

    def sizeHint(self) -> QSize:
        return SHEET_SIZE * px(1.0)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.log.list.setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_server_changed(self, server: ServerSnapshot) -> None:
        if server.name == self._server and server.problem != self._problem:
            self._problem = server.problem
            show_error(self._fault, self._theme, server.problem)

    def _on_server_removed(self, name: str) -> None:
        if name == self._server:
            self.close_requested.emit()
