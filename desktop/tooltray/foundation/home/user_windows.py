"""The user's identity on Windows: their folder, the hub's pipes, and whether a folder is private.

user_posix.py has the same functions.
"""

import ctypes
import hashlib
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from tooltray.foundation.platform.win32 import security

assert sys.platform == "win32"

FOLDER_VARIABLE = "USERPROFILE"  # HOME is not asked: Git's and other shells set it to places of their own
HOW_TO_MAKE_PRIVATE = 'icacls "{folder}" /inheritance:r /grant:r "%USERNAME%:(OI)(CI)F"'
HOW_TO_MAKE_WRITABLE = 'icacls "{folder}" /grant "%USERNAME%:(OI)(CI)F"'
_PIPES = "\\\\.\\pipe\\"
_HASH_CHARACTERS = 16
_QUERY, _DUPLICATE = 0x0008, 0x0002  # TOKEN_QUERY, TOKEN_DUPLICATE
_ourselves = ctypes.c_void_p(-1)  # what GetCurrentProcess gives

reason_not_private = security.reason_not_private


def home_folder() -> str:
    """Fails, because every signed-in user has USERPROFILE.

    Raises:
        KeyError: always.
    """
    raise KeyError(FOLDER_VARIABLE)


def login_shell() -> str:
    """Returns an empty text: a session's variables are in every process's environment already."""
    return ""


def without_login_shell(own: Mapping[str, str]) -> Mapping[str, str]:
    """Returns the user's environment: this process's own, with the registry's newest values.

    Args:
        own: this process's environment.
    """
    with suppress(OSError):
        fresh = {name.upper(): value for name, value in environment_of_user().items()}
        return {**own, **fresh, FOLDER_VARIABLE: own.get(FOLDER_VARIABLE) or fresh.get(FOLDER_VARIABLE, "")}
    return own


def environment_of_user() -> dict[str, str]:
    """Returns the environment that Windows gives a program that is started by a click: the variables of the machine and the user, by the
    registry, with references between variables (REG_EXPAND_SZ) filled in.

    tooltray_bridge/start_windows.py has its own copy of this, because the bridge imports nothing of tooltray.

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
            return _read_block(block.value or 0)
        finally:
            userenv.DestroyEnvironmentBlock(block)
    finally:
        kernel.CloseHandle(token)


def _read_block(address: int) -> dict[str, str]:
    """Reads a block of `NAME=value` texts, each with a zero behind it, and one more at the end; `=C:` is a drive's current folder."""
    found = {}
    while entry := ctypes.wstring_at(address):
        address += (len(entry.encode("utf-16-le", "surrogatepass")) // 2 + 1) * ctypes.sizeof(ctypes.c_wchar)
        name, _, value = entry[1:].partition("=")
        if not entry.startswith("="):
            found[entry[0] + name] = value
    return found


def socket_path(root: Path) -> Path:
    """Returns the name of the pipe: a hash of the home's path, so that each user and home has its own; the same for two spellings of one
    path.
    """
    folded = os.path.normcase(root).rstrip("\\").encode("utf-8", "surrogatepass")
    return Path(f"{_PIPES}tooltray-{hashlib.sha256(folded).hexdigest()[:_HASH_CHARACTERS]}")


def control_path(root: Path) -> Path:
    """Returns the name of the pipe for commands."""
    return Path(f"{socket_path(root)}-control")


def make_socket_folder(root: Path) -> None:
    """Does nothing: a pipe needs no folder."""


def link_for_old_versions(root: Path) -> None:
    """Does nothing: no older version runs on Windows."""


def remove_sockets(root: Path) -> None:
    """Does nothing: a pipe ends with the process that made it."""
