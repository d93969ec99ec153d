"""The environment that Windows gives a new program of this user, by the registry: the machine's variables and the user's own.

tooltray_bridge/start_windows.py has its own copy of this, because the bridge imports nothing of tooltray.
"""

import ctypes
import sys

assert sys.platform == "win32"

_QUERY, _DUPLICATE = 0x0008, 0x0002  # TOKEN_QUERY, TOKEN_DUPLICATE
_ourselves = ctypes.c_void_p(-1)  # what GetCurrentProcess gives


def of_user() -> dict[str, str]:
    """Returns the environment of a program that is started by a click, with references between variables (REG_EXPAND_SZ) filled in.

    Raises:
        OSError: Windows makes none.
    """
    userenv = ctypes.WinDLL("userenv", use_last_error=True)
    advapi, kernel = ctypes.WinDLL("advapi32", use_last_error=True), ctypes.WinDLL("kernel32")
    token, block = ctypes.c_void_p(), ctypes.c_void_p()
    if not advapi.OpenProcessToken(_ourselves, _QUERY | _DUPLICATE, ctypes.byref(token)):
        raise ctypes.WinError(ctypes.get_last_error())
    try:
        if not userenv.CreateEnvironmentBlock(ctypes.byref(block), token, False):
            raise ctypes.WinError(ctypes.get_last_error())
        try:
            return _read(block.value or 0)
        finally:
            userenv.DestroyEnvironmentBlock(block)
    finally:
        kernel.CloseHandle(token)


def _read(address: int) -> dict[str, str]:
    """Reads a block of `NAME=value` texts, each with a zero behind it, and one more at the end; `=C:` is a drive's current folder."""
    found = {}
    while entry := ctypes.wstring_at(address):
        address += (len(entry.encode("utf-16-le", "surrogatepass")) // 2 + 1) * ctypes.sizeof(ctypes.c_wchar)
        name, _, value = entry[1:].partition("=")
        if not entry.startswith("="):
            found[entry[0] + name] = value
    return found
