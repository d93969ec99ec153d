"""When the screen locks, on macOS: by the distributed notifications of the login window, and by clocks that differ after a sleep. Nothing
reports at the beginning whether the screen is locked; the user who starts an app has it open."""

import ctypes
import time
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject

from tooltray.ui.kit.background import timer

CORE_FOUNDATION = "/System/Library/Frameworks/CoreFoundation.framework/CoreFoundation"
LOCKED, UNLOCKED = 1, 2  # the observers, which are told apart by these
NAMES = {LOCKED: b"com.apple.screenIsLocked", UNLOCKED: b"com.apple.screenIsUnlocked"}
UTF8, AT_ONCE = 0x08000100, 4  # kCFStringEncodingUTF8, CFNotificationSuspensionBehaviorDeliverImmediately
LOOK_EVERY_MS = 30_000
SLEPT_S = 10.0  # the wall clock went on by so much more than the steady one, which stands still in sleep

Callback = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)


class ScreenLockSource(QObject):
    """A source that reports the current state once, and then each change; see ScreenLockWatch."""

    def __init__(
        self,
        told: Callable[[bool | None], None],
        *,
        library: Any = None,
        wall: Callable[[], float] = time.time,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begins to watch; the first argument is called with each value for the signal of ScreenLockWatch.

        Args:
            library: CoreFoundation; None: this computer's.
            wall, steady: seconds.
        """
        super().__init__()
        self._told, self._is_locked = told, False
        self._wall, self._steady = wall, steady
        self._ahead_s = wall() - steady()
        self._callback = Callback(self._on_notification)  # kept for as long as it may be called
        self._observe(library if library is not None else _core_foundation())
        self._timer = timer(self, LOOK_EVERY_MS, self.look, repeats=True)
        self._timer.start()
        told(False)

    def look(self) -> None:
        """Reports a lock and its end if the computer has slept since the last call."""
        ahead_s = self._wall() - self._steady()
        has_slept, self._ahead_s = ahead_s - self._ahead_s > SLEPT_S, ahead_s
        if has_slept and not self._is_locked:
            self._told(True)
            self._told(False)

    def _observe(self, library: Any) -> None:
        center = library.CFNotificationCenterGetDistributedCenter()
        for observer, name in NAMES.items():
            text = library.CFStringCreateWithCString(None, name, UTF8)
            library.CFNotificationCenterAddObserver(center, observer, self._callback, text, None, AT_ONCE)

    def _on_notification(self, _center: int, observer: int, _name: int, _object: int, _info: int) -> None:
        self._is_locked = observer == LOCKED
        self._told(self._is_locked)


def _core_foundation() -> ctypes.CDLL:  # pragma: no cover - macOS alone has it
    library = ctypes.CDLL(CORE_FOUNDATION)
    pointer = ctypes.c_void_p
    library.CFNotificationCenterGetDistributedCenter.restype = pointer
    library.CFStringCreateWithCString.argtypes = (pointer, ctypes.c_char_p, ctypes.c_uint32)
    library.CFStringCreateWithCString.restype = pointer
    library.CFNotificationCenterAddObserver.argtypes = (pointer, pointer, Callback, pointer, pointer, ctypes.c_long)
    return library
