"""The overview above the list: the last 24 hours as bars, a stretch of which can be chosen with the pointer or the keyboard, the numbers of
the listed stretch, and who is working now. Draws frozen snapshots; unknown values are not drawn as zero."""

import time
from collections.abc import Sequence
from datetime import datetime

import msgspec
from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleEvent,
    QFocusEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPolygonF,
    QResizeEvent,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from tooltray.foundation.snapshots.activity import ActivityPoint, CallNow
from tooltray.ui.activity.activity_words import SLOWEST, TYPICAL, client_words, milliseconds, took, waits
from tooltray.ui.figures import DAY_S, number
from tooltray.ui.i18n import many, say, tr
from tooltray.ui.server_text import one_line
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import BY_KEYBOARD
from tooltray.ui.widgets.cell_delegate import draw_on_line
from tooltray.ui.widgets.icon import Icon
from tooltray.ui.widgets.label import ElidedLabel, Label
from tooltray.ui.widgets.surface import Surface, column, divider, fill, row
from tooltray.ui.zoom import px

BARS = 96  # a quarter of an hour each
BAR_S = DAY_S / BARS
HEIGHT, LOW_HEIGHT = 92, 66  # px of the bars; in a low window
LOW, NO_CHART = 560, 300  # px of the page: below them the chart is lower, and hidden
MOST_WORKING = 3  # calls that are named at once
FOOT = 36  # px
ROOM_FOR_WORDS, ROOM_FOR_TOKENS = 720, 540  # px of the panel; below them, words and tokens give way
TOP, BOTTOM = 14, 18  # px: marks of failures above the bars, times below them
SMALLEST_BAR, SMALLEST_FAILURE = 2.0, 3.0  # px; one failure among a thousand calls is seen, too
MARK = 7  # px, side of the triangle that marks failures
WIDEST_GAP = 2.0  # px between bars
TIME_ROOM = 64  # px for a time below the bars


class Bar(msgspec.Struct, frozen=True):
    """A bar of the histogram.

    Args:
        failed: of `value`.
        words: its full description, as a tooltip and for screen readers.
        time: the text below it, where it fits.
    """

    value: int
    failed: int
    words: str
    time: str


