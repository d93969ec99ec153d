"""The position of a menu: below its button, and inside the window where possible."""

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QMenu, QWidget

GAP = 2  # px between a button and its menu


def popup_below(menu: QMenu, button: QWidget) -> None:
    """Opens a menu below a button: at its left edge, or as far to the left as needed to stay inside the window."""
    window = button.window()
    left = window.mapToGlobal(QPoint(0, 0)).x()
    right = window.mapToGlobal(QPoint(window.width(), 0)).x()
    place = button.mapToGlobal(QPoint(0, button.height() + GAP))
    place.setX(max(left, min(place.x(), right - menu.sizeHint().width() - GAP)))
    menu.popup(place)
