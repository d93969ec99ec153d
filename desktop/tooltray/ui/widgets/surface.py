"""Windows, rounded surfaces, thin lines, and layouts with explicit margins."""

from typing import TypeVar

from PySide6.QtCore import QRect, QRectF, Qt, QVariantAnimation
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QHBoxLayout, QLayout, QVBoxLayout, QWidget

from tooltray.ui.theme import Theme
from tooltray.ui.zoom import px

TINT_MS = 600
TINT = 0.24  # of the accent at first
L = TypeVar("L", bound=QBoxLayout)

Margins = tuple[int, int, int, int]
"""Left, top, right, bottom, in logical pixels."""


def paint_box(painter: QPainter, box: QRectF, radius: float, fill: QColor, border: QColor | None = None) -> None:
    """Paints a rounded rectangle; a border lies inside its edges."""
    inset = 0.5 if border is not None else 0
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(border or Qt.PenStyle.NoPen)
    painter.setBrush(fill)
    painter.drawRoundedRect(box.adjusted(inset, inset, -inset, -inset), radius, radius)


Side = Qt.AlignmentFlag


def paint_text(
    painter: QPainter, theme: Theme, box: QRectF, text: str, style: str, color: str, side: Side = Side.AlignLeft, *, tabular: bool = False
) -> None:
    """Paints a text in the middle of a box's height; `side`: where it is in the width, `tabular`: with digits of equal width."""
    painter.setFont(theme.font(style, tabular=tabular))
    painter.setPen(theme.color(color))
    painter.drawText(box, Side.AlignVCenter | side, text)


class Surface(QWidget):
    """A rounded rectangle from tokens; `border=None` draws none. Hover darkens its border only if `hover` is set."""

    def __init__(
        self, theme: Theme, fill: str = "surface", border: str | None = "border", radius: str = "l", *, hover: bool = False
    ) -> None:
        super().__init__()
        self._theme, self._fill, self._border, self._radius, self._hover = theme, fill, border, radius, hover
        self.setAttribute(Qt.WidgetAttribute.WA_Hover, hover)

    def paintEvent(self, _event: QPaintEvent) -> None:
        theme = self._theme
        border = "border.strong" if self._hover and self.underMouse() else self._border
        with QPainter(self) as painter:
            edge = theme.color(border) if border else None
            paint_box(painter, QRectF(self.rect()), theme.radius(self._radius), theme.color(self._fill), edge)


class Tint(QWidget):
    """A tint over something new, which fades and then deletes itself; the pointer reaches what is below it."""

    def __init__(self, theme: Theme, below: QWidget, place: QRect, radius: int) -> None:
        super().__init__(below)
        self._theme, self._radius = theme, radius
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setGeometry(place)
        self._fade = QVariantAnimation(self, startValue=TINT, endValue=0.0, duration=TINT_MS)
        self._fade.valueChanged.connect(self._on_faded)
        self._fade.finished.connect(self.deleteLater)
        self._fade.start()
        self.show()

    def _on_faded(self, _strength: float) -> None:
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            paint_box(painter, QRectF(self.rect()), self._radius, self._theme.color("accent", self._fade.currentValue()))


def tint(theme: Theme, widget: QWidget, place: QRect | None = None, radius: int = 0) -> None:
    """Tints a new widget, or a place in it, for a moment; not for users who want less motion."""
    if not theme.reduced_motion:
        Tint(theme, widget, place or widget.rect(), radius)


class QDialog(QWidget):
    """A window that screen readers take for a dialog: Qt finds the role by the name of the class. The real QDialog would also bring keys, a
    default button and a place of its own.
    """


DialogWindow = QDialog


def divider() -> QFrame:
    """Makes a horizontal hairline."""
    line = QFrame()
    line.setObjectName("Divider")
    line.setFixedHeight(1)
    return line


def column(parent: QWidget | None = None, *, margins: Margins = (0, 0, 0, 0), spacing: int = 0) -> QVBoxLayout:
    """Makes a vertical layout with explicit margins instead of the style's defaults."""
    layout = QVBoxLayout(parent) if parent else QVBoxLayout()
    layout.setContentsMargins(*(px(each) for each in margins))
    layout.setSpacing(px(spacing))
    return layout


def row(parent: QWidget | None = None, *, margins: Margins = (0, 0, 0, 0), spacing: int = 8) -> QHBoxLayout:
    """Makes a horizontal layout with explicit margins."""
    layout = QHBoxLayout(parent) if parent else QHBoxLayout()
    layout.setContentsMargins(*(px(each) for each in margins))
    layout.setSpacing(px(spacing))
    return layout


def fill(layout: L, *items: QWidget | QLayout | int | tuple[QWidget | QLayout, int]) -> L:
    """Adds items to a layout, and returns the layout. A number is a stretch, and a pair an item with its stretch."""
    for item in items:
        part, stretch = item if isinstance(item, tuple) else (item, 0)
        if isinstance(part, int):
            layout.addStretch(part)
        elif isinstance(part, QLayout):
            layout.addLayout(part, stretch)
        else:
            layout.addWidget(part, stretch)
    return layout


def add_gap(layout: QBoxLayout, length: int) -> None:
    """Adds a distance in logical pixels to the end of a layout. Other than a spacer, it follows a zoom, as every layout's margins do."""
    is_across = layout.direction() in (QBoxLayout.Direction.LeftToRight, QBoxLayout.Direction.RightToLeft)
    layout.addLayout(row(margins=(length, 0, 0, 0)) if is_across else column(margins=(0, length, 0, 0)))


def height_at(layout: QLayout, width: int) -> int:
    """Returns the height that a layout needs at a width; without wrapping content Qt knows no height for a width."""
    return layout.totalHeightForWidth(width) if layout.hasHeightForWidth() else layout.totalSizeHint().height()


def clear(layout: QLayout) -> None:
    """Removes all widgets from a layout and deletes them."""
    while (item := layout.takeAt(0)) is not None:
        if (widget := item.widget()) is not None:
            widget.hide()
            widget.setParent(None)
            widget.deleteLater()
