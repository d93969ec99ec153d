"""A sparkline, drawn with QPainter: no chart dependency."""

from collections.abc import Sequence

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from tooltray.ui.theme import Theme

BARS, STEP, BAR = 16, 5, 3  # one bar per hour; distance and width in logical pixels


class Sparkline(QWidget):
    """Calls over time as small bars; silence is a faint base line, not a missing picture."""

    def __init__(self, theme: Theme, name: str) -> None:
        super().__init__()
        self._theme = theme
        self._values: tuple[float, ...] = (0.0,) * BARS
        self.setAccessibleName(name)
        self.setFixedSize(BARS * STEP - 2, 22)

    def set_values(self, values: Sequence[float]) -> None:
        """Shows the last `BARS` values; missing ones are silence."""
        shown = ((0.0,) * BARS + tuple(values))[-BARS:]
        if shown != self._values:
            self._values = shown
            self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        top = max(self._values) or 1
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            for index, value in enumerate(self._values):
                height = max(2.0, value / top * (self.height() - 2))
                painter.setBrush(self._theme.color("chart.p50", 0.85) if value else self._theme.color("border.strong"))
                painter.drawRoundedRect(QRectF(index * STEP, self.height() - height, BAR, height), 1, 1)
