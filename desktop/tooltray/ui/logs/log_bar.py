"""The bar above a log's lines: the search with its count, the levels, and the menu of how lines are shown. Emits what the user wants; knows
no log."""

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QLineEdit, QMenu, QWidget

from tooltray.ui import icons
from tooltray.ui.i18n import tr
from tooltray.ui.logs.log_search import MOST_FOUND, LogSearch
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import IconButton, is_enter, popup_below
from tooltray.ui.widgets.choice import Choice
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.surface import column, row

LEVELS = {"": (), "error": ("error",), "warning": ("error", "warning"), "info": ("error", "warning", "info")}
ROOM_FOR_ALL = 480  # px; below that the levels stand in a line of their own
SEARCH_AFTER_LETTERS = 2  # one letter is found everywhere


class FindField(QLineEdit):
    """A field for a search. `stepped`: 1 to the next older place, -1 to the next newer one."""

    stepped = Signal(int)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.setPlaceholderText(tr("Search the log"))
        self.setAccessibleName(tr("Search the log"))
        self.setProperty("quiet", True)
        self.setFont(theme.font())
        self.setFixedHeight(theme.size("control"))
        self.setMinimumWidth(90)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        with QPainter(self) as painter:
            icons.draw(painter, "search", QRectF(10, (self.height() - 15) / 2, 15, 15), self._theme.color("text.muted"))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.text():
            self.clear()
        elif is_enter(event) or event.key() == Qt.Key.Key_Up:
            self.stepped.emit(1)
        elif event.key() == Qt.Key.Key_Down or (event.key() == Qt.Key.Key_Return and event.modifiers() & Qt.KeyboardModifier.ShiftModifier):
            self.stepped.emit(-1)
        else:
            super().keyPressEvent(event)


class LogBar(QWidget):
    """The bar above a log.

    Attributes:
        wraps, has_times: how lines are shown.
    """

    find_requested = Signal(str)
    stepped = Signal(int)
    stop_requested = Signal()
    levels_chosen = Signal(object)  # tuple[str, ...]
    wraps_changed = Signal(bool)
    times_changed = Signal(bool)
    copy_all_requested = Signal()
    save_requested = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.wraps = self.has_times = True
        layout = column(self, spacing=6)
        line = row(spacing=6)
        self.field = FindField(theme)
        self.field.textChanged.connect(self._on_text)
        self.field.stepped.connect(self.stepped)
        line.addWidget(self.field, 1)
        self._older = IconButton(theme, "chevron-up", tr("Next older place"))
        self._newer = IconButton(theme, "chevron-down", tr("Next newer place"))
        self._older.clicked.connect(self._on_older)
        self._newer.clicked.connect(self._on_newer)
        line.addWidget(self._older)
        line.addWidget(self._newer)
        titles = (tr("All levels"), tr("Errors"), tr("Errors and warnings"), tr("Without debug"))
        self._levels = Choice(theme, list(zip(LEVELS, titles, strict=True)), name=tr("Levels"))
        self._levels.setMaximumWidth(170)
        self._levels.chosen_changed.connect(self._on_levels)
        self._line = line
        line.addWidget(self._levels)
        more = IconButton(theme, "more", tr("More about the log"))
        more.clicked.connect(self._on_more)
        line.addWidget(more)
        layout.addLayout(line)
        self._progress = row(spacing=6)
        self._count = Label(theme, "", "caption", "secondary", tabular=True)
        self._stop = IconButton(theme, "x", tr("Stop searching"), small=True)
        self._stop.clicked.connect(self.stop_requested)
        self._progress.addWidget(self._count)
        self._progress.addWidget(self._stop)
        self._progress.addStretch(1)
        layout.addLayout(self._progress)
        self._more = more
        self._is_wide = True
        self.show_search(None)

    def show_search(self, search: LogSearch | None) -> None:
        """Shows the progress of a search, and which place is shown."""
        is_on = search is not None and bool(search.text)
        self._count.setVisible(is_on)
        self._stop.setVisible(is_on and search is not None and search.is_running)
        for step in (self._older, self._newer):
            step.setEnabled(search is not None and bool(search.found))
        self._count.setText(found_words(search) if search is not None else "")

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        is_wide = self.width() >= ROOM_FOR_ALL
        if is_wide != self._is_wide:
            self._is_wide = is_wide
            target, place = (self._line, 3) if is_wide else (self._progress, 0)
            target.insertWidget(place, self._levels)

    def _on_text(self, text: str) -> None:
        self.find_requested.emit(text if len(text) >= SEARCH_AFTER_LETTERS or not text.isascii() else "")

    def _on_older(self) -> None:
        self.stepped.emit(1)

    def _on_newer(self) -> None:
        self.stepped.emit(-1)

    def _on_levels(self, chosen: str) -> None:
        self.levels_chosen.emit(LEVELS[chosen])

    def _on_more(self) -> None:
        menu = QMenu(self)
        menu.setFont(self._theme.font())
        menu.setAccessibleName(self._more.accessibleName())
        menu.aboutToHide.connect(menu.deleteLater)
        for text, is_on, slot in (
            (tr("Wrap long lines"), self.wraps, self._on_wraps),
            (tr("Show times"), self.has_times, self._on_times),
        ):
            action = menu.addAction(text)
            action.setCheckable(True)
            action.setChecked(is_on)
            action.toggled.connect(slot)
        menu.addSeparator()
        menu.addAction(tr("Copy all")).triggered.connect(self.copy_all_requested)
        menu.addAction(tr("Save as...")).triggered.connect(self.save_requested)
        popup_below(menu, self._more)

    def _on_wraps(self, is_on: bool) -> None:
        self.wraps = is_on
        self.wraps_changed.emit(is_on)

    def _on_times(self, is_on: bool) -> None:
        self.has_times = is_on
        self.times_changed.emit(is_on)


def found_words(search: LogSearch) -> str:
    """Returns how many places a search has found, and its progress."""
    count = len(search.found)
    if not count:
        if search.is_running:
            return tr("Searching: {percent} % of the log", percent=int(search.share * 100))
        return (
            tr("Not in the log")
            if search.share >= 1.0
            else tr("Not in the {percent} % that were searched", percent=int(search.share * 100))
        )
    place = tr("{place} of {count}", place=f"{search.current + 1:,}", count=f"{count:,}{'+' if count >= MOST_FOUND else ''}")
    if search.share >= 1.0 or count >= MOST_FOUND:
        return place
    return tr("{found}, {percent} % of the log searched", found=place, percent=int(search.share * 100))
