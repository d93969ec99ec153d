"""The log of a server or of the hub, of any length: followed, searched, filtered, copied and saved. A server has two logs, its output and
the recorded protocol messages; the hub has one."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QEvent, QModelIndex, QRect, Qt, QTimer
from PySide6.QtGui import QGuiApplication, QHideEvent, QKeyEvent, QKeySequence, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QFileDialog, QStackedWidget, QWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.activity import HUB, MESSAGES, SERVER, LogLine
from tooltray.ui.i18n import tr
from tooltray.ui.kit.action import run_action
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.logs.log_bar import LogBar
from tooltray.ui.logs.log_details import LogDetails
from tooltray.ui.logs.log_list import LogList
from tooltray.ui.logs.log_model import LogModel, copied_text
from tooltray.ui.logs.log_reading import LogReading
from tooltray.ui.logs.log_saving import save_log
from tooltray.ui.logs.log_search import LogSearch
from tooltray.ui.logs.message_recording import MessageRecording
from tooltray.ui.problem_words import sentences, title
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.filter_tabs import FilterTabs
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.surface import Surface, clear, column, row

HUB_LOOKED_AT_MS = 1000  # the hub's own log tells nobody of its lines: telling would be a line, too
SEARCH_AFTER_MS = 200  # since the last key: a search through a large file is not begun for each letter
OUTPUT_TAB, MESSAGES_TAB = 0, 1


class LogView(QWidget):
    """A view of a log, which reads only while it is visible.

    Args:
        source: "hub" or "server:NAME".
    """

    def __init__(self, context: PageContext, source: str) -> None:
        super().__init__()
        theme = context.theme
        self._context, self._source = context, source
        self._model = LogModel()
        self.reading = LogReading(context.hub, context.tasks, self._model, source)
        self.search = LogSearch(context.hub, context.tasks)
        self._place: tuple[int, int] | None = None
        self._goes_to_time = 0.0
        layout = column(self, spacing=8)
        self._tabs = FilterTabs(theme, (tr("Output"), tr("Messages")), name=tr("What is shown of the server"), have_counts=False)
        self.bar = LogBar(theme)
        self.list = LogList(theme, self._model, _list_name(source))
        self.details = LogDetails(theme)
        self._recording = MessageRecording(context, source.removeprefix(SERVER))
        self._faults = column()
        if source.startswith(SERVER):
            tabs = row()
            tabs.addWidget(self._tabs)
            tabs.addStretch(1)
            layout.addLayout(tabs)
        else:
            self._tabs.setParent(self)
            self._tabs.hide()
        layout.addWidget(self._recording)
        layout.addWidget(self.bar)
        layout.addLayout(self._faults)
        self._empty = Label(theme, "", "body", "secondary", wrap=True)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._parts = QStackedWidget()
        self._parts.addWidget(self.list)
        self._parts.addWidget(self._empty)
        frame = Surface(theme, "surface", "border", "m")
        inside = column(frame, margins=(1, 4, 1, 4))
        inside.addWidget(self._parts, 1)
        inside.addWidget(self.details)
        layout.addWidget(frame, 1)
        self._newest = Button(theme, tr("Jump to the newest"), icon="chevron-down", small=True)
        self._newest.setParent(frame)
        self._newest.hide()
        self._timer = QTimer(self, interval=HUB_LOOKED_AT_MS)
        self._search_timer = QTimer(self, interval=SEARCH_AFTER_MS, singleShot=True)
        self.setFocusProxy(self.list)
        self._connect()

    def _connect(self) -> None:
        reading, bar, log = self.reading, self.bar, self.list
        self._context.hub.log_written.connect(self._on_log_written)
        self._timer.timeout.connect(reading.look)
        self._search_timer.timeout.connect(self._find)
        self._tabs.chosen.connect(self._on_tab)
        self._model.rowsAboutToBeInserted.connect(self._on_rows_coming)
        reading.renewed.connect(self._on_renewed)
        reading.prepended.connect(self._on_prepended)
        reading.appended.connect(self._on_appended)
        reading.shown.connect(self._on_shown)
        reading.changed.connect(self._on_changed)
        reading.failed.connect(self._show_fault)
        self.search.changed.connect(self._on_search_changed)
        self.search.went_to.connect(self.show_position)
        bar.find_requested.connect(self._on_find)
        bar.stepped.connect(self.search.go)
        bar.stop_requested.connect(self.search.stop)
        bar.levels_chosen.connect(self._on_levels)
        bar.wraps_changed.connect(log.set_wraps)
        bar.times_changed.connect(log.set_has_times)
        bar.copy_all_requested.connect(self.copy_all)
        bar.save_requested.connect(self._choose_file)
        log.older_wanted.connect(reading.read_older)
        log.newer_wanted.connect(reading.read_newer)
        log.scrolled.connect(self._on_scrolled)
        log.opened.connect(self.details.show_line)
        log.copy_requested.connect(self._copy_selected)
        self.details.closed.connect(self.list.setFocus)
        self.details.copy_requested.connect(partial(self._context.copy, what=tr("The line is copied")))
        self._newest.clicked.connect(self.show_newest)

    # what is shown

    @property
    def lines(self) -> Sequence[LogLine]:
        """The loaded lines."""
        return self._model.lines

    def show_newest(self) -> None:
        """Scrolls to the end of the log, and follows it."""
        self.reading.is_following = True
        if self.reading.is_at_end and self.reading.page is not None:
            self.list.scrollToBottom()
            self.reading.look()
        else:
            self.reading.read_newest()

    def show_time(self, at: float) -> None:
        """Shows the lines around a time, in unix seconds."""
        self._tabs.choose(OUTPUT_TAB)
        self._goes_to_time = at
        self.reading.source = self._source
        if self.isVisible():
            self._look_at_time()

    def show_position(self, position: str) -> None:
        """Shows a line, which may have to be read first."""
        if (place := self._model.find(position)) >= 0:
            self._show_row(place)
        else:
            self.reading.is_following = False
            self.reading.read_around(position)

    def show_messages(self) -> None:
        """Shows the protocol messages of a server."""
        self._tabs.choose(MESSAGES_TAB)
        self._on_tab(MESSAGES_TAB)

    def copy_all(self) -> None:
        """Copies the loaded lines."""
        self._context.copy(copied_text(self.lines, with_times=self.bar.has_times), tr("The log is copied"))

    def _look_at_time(self) -> None:
        at, self._goes_to_time = self._goes_to_time, 0.0
        self.reading.is_following = False
        self.reading.read_around_time(at)

    def _show_row(self, place: int) -> None:
        self.reading.is_following = False
        self.list.select_row(place)
        self._update_newest()

    def _copy_selected(self) -> None:
        if chosen := self.list.selected:
            QGuiApplication.clipboard().setText(copied_text(chosen, with_times=self.bar.has_times))
            self._context.say(tr("1 line is copied") if len(chosen) == 1 else tr("{count} lines are copied", count=len(chosen)))

    def _choose_file(self) -> None:
        dialog = QFileDialog(self._context.window, tr("Save the log"))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix("log")
        dialog.selectFile(f"{self._source.removeprefix(SERVER)}.log".replace("/", "-"))
        dialog.fileSelected.connect(self.save)
        dialog.open()

    def save(self, path: str) -> None:
        """Writes the whole log, with the levels that are chosen, into a file."""
        reading = self.reading

        async def work() -> None:
            count = await save_log(self._context.hub, reading.source, reading.levels, path)
            self._context.say(tr("{count} lines are saved", count=f"{count:,}"))

        run_action(self._context.tasks, work, self._show_fault, name="save log")

    # what happens

    def _on_tab(self, tab: int) -> None:
        self.details.hide()
        self._recording.setVisible(tab == MESSAGES_TAB)
        source = self._source if tab == OUTPUT_TAB else self._source.replace(SERVER, MESSAGES, 1)
        self.reading.is_following = True
        self.reading.set_source(source)
        self._find()

    def _on_levels(self, levels: tuple[str, ...]) -> None:
        self.reading.is_following = True
        self.reading.set_levels(levels)
        self._find()

    def _on_find(self, text: str) -> None:
        self.list.set_needle(text.casefold())
        if text != self.search.text:
            self._search_timer.start()

    def _find(self) -> None:
        self.search.find(self.reading.source, self.list.lines.needle, self.reading.levels)

    def _on_log_written(self, source: str) -> None:
        if source == self.reading.source and self.isVisible():
            self.reading.look()

    def _on_rows_coming(self, _parent: QModelIndex, first: int, _last: int) -> None:
        """Remembers the top line, which stays in place when lines are inserted above it."""
        top = self.list.top_row
        self._place = (top, self.list.visualRect(self._model.index(top, 0)).top()) if not first and top >= 0 else None

    def _on_prepended(self, count: int) -> None:
        if self._place is not None and count:
            row_, offset = self._place
            self.list.keep_place(row_ + count, offset)
        self._place = None

    def _on_appended(self, count: int) -> None:
        if count:
            self.search.take(self._model.lines[-count:])
        if self.reading.is_following:
            self.list.go_to_end()

    def _on_renewed(self) -> None:
        self.list.go_to_end()

    def _on_shown(self, position: str) -> None:
        if (place := self._model.find(position)) >= 0:
            self._show_row(place)

    def _on_scrolled(self) -> None:
        self.reading.is_following = self.list.is_at_end and self.reading.is_at_end
        self._update_newest()

    def _on_changed(self) -> None:
        page = self.reading.page
        if self.reading.source.startswith(MESSAGES) and page is not None:
            self._recording.set_until(page.recorded_until)
        self._parts.setCurrentIndex(0 if self._model.lines else 1)
        self._empty.setText(self._why_empty())
        if page is not None and page.problem is not None:
            self._show_fault(page.problem)
        self._update_newest()
        if self.isVisible() and not self.list.verticalScrollBar().maximum():
            self.reading.read_older()  # there is room for more, and nothing to scroll by

    def _why_empty(self) -> str:
        page = self.reading.page
        if page is None:
            return ""
        if self.reading.levels and page.total_bytes:
            return tr("Looks through older lines...") if self.reading.has_older else tr("No line of this level was found.")
        if self.reading.source.startswith(MESSAGES):
            return tr("Messages appear here as they pass.") if page.recorded_until else tr("Recorded messages appear here.")
        return tr("Nothing yet. What the server writes to its error output appears here.")

    def _on_search_changed(self) -> None:
        self.bar.show_search(self.search)

    def _show_fault(self, problem: Problem | None) -> None:
        clear(self._faults)
        if problem is not None:
            self._faults.addWidget(Banner(self._context.theme, "error", title(problem), sentences(problem)))

    def _update_newest(self) -> None:
        is_away = not self.reading.is_at_end or not self.list.is_at_end
        self._newest.setVisible(is_away and bool(self._model.lines) and self._parts.currentIndex() == 0)
        self._place_newest()

    def _place_newest(self) -> None:
        size, list_box = self._newest.sizeHint(), self._parts.geometry()
        self._newest.setGeometry(
            QRect(list_box.right() - size.width() - 24, list_box.bottom() - size.height() - 12, size.width(), size.height())
        )
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
            self.search.go(-1 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1)
        elif event.key() == Qt.Key.Key_Escape and self.details.isVisible():
            self.details.close_line()
        else:
            super().keyPressEvent(event)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._source == HUB:
            self._timer.start()
        if self._goes_to_time:
            self._look_at_time()
        else:
            self.reading.look()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._timer.stop()
        self.search.stop()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place_newest()


def _list_name(source: str) -> str:
    if source == HUB:
        return tr("Lines of Tooltray's log")
    return tr("Lines that {name} wrote", name=source.removeprefix(SERVER))
