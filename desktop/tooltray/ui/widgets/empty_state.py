"""The content of an empty page: why it is empty, and the ways to begin."""

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QWidget

from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import PaintedButton
from tooltray.ui.widgets.icon import Icon, IconTile
from tooltray.ui.widgets.label import ElidedLabel, Label
from tooltray.ui.widgets.surface import add_gap, column, row
from tooltray.ui.zoom import px

WIDTH, HEIGHT = 460, 72
MARGIN = 24  # px beside the words where there is little room
UNBOUNDED = 2**24 - 1  # px; what Qt takes for no largest width


class Beginning(PaintedButton):
    """One way to begin, as a large button."""

    def __init__(self, theme: Theme, icon: str, title: str, text: str) -> None:
        super().__init__()
        self._theme = theme
        self.setFixedSize(px(WIDTH), px(HEIGHT))
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleName(f"{title}. {text}")
        line = row(self, margins=(16, 0, 16, 0), spacing=14)
        line.addWidget(IconTile(theme, icon, tone="accent"))
        words = column()
        words.addStretch(1)
        self._title, self._what = ElidedLabel(theme, title, "strong"), text
        words.addWidget(self._title)
        words.addWidget(ElidedLabel(theme, text, "caption", "secondary"))
        words.addStretch(1)
        line.addLayout(words, 1)
        line.addWidget(Icon(theme, "chevron-right", 16, "text.muted"))

    def set_title(self, title: str) -> None:
        self._title.set_text(title)
        self.setAccessibleName(f"{title}. {self._what}")

    def sizeHint(self) -> QSize:
        return QSize(px(WIDTH), px(HEIGHT))

    def paintEvent(self, _event: QPaintEvent) -> None:
        theme = self._theme
        border = "accent" if self.shows_focus else "border.strong" if self.underMouse() else "border"
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(theme.color(border)))
            painter.setBrush(theme.color("surface.hover" if self.isDown() else "surface"))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), theme.radius("l"), theme.radius("l"))


class EmptyState(QWidget):
    """A page's content while it is empty. `way_chosen` carries the index of the way to begin."""

    way_chosen = Signal(int)

    def __init__(self, theme: Theme, title: str, text: str, ways: Sequence[tuple[str, str, str]], footnote: str = "") -> None:
        super().__init__()
        self._wraps = False
        outer = row(self)
        outer.addStretch(1)
        inner = column(spacing=8)
        inner.addStretch(2)
        for style, tone, words in (("title", "primary", title), ("body", "secondary", text)):
            label = Label(theme, words, style, tone)
            label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
            inner.addWidget(label)
            if style == "title":
                self._title = label
            else:
                self._text = label
        if ways:
            add_gap(inner, 16)
        for index, (icon, name, what) in enumerate(ways):
            way = Beginning(theme, icon, name, what)
            way.setProperty("way", index)
            way.clicked.connect(self._on_clicked)
            inner.addWidget(way, 0, Qt.AlignmentFlag.AlignHCenter)  # words above may be wider
        if footnote:
            add_gap(inner, 8)
            label = Label(theme, footnote, "caption", "muted")
            label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
            inner.addWidget(label)
        inner.addStretch(3)
        outer.addLayout(inner)
        outer.addStretch(1)

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
            label.setMaximumWidth(min(px(WIDTH), room) if wraps else UNBOUNDED)

    def _on_clicked(self) -> None:
        self.way_chosen.emit(self.sender().property("way"))
