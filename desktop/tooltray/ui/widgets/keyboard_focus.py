"""Focus rings only for people who use the keyboard: a click or a new window draws none. Enter presses what has the focus, as Space does."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QAbstractButton, QWidget

BY_KEYBOARD = (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason, Qt.FocusReason.ShortcutFocusReason)

PASSING = (Qt.FocusReason.ActiveWindowFocusReason, Qt.FocusReason.PopupFocusReason)
"""The window or a menu came between; what had the focus gets it back, and its ring with it."""


def is_enter(event: QKeyEvent) -> bool:
    """Whether Enter was pressed alone; one that is held down is pressed once."""
    is_plain = event.modifiers() in (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.KeypadModifier)
    return event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and is_plain and not event.isAutoRepeat()


def leave_focus(going: QWidget) -> None:
    """Takes the keyboard from something that is about to go; else Qt gives it to whatever comes next, with a ring around it."""
    focused, window = going.window().focusWidget(), going.window()
    if focused is not None and (focused is going or going.isAncestorOf(focused)):
        window.setFocus(Qt.FocusReason.OtherFocusReason)


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

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if is_enter(event):
            self.click()
        else:
            super().keyPressEvent(event)
