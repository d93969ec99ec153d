"""Small charts: calls over the hours, and the share of a whole."""

from collections.abc import Sequence

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from tooltray.ui.theme import Theme

BARS, STEP, BAR = 16, 5, 3  # one bar per hour; distance and width in logical pixels


class Sparkline(QWidget):
    """Calls over time as small bars; a time without calls is a faint base line, not a missing picture."""

    def __init__(self, theme: Theme, name: str) -> None:
        super().__init__()
        self._theme = theme
        self._values: tuple[float, ...] = (0.0,) * BARS
        self.setAccessibleName(name)
        self.setFixedSize(BARS * STEP - 2, 22)

    def set_values(self, values: Sequence[float]) -> None:
        """Shows the last `BARS` values; missing ones are drawn as no calls."""
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


SMALLEST_WIDTH = 40


class Meter(QWidget):
    """A bar that shows a share; `name` is for screen readers, and the number itself is written beside it."""

    def __init__(self, theme: Theme, name: str, *, height: int = 6, tone: str = "chart.p50") -> None:
        super().__init__()
        self._theme, self._tone, self._share = theme, tone, 0.0
        self.setFixedHeight(height)
        self.setMinimumWidth(SMALLEST_WIDTH)
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
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._theme.color("neutral.subtle"))
            painter.drawRoundedRect(QRectF(self.rect()), height / 2, height / 2)
            if self._share:
                painter.setBrush(self._theme.color(self._tone))
                painter.drawRoundedRect(QRectF(0, 0, max(height, self.width() * self._share), height), height / 2, height / 2)
