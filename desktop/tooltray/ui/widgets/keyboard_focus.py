"""Focus rings only for people who use the keyboard: a click or a new window draws none."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QFocusEvent
from PySide6.QtWidgets import QAbstractButton

BY_KEYBOARD = (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason, Qt.FocusReason.ShortcutFocusReason)

PASSING = (Qt.FocusReason.ActiveWindowFocusReason, Qt.FocusReason.PopupFocusReason)
"""The window or a menu came between; what had the focus gets it back, and its ring with it."""


class PaintedButton(QAbstractButton):
    """A button that draws itself; `shows_focus` is true after Tab, Shift+Tab, an arrow or a shortcut brought the focus here."""

    shows_focus = False

    def focusInEvent(self, event: QFocusEvent) -> None:
        if event.reason() not in PASSING:
            self.shows_focus = event.reason() in BY_KEYBOARD
        super().focusInEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        if event.reason() not in PASSING:
            self.shows_focus = False
        super().focusOutEvent(event)
