"""A small chart: the share of a whole."""

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from tooltray.ui.theme import Theme

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
