"""The identity of this user on Windows, and access for only this user: security descriptors, owners, access lists."""

import ctypes
import sys
from collections.abc import Iterator
from ctypes import wintypes
from functools import cache
from pathlib import Path

assert sys.platform == "win32"

SYSTEM, ADMINISTRATORS, OWNER_RIGHTS = "S-1-5-18", "S-1-5-32-544", "S-1-3-4"  # "Well-known SIDs": may do as they like on any system
_QUERY_LIMITED = 0x1000  # PROCESS_QUERY_LIMITED_INFORMATION
_TOKEN_QUERY = 0x0008
_TOKEN_USER = 1  # of TOKEN_INFORMATION_CLASS
_REVISION = 1  # SDDL_REVISION_1
_FILE_OBJECT, _KERNEL_OBJECT = 1, 6  # of SE_OBJECT_TYPE
_OWNER, _ACCESS_LIST = 1, 4  # of SECURITY_INFORMATION
_ALLOWED, _FOR_CHILDREN_ONLY = 0, 0x08  # ACCESS_ALLOWED_ACE_TYPE, INHERIT_ONLY_ACE
_READ = 0x80000001  # GENERIC_READ, FILE_READ_DATA
_WRITE = 0x500D0156  # GENERIC_ALL and _WRITE, WRITE_OWNER and _DAC, DELETE, and what FILE_GENERIC_WRITE and FILE_DELETE_CHILD add

_advapi = ctypes.WinDLL("advapi32", use_last_error=True)
_kernel = ctypes.WinDLL("kernel32", use_last_error=True)
_kernel.GetCurrentProcess.restype = wintypes.HANDLE
_kernel.OpenProcess.restype = wintypes.HANDLE
_kernel.OpenProcess.argtypes = (wintypes.DWORD, wintypes.BOOL, wintypes.DWORD)
_kernel.CloseHandle.argtypes = (wintypes.HANDLE,)
_kernel.LocalFree.argtypes = (ctypes.c_void_p,)
_advapi.OpenProcessToken.argtypes = (wintypes.HANDLE, wintypes.DWORD, ctypes.POINTER(wintypes.HANDLE))
_advapi.GetTokenInformation.argtypes = (
    wintypes.HANDLE,
    ctypes.c_int,
    ctypes.c_void_p,
    wintypes.DWORD,
    ctypes.POINTER(wintypes.DWORD),
)
_advapi.ConvertSidToStringSidW.argtypes = (ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))
_advapi.ConvertStringSecurityDescriptorToSecurityDescriptorW.argtypes = (
    wintypes.LPCWSTR,
    wintypes.DWORD,
    ctypes.POINTER(ctypes.c_void_p),
    ctypes.c_void_p,
)
_read_security = (
    ctypes.c_int,
    wintypes.DWORD,
    ctypes.POINTER(ctypes.c_void_p),
    ctypes.c_void_p,
    ctypes.POINTER(ctypes.c_void_p),
    ctypes.c_void_p,
    ctypes.POINTER(ctypes.c_void_p),
)
_advapi.GetSecurityInfo.argtypes = (wintypes.HANDLE, *_read_security)
_advapi.GetNamedSecurityInfoW.argtypes = (wintypes.LPCWSTR, *_read_security)
_advapi.GetAce.argtypes = (ctypes.c_void_p, wintypes.DWORD, ctypes.POINTER(ctypes.c_void_p))


class SecurityAttributes(ctypes.Structure):
    """SECURITY_ATTRIBUTES; the caller keeps it alive during a call."""

    _fields_ = (("size", wintypes.DWORD), ("descriptor", ctypes.c_void_p), ("inherits", wintypes.BOOL))


class _Ace(ctypes.Structure):
    """ACCESS_ALLOWED_ACE: a header, a mask, and the SID behind them."""

    _fields_ = (
        ("type", ctypes.c_ubyte),
        ("flags", ctypes.c_ubyte),
        ("size", wintypes.WORD),
        ("mask", wintypes.DWORD),
        ("sid", wintypes.DWORD),
    )


class _Acl(ctypes.Structure):
    _fields_ = (
        ("revision", ctypes.c_ubyte),
        ("padding", ctypes.c_ubyte),
        ("size", wintypes.WORD),
        ("count", wintypes.WORD),
        ("more_padding", wintypes.WORD),
    )


@cache
def own_sid() -> str:
    """Returns the SID of the user who runs this process, such as `S-1-5-21-...-1001`.

    Raises:
        OSError: Windows does not report it.
    """
    return _sid_of(_kernel.GetCurrentProcess())


