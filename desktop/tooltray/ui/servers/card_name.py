"""The name on a server's card: a click opens the details of the server."""

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy

from tooltray.ui.i18n import tr
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import PaintedButton

LEAST = 24  # px of a name that has hardly any room
RING = 4  # px around the word


class CardName(PaintedButton):
    """A server's name, which also describes the card's state to screen readers."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme, self._tone = theme, "text.primary"
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(theme.line("strong"))
        self.setFont(theme.font("strong"))

    def set_name(self, name: str, state: str, explanation: str) -> None:
        """Shows a name; `state` is in words, `explanation` for a tooltip."""
        self.setText(name)
        self.setAccessibleName(f"{name}, {state}")
        self.setAccessibleDescription(tr("Opens it"))
        self.setToolTip(explanation or name)
        self.update()

    def set_tone(self, tone: str) -> None:
        self._tone = f"text.{tone}"
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(QFontMetrics(self.font()).horizontalAdvance(self.text()), self.height())

    def minimumSizeHint(self) -> QSize:
        return QSize(LEAST, self.height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        theme, metrics = self._theme, QFontMetrics(self.font())
        shown = metrics.elidedText(self.text(), Qt.TextElideMode.ElideMiddle, self.width() + 1)  # advances are rounded
        place = QRectF(0, 0, metrics.horizontalAdvance(shown), self.height())
        with QPainter(self) as painter:
            painter.setFont(self.font())
            painter.setPen(theme.color("accent.text" if self.underMouse() else self._tone))
            painter.drawText(QRectF(self.rect()), Qt.AlignmentFlag.AlignVCenter, shown)
            if self.shows_focus:
                painter.setRenderHint(QPainter.RenderHint.Antialiasing)
                painter.setPen(QPen(theme.color("accent"), 1.5))
                painter.drawRoundedRect(place.adjusted(0.75, 0.75, min(RING, self.width() - place.width()) - 0.75, -0.75), 4, 4)
