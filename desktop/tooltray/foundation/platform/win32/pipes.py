"""Named pipes: an end that accepts a peer, the identity of the peer, and a client's end.

Every program can see a pipe's name and use it first, so each side checks the other: the hub by the access list and the peer's process, a
client by the pipe's owner.
"""

import _winapi
import ctypes
import sys
import time
from ctypes import wintypes

from tooltray.foundation.platform.win32 import security

assert sys.platform == "win32"

BUFFER_BYTES = 1 << 16
_DUPLEX, _OVERLAPPED, _FIRST = 0x3, 0x40000000, 0x00080000  # PIPE_ACCESS_DUPLEX, FILE_FLAG_OVERLAPPED, FILE_FLAG_FIRST_PIPE_INSTANCE
_BYTES_LOCAL = 0x8  # PIPE_TYPE_BYTE, PIPE_WAIT; PIPE_REJECT_REMOTE_CLIENTS
_ANY_NUMBER = 255  # PIPE_UNLIMITED_INSTANCES
_READ_WRITE, _OPEN_EXISTING = 0xC0000000, 3
_IDENTIFY_ONLY = 0x00110000  # SECURITY_SQOS_PRESENT | SECURITY_IDENTIFICATION: the listener may not act in our name
_BUSY = 231  # ERROR_PIPE_BUSY
_INVALID = ctypes.c_void_p(-1).value

_kernel = ctypes.WinDLL("kernel32", use_last_error=True)
_kernel.CreateNamedPipeW.restype = wintypes.HANDLE
_kernel.CreateNamedPipeW.argtypes = (wintypes.LPCWSTR, *(wintypes.DWORD,) * 6, ctypes.POINTER(security.SecurityAttributes))
_kernel.GetNamedPipeClientProcessId.argtypes = (wintypes.HANDLE, ctypes.POINTER(wintypes.ULONG))


def listening_end(name: str, *, is_first: bool) -> int:
    """Makes one more end at which a peer can connect, for overlapped use, only for this user and from this computer; returns its handle.

    Args:
        name: such as `\\\\\\\\.\\\\pipe\\\\tooltray-0123456789abcdef`.
        is_first: fail if another program has a pipe of this name.

    Raises:
        OSError: another program has taken the name (errno EACCES), or Windows makes none.
    """
    opening = _DUPLEX | _OVERLAPPED | (_FIRST if is_first else 0)
    attributes = ctypes.byref(security.for_this_user())
    handle: int | None = _kernel.CreateNamedPipeW(name, opening, _BYTES_LOCAL, _ANY_NUMBER, BUFFER_BYTES, BUFFER_BYTES, 0, attributes)
    if handle in (None, _INVALID):
        raise ctypes.WinError(ctypes.get_last_error())
    assert handle is not None
    return handle


def peer_of(handle: int) -> tuple[int, bool]:
    """Returns the process at the other end of an accepted pipe, and whether it is this user's.

    Returns:
        Its pid; 0 if Windows does not report it: then only the access list has let it in.
    """
    pid = wintypes.ULONG()
    if not _kernel.GetNamedPipeClientProcessId(handle, ctypes.byref(pid)) or not pid.value:
        return 0, True
    try:
        return pid.value, security.sid_of_process(pid.value) == security.own_sid()
    except OSError:  # it has ended; it got in by the access list
        return pid.value, True


def connect(name: str, timeout_s: float) -> int:
    """Connects to a pipe; returns its handle, for overlapped use.

    Raises:
        OSError: no hub listens (FileNotFoundError), or it cannot be used.
        TimeoutError: all ends were taken for so long.
    """
    deadline = time.monotonic() + timeout_s
    while True:
        try:
            return _winapi.CreateFile(name, _READ_WRITE, 0, 0, _OPEN_EXISTING, _OVERLAPPED | _IDENTIFY_ONLY, 0)
        except OSError as error:
            if error.winerror != _BUSY:
                raise
        left_ms = int((deadline - time.monotonic()) * 1000)
        if left_ms <= 0:
            raise TimeoutError
        try:
            _winapi.WaitNamedPipe(name, left_ms)
        except OSError:  # none became free, or the hub has ended: the next attempt shows which
            continue


def is_of_this_user(handle: int) -> bool:
    """Returns whether the maker of this pipe is the user who runs this process."""
    return security.owner_of(handle) == security.own_sid()
