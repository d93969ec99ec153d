"""Bars over time, the failures among them marked by colour and shape; a stretch of it can be chosen with the pointer or the keyboard. Knows
nothing of calls: the caller describes each bar in words."""

from collections.abc import Sequence

import msgspec
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleEvent, QFocusEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import BY_KEYBOARD
from tooltray.ui.zoom import px

TOP, BOTTOM = 14, 18  # px: marks of failures above the bars, times below them
SMALLEST_BAR, SMALLEST_FAILURE = 2.0, 3.0  # px; one failure among a thousand calls is seen, too
MARK = 7  # px, side of the triangle that marks failures
WIDEST_GAP = 2.0  # px between bars
TIME_ROOM = 64  # px for a time below the bars


class Bar(msgspec.Struct, frozen=True):
    """A bar of the histogram.

    Args:
        at: when its stretch begins, unix seconds.
        failed: of `value`.
        words: its full description, as a tooltip and for screen readers.
        time: the text below it, where it fits.
    """

    at: float
    value: int
    failed: int
    words: str
    time: str


class Histogram(QWidget):
    """A chart of bars over time. `stretch_chosen` carries the first and the last bar of a stretch, as places; `cleared`: the user wants the
    whole time again.
    """

    stretch_chosen = Signal(int, int)
    cleared = Signal()

    def __init__(self, theme: Theme, name: str, unknown: str) -> None:
        """Args:
        unknown: the text while nothing is known.
        """
        super().__init__()
        self._theme, self._unknown = theme, unknown
        self._bars: tuple[Bar, ...] | None = None
        self._chosen: tuple[int, int] | None = None
        self._anchor = self._current = -1
        self._is_dragging = self._shows_focus = False
        self.setAccessibleName(name)
        self.setAccessibleDescription(unknown)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    @property
    def bars(self) -> tuple[Bar, ...] | None:
        return self._bars

    @property
    def chosen(self) -> tuple[int, int] | None:
        """The first and the last bar of the chosen stretch."""
        return self._chosen

    def sizeHint(self) -> QSize:
        return QSize(px(400), px(96))

    def set_bars(self, bars: Sequence[Bar] | None) -> None:
        """Shows bars, the oldest first; None: not known."""
        shown = tuple(bars) if bars is not None else None
        if shown != self._bars:
            self._bars = shown
            if shown is None or self._current >= len(shown):
                self._current = -1
            self._describe()
            self.update()

    def set_chosen(self, stretch: tuple[int, int] | None) -> None:
        """Marks a stretch, without `stretch_chosen`."""
        if stretch != self._chosen:
            self._chosen = stretch
            self.update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        place = self._place_at(event.position().x())
        if event.button() == Qt.MouseButton.LeftButton and place >= 0:
            self._anchor = self._current = place
            self._is_dragging = True
            self.update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        place = self._place_at(event.position().x())
        if place < 0 or self._bars is None:
            return
        if place != self._current:
            self._current = place
            self.update()
        QToolTip.showText(event.globalPosition().toPoint(), self._bars[place].words, self)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self._is_dragging:
            self._is_dragging = False
            self._choose()

    def leaveEvent(self, event: QEvent) -> None:
        if not self._is_dragging and not self.hasFocus():
            self._current = -1
            self.update()
        super().leaveEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        self._shows_focus = event.reason() in BY_KEYBOARD
        if self._current < 0 and self._bars:
            self._anchor = self._current = len(self._bars) - 1
        self._describe()
        self.update()
        super().focusInEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        self._shows_focus = False
        self._current = -1
        self.update()
        super().focusOutEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, count = Qt.Key(event.key()), len(self._bars or ())
        moves = {Qt.Key.Key_Left: self._current - 1, Qt.Key.Key_Right: self._current + 1, Qt.Key.Key_Home: 0, Qt.Key.Key_End: count - 1}
        if key in moves and count:
            self._move(min(max(moves[key], 0), count - 1), extends=bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier))
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space) and self._current >= 0:
            self._choose()
        elif key == Qt.Key.Key_Escape and self._chosen is not None:
            self.cleared.emit()
        else:
            super().keyPressEvent(event)

    def _move(self, place: int, *, extends: bool) -> None:
        self._current = place
        if not extends or self._anchor < 0:
            self._anchor = place
        self._describe()
        self.update()

    def _choose(self) -> None:
        """Chooses the marked stretch; choosing the same one again clears the choice."""
        first, last = sorted((self._anchor, self._current))
        if (first, last) == self._chosen:
            self.cleared.emit()
        else:
            self.stretch_chosen.emit(first, last)

    def _describe(self) -> None:
        bars = self._bars
        if bars is None:
            words = self._unknown
        elif self._current >= 0:
            first, last = sorted((max(self._anchor, 0), self._current))
            words = bars[last].words if first == last else f"{bars[first].words} – {bars[last].words}"
        else:
            words = bars[-1].words if bars else self._unknown
        self.setAccessibleDescription(words)
        if self.hasFocus():
            QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.DescriptionChanged))

    @property
    def _plot(self) -> QRectF:
        return QRectF(px(2), px(TOP), self.width() - px(4), self.height() - px(TOP) - px(BOTTOM))

    def _place_at(self, x: float) -> int:
        if not self._bars:
            return -1
        plot = self._plot
        return min(max(int((x - plot.left()) / plot.width() * len(self._bars)), 0), len(self._bars) - 1)

    def paintEvent(self, _event: QPaintEvent) -> None:
        theme, plot = self._theme, self._plot
        with QPainter(self) as painter:
            painter.setPen(QPen(theme.color("border.strong")))
            painter.drawLine(QPointF(plot.left(), plot.bottom() + 0.5), QPointF(plot.right(), plot.bottom() + 0.5))
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            if self._bars:
                self._paint_bars(painter, plot, self._bars)
                self._paint_times(painter, plot, self._bars)
            else:
                painter.setFont(theme.font("caption"))
                painter.setPen(theme.color("text.muted"))
                painter.drawText(plot, Qt.AlignmentFlag.AlignCenter, self._unknown)
            if self._shows_focus:
                painter.setPen(QPen(theme.color("accent"), 1.5))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.75, 0.75, -0.75, -0.75), px(6), px(6))

    def _paint_bars(self, painter: QPainter, plot: QRectF, bars: Sequence[Bar]) -> None:
        theme, step, top = self._theme, plot.width() / len(bars), max(bar.value for bar in bars) or 1
        width = max(1.0, step - min(WIDEST_GAP, step / 4))
        marked = self._marked()
        if marked is not None:
            span = QRectF(plot.left() + marked[0] * step, plot.top(), (marked[1] - marked[0] + 1) * step, plot.height())
            painter.fillRect(span, theme.color("surface.selected"))
        painter.setPen(Qt.PenStyle.NoPen)
        for place, bar in enumerate(bars):
            is_faint = self._chosen is not None and not self._chosen[0] <= place <= self._chosen[1]
            painter.setOpacity(0.35 if is_faint else 1.0)
            self._paint_bar(painter, QRectF(plot.left() + place * step, plot.top(), width, plot.height()), bar, top)
        painter.setOpacity(1.0)

    def _paint_bar(self, painter: QPainter, room: QRectF, bar: Bar, top: int) -> None:
        theme = self._theme
        if not bar.value:
            return
        height = max(SMALLEST_BAR, room.height() * bar.value / top)
        failed = min(height, max(SMALLEST_FAILURE, height * bar.failed / bar.value)) if bar.failed else 0.0
        painter.setBrush(theme.color("chart.p50", 0.85))
        painter.drawRoundedRect(QRectF(room.left(), room.bottom() - height, room.width(), height), 1, 1)
        if bar.failed:
            painter.setBrush(theme.color("error"))
            painter.drawRoundedRect(QRectF(room.left(), room.bottom() - failed, room.width(), failed), 1, 1)
            middle, tip = room.center().x(), room.bottom() - height - px(4) - px(MARK)
            corners = [QPointF(middle, tip), QPointF(middle - px(MARK) / 2, tip + px(MARK)), QPointF(middle + px(MARK) / 2, tip + px(MARK))]
            painter.drawPolygon(QPolygonF(corners))

    def _marked(self) -> tuple[int, int] | None:
        """Returns the filled stretch: the one being chosen, else the chosen one."""
        if self._current < 0:
            return self._chosen
        if self._is_dragging or (self.hasFocus() and self._anchor >= 0):
            return min(self._anchor, self._current), max(self._anchor, self._current)
        return self._chosen if self._chosen is not None else (self._current, self._current)

    def _paint_times(self, painter: QPainter, plot: QRectF, bars: Sequence[Bar]) -> None:
        theme = self._theme
        painter.setFont(theme.font("caption", tabular=True))
        painter.setPen(theme.color("text.muted"))
        count = max(2, min(7, int(plot.width() / (px(TIME_ROOM) * 1.8))))
        for number in range(count):
            place = round(number * (len(bars) - 1) / (count - 1))
            x = plot.left() + (plot.width() - px(TIME_ROOM)) * number / (count - 1)
            side = (Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignHCenter, Qt.AlignmentFlag.AlignRight)
            align = side[0] if number == 0 else side[2] if number == count - 1 else side[1]
            painter.drawText(QRectF(x, plot.bottom() + px(2), px(TIME_ROOM), px(16)), align, bars[place].time)
