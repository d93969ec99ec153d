"""Checks that the hub at the other end of a pipe is this user's: any user may create a pipe with any unused name. The owner of a pipe
is its creator. tooltray's win32/security.py checks the same for the hub's own programs; the bridge imports nothing of tooltray."""

import ctypes
import sys

assert sys.platform == "win32"

_KERNEL_OBJECT, _OWNER = 6, 1  # SE_KERNEL_OBJECT, OWNER_SECURITY_INFORMATION
_TOKEN_QUERY, _TOKEN_USER = 0x0008, 1
_USER_BYTES = 128  # of TOKEN_USER: a pointer, attributes, and a SID of at most 68 bytes
_ourselves = ctypes.c_void_p(-1)  # what GetCurrentProcess gives


def is_ours(pipe: int) -> bool:
    """Reports whether this user has created the pipe; False if Windows does not report it."""
    api, kernel = ctypes.WinDLL("advapi32"), ctypes.WinDLL("kernel32")
    owner, descriptor, token = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    user, size = ctypes.create_string_buffer(_USER_BYTES), ctypes.c_ulong()
    handle = ctypes.c_void_p(pipe)
    if api.GetSecurityInfo(handle, _KERNEL_OBJECT, _OWNER, ctypes.byref(owner), None, None, None, ctypes.byref(descriptor)):
        return False
    try:
        if not api.OpenProcessToken(_ourselves, _TOKEN_QUERY, ctypes.byref(token)):
            return False
        try:
            is_known = api.GetTokenInformation(token, _TOKEN_USER, user, _USER_BYTES, ctypes.byref(size))
            return bool(is_known and api.EqualSid(owner, ctypes.c_void_p.from_buffer(user)))
        finally:
            kernel.CloseHandle(token)
    finally:
        kernel.LocalFree(descriptor)
