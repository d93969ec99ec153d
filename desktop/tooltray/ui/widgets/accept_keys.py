"""The keys of a sheet's first button, which work from any of its fields: Ctrl+Enter, with either Enter key."""

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QWidget


def add_accept_keys(widget: QWidget, act: Callable[[], object]) -> None:
    """Makes the keys do an action while something in the widget has the focus."""
    for keys in ("Ctrl+Return", "Ctrl+Enter"):
        shortcut = QShortcut(QKeySequence(keys), widget, act)
        shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
