"""Lines over time with a grid; a line has a gap where nothing was measured. Knows nothing of calls."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import ceil, log10

import msgspec
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QLinearGradient, QMouseEvent, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from tooltray.ui.theme import Theme
from tooltray.ui.zoom import px

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
    """A chart of lines over time. `words` of `set_lines` are the tooltips of each point; `summary` is for screen readers."""

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
                painter.setFont(self._theme.font("caption"))
                painter.setPen(self._theme.color("text.muted"))
                painter.drawText(QRectF(self.rect()), Qt.AlignmentFlag.AlignCenter, self._unknown)
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
