"""The on/off switch: 36 x 20 px, moves in 120 ms, Space toggles it."""

from PySide6.QtCore import Property, QEasingCurve, QPropertyAnimation, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen

from tooltray.ui.theme import Theme
from tooltray.ui.widgets.keyboard_focus import PaintedButton

WIDTH, HEIGHT, MARGIN = 36, 20, 3


def paint_switch(painter: QPainter, theme: Theme, box: QRectF, position: float, *, enabled: bool = True) -> None:
    """Draws a switch into `box`; `position` runs from 0 (off) to 1 (on). Tables use it too."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setOpacity(1.0 if enabled else 0.45)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.color("accent" if position > 0.5 else "switch.off"))
    painter.drawRoundedRect(box, box.height() / 2, box.height() / 2)
    diameter = box.height() - 2 * MARGIN
    left = box.left() + MARGIN + position * (box.width() - diameter - 2 * MARGIN)
    painter.setBrush(theme.color("switch.knob"))
    painter.drawEllipse(QRectF(left, box.top() + MARGIN, diameter, diameter))
    painter.setOpacity(1.0)


class Switch(PaintedButton):
    """`clicked(bool)` is what a person did; `set_on` changes it without that."""

    def __init__(self, theme: Theme, name: str, *, on: bool = False) -> None:
        super().__init__()
        self._theme = theme
        self._position = float(on)
        self.setCheckable(True)
        self.setChecked(on)
        self.setAccessibleName(name)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFixedSize(WIDTH + 4, HEIGHT + 4)  # room for the focus ring
        self._slide = QPropertyAnimation(self, b"position", self)
        self._slide.setEasingCurve(QEasingCurve.Type.OutCubic)
        self.toggled.connect(self._on_toggled)

    def set_on(self, on: bool) -> None:
        if on != self.isChecked():
            self.setChecked(on)

    def sizeHint(self) -> QSize:
        return QSize(WIDTH + 4, HEIGHT + 4)

    def _on_toggled(self, on: bool) -> None:
        self._slide.stop()
        if not self.isVisible():
            self._set_position(float(on))
            return
        self._slide.setDuration(self._theme.duration("fast"))
        self._slide.setEndValue(float(on))
        self._slide.start()

    def _get_position(self) -> float:
        return self._position

    def _set_position(self, value: float) -> None:
        self._position = value
        self.update()

    position = Property(float, _get_position, _set_position)

    def paintEvent(self, _event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            paint_switch(painter, self._theme, QRectF(2, 2, WIDTH, HEIGHT), self._position, enabled=self.isEnabled())
            if self.shows_focus:
                painter.setPen(QPen(self._theme.color("accent"), 1.5))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.75, 0.75, -0.75, -0.75), 11, 11)
