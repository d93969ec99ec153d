"""Icons as widgets: one of ours, tinted, with or without a tile; and the program's own, which is never tinted."""

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QWidget

from tooltray.foundation.programs import resource
from tooltray.ui import icons
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.surface import paint_box, paint_text
from tooltray.ui.zoom import px


class Icon(QWidget):
    """An icon of `size` pixels in a colour token; `behind` is the surface it lies on."""

    def __init__(self, theme: Theme, name: str, size: int = 16, color: str = "text.secondary", behind: str = "surface") -> None:
        super().__init__()
        self._theme, self._name, self._color, self._behind = theme, name, color, behind
        self.setFixedSize(px(size), px(size))

    def set_icon(self, name: str, color: str) -> None:
        self._name, self._color = name, color
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        theme = self._theme
        with QPainter(self) as painter:
            icons.draw(painter, self._name, QRectF(self.rect()), theme.color(self._color), theme.color(self._behind))


class IconTile(QWidget):
    """A rounded tile with an icon or a few letters, which identifies servers in lists."""

    def __init__(self, theme: Theme, name: str = "", *, tone: str = "neutral") -> None:
        super().__init__()
        self._theme, self._name, self._letter, self._tone = theme, name, "", tone
        self.setFixedSize(theme.size("tile"), theme.size("tile"))

    def set_sign(self, name: str, letter: str) -> None:
        self._name, self._letter = name, letter
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        theme, side, tone = self._theme, self.width(), self._tone
        neutral = ("surface.sunken", "border", "text.secondary")
        fill, border, ink = neutral if tone == "neutral" else (f"{tone}.subtle", f"{tone}.subtle", f"{tone}.text")
        with QPainter(self) as painter:
            paint_box(painter, QRectF(self.rect()), side * 0.24, theme.color(fill), theme.color(border))
            if self._letter:
                paint_text(painter, theme, QRectF(self.rect()), self._letter, "heading", ink, Qt.AlignmentFlag.AlignHCenter)
            else:
                inner = side * 0.28
                icons.draw(painter, self._name, QRectF(self.rect()).adjusted(inner, inner, -inner, -inner), theme.color(ink))


class Logo(QWidget):
    def __init__(self, size: int) -> None:
        super().__init__()
        self._renderer = QSvgRenderer(str(resource("icons", "tooltray.svg")), self)
        self.setFixedSize(px(size), px(size))

    def paintEvent(self, _event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self._renderer.render(painter, QRectF(self.rect()))
