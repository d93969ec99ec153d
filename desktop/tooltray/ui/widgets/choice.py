"""A choice of one of a few options: as a button with a menu, or as a list with a line for each."""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QAction, QActionGroup, QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from tooltray.ui import icons
from tooltray.ui.server_text import plain_tip, shortened
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Button, PaintedButton, new_menu, paint_ring, popup_below
from tooltray.ui.widgets.surface import column, paint_box, paint_text
from tooltray.ui.zoom import px

SMALLEST_WIDTH, PADDING, ARROW = 96, 12, 14
LONGEST_TITLE = 60  # characters in the menu; longer ones lose their middle


class Choice(Button):
    """A button with a menu of options. `chosen_changed`: the user chose another value.

    Args:
        options: the value and the title of each; the first is chosen.
        hint: the text without options.
    """

    chosen_changed = Signal(str)

    def __init__(self, theme: Theme, options: Sequence[tuple[str, str]], *, name: str, hint: str = "") -> None:
        super().__init__(theme, "", on_click=self._on_clicked)
        self._name, self._hint = name, hint
        self._options: list[tuple[str, str]] = []
        self._meanings: Mapping[str, str] = {}
        self.chosen = ""  # see `choose`
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.set_options(options)

    def set_options(self, options: Sequence[tuple[str, str]], meanings: Mapping[str, str] | None = None) -> None:
        """Replaces the options; the chosen one stays chosen if it is among them. `meanings`: of values, beside their titles in the menu."""
        self._options, self._meanings = list(options), meanings or {}
        values = [value for value, _ in options]
        self.choose(self.chosen if self.chosen in values else values[0] if values else "")
        self.setEnabled(bool(options))

    def choose(self, value: str) -> None:
        self.chosen = value
        self.setAccessibleName(f"{self._name}: {self._title}")
        self.setAccessibleDescription(self._meanings.get(value, ""))
        self.setToolTip(plain_tip(self._title))
        self.update()

    @property
    def _title(self) -> str:
        return next((title for value, title in self._options if value == self.chosen), self._hint)

    def sizeHint(self) -> QSize:
        words = QFontMetrics(self.font()).horizontalAdvance(self._title)
        return QSize(max(px(SMALLEST_WIDTH), words + 2 * px(PADDING) + px(ARROW) + px(8)), self.height())

    def minimumSizeHint(self) -> QSize:
        return QSize(px(SMALLEST_WIDTH), self.height())

    def shown_in(self, width: int) -> str:
        """Returns the text that fits into a button of this width; text is a fraction of a pixel wider than `sizeHint` may report."""
        room = width - 2 * px(PADDING) - px(ARROW) - px(8)
        return QFontMetrics(self.font()).elidedText(self._title, Qt.TextElideMode.ElideMiddle, room + 1)

    def _on_clicked(self) -> None:
        menu = new_menu(self, self._theme, self._name)
        menu.setMinimumWidth(self.width())
        group = QActionGroup(menu)
        for value, title in self._options:
            words = filter(None, (shortened(title, LONGEST_TITLE), self._meanings.get(value)))
            text = "\t".join(words).replace("&", "&&")  # QMenu has a column of its own for what is behind a tab
            action = QAction(text, group, checkable=True, checked=value == self.chosen)
            action.setData(value)
            menu.addAction(action)
            if value == self.chosen:
                menu.setActiveAction(action)
        menu.triggered.connect(self._on_triggered)
        popup_below(menu, self)

    def _on_triggered(self, action: QAction) -> None:
        if (value := str(action.data())) != self.chosen:
            self.choose(value)
            self.chosen_changed.emit(value)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        theme = self._theme
        with QPainter(self) as painter:
            painter.setFont(self.font())
            painter.setPen(theme.color("text.primary" if self.isEnabled() else "text.disabled"))
            painter.drawText(self.rect().adjusted(px(PADDING), 0, 0, 0), Qt.AlignmentFlag.AlignVCenter, self.shown_in(self.width()))
            arrow = self.rect().adjusted(self.width() - px(PADDING) - px(ARROW), (self.height() - px(ARROW)) // 2, 0, 0)
            arrow.setSize(QSize(px(ARROW), px(ARROW)))
            icons.draw(painter, "chevron-down", arrow.toRectF(), theme.color("text.muted"))


HEIGHT, MARK, GAP = 28, 16, 8
CORNER = 4  # px, of a box
LEFT = 2  # room for the focus ring
TICK = (QPointF(3.5, 8), QPointF(6.5, 11), QPointF(11.5, 4.5))


def paint_check(painter: QPainter, theme: Theme, left: float, middle: float, *, is_on: bool, is_round: bool = False) -> None:
    """Draws a check box, or the round mark of one of several, also for lists and tables."""
    box = QRectF(left, middle - px(MARK) / 2, px(MARK), px(MARK))
    fill, border = ("accent", "accent") if is_on else ("surface", "border.control")
    paint_box(painter, box, px(MARK) / 2 if is_round else px(CORNER), theme.color(fill), theme.color(border))
    ink = theme.color("text.on_accent")
    if is_on and is_round:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(ink)
        painter.drawEllipse(box.center(), px(3), px(3))
    elif is_on:
        painter.setPen(QPen(ink, 1.75, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin))
        corner = box.topLeft() + QPointF(0.5, 0.5)
        painter.drawPolyline([corner + point * px(1.0) for point in TICK])


class Option(PaintedButton):
    """One option with its mark."""

    def __init__(self, theme: Theme, text: str, *, is_round: bool) -> None:
        super().__init__()
        self._theme, self._is_round = theme, is_round
        self.set_title(text)
        self.setCheckable(True)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(px(HEIGHT))

    def set_title(self, text: str) -> None:
        self.setText(text)
        self.setToolTip(plain_tip(text))
        self.setAccessibleName(text)

    def sizeHint(self) -> QSize:
        return QSize(LEFT + px(MARK) + px(GAP) + self._theme.metrics().horizontalAdvance(self.text()), px(HEIGHT))

    def minimumSizeHint(self) -> QSize:
        return QSize(px(80), px(HEIGHT))

    def paintEvent(self, _event: QPaintEvent) -> None:
        theme = self._theme
        with QPainter(self) as painter:
            paint_check(painter, theme, LEFT, px(HEIGHT) / 2, is_on=self.isChecked(), is_round=self._is_round)
            if self.shows_focus:
                radius = (px(MARK) / 2 if self._is_round else px(CORNER)) + 2
                box = QRectF(LEFT, (px(HEIGHT) - px(MARK)) / 2, px(MARK), px(MARK))
                paint_ring(painter, theme, box.adjusted(-1.25, -1.25, 1.25, 1.25), radius)
            left = LEFT + px(MARK) + px(GAP)
            text = theme.metrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, self.width() - left + 1)
            place = QRectF(left, 0, self.width() - left, px(HEIGHT))
            paint_text(painter, theme, place, text, "body", "text.primary" if self.isEnabled() else "text.disabled")