def sid_of_process(pid: int) -> str:
    """Returns the SID of the user who runs a process.

    Raises:
        OSError: it has ended, or may not be examined (another user's).
    """
    process = _kernel.OpenProcess(_QUERY_LIMITED, False, pid)
    if not process:
        raise ctypes.WinError(ctypes.get_last_error())
    try:
        return _sid_of(process)
    finally:
        _kernel.CloseHandle(process)


@cache
def for_this_user() -> SecurityAttributes:
    """Returns the attributes of a new object that belongs to this user and admits no other (a list of one entry that inherits nothing).

    Raises:
        OSError: Windows does not report who this user is.
    """
    me, descriptor = own_sid(), ctypes.c_void_p()
    words = f"O:{me}D:P(A;;GA;;;{me})"
    _check(
        _advapi.ConvertStringSecurityDescriptorToSecurityDescriptorW(words, _REVISION, ctypes.byref(descriptor), None)
    )  # never freed: one for the process
    return SecurityAttributes(ctypes.sizeof(SecurityAttributes), descriptor, False)


def owner_of(handle: int) -> str:
    """Returns the SID of the owner of a kernel object, such as a named pipe.

    Raises:
        OSError: the handle does not permit that.
    """
    with_owner = ctypes.c_void_p()
    descriptor = ctypes.c_void_p()
    _raise(_advapi.GetSecurityInfo(handle, _KERNEL_OBJECT, _OWNER, ctypes.byref(with_owner), None, None, None, ctypes.byref(descriptor)))
    try:
        return _as_text(with_owner)
    finally:
        _kernel.LocalFree(descriptor)


def reason_not_private(folder: Path) -> str:
    """Returns why others could read or plant files in this folder; empty if they cannot.

    Windows itself and administrators can do everything on a computer, so they do not count.

    Raises:
        OSError: the folder cannot be examined.
    """
    if not folder.is_dir():
        return "it is not a folder"
    owner, access_list, descriptor = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    _raise(
        _advapi.GetNamedSecurityInfoW(
            str(folder),
            _FILE_OBJECT,
            _OWNER | _ACCESS_LIST,
            ctypes.byref(owner),
            None,
            ctypes.byref(access_list),
            None,
            ctypes.byref(descriptor),
        )
    )
    try:
        trusted = {own_sid(), SYSTEM, ADMINISTRATORS, OWNER_RIGHTS}
        if _as_text(owner) not in trusted:
            return "it belongs to another user"
        if not access_list:
            return "other users may write into it"
        granted = [mask for sid, mask in _granted(access_list) if sid not in trusted]
    finally:
        _kernel.LocalFree(descriptor)
    if any(mask & _WRITE for mask in granted):
        return "other users may write into it"
    return "other users may read it" if any(mask & _READ for mask in granted) else ""


def _granted(access_list: ctypes.c_void_p) -> Iterator[tuple[str, int]]:
    """Yields each entry of an access list: a SID and the rights granted to it. Leaves out entries that concern only new objects inside."""
    for at in range(ctypes.cast(access_list, ctypes.POINTER(_Acl)).contents.count):
        found = ctypes.c_void_p()
        _check(_advapi.GetAce(access_list, at, ctypes.byref(found)))
        entry = ctypes.cast(found, ctypes.POINTER(_Ace)).contents
        if entry.type == _ALLOWED and not entry.flags & _FOR_CHILDREN_ONLY:
            yield _as_text(ctypes.c_void_p((found.value or 0) + _Ace.sid.offset)), entry.mask


def _sid_of(process: int) -> str:
    token, needed = wintypes.HANDLE(), wintypes.DWORD()
    _check(_advapi.OpenProcessToken(process, _TOKEN_QUERY, ctypes.byref(token)))
    try:
        _advapi.GetTokenInformation(token, _TOKEN_USER, None, 0, ctypes.byref(needed))
        user = ctypes.create_string_buffer(needed.value)
        _check(_advapi.GetTokenInformation(token, _TOKEN_USER, user, needed, ctypes.byref(needed)))
        return _as_text(ctypes.c_void_p.from_buffer(user))  # TOKEN_USER begins with the pointer to the SID
    finally:
        _kernel.CloseHandle(token)


def _as_text(sid: ctypes.c_void_p) -> str:
    text = ctypes.c_void_p()
    _check(_advapi.ConvertSidToStringSidW(sid, ctypes.byref(text)))
    try:
        return ctypes.wstring_at(text.value or 0)
    finally:
        _kernel.LocalFree(text)


def _check(succeeded: int) -> None:
    if not succeeded:
        raise ctypes.WinError(ctypes.get_last_error())


def _raise(code: int) -> None:
    if code:
        raise ctypes.WinError(code)
