"""When the screen locks, on Windows: the session's notifications, and the ones about sleep. Nothing reports at the beginning whether the
screen is locked; the user who starts an app has it open."""

import sys
from collections.abc import Callable

from PySide6.QtCore import QObject

if sys.platform == "win32":
    from tooltray.foundation.platform.win32.session_notices import SessionNotices

SESSION_CHANGE, POWER = 0x02B1, 0x0218  # WM_WTSSESSION_CHANGE, WM_POWERBROADCAST
LOCK, UNLOCK, REMOTE_DISCONNECT = 0x7, 0x8, 0x4  # of the first: WTS_SESSION_LOCK, ...
SUSPEND, RESUME = 0x4, 0x12  # of the second: PBT_APMSUSPEND, PBT_APMRESUMEAUTOMATIC


class ScreenLockSource(QObject):
    """A source that reports the current state once, and then each change; see ScreenLockWatch."""

    def __init__(self, told: Callable[[bool | None], None]) -> None:
        """Begins to watch; the argument is called with each value for the signal of ScreenLockWatch."""
        super().__init__()
        self._told, self._is_locked = told, False
        if sys.platform == "win32":
            self._notices = SessionNotices(self.on_message)
        told(False)

    def on_message(self, message: int, detail: int) -> None:
        """Handles one message of the system to a window of ours. `detail`: its wParam."""
        if message == SESSION_CHANGE and detail in (LOCK, REMOTE_DISCONNECT, UNLOCK):
            self._is_locked = detail != UNLOCK
            self._told(self._is_locked)
        elif message == POWER and detail in (SUSPEND, RESUME):
            self._told(detail == SUSPEND or self._is_locked)