class Histogram(QWidget):
    """A chart of bars over time. `stretch_chosen` carries the first and the last bar of a stretch, as places; `cleared`: the user wants the
    whole time again.

    Attributes:
        bars: the oldest first; None: not known.
        chosen: the first and the last bar of the chosen stretch.
    """

    stretch_chosen = Signal(int, int)
    cleared = Signal()

    def __init__(self, theme: Theme, name: str, unknown: str) -> None:
        """Args:
        unknown: the text while nothing is known.
        """
        super().__init__()
        self._theme, self._unknown = theme, unknown
        self.bars: tuple[Bar, ...] | None = None
        self.chosen: tuple[int, int] | None = None
        self._anchor = self._current = -1
        self._is_dragging = self._shows_focus = False
        self.setAccessibleName(name)
        self.setAccessibleDescription(unknown)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def set_bars(self, bars: Sequence[Bar] | None) -> None:
        """Shows bars, the oldest first; None: not known."""
        shown = tuple(bars) if bars is not None else None
        if shown != self.bars:
            self.bars = shown
            if shown is None or self._current >= len(shown):
                self._current = -1
            self._describe()
            self.update()

    def set_chosen(self, stretch: tuple[int, int] | None) -> None:
        """Marks a stretch, without `stretch_chosen`."""
        if stretch != self.chosen:
            self.chosen = stretch
            self.update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        place = self._place_at(event.position().x())
        if event.button() == Qt.MouseButton.LeftButton and place >= 0:
            self._anchor = self._current = place
            self._is_dragging = True
            self.update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        place = self._place_at(event.position().x())
        if place < 0 or self.bars is None:
            return
        if place != self._current:
            self._current = place
            self.update()
        QToolTip.showText(event.globalPosition().toPoint(), self.bars[place].words, self)

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
        if self._current < 0 and self.bars:
            self._anchor = self._current = len(self.bars) - 1
        self._describe()
        self.update()
        super().focusInEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        self._shows_focus = False
        self._current = -1
        self.update()
        super().focusOutEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, count = Qt.Key(event.key()), len(self.bars or ())
        moves = {Qt.Key.Key_Left: self._current - 1, Qt.Key.Key_Right: self._current + 1, Qt.Key.Key_Home: 0, Qt.Key.Key_End: count - 1}
        if key in moves and count:
            self._move(min(max(moves[key], 0), count - 1), extends=bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier))
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space) and self._current >= 0:
            self._choose()
        elif key == Qt.Key.Key_Escape and self.chosen is not None:
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
        if (first, last) == self.chosen:
            self.cleared.emit()
        else:
            self.stretch_chosen.emit(first, last)

    def _describe(self) -> None:
        bars = self.bars
        words = bars[-1].words if bars else self._unknown
        if bars and self._current >= 0:
            first, last = sorted((max(self._anchor, 0), self._current))
            words = bars[last].words if first == last else f"{bars[first].words} – {bars[last].words}"
        self.setAccessibleDescription(words)
        if self.hasFocus():
            QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.DescriptionChanged))

    @property
    def _plot(self) -> QRectF:
        return QRectF(px(2), px(TOP), self.width() - px(4), self.height() - px(TOP) - px(BOTTOM))

    def _place_at(self, x: float) -> int:
        if not self.bars:
            return -1
        plot = self._plot
        return min(max(int((x - plot.left()) / plot.width() * len(self.bars)), 0), len(self.bars) - 1)

    def paintEvent(self, _event: QPaintEvent) -> None:
        theme, plot = self._theme, self._plot
        with QPainter(self) as painter:
            painter.setPen(QPen(theme.color("border.strong")))
            painter.drawLine(QPointF(plot.left(), plot.bottom() + 0.5), QPointF(plot.right(), plot.bottom() + 0.5))
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            if self.bars:
                self._paint_bars(painter, plot, self.bars)
                self._paint_times(painter, plot, self.bars)
            else:
                painter.setFont(theme.font("caption"))
                painter.setPen(theme.color("text.muted"))
                painter.drawText(plot, Qt.AlignmentFlag.AlignCenter, self._unknown)
            if self._shows_focus:
                painter.setPen(QPen(theme.color("accent"), 1.5))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.75, 0.75, -0.75, -0.75), px(6), px(6))

    def _paint_bars(self, painter: QPainter, plot: QRectF, bars: Sequence[Bar]) -> None:
        step, top = plot.width() / len(bars), max(bar.value for bar in bars) or 1
        width = max(1.0, step - min(WIDEST_GAP, step / 4))
        if (marked := self._marked()) is not None:
            span = QRectF(plot.left() + marked[0] * step, plot.top(), (marked[1] - marked[0] + 1) * step, plot.height())
            painter.fillRect(span, self._theme.color("surface.selected"))
        painter.setPen(Qt.PenStyle.NoPen)
        for place, bar in enumerate(bars):
            is_faint = self.chosen is not None and not self.chosen[0] <= place <= self.chosen[1]
            painter.setOpacity(0.35 if is_faint else 1.0)
            self._paint_bar(painter, QRectF(plot.left() + place * step, plot.top(), width, plot.height()), bar, top)
        painter.setOpacity(1.0)

    def _paint_bar(self, painter: QPainter, room: QRectF, bar: Bar, top: int) -> None:
        if not bar.value:
            return
        theme = self._theme
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
            return self.chosen
        if self._is_dragging or (self.hasFocus() and self._anchor >= 0):
            return min(self._anchor, self._current), max(self._anchor, self._current)
        return self.chosen if self.chosen is not None else (self._current, self._current)

    def _paint_times(self, painter: QPainter, plot: QRectF, bars: Sequence[Bar]) -> None:
        theme = self._theme
        painter.setFont(theme.font("caption", tabular=True))
        painter.setPen(theme.color("text.muted"))
        count = max(2, min(7, int(plot.width() / (px(TIME_ROOM) * 1.8))))
        for mark in range(count):
            place = round(mark * (len(bars) - 1) / (count - 1))
            x = plot.left() + (plot.width() - px(TIME_ROOM)) * mark / (count - 1)
            side = (Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignHCenter, Qt.AlignmentFlag.AlignRight)
            align = side[0] if mark == 0 else side[2] if mark == count - 1 else side[1]
            painter.drawText(QRectF(x, plot.bottom() + px(2), px(TIME_ROOM), px(16)), align, bars[place].time)


