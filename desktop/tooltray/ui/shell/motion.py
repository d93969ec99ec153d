"""Whether the user wants less motion: Qt does not report it, so the desktop's portal is asked. Without a portal (or on another operating
system) nothing is known and motion stays as it is."""

import sys

from PySide6.QtCore import QObject

from tooltray.ui.theme import Theme

PORTAL, PLACE = "org.freedesktop.portal.Desktop", "/org/freedesktop/portal/desktop"
SETTINGS = "org.freedesktop.portal.Settings"
SETTING = ("org.gnome.desktop.interface", "enable-animations")  # KDE's portal answers to this name too


class MotionSetting(QObject):
    """A single request for the setting, which reduces motion in the theme if the user wants less."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        if sys.platform == "linux":
            self._ask()

    def _ask(self) -> None:
        from PySide6.QtDBus import QDBusConnection, QDBusMessage, QDBusPendingCallWatcher

        question = QDBusMessage.createMethodCall(PORTAL, PLACE, SETTINGS, "ReadOne")
        question.setArguments(list(SETTING))
        question.setAutoStartService(False)
        self._watcher = QDBusPendingCallWatcher(QDBusConnection.sessionBus().asyncCall(question), self)
        self._watcher.finished.connect(self._on_answer)

    def _on_answer(self) -> None:
        answer = self._watcher.reply()
        values = answer.arguments()
        if not answer.errorName() and values:
            value = values[0].variant() if hasattr(values[0], "variant") else values[0]
            self._theme.set_reduced_motion(value is False)
