"""Charts: lines over time, the share of a whole, and where a time went. Know nothing of calls."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import ceil, log10

import msgspec
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QLinearGradient, QMouseEvent, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from tooltray.ui.theme import Theme
from tooltray.ui.widgets.surface import paint_box, paint_text
from tooltray.ui.zoom import px

SMALLEST_WIDTH = 40


class Meter(QWidget):
    """A bar that shows a share; `name` is for screen readers, and the number itself is written beside it."""

    def __init__(self, theme: Theme, name: str, *, height: int = 6, tone: str = "chart.p50") -> None:
        super().__init__()
        self._theme, self._tone, self._share = theme, tone, 0.0
        self.setFixedHeight(px(height))
        self.setMinimumWidth(px(SMALLEST_WIDTH))
        self.setAccessibleName(name)

    def set_share(self, share: float) -> None:
        """Shows a share from 0 to 1; anything above 0 is at least a dot."""
        share = min(max(share, 0.0), 1.0)
        if share != self._share:
            self._share = share
            self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        height = self.height()
        with QPainter(self) as painter:
            paint_box(painter, QRectF(self.rect()), height / 2, self._theme.color("neutral.subtle"))
            if self._share:
                done = QRectF(0, 0, max(height, self.width() * self._share), height)
                paint_box(painter, done, height / 2, self._theme.color(self._tone))


ROW = 24  # px
NAMES, TIMES, GAP = 0.36, 88, 8  # share of the width for the names; px for the times, and between
BAR, SMALLEST = 8, 2.0  # px: height of a bar, and its least width


class Stage(msgspec.Struct, frozen=True):
    """A stage of a call.

    Args:
        seconds: None: it was not measured, or did not take place.
        words: its time in words.
        is_long: it took the most time, or is the one to highlight.
    """

    name: str
    seconds: float | None
    words: str
    is_long: bool = False


class Waterfall(QWidget):
    """Stages one below the other, each beginning where the one before it ended. A stage that was not measured has no bar."""

    def __init__(self, theme: Theme, name: str, stages: Sequence[Stage]) -> None:
        super().__init__()
        self._theme, self._stages = theme, tuple(stages)
        self.setAccessibleName(name)
        words = [f"{stage.name}: {stage.words}" for stage in stages]
        self.setAccessibleDescription(", ".join(words))
        self.setToolTip("\n".join(words))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(px(ROW) * len(self._stages))

    def sizeHint(self) -> QSize:
        return QSize(px(280), px(ROW) * len(self._stages))

    def paintEvent(self, _event: QPaintEvent) -> None:
        whole = sum(stage.seconds or 0.0 for stage in self._stages)
        names, done = self.width() * NAMES, 0.0
        track = QRectF(names + px(GAP), 0, max(1.0, self.width() - names - px(TIMES) - 2 * px(GAP)), px(ROW))
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            for place, stage in enumerate(self._stages):
                self._paint_words(painter, QRectF(0, place * px(ROW), self.width(), px(ROW)), stage, names)
                self._paint_bar(painter, track.translated(0, place * px(ROW)), stage, done, whole)
                done += stage.seconds or 0.0

    def _paint_words(self, painter: QPainter, line: QRectF, stage: Stage, names: float) -> None:
        theme, is_known, right = self._theme, stage.seconds is not None, Qt.AlignmentFlag.AlignRight
        name = theme.metrics("caption").elidedText(stage.name, Qt.TextElideMode.ElideRight, int(names))
        place = QRectF(0, line.top(), names, px(ROW))
        paint_text(painter, theme, place, name, "caption", "text.secondary" if is_known else "text.muted")
        place, style = QRectF(line.right() - px(TIMES), line.top(), px(TIMES), px(ROW)), "caption_strong" if stage.is_long else "caption"
        paint_text(painter, theme, place, stage.words, style, "text.primary" if is_known else "text.muted", right, tabular=True)

    def _paint_bar(self, painter: QPainter, track: QRectF, stage: Stage, done: float, whole: float) -> None:
        theme, middle = self._theme, track.center().y()
        if stage.seconds is None:
            painter.setPen(QPen(theme.color("border.strong"), 1, Qt.PenStyle.DotLine))
            painter.drawLine(QPointF(track.left(), middle), QPointF(track.right(), middle))
            return
        width = max(SMALLEST, track.width() * stage.seconds / whole) if whole else SMALLEST
        left = track.left() + (track.width() * done / whole if whole else 0.0)
        color = theme.color("chart.p95") if stage.is_long else theme.color("chart.p50", 0.85)
        paint_box(painter, QRectF(min(left, track.right() - width), middle - px(BAR) / 2, width, px(BAR)), px(2), color)


LEFT, BOTTOM, TOP, RIGHT = 64, 22, 8, 10  # px around the lines
STEPS = 3  # of the grid
STROKE = 1.75
ALONE = 2.5  # px, radius of the dot for a point without neighbours


class Line(msgspec.Struct, frozen=True):
    """A line of the chart.

    Args:
        values: one for each point of time; None: nothing was measured then.
        tone: a token of the theme.
        is_filled: the area below it is tinted.
    """

    name: str
    values: tuple[float | None, ...]
    tone: str
    is_filled: bool = False


class LineChart(QWidget):
    """A chart of lines over time with gaps where nothing was measured. `words` of `set_lines` are the tooltips of each point; `summary`
    is for screen readers.
    """

    def __init__(self, theme: Theme, name: str, unknown: str, label: Callable[[float], str]) -> None:
        """Args:
        unknown: the text while there is nothing to draw.
        label: returns a value of the grid with its unit.
        """
        super().__init__()
        self._theme, self._unknown, self._label = theme, unknown, label
        self._lines: tuple[Line, ...] = ()
        self._times: tuple[str, ...] = ()
        self._words: tuple[str, ...] = ()
        self._hovered = -1
        self.setAccessibleName(name)
        self.setAccessibleDescription(unknown)
        self.setMinimumHeight(px(110))
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(px(400), px(150))

    def set_lines(self, lines: Sequence[Line], times: Sequence[str], words: Sequence[str], summary: str) -> None:
        """Shows lines; all have as many points as there are times and words."""
        self._lines, self._times, self._words, self._hovered = tuple(lines), tuple(times), tuple(words), -1
        self.setAccessibleDescription(summary if self._has_points else self._unknown)
        self.update()

    @property
    def _has_points(self) -> bool:
        return any(value is not None for line in self._lines for value in line.values)

    @property
    def _plot(self) -> QRectF:
        return QRectF(self.rect()).adjusted(px(LEFT), px(TOP), -px(RIGHT), -px(BOTTOM))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if not self._has_points:
            return
        plot, last = self._plot, len(self._times) - 1
        place = min(max(round((event.position().x() - plot.left()) / plot.width() * last), 0), last)
        if place != self._hovered:
            self._hovered = place
            self.update()
        QToolTip.showText(event.globalPosition().toPoint(), self._words[place], self)

    def leaveEvent(self, event: QEvent) -> None:
        self._hovered = -1
        self.update()
        super().leaveEvent(event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        plot = self._plot
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            if not self._has_points:
                place, middle = QRectF(self.rect()), Qt.AlignmentFlag.AlignHCenter
                paint_text(painter, self._theme, place, self._unknown, "caption", "text.muted", middle)
                return
            limit = nice_limit(max(value for line in self._lines for value in line.values if value is not None))
            self._paint_grid(painter, plot, limit)
            if self._hovered >= 0:
                painter.setPen(QPen(self._theme.color("border.strong")))
                x = plot.left() + plot.width() * self._hovered / max(1, len(self._times) - 1)
                painter.drawLine(QPointF(x, plot.top()), QPointF(x, plot.bottom()))
            for line in self._lines:
                self._paint_line(painter, plot, line, limit)

    def _paint_grid(self, painter: QPainter, plot: QRectF, limit: float) -> None:
        theme = self._theme
        painter.setFont(theme.font("caption", tabular=True))
        for step in range(STEPS + 1):
            y = round(plot.bottom() - plot.height() * step / STEPS) + 0.5
            painter.setPen(QPen(theme.color("chart.grid")))
            painter.drawLine(QPointF(plot.left(), y), QPointF(plot.right(), y))
            painter.setPen(theme.color("text.muted"))
            label = QRectF(0, y - px(8), px(LEFT) - px(10), px(16))
            painter.drawText(label, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, self._label(limit * step / STEPS))
        count = max(2, min(6, int(plot.width() / 110)))
        for number in range(count):
            time = self._times[round(number * (len(self._times) - 1) / (count - 1))]
            width = QFontMetrics(painter.font()).horizontalAdvance(time) + 2
            x = plot.left() + (plot.width() - width) * number / (count - 1)
            painter.drawText(QRectF(x, plot.bottom() + px(4), width, px(16)), Qt.AlignmentFlag.AlignLeft, time)

    def _paint_line(self, painter: QPainter, plot: QRectF, line: Line, limit: float) -> None:
        color, step = self._theme.color(line.tone), plot.width() / max(1, len(line.values) - 1)
        pen = QPen(color, STROKE, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin)
        for first, values in _runs(line.values):
            points = [
                QPointF(plot.left() + (first + place) * step, plot.bottom() - value / limit * plot.height())
                for place, value in enumerate(values)
            ]
            if len(points) == 1:
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(color)
                painter.drawEllipse(points[0], ALONE, ALONE)
                continue
            path = _path(points)
            if line.is_filled:
                self._fill(painter, plot, path, line.tone)
            painter.setPen(pen)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawPath(path)

    def _fill(self, painter: QPainter, plot: QRectF, path: QPainterPath, tone: str) -> None:
        area = QPainterPath(path)
        area.lineTo(path.currentPosition().x(), plot.bottom())
        area.lineTo(path.elementAt(0).x, plot.bottom())
        area.closeSubpath()
        fade = QLinearGradient(plot.topLeft(), plot.bottomLeft())
        fade.setColorAt(0, self._theme.color(tone, 0.22))
        fade.setColorAt(1, self._theme.color(tone, 0.0))
        painter.fillPath(area, fade)


def nice_limit(highest: float) -> float:
    """Returns the top of a scale whose three steps are round numbers, e.g. 120 for 97."""
    if highest <= 0:
        return float(STEPS)
    unit = 10.0 ** (ceil(log10(highest / STEPS)) - 1)
    step = next(factor * unit for factor in (1, 2, 4, 5, 10, 20) if factor * unit * STEPS >= highest)
    return step * STEPS


def _path(points: Sequence[QPointF]) -> QPainterPath:
    """Returns a curve through points with level tangents, which never goes beyond a value."""
    path = QPainterPath(points[0])
    for before, after in pairwise(points):
        middle = (before.x() + after.x()) / 2
        path.cubicTo(QPointF(middle, before.y()), QPointF(middle, after.y()), after)
    return path


def _runs(values: Sequence[float | None]) -> list[tuple[int, list[float]]]:
    """Returns the parts of a line without gaps, each with the place of its first value."""
    runs: list[tuple[int, list[float]]] = []
    before: float | None = None
    for place, value in enumerate(values):
        if value is not None:
            if before is None:
                runs.append((place, []))
            runs[-1][1].append(value)
        before = value
    return runs
