"""What is above a log's lines: the search with its count, the levels, a menu, and whether messages are recorded."""

from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from tooltray.foundation.errors import Problem
from tooltray.ui import icons
from tooltray.ui.i18n import tr
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.view import View
from tooltray.ui.logs.log_model import MOST_FOUND, LogSearch
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.button import Button, IconButton, add_tick, is_enter, new_menu, popup_below
from tooltray.ui.widgets.choice import Choice
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.surface import clear, column, fill, row
from tooltray.ui.zoom import px

if TYPE_CHECKING:
    from tooltray.ui.logs.log_view import LogView

LEVELS = {"": (), "error": ("error",), "warning": ("error", "warning"), "info": ("error", "warning", "info")}
ROOM_FOR_ALL = 480  # px; below that the levels stand in a line of their own
SEARCH_AFTER_LETTERS = 2  # one letter is found everywhere
RECORDED_S = 600.0  # long enough to try something; who wants more presses again


class FindField(QLineEdit):
    """A field for a search.

    Args:
        step: gets 1 for the next older place, -1 for the next newer one.
    """

    def __init__(self, theme: Theme, step: Callable[[int], object]) -> None:
        super().__init__()
        self._theme, self._step = theme, step
        self.setPlaceholderText(tr("Search the log"))
        self.setAccessibleName(tr("Search the log"))
        self.setProperty("quiet", True)
        self.setFont(theme.font())
        self.setFixedHeight(theme.size("control"))
        self.setMinimumWidth(px(90))

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        with QPainter(self) as painter:
            icons.draw(painter, "search", QRectF(px(10), (self.height() - px(15)) / 2, px(15), px(15)), self._theme.color("text.muted"))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.text():
            self.clear()
        elif is_enter(event) or event.key() == Qt.Key.Key_Up:
            self._step(1)
        elif event.key() == Qt.Key.Key_Down or (event.key() == Qt.Key.Key_Return and event.modifiers() & Qt.KeyboardModifier.ShiftModifier):
            self._step(-1)
        else:
            super().keyPressEvent(event)


class LogBar(QWidget):
    """The bar above a log."""

    def __init__(self, view: "LogView") -> None:
        super().__init__()
        theme, self._view = view.context.theme, view
        self.field = FindField(theme, view.step)
        self.field.textChanged.connect(self._on_text)
        self._older = IconButton(theme, "chevron-up", tr("Next older place"), on_click=lambda: view.step(1))
        self._newer = IconButton(theme, "chevron-down", tr("Next newer place"), on_click=lambda: view.step(-1))
        titles = (tr("All levels"), tr("Errors"), tr("Errors and warnings"), tr("Without debug"))
        self._levels = Choice(theme, list(zip(LEVELS, titles, strict=True)), name=tr("Levels"))
        self._levels.setMaximumWidth(px(170))
        self._levels.chosen_changed.connect(lambda chosen: view.choose_levels(LEVELS[chosen]))
        self._more = IconButton(theme, "more", tr("More about the log"), on_click=self._on_more)
        self._count = Label(theme, "", "caption", "secondary", tabular=True)
        self._stop = IconButton(theme, "x", tr("Stop searching"), small=True, on_click=view.stop_search)
        self._line = fill(row(spacing=6), (self.field, 1), self._older, self._newer, self._levels, self._more)
        self._progress = fill(row(spacing=6), self._count, self._stop, 1)
        fill(column(self, spacing=6), self._line, self._progress)
        self._is_wide = True
        self.show_search(view.search)

    def show_search(self, search: LogSearch) -> None:
        """Shows the progress of a search, and which place is shown."""
        self._count.setVisible(bool(search.text))
        self._stop.setVisible(bool(search.text) and search.is_running)
        for step in (self._older, self._newer):
            step.setEnabled(bool(search.found))
        self._count.setText(found_words(search))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        is_wide = self.width() >= px(ROOM_FOR_ALL)
        if is_wide != self._is_wide:
            self._is_wide = is_wide
            target, place = (self._line, 3) if is_wide else (self._progress, 0)
            target.insertWidget(place, self._levels)

    def _on_text(self, text: str) -> None:
        self._view.search_for(text if len(text) >= SEARCH_AFTER_LETTERS or not text.isascii() else "")

    def _on_more(self) -> None:
        view, menu = self._view, new_menu(self, self._view.context.theme, self._more.accessibleName())
        add_tick(menu, tr("Wrap long lines"), view.list.lines.wraps, view.list.set_wraps)
        add_tick(menu, tr("Show times"), view.list.lines.has_times, view.list.set_has_times)
        menu.addSeparator()
        menu.addAction(tr("Copy all"), view.copy_all)
        menu.addAction(tr("Save as..."), view.choose_file)
        popup_below(menu, self._more)


def found_words(search: LogSearch) -> str:
    """Returns how many places a search has found, and its progress."""
    count, percent = len(search.found), int(search.share * 100)
    if not count:
        if search.is_running:
            return tr("Searching: {percent} % of the log", percent=percent)
        return tr("Not in the log") if search.share >= 1.0 else tr("Not in the {percent} % that were searched", percent=percent)
    place = tr("{place} of {count}", place=f"{search.current + 1:,}", count=f"{count:,}{'+' if count >= MOST_FOUND else ''}")
    if search.share >= 1.0 or count >= MOST_FOUND:
        return place
    return tr("{found}, {percent} % of the log searched", found=place, percent=percent)


class MessageRecording(QWidget, View):
    """Whether the protocol messages of a server are recorded, until when, and the button that changes it."""

    def __init__(self, context: PageContext, server: str) -> None:
        super().__init__()
        self.context, self._server = context, server
        self._until = -1.0
        self._layout = column(self)
        self.hide()

    def set_until(self, until: float) -> None:
        """Shows until when messages are recorded, in unix seconds; 0: not at all."""
        if until != self._until:
            self._until = until
            self._draw(None)

    def show_problem(self, problem: Problem | None) -> None:
        """Shows why recording could not be changed."""
        if problem is not None:
            self._draw(problem)

    def _draw(self, problem: Problem | None) -> None:
        theme, is_on = self.context.theme, bool(self._until)
        clear(self._layout)
        if is_on:
            title = tr("Recording until {time}", time=f"{datetime.fromtimestamp(self._until):%H:%M}")
            text = tr("Full arguments and results, only in memory.")
        else:
            title = tr("Messages are not recorded")
            text = tr("What passes between Tooltray and the server, whole, while you look for a fault. Kept in memory, secrets hidden.")
        word, for_s = (tr("Stop and forget"), 0.0) if is_on else (tr("Record for 10 minutes"), RECORDED_S)
        change = partial(self.hub.logs.set_protocol_log, self._server, for_s)
        button = Button(theme, word, small=True, on_click=lambda: self.run(change()))
        self._layout.addWidget(Banner(theme, "warning" if is_on else "info", title, text, button))
        if problem is not None:
            self._layout.addWidget(Banner(theme, "error", problem.title, problem.message))