class OptionList(QWidget):
    """A list of options. `changed`: the user chose or cleared an option.

    Args:
        options: the value and the title of each.
        chosen: the values that are chosen at the beginning.
        takes_many: any number may be chosen, not just one.
        may_be_empty: the chosen option can be cleared.
    """

    changed = Signal()

    def __init__(
        self,
        theme: Theme,
        options: Sequence[tuple[str, str]],
        *,
        name: str,
        chosen: Sequence[str] = (),
        takes_many: bool = False,
        may_be_empty: bool = True,
    ) -> None:
        super().__init__()
        self._takes_many, self._may_be_empty = takes_many, may_be_empty
        self._options: dict[str, Option] = {}
        self.setAccessibleName(name)
        layout = column(self)
        for value, title in options:
            option = Option(theme, title, is_round=not takes_many)
            option.setAutoExclusive(not (takes_many or may_be_empty))  # for screen readers: no check box
            option.setChecked(value in chosen)
            option.clicked.connect(self._on_clicked)
            self._options[value] = option
            layout.addWidget(option, 0, Qt.AlignmentFlag.AlignLeft)  # the empty width beside the words is no target

    @property
    def chosen(self) -> list[str]:
        return [value for value, option in self._options.items() if option.isChecked()]

    def set_chosen(self, chosen: Sequence[str]) -> None:
        """Changes the chosen options, without `changed`."""
        for value, option in self._options.items():
            option.setChecked(value in chosen)

    def set_enabled(self, value: str, enabled: bool) -> None:
        """Enables or disables one of the options."""
        self._options[value].setEnabled(enabled)

    def set_title(self, value: str, title: str) -> None:
        """Renames one of the options."""
        self._options[value].set_title(title)

    @property
    def first(self) -> QWidget:
        """The widget for the keyboard."""
        return next(iter(self._options.values()))

    def _on_clicked(self, is_checked: bool) -> None:
        pressed = self.sender()
        if not self._takes_many:
            for option in self._options.values():
                option.setChecked(option is pressed and (is_checked or not self._may_be_empty))
        self.changed.emit()
