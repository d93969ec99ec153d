"""Messages of Windows about the user's session: it is locked or unlocked, the computer goes to sleep or wakes.

They are sent to a window that is never shown; the thread's message loop (Qt's) delivers them. A message-only window would not receive
the messages about sleep, which are sent to all top-level windows.
"""

import ctypes
import sys
from collections.abc import Callable
from ctypes import wintypes

assert sys.platform == "win32"

_LRESULT = ctypes.c_ssize_t
_WindowProcedure = ctypes.WINFUNCTYPE(_LRESULT, wintypes.HWND, wintypes.UINT, wintypes.WPARAM, wintypes.LPARAM)
_CLASS_NAME = "TooltraySessionNotices"
_FOR_THIS_SESSION = 0
_HEARD = (0x02B1, 0x0218)  # WM_WTSSESSION_CHANGE, WM_POWERBROADCAST


class _WindowClass(ctypes.Structure):
    """WNDCLASSW."""

    _fields_ = (
        ("style", wintypes.UINT),
        ("procedure", _WindowProcedure),
        ("class_extra", ctypes.c_int),
        ("window_extra", ctypes.c_int),
        ("instance", wintypes.HINSTANCE),
        ("icon", wintypes.HANDLE),
        ("cursor", wintypes.HANDLE),
        ("background", wintypes.HANDLE),
        ("menu_name", wintypes.LPCWSTR),
        ("class_name", wintypes.LPCWSTR),
    )


_user = ctypes.WinDLL("user32", use_last_error=True)
_sessions = ctypes.WinDLL("wtsapi32", use_last_error=True)
_kernel = ctypes.WinDLL("kernel32", use_last_error=True)
_kernel.GetModuleHandleW.argtypes, _kernel.GetModuleHandleW.restype = (wintypes.LPCWSTR,), wintypes.HMODULE
_user.RegisterClassW.argtypes = (ctypes.POINTER(_WindowClass),)
_user.DefWindowProcW.argtypes = (wintypes.HWND, wintypes.UINT, wintypes.WPARAM, wintypes.LPARAM)
_user.DefWindowProcW.restype = _LRESULT
_user.CreateWindowExW.argtypes = (
    *(wintypes.DWORD, wintypes.LPCWSTR, wintypes.LPCWSTR, wintypes.DWORD),
    *(ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_int),
    *(wintypes.HWND, wintypes.HMENU, wintypes.HINSTANCE, wintypes.LPVOID),
)
_user.CreateWindowExW.restype = wintypes.HWND
_sessions.WTSRegisterSessionNotification.argtypes = (wintypes.HWND, wintypes.DWORD)


class SessionNotices:
    """A receiver of these messages. Belongs to the thread that makes it, and lives as long as the process."""

    def __init__(self, on_message: Callable[[int, int], None]) -> None:
        """
        Args:
            on_message: called with each message and its wParam.
        """
        self._on_message = on_message
        self._procedure = _WindowProcedure(self._answer)  # kept for as long as it may be called
        instance = _kernel.GetModuleHandleW(None)
        window_class = _WindowClass(procedure=self._procedure, instance=instance, class_name=_CLASS_NAME)
        _user.RegisterClassW(ctypes.byref(window_class))
        self._window = _user.CreateWindowExW(0, _CLASS_NAME, _CLASS_NAME, 0, 0, 0, 0, 0, None, None, instance, None)
        _sessions.WTSRegisterSessionNotification(self._window, _FOR_THIS_SESSION)

    def _answer(self, window: int, message: int, detail: int, more: int) -> int:
        if message in _HEARD:
            self._on_message(message, detail)
        return int(_user.DefWindowProcW(window, message, detail, more))
