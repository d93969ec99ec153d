"""The content of an empty page: why it is empty, and the ways to begin."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QWidget

from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import PaintedButton
from tooltray.ui.widgets.icon import Icon, IconTile
from tooltray.ui.widgets.label import ElidedLabel, Label
from tooltray.ui.widgets.surface import add_gap, column, fill, paint_box, row
from tooltray.ui.zoom import UNLIMITED, px

WIDTH, HEIGHT = 460, 72
MARGIN = 24  # px beside the words where there is little room


class Beginning(PaintedButton):
    """One way to begin, as a large button."""

    def __init__(self, theme: Theme, icon: str, title: str, text: str) -> None:
        super().__init__()
        self._theme = theme
        self.setFixedSize(px(WIDTH), px(HEIGHT))
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleName(f"{title}. {text}")
        self._title, self._what = ElidedLabel(theme, title, "strong"), text
        words = fill(column(), 1, self._title, ElidedLabel(theme, text, "caption", "secondary"), 1)
        line = row(self, margins=(16, 0, 16, 0), spacing=14)
        fill(line, IconTile(theme, icon, tone="accent"), (words, 1), Icon(theme, "chevron-right", 16, "text.muted"))

    def set_title(self, title: str) -> None:
        self._title.set_text(title)
        self.setAccessibleName(f"{title}. {self._what}")

    def paintEvent(self, _event: QPaintEvent) -> None:
        theme = self._theme
        border = "accent" if self.shows_focus else "border.strong" if self.underMouse() else "border"
        with QPainter(self) as painter:
            color = theme.color("surface.hover" if self.isDown() else "surface")
            paint_box(painter, QRectF(self.rect()), theme.radius("l"), color, theme.color(border))


class EmptyState(QWidget):
    """A page's content while it is empty. `way_chosen` carries the index of the way to begin."""

    way_chosen = Signal(int)

    def __init__(self, theme: Theme, title: str, text: str, ways: Sequence[tuple[str, str, str]]) -> None:
        super().__init__()
        self._wraps = False
        self._title, self._text = Label(theme, title, "title"), Label(theme, text, "body", "secondary")
        for label in (self._title, self._text):
            label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        inner = fill(column(spacing=8), 2, self._title, self._text)
        if ways:
            add_gap(inner, 16)
        for index, (icon, name, what) in enumerate(ways):
            way = Beginning(theme, icon, name, what)
            way.clicked.connect(partial(self.way_chosen.emit, index))
            inner.addWidget(way, 0, Qt.AlignmentFlag.AlignHCenter)  # words above may be wider
        inner.addStretch(3)
        fill(row(self), 1, inner, 1)

    def set_title(self, title: str) -> None:
        self._title.setText(title)

    def set_text(self, text: str) -> None:
        """Changes the text below the title; long ones wrap."""
        self._text.setText(text)
        self._wraps = True
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Wraps words that do not fit into one line."""
        room = max(0, self.width() - 2 * px(MARGIN))  # a page may have no width before it is laid out
        for label, always in ((self._title, False), (self._text, self._wraps)):
            wraps = always or label.fontMetrics().horizontalAdvance(label.text()) > room
            label.setWordWrap(wraps)
            label.setMinimumWidth(min(px(WIDTH), room) if wraps else 0)
            label.setMaximumWidth(min(px(WIDTH), room) if wraps else UNLIMITED)
