"""The roles of windows for screen readers: Qt takes a window that is a plain widget for a mere part of one."""

from PySide6.QtCore import QObject
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QAccessibleWidget, QWidget

ROLES = {"AskingWindow": QAccessible.Role.Dialog, "FeedbackWindow": QAccessible.Role.Window}


def window_role(name: str, widget: QObject) -> QAccessibleWidget | None:
    """Makes the element of a window of ours; None for others, which Qt makes itself.

    Args:
        name: the name of the widget's class, or of one of its bases.
    """
    if (role := ROLES.get(name)) is None or not isinstance(widget, QWidget) or not widget.isWindow():
        return None
    return QAccessibleWidget(widget, role, "")
