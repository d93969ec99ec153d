"""The program's icon as a widget: the SVG itself, never tinted."""

from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QWidget

from tooltray.resources import resource


class Logo(QWidget):
    def __init__(self, size: int) -> None:
        super().__init__()
        self._renderer = QSvgRenderer(str(resource("icons", "tooltray.svg")), self)
        self.setFixedSize(size, size)

    def paintEvent(self, _event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self._renderer.render(painter, QRectF(self.rect()))
