"""When the screen locks, on Linux: from the desktop's screen saver over D-Bus, and from logind when the computer goes to sleep.

A desktop that answers whether its screen saver is active also reports changes of it; where none does (a window manager with a locker of its
own), nothing is known or reported until logind is seen to know it (LockedHint). logind's Lock is heard besides."""

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import SLOT, QObject, Slot
from PySide6.QtDBus import QDBusConnection, QDBusMessage, QDBusObjectPath, QDBusPendingCallWatcher, QDBusServiceWatcher, QDBusVariant

LOGIND, MANAGER_PATH = "org.freedesktop.login1", "/org/freedesktop/login1"
SESSION, MANAGER, PROPERTIES = "org.freedesktop.login1.Session", "org.freedesktop.login1.Manager", "org.freedesktop.DBus.Properties"
HINT, OWN_SESSION = "LockedHint", "auto"  # of who asks, or, outside of any session, that of one's display; since systemd 243


class LockedHint(QObject):
    """A watch of `LockedHint` of the user's logind session, which reports each change once the hint is known to be set here.

    It is false also where no locker ever sets it (swaylock does not: https://github.com/swaywm/swaylock/issues/382).
    """

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


SAVERS = (
    ("org.freedesktop.ScreenSaver", "/org/freedesktop/ScreenSaver"),  # KDE and others
    ("org.gnome.ScreenSaver", "/org/gnome/ScreenSaver"),
    ("org.cinnamon.ScreenSaver", "/org/cinnamon/ScreenSaver"),
    ("org.mate.ScreenSaver", "/org/mate/ScreenSaver"),
    ("org.xfce.ScreenSaver", "/org/xfce/ScreenSaver"),
)
TELLS, ASKS = "ActiveChanged", "GetActive"


class ScreenLockSource(QObject):
    """A source that reports the current state once, and then each change; see ScreenLockWatch."""

    def __init__(
        self, told: Callable[[bool | None], None], *, session: QDBusConnection | None = None, system: QDBusConnection | None = None
    ) -> None:
        """Begins to watch; the first argument is called with each value for the signal of ScreenLockWatch.

        Args:
            session, system: the buses; None: this computer's.
        """
        super().__init__()
        self._told, self._active = told, dict[str, bool]()
        self._session = session if session is not None else QDBusConnection.sessionBus()
        self._system = system if system is not None else QDBusConnection.systemBus()
        self._questions: dict[str, QDBusPendingCallWatcher] = {}
        self._owners = QDBusServiceWatcher(self)
        self._owners.setConnection(self._session)
        self._owners.serviceOwnerChanged.connect(self._on_owner_changed)
        for name, _ in SAVERS:
            self._owners.addWatchedService(name)
            self._session.connect(name, "", name, TELLS, self, SLOT("_on_active(QDBusMessage)"))  # type: ignore[call-overload]
        # PySide's types say that a slot is bytes, and it takes text alone
        self._system.connect(LOGIND, "", SESSION, "Lock", self, SLOT("_on_lock()"))  # type: ignore[call-overload]
        self._system.connect(LOGIND, "", MANAGER, "PrepareForSleep", self, SLOT("_on_sleep(bool)"))  # type: ignore[call-overload]
        self._hint = LockedHint(self._on_hint, self, system=self._system)
        self._ask_all()

    def _ask_all(self) -> None:
        self._hint.ask()
        for name, path in SAVERS:
            self._ask(name, path)

    def _ask(self, name: str, path: str) -> None:
        question = QDBusMessage.createMethodCall(name, path, name, ASKS)
        question.setAutoStartService(False)
        watcher = self._questions[name] = QDBusPendingCallWatcher(self._session.asyncCall(question), self)
        watcher.finished.connect(partial(self._on_answer, name, watcher))

    def _on_answer(self, name: str, watcher: QDBusPendingCallWatcher) -> None:
        if self._questions.get(name) is watcher:
            del self._questions[name]
            self._set(name, watcher.reply())
        watcher.deleteLater()

    def _set(self, name: str, said: QDBusMessage) -> None:
        values: Sequence[object] = said.arguments()
        if said.errorName() or not values or not isinstance(values[0], bool):
            self._active.pop(name, None)
        else:
            self._active[name] = values[0]
        self._tell()

    def _tell(self) -> None:
        self._told(any(self._active.values()) if self._active else None)

    def _on_hint(self, is_locked: bool) -> None:
        self._active[LOGIND] = is_locked
        self._tell()

    @Slot(QDBusMessage)
    def _on_active(self, said: QDBusMessage) -> None:
        self._set(said.interface(), said)

    @Slot()
    def _on_lock(self) -> None:
        if self._active:
            self._told(True)
            self._ask_all()  # of a session of somebody else on this computer, it stays open

    @Slot(bool)
    def _on_sleep(self, begins: bool) -> None:
        if begins and self._active:
            self._told(True)
        elif not begins:
            self._ask_all()

    def _on_owner_changed(self, name: str, _before: str, _now: str) -> None:
        self._ask(name, dict(SAVERS)[name])
