"""Chips and state badges: a short word in a coloured pill, or a state's shape with its word."""

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QHideEvent, QPainter, QPaintEvent, QShowEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from tooltray.ui import icons
from tooltray.ui.server_text import plain_tip
from tooltray.ui.state_language import Look
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.surface import paint_box, paint_text
from tooltray.ui.zoom import px

CHIP_HEIGHT = 20


def paint_chip(painter: QPainter, theme: Theme, left: float, middle: float, text: str, tone: str, fill: str = "") -> None:
    """Draws a chip with its left edge at `left`; `fill` replaces its tone's colour."""
    width = theme.metrics("caption_strong").horizontalAdvance(text) + px(16)
    box = QRectF(left, middle - px(CHIP_HEIGHT) / 2, width, px(CHIP_HEIGHT))
    paint_box(painter, box, px(6), theme.color(fill or f"{tone}.subtle"))
    ink = "text.secondary" if tone == "neutral" else f"{tone}.text"
    paint_text(painter, theme, box, text, "caption_strong", ink, Qt.AlignmentFlag.AlignHCenter)


class Chip(QWidget):
    """A pill with one or two words; `tone` is `neutral`, `accent`, `success`, `warning`, `error` or `info`."""

    def __init__(self, theme: Theme, text: str = "", tone: str = "neutral") -> None:
        super().__init__()
        self._theme, self._text, self._tone = theme, "", tone
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.set_word(text, tone)

    def set_word(self, text: str, tone: str) -> None:
        self._text, self._tone = text, tone
        self.setAccessibleName(text)
        self.setFixedSize(self._theme.metrics("caption_strong").horizontalAdvance(text) + px(16), px(CHIP_HEIGHT))
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            paint_chip(painter, self._theme, 0, self.height() / 2, self._text, self._tone)


class StateBadge(QWidget):
    """A state shown in three ways: shape, colour and word; `has_word`: the word is drawn, and not only read out."""

    def __init__(self, theme: Theme, look: Look, *, has_word: bool = True) -> None:
        super().__init__()
        self._theme, self._look, self._has_word = theme, look, has_word
        self.setAccessibleName(look.word)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self._follow_clock)

    def set_look(self, look: Look, meaning: str = "") -> None:
        self.setToolTip(plain_tip(meaning))
        self.setAccessibleDescription(meaning)
        if look == self._look:
            return
        self._look = look
        self.setAccessibleName(look.word)
        self.updateGeometry()
        self.update()
        self._follow_clock()

    def sizeHint(self) -> QSize:
        word = self._theme.metrics("caption_strong").horizontalAdvance(self._look.word) + px(10) if self._has_word else 0
        return QSize(px(14) + word, px(20))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._follow_clock()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._theme.spin.leave(self)

    @property
    def _turns(self) -> bool:
        return self._look.turns and not self._theme.reduced_motion

    def _follow_clock(self) -> None:
        if self._turns and self.isVisible():
            self._theme.spin.join(self)
        else:
            self._theme.spin.leave(self)

    def paintEvent(self, _event: QPaintEvent) -> None:
        theme, look = self._theme, self._look
        with QPainter(self) as painter:
            painter.translate(px(7), px(10))
            painter.rotate(theme.spin.angle if self._turns else 0)
            icons.draw(painter, look.icon, QRectF(-px(7), -px(7), px(14), px(14)), theme.color(look.tone), theme.color("surface"))
            if self._has_word:
                painter.resetTransform()
                place = QRectF(px(20), 0, self.width() - px(20), px(20))
                paint_text(painter, theme, place, look.word, "caption_strong", look.text_color)
