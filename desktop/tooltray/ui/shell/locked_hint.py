"""Whether the screen is locked, by `LockedHint` of the user's logind session, where the locker reports to logind.

The hint is false also where no locker ever sets it (swaylock does not: https://github.com/swaywm/swaylock/issues/382), so it counts from
the first time that it was true."""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import SLOT, QObject, Slot
from PySide6.QtDBus import QDBusConnection, QDBusMessage, QDBusObjectPath, QDBusPendingCallWatcher, QDBusVariant

LOGIND, MANAGER_PATH = "org.freedesktop.login1", "/org/freedesktop/login1"
SESSION, MANAGER, PROPERTIES = "org.freedesktop.login1.Session", "org.freedesktop.login1.Manager", "org.freedesktop.DBus.Properties"
HINT, OWN_SESSION = "LockedHint", "auto"  # of who asks, or, outside of any session, that of one's display; since systemd 243


class LockedHint(QObject):
    """A watch that reports each change of the hint, once the hint is known to be set here."""

    def __init__(self, told: Callable[[bool], None], parent: QObject, *, system: QDBusConnection) -> None:
        super().__init__(parent)
        self._told, self._system = told, system
        self._path, self._is_set_here = "", False
        self._latest: QDBusPendingCallWatcher | None = None
        self._send(MANAGER_PATH, MANAGER, "GetSession", [OWN_SESSION], self._on_session)

    def ask(self) -> None:
        """Reports the current value once."""
        if self._path:
            self._latest = self._send(self._path, PROPERTIES, "Get", [SESSION, HINT], self._on_hint)

    def _send(
        self, path: str, interface: str, method: str, words: list[str], answered: Callable[[QDBusPendingCallWatcher], None]
    ) -> QDBusPendingCallWatcher:
        question = QDBusMessage.createMethodCall(LOGIND, path, interface, method)
        question.setArguments(words)
        question.setAutoStartService(False)
        watcher = QDBusPendingCallWatcher(self._system.asyncCall(question), self)
        watcher.finished.connect(partial(answered, watcher))
        return watcher

    def _on_session(self, watcher: QDBusPendingCallWatcher) -> None:
        found = (watcher.reply().arguments() or [None])[0]
        watcher.deleteLater()
        if isinstance(found, QDBusObjectPath):
            self._path = found.path()
            changed = SLOT("_on_changed()")
            self._system.connect(LOGIND, self._path, PROPERTIES, "PropertiesChanged", self, changed)  # type: ignore[call-overload]
            self.ask()

    @Slot()
    def _on_changed(self) -> None:
        self.ask()  # PySide cannot read what the signal carries

    def _on_hint(self, watcher: QDBusPendingCallWatcher) -> None:
        said = (watcher.reply().arguments() or [None])[0]
        watcher.deleteLater()
        if watcher is not self._latest or not isinstance(said, QDBusVariant):
            return
        is_locked = said.variant() is True
        self._is_set_here = self._is_set_here or is_locked
        if self._is_set_here:
            self._told(is_locked)