class FigureNumber(Label):
    """A number with its unit, on the line of its neighbours whatever script its unit has."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, "–", "number", tabular=True)
        self._theme = theme
        self.setFixedHeight(theme.line("number"))

    def paintEvent(self, _event: QPaintEvent) -> None:
        metrics = self._theme.metrics("number", tabular=True)
        with QPainter(self) as painter:
            painter.setFont(self.font())
            painter.setPen(self._theme.color("error.text" if self.property("tone") == "error" else "text.primary"))
            draw_on_line(painter, QRectF(self.rect()), self.text(), metrics)


class Figure(QWidget):
    """A number with its name below it; a dash where it is not known."""

    def __init__(self, theme: Theme, name: str) -> None:
        super().__init__()
        self._name, self._number = name, FigureNumber(theme)
        fill(column(self), self._number, ElidedLabel(theme, name, "caption", "muted", hugs=True))
        self.set_value("–")

    def set_value(self, text: str, *, tone: str = "primary") -> None:
        self._number.setText(text)
        self._number.set_tone(tone)
        self._number.setAccessibleName(f"{self._name}: {tr('not known') if text == '–' else text}")


class WorkingNow(QWidget):
    """The calls that run now; `notices` are at its right."""

    def __init__(self, theme: Theme, *notices: QWidget) -> None:
        super().__init__()
        self.setFixedHeight(px(FOOT))
        self._icon = Icon(theme, "state-off", 14, "neutral", "surface")
        self._words = ElidedLabel(theme, "", "caption", "secondary")
        line = fill(row(self, margins=(18, 0, 6, 0), spacing=8), self._icon, (self._words, 1))
        for notice in notices:
            line.addWidget(notice, 0, Qt.AlignmentFlag.AlignVCenter)
        self.show_calls(None)

    def show_calls(self, calls: Sequence[CallNow] | None) -> None:
        """Shows calls, the longest first; None: not known."""
        if not calls:
            self._icon.set_icon("state-off", "neutral")
            self._words.set_text(tr("Not known who is working now.") if calls is None else tr("Nothing running"))
            return
        self._icon.set_icon("state-starting", "info")
        named = " · ".join(_working(call) for call in calls[:MOST_WORKING])
        more = len(calls) - MOST_WORKING
        shown = tr("{calls} · and {count} more", calls=named, count=more) if more > 0 else named
        self._words.set_text(shown, "\n".join(_working(call) for call in calls[:30]), many(len(calls), "1 running", "{count} running"))


def _working(call: CallNow) -> str:
    since = took(max(0.0, time.time() - call.since))
    client, tool, why = client_words(call.client), one_line(call.tool, 60), one_line(waits(call), 80)
    return tr("{client}: {tool}, {since}, {waits}", client=client, tool=tool, since=since, waits=why)


class GlancePanel(Surface):
    """An overview of calls. `stretch_chosen` carries the only stretch that the list should show, in unix seconds: since, until; both 0:
    everything.

    Args:
        notices: are in its foot.
    """

    stretch_chosen = Signal(float, float)

    def __init__(self, theme: Theme, *notices: QWidget) -> None:
        super().__init__(theme)
        self._points: Sequence[ActivityPoint] = ()
        self._stretch = (0.0, 0.0)
        names = (tr("calls"), tr("failed"), say(TYPICAL), say(SLOWEST), tr("≈ tokens"))
        self._figures = [Figure(theme, name) for name in names]
        _, self._failures, p50, p95, self._tokens = self._figures
        p50.setToolTip(tr("Half of the calls took less"))
        p95.setToolTip(tr("One call in twenty took longer"))
        self._when = Label(theme, "", "caption", "muted")
        self.chart = Histogram(theme, tr("Calls of the last 24 hours"), tr("Not known"))
        self.chart.stretch_chosen.connect(self._on_chosen)
        self.chart.cleared.connect(lambda: self.stretch_chosen.emit(0.0, 0.0))
        self.working = WorkingNow(theme, *notices)
        numbers = fill(row(spacing=24), *self._figures, 1, self._when)
        fill(column(self), fill(column(margins=(18, 12, 18, 6), spacing=6), numbers, self.chart), divider(), self.working)
        self.show_stretch(0.0, 0.0)

    def fit(self, height: int) -> None:
        """Makes the chart lower on a low page of so many px, or hides it."""
        self.chart.setFixedHeight(px(LOW_HEIGHT if height < px(LOW) else HEIGHT))
        self.chart.setHidden(height < px(NO_CHART))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._when.setVisible(self.width() >= px(ROOM_FOR_WORDS))
        self._tokens.setVisible(self.width() >= px(ROOM_FOR_TOKENS))

    def show_unknown(self) -> None:
        """Shows that nothing is known."""
        self._points = ()
        self.chart.set_bars(None)
        for figure in self._figures:
            figure.set_value("–")

    def show_points(self, day: Sequence[ActivityPoint], whole: ActivityPoint) -> None:
        """Shows the bars of the last 24 hours, and the numbers of the stretch that the list shows."""
        self._points = day
        self.chart.set_bars([_bar(point) for point in day])
        self._mark()
        times = milliseconds(whole.p50_ms), milliseconds(whole.p95_ms)
        for figure, value in zip(self._figures, (number(whole.calls), number(whole.failures), *times, number(whole.tokens)), strict=True):
            figure.set_value(value)
        self._failures.set_value(number(whole.failures), tone="error" if whole.failures else "primary")

    def show_stretch(self, since: float, until: float) -> None:
        """Marks the stretch that the list shows; both 0: everything."""
        self._stretch = (since, until)
        self._when.setText(tr("the stretch that you chose") if since or until else tr("the last 24 hours"))
        self._mark()

    def _mark(self) -> None:
        since, until = self._stretch
        places = [
            place for place, point in enumerate(self._points) if point.at + BAR_S > since and (not until or point.at + BAR_S / 2 < until)
        ]
        self.chart.set_chosen((places[0], places[-1]) if (since or until) and places else None)

    def _on_chosen(self, first: int, last: int) -> None:
        self.stretch_chosen.emit(self._points[first].at, self._points[last].at + BAR_S)


def _bar(point: ActivityPoint) -> Bar:
    begin, end = datetime.fromtimestamp(point.at), datetime.fromtimestamp(point.at + BAR_S)
    span, calls, failed, slow = f"{begin:%H:%M}–{end:%H:%M}", number(point.calls), number(point.failures), milliseconds(point.p95_ms)
    words = tr("{span}: no calls", span=span)
    if point.failures:
        words = tr("{span}: {calls} calls, {failed} failed, slowest 5 % over {slow}", span=span, calls=calls, failed=failed, slow=slow)
    elif point.calls:
        words = tr("{span}: {calls} calls, slowest 5 % over {slow}", span=span, calls=calls, slow=slow)
    return Bar(point.calls, point.failures, words, f"{begin:%H:%M}")
