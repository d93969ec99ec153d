"""When the screen locks, on Linux: from the desktop's screen saver over D-Bus, and from logind when the computer goes to sleep.

A desktop that answers whether its screen saver is active also reports changes of it; where none does (a window manager with a locker of its
own), nothing is known or reported until logind is seen to know it (locked_hint). logind's Lock is heard besides."""

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import SLOT, QObject, Slot
from PySide6.QtDBus import QDBusConnection, QDBusMessage, QDBusPendingCallWatcher, QDBusServiceWatcher

from tooltray.ui.shell.locked_hint import LOGIND, MANAGER, SESSION, LockedHint

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
        self,
        told: Callable[[bool | None], None],
        parent: QObject | None = None,
        *,
        session: QDBusConnection | None = None,
        system: QDBusConnection | None = None,
    ) -> None:
        """Begins to watch; the first argument is called with each value for the signal of ScreenLockWatch.

        Args:
            session, system: the buses; None: this computer's.
        """
        super().__init__(parent)
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
