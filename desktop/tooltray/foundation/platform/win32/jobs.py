"""Job objects: a process and all its descendants, which end together.

A child belongs to its parent's jobs from its first moment, which no list of process numbers can promise.
"""

import ctypes
import subprocess
import sys
from ctypes import wintypes

assert sys.platform == "win32"

CREATE_SUSPENDED = 0x00000004
CREATE_BREAKAWAY_FROM_JOB = 0x01000000
_LIMITS = 9  # JobObjectExtendedLimitInformation
_KILL_ON_CLOSE, _BREAKAWAY_OK = 0x2000, 0x0800  # JOB_OBJECT_LIMIT_...
OPENER = ("rundll32.exe", "url.dll,FileProtocolHandler")  # takes files and folders, too
_ALL_OF_PROCESS = 0x1F0FFF  # PROCESS_ALL_ACCESS

_kernel = ctypes.WinDLL("kernel32", use_last_error=True)
_ntdll = ctypes.WinDLL("ntdll")
_kernel.CreateJobObjectW.restype = wintypes.HANDLE
_kernel.CreateJobObjectW.argtypes = (ctypes.c_void_p, wintypes.LPCWSTR)
_kernel.SetInformationJobObject.argtypes = (wintypes.HANDLE, ctypes.c_int, ctypes.c_void_p, wintypes.DWORD)
_kernel.AssignProcessToJobObject.argtypes = (wintypes.HANDLE, wintypes.HANDLE)
_kernel.TerminateJobObject.argtypes = (wintypes.HANDLE, wintypes.UINT)
_kernel.GetCurrentProcess.restype = wintypes.HANDLE
_kernel.OpenProcess.restype = wintypes.HANDLE
_kernel.OpenProcess.argtypes = (wintypes.DWORD, wintypes.BOOL, wintypes.DWORD)
_kernel.CloseHandle.argtypes = (wintypes.HANDLE,)
_ntdll.NtResumeProcess.argtypes = (wintypes.HANDLE,)


class _Basic(ctypes.Structure):
    """JOBOBJECT_BASIC_LIMIT_INFORMATION."""

    _fields_ = (
        ("process_time", ctypes.c_int64),
        ("job_time", ctypes.c_int64),
        ("flags", wintypes.DWORD),
        ("least_memory", ctypes.c_size_t),
        ("most_memory", ctypes.c_size_t),
        ("most_processes", wintypes.DWORD),
        ("affinity", ctypes.c_size_t),
        ("priority", wintypes.DWORD),
        ("scheduling", wintypes.DWORD),
    )


class _Extended(ctypes.Structure):
    """JOBOBJECT_EXTENDED_LIMIT_INFORMATION."""

    _fields_ = (
        ("basic", _Basic),
        ("io", ctypes.c_uint64 * 6),
        ("process_memory", ctypes.c_size_t),
        ("job_memory", ctypes.c_size_t),
        ("peak_process_memory", ctypes.c_size_t),
        ("peak_job_memory", ctypes.c_size_t),
    )


class Job:
    """A job whose processes end with its last handle, which this object holds: also when this process is ended by force."""

    def __init__(self, *, may_leave: bool = False) -> None:
        """
        Args:
                may_leave: a process in it may start another one outside of it (CREATE_BREAKAWAY_FROM_JOB).

        Raises:
            OSError: Windows makes none.
        """
        self._handle = _checked(_kernel.CreateJobObjectW(None, None))
        limits = _Extended(basic=_Basic(flags=_KILL_ON_CLOSE | (_BREAKAWAY_OK if may_leave else 0)))
        _checked(_kernel.SetInformationJobObject(self._handle, _LIMITS, ctypes.byref(limits), ctypes.sizeof(limits)))

    def take_this_process(self) -> None:
        """Adds this process to the job, and so everything that it starts from now on.

        Raises:
            OSError: another program's job forbids that.
        """
        _checked(_kernel.AssignProcessToJobObject(self._handle, _kernel.GetCurrentProcess()))

    def take_and_resume(self, pid: int) -> None:
        """Adds a process that was created suspended, and lets it run.

        Raises:
            OSError: it has ended, or cannot be added; it is then left as it is.
        """
        process = _checked(_kernel.OpenProcess(_ALL_OF_PROCESS, False, pid))
        try:
            _checked(_kernel.AssignProcessToJobObject(self._handle, process))
            _ntdll.NtResumeProcess(process)
        finally:
            _kernel.CloseHandle(process)

    def terminate(self, exit_code: int = 1) -> None:
        """Ends all processes of the job at once."""
        if self._handle:
            _kernel.TerminateJobObject(self._handle, exit_code)

    def close(self) -> None:
        """Closes the handle, which ends the processes that are still in the job. May be called twice."""
        handle, self._handle = self._handle, 0
        if handle:
            _kernel.CloseHandle(handle)


def open_outside(address: str) -> bool:
    """Opens an address or a file with the user's program for it, outside of this process's job: a browser does not end with Tooltray.

    The shell would start the program as a child of this process, in its job. Returns whether Windows accepted that, which does not prove
    that a program for it exists.
    """
    try:
        subprocess.Popen([*OPENER, address], creationflags=CREATE_BREAKAWAY_FROM_JOB, close_fds=True)
    except OSError:  # no job, or one that no process may leave
        return False
    return True


def _checked(result: int | None) -> int:
    if not result:
        raise ctypes.WinError(ctypes.get_last_error())
    return result
