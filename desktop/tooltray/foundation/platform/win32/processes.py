"""Other processes of this computer: whether one runs, and its end.

`os.kill(pid, 0)`, which tests this on POSIX, sends Ctrl+C on Windows.
"""

import ctypes
import sys
from ctypes import wintypes

assert sys.platform == "win32"

_SYNCHRONIZE = 0x00100000
_QUERY = 0x1000  # PROCESS_QUERY_LIMITED_INFORMATION
_ACCESS_DENIED = 5
_OVER, _TIMEOUT = 0, 0x102  # WAIT_OBJECT_0, WAIT_TIMEOUT

_SNAPSHOT_OF_PROCESSES = 0x2  # TH32CS_SNAPPROCESS
_INVALID = ctypes.c_void_p(-1).value


class _Entry(ctypes.Structure):
    """PROCESSENTRY32W."""

    _fields_ = (
        ("size", wintypes.DWORD),
        ("usage", wintypes.DWORD),
        ("pid", wintypes.DWORD),
        ("heap", ctypes.c_size_t),
        ("module", wintypes.DWORD),
        ("threads", wintypes.DWORD),
        ("parent", wintypes.DWORD),
        ("priority", wintypes.LONG),
        ("flags", wintypes.DWORD),
        ("file", wintypes.WCHAR * 260),
    )


class _Memory(ctypes.Structure):
    """PROCESS_MEMORY_COUNTERS."""

    _fields_ = (
        ("size", wintypes.DWORD),
        ("page_faults", wintypes.DWORD),
        ("peak", ctypes.c_size_t),
        ("resident", ctypes.c_size_t),
        *((f"other_{number}", ctypes.c_size_t) for number in range(6)),
    )


_kernel = ctypes.WinDLL("kernel32", use_last_error=True)
_kernel.OpenProcess.restype = wintypes.HANDLE
_kernel.OpenProcess.argtypes = (wintypes.DWORD, wintypes.BOOL, wintypes.DWORD)
_kernel.WaitForSingleObject.argtypes = (wintypes.HANDLE, wintypes.DWORD)
_kernel.WaitForSingleObject.restype = wintypes.DWORD
_kernel.CloseHandle.argtypes = (wintypes.HANDLE,)
_kernel.K32GetProcessMemoryInfo.argtypes = (wintypes.HANDLE, ctypes.POINTER(_Memory), wintypes.DWORD)
_kernel.CreateToolhelp32Snapshot.restype = wintypes.HANDLE
_kernel.CreateToolhelp32Snapshot.argtypes = (wintypes.DWORD, wintypes.DWORD)
_kernel.Process32FirstW.argtypes = _kernel.Process32NextW.argtypes = (wintypes.HANDLE, ctypes.POINTER(_Entry))


def is_running(pid: int) -> bool:
    """Returns whether a process has this number; True for one that may not be examined."""
    return not wait_for_end(pid, 0.0)


def wait_for_end(pid: int, timeout_s: float) -> bool:
    """Waits until a process has ended; returns whether it has."""
    process = _kernel.OpenProcess(_SYNCHRONIZE, False, pid)
    if not process:
        return ctypes.get_last_error() != _ACCESS_DENIED
    try:
        waited: int = _kernel.WaitForSingleObject(process, int(timeout_s * 1000))
        return waited == _OVER
    finally:
        _kernel.CloseHandle(process)


def line_of(pid: int) -> frozenset[int]:
    """Returns a process, its parent, the parent's parent, and so on, as far as they exist. Takes some milliseconds."""
    there, line = parents(), set()
    while pid and pid not in line:
        line.add(pid)
        pid = there.get(pid, 0)
    return frozenset(line)


def resident_bytes(pid: int) -> int:
    """Returns how much memory a process has now; 0 for one that may not be examined, or has ended."""
    process = _kernel.OpenProcess(_QUERY, False, pid)
    if not process:
        return 0
    try:
        memory = _Memory(size=ctypes.sizeof(_Memory))
        return int(memory.resident) if _kernel.K32GetProcessMemoryInfo(process, ctypes.byref(memory), memory.size) else 0
    finally:
        _kernel.CloseHandle(process)


def parents() -> dict[int, int]:
    """Returns the parent of each process."""
    return {pid: parent for pid, (parent, _) in named_parents().items()}


def named_parents() -> dict[int, tuple[int, str]]:
    """Returns the parent of each process, and the name of its program."""
    snapshot = _kernel.CreateToolhelp32Snapshot(_SNAPSHOT_OF_PROCESSES, 0)
    if snapshot in (None, _INVALID):
        return {}
    try:
        entry, found = _Entry(size=ctypes.sizeof(_Entry)), dict[int, tuple[int, str]]()
        is_there = _kernel.Process32FirstW(snapshot, ctypes.byref(entry))
        while is_there:
            found[entry.pid] = (entry.parent, str(entry.file))
            is_there = _kernel.Process32NextW(snapshot, ctypes.byref(entry))
        return found
    finally:
        _kernel.CloseHandle(snapshot)
