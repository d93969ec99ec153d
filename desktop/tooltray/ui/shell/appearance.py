"""The look, zoom and language of the windows, by the user's choices while Tooltray runs, and whether the user wants less motion."""

import sys

import msgspec
from PySide6.QtCore import QLocale, QObject, Signal
from PySide6.QtWidgets import QApplication

from tooltray.foundation.errors import Problem
from tooltray.foundation.events import ConfigChanged
from tooltray.foundation.languages import ENGLISH, spoken_language
from tooltray.foundation.preferences import ACTUAL_SIZE, Preferences, preferences_of
from tooltray.foundation.tasks import TaskKeeper
from tooltray.ui.i18n import install_language, locale_of, system_locale
from tooltray.ui.kit.background import CoalescedRead
from tooltray.ui.link.qt_mcp_presenter import QtMcpPresenter
from tooltray.ui.theme import Theme, system_mode
from tooltray.ui.zoom import next_zoom, zoom


class Appearance(QObject):
    """The theme and the language that the user has chosen. `language_changed`: new texts and the numbers in them are in another language.

    Args:
        chosen: the settings at the start.
    """

    language_changed = Signal()
    zoom_changed = Signal(int)  # the user has zoomed by keys or by a command, to so many per cent
    zoom_failed = Signal(Problem)  # that could not be saved, and lasts until Tooltray ends

    def __init__(self, app: QApplication, theme: Theme, *, chosen: Preferences) -> None:
        super().__init__()
        self._app, self.theme = app, theme
        self.preferences = chosen
        self.language = ""  # by the name of its catalogue
        self._unsaved_zoom: int | None = None
        self._speak(chosen)
        theme.set_zoom(app, chosen.zoom)
        self._paint()
        theme.zoom_requested.connect(self._on_zoom_requested)
        app.styleHints().colorSchemeChanged.connect(self._paint)

    def follow(self, hub: QtMcpPresenter, tasks: TaskKeeper) -> None:
        """Follows the hub's settings from now on."""
        self._hub = hub
        self._saving = CoalescedRead(self._save_zoom, tasks=tasks, name="save the zoom", show=self._show_problem)
        self._reading = CoalescedRead(self._look, tasks=tasks, name="appearance")
        hub.on_any((ConfigChanged,), self._reading.ask, self)

    def use(self, chosen: Preferences) -> None:
        """Applies the current choices."""
        if self._unsaved_zoom is not None:  # several keys one after the other: what is saved may be older than what is shown
            chosen = msgspec.structs.replace(chosen, zoom=self._unsaved_zoom)
        before, self.preferences = self.preferences, chosen
        self.theme.set_zoom(self._app, chosen.zoom)
        if chosen.theme != before.theme:
            self._paint()
        if chosen.language != before.language and self._speak(chosen):
            self.language_changed.emit()

    def _speak(self, chosen: Preferences) -> bool:
        """Changes the language; returns whether it was another one before."""
        language = spoken_language(chosen.language, QLocale.system().uiLanguages())
        if language == self.language:
            return False
        self.language = language
        follows_system = language == ENGLISH and not chosen.language  # also where the system's language is none of ours
        QLocale.setDefault(system_locale() if follows_system else locale_of(language))
        install_language(self._app, language)
        return True

    def _paint(self) -> None:
        mode = self.preferences.theme or system_mode(self._app)
        if mode != self.theme.mode or not self._app.styleSheet():
            self.theme.apply(self._app, mode)

    def _on_zoom_requested(self, steps: int) -> None:
        percent = next_zoom(zoom(), steps) if steps else ACTUAL_SIZE
        self._unsaved_zoom = percent
        self.use(self.preferences)
        self.zoom_changed.emit(percent)
        self._saving.ask()

    async def _save_zoom(self) -> None:
        percent = self._unsaved_zoom
        if percent is None:  # saved meanwhile; None would take the setting away
            return
        await self._hub.settings.change_settings({"window": {"size": percent}})
        if percent == self._unsaved_zoom:
            self._unsaved_zoom = None

    def _show_problem(self, problem: Problem | None) -> None:
        if problem is not None:
            self.zoom_failed.emit(problem)

    async def _look(self) -> None:
        if self._unsaved_zoom is not None:
            self._saving.ask()
        self.use(preferences_of((await self._hub.settings.get_settings()).settings))


PORTAL, PLACE = "org.freedesktop.portal.Desktop", "/org/freedesktop/portal/desktop"
SETTINGS = "org.freedesktop.portal.Settings"
SETTING = ("org.gnome.desktop.interface", "enable-animations")  # KDE's portal answers to this name too


class MotionSetting(QObject):
    """A single request for the setting, which reduces motion in the theme if the user wants less."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
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
