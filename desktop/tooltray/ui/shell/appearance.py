"""The look and language of the window by the user's choices, followed while Tooltray runs, and whether the user wants less motion."""

import sys

from PySide6.QtCore import QLocale, QObject, Signal
from PySide6.QtWidgets import QApplication

from tooltray.foundation.events import ConfigChanged
from tooltray.foundation.languages import ENGLISH, spoken_language
from tooltray.foundation.preferences import Preferences, preferences_of
from tooltray.foundation.tasks import TaskKeeper
from tooltray.ui.i18n import install_language, locale_of, system_locale
from tooltray.ui.kit.background import CoalescedRead
from tooltray.ui.link.qt_mcp_presenter import QtMcpPresenter
from tooltray.ui.theme import Theme, system_mode


class Appearance(QObject):
    """The theme and the language that the user has chosen. `language_changed`: new texts and the numbers in them are in another language.

    Args:
        chosen: the settings at the start.
    """

    language_changed = Signal()

    def __init__(self, app: QApplication, theme: Theme, *, chosen: Preferences) -> None:
        super().__init__()
        self._app, self.theme = app, theme
        self.preferences = chosen
        self._language = ""
        self._speak(chosen)
        self._paint(chosen)
        app.styleHints().colorSchemeChanged.connect(self._on_color_scheme_changed)

    @property
    def language(self) -> str:
        """The current language, by the name of its catalogue."""
        return self._language

    def follow(self, hub: QtMcpPresenter, tasks: TaskKeeper) -> None:
        """Follows the hub's settings from now on."""
        self._hub = hub
        self._reading = CoalescedRead(self._look, tasks=tasks, name="appearance")
        hub.on_any((ConfigChanged,), self._reading.ask, self)

    def use(self, chosen: Preferences) -> None:
        """Applies the current choices."""
        before, self.preferences = self.preferences, chosen
        if chosen.theme != before.theme:
            self._paint(chosen)
        if chosen.language != before.language and self._speak(chosen):
            self.language_changed.emit()

    def _speak(self, chosen: Preferences) -> bool:
        """Changes the language; returns whether it was another one before."""
        language = spoken_language(chosen.language, QLocale.system().uiLanguages())
        if language == self._language:
            return False
        self._language = language
        follows_system = language == ENGLISH and not chosen.language  # also where the system's language is none of ours
        QLocale.setDefault(system_locale() if follows_system else locale_of(language))
        install_language(self._app, language)
        return True

    def _paint(self, chosen: Preferences) -> None:
        mode = chosen.theme or system_mode(self._app)
        if mode != self.theme.mode or not self._app.styleSheet():
            self.theme.apply(self._app, mode)

    def _on_color_scheme_changed(self) -> None:
        self._paint(self.preferences)

    async def _look(self) -> None:
        self.use(preferences_of((await self._hub.settings.get_settings()).settings))


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
