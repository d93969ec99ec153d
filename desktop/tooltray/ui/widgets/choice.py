"""A button that opens a menu of options, of which one is chosen: where a list of all of them would be too long."""

from collections.abc import Sequence

from PySide6.QtCore import QPoint, QSize, Qt, Signal
from PySide6.QtGui import QAction, QActionGroup, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QMenu, QSizePolicy

from tooltray.ui import icons
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Button

SMALLEST_WIDTH, PADDING, ARROW = 96, 12, 14
LONGEST_TITLE = 60  # characters in the menu; longer ones lose their middle


class Choice(Button):
    """`chosen_changed`: a person chose another value.

    Args:
        options: the value and the title of each; the first is chosen.
        hint: stands there while there are none.
    """

    chosen_changed = Signal(str)

    def __init__(self, theme: Theme, options: Sequence[tuple[str, str]], *, name: str, hint: str = "") -> None:
        super().__init__(theme, "")
        self._name, self._hint = name, hint
        self._options: list[tuple[str, str]] = []
        self._chosen = ""
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.clicked.connect(self._on_clicked)
        self.set_options(options)

    @property
    def chosen(self) -> str:
        return self._chosen

    def set_options(self, options: Sequence[tuple[str, str]]) -> None:
        """Offers others; what is chosen stays chosen if it is among them."""
        self._options = list(options)
        values = [value for value, _ in options]
        self.choose(self._chosen if self._chosen in values else values[0] if values else "")
        self.setEnabled(bool(options))

    def choose(self, value: str) -> None:
        self._chosen = value
        title = self._title
        self.setAccessibleName(f"{self._name}: {title}")
        self.setToolTip(title)
        self.update()

    @property
    def _title(self) -> str:
        return next((title for value, title in self._options if value == self._chosen), self._hint)

    def sizeHint(self) -> QSize:
        words = QFontMetrics(self.font()).horizontalAdvance(self._title)
        return QSize(max(SMALLEST_WIDTH, words + 2 * PADDING + ARROW + 8), self.height())

    def minimumSizeHint(self) -> QSize:
        return QSize(SMALLEST_WIDTH, self.height())

    def _on_clicked(self) -> None:
        menu = QMenu(self)
        menu.setFont(self._theme.font())
        menu.setAccessibleName(self._name)
        menu.setMinimumWidth(self.width())
        menu.aboutToHide.connect(menu.deleteLater)
        group = QActionGroup(menu)
        for value, title in self._options:
            action = menu.addAction(_short(title).replace("&", "&&"))
            action.setData(value)
            action.setCheckable(True)
            action.setChecked(value == self._chosen)
            group.addAction(action)
            if value == self._chosen:
                menu.setActiveAction(action)
        menu.triggered.connect(self._on_triggered)
        menu.popup(self.mapToGlobal(QPoint(0, self.height() + 2)))

    def _on_triggered(self, action: QAction) -> None:
        if (value := str(action.data())) != self._chosen:
            self.choose(value)
            self.chosen_changed.emit(value)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        theme, room = self._theme, self.width() - 2 * PADDING - ARROW - 8
        with QPainter(self) as painter:
            painter.setFont(self.font())
            painter.setPen(theme.color("text.primary" if self.isEnabled() else "text.disabled"))
            shown = QFontMetrics(self.font()).elidedText(self._title, Qt.TextElideMode.ElideMiddle, room)
            painter.drawText(self.rect().adjusted(PADDING, 0, 0, 0), Qt.AlignmentFlag.AlignVCenter, shown)
            arrow = self.rect().adjusted(self.width() - PADDING - ARROW, (self.height() - ARROW) // 2, 0, 0)
            arrow.setSize(QSize(ARROW, ARROW))
            icons.draw(painter, "chevron-down", arrow.toRectF(), theme.color("text.muted"))


def _short(title: str) -> str:
    half = LONGEST_TITLE // 2
    return title if len(title) <= LONGEST_TITLE else f"{title[:half]}…{title[-half:]}"
