"""The system calls that Python has no function for: ptrace, reading another process's memory, prctl, a copy of its socket. Numbers are
those of `linux/ptrace.h` and `linux/prctl.h`."""

import ctypes
import errno
import os
import struct
from typing import NamedTuple

PTRACE_CONT, PTRACE_SYSCALL, PTRACE_SEIZE, PTRACE_LISTEN, PTRACE_GETEVENTMSG, PTRACE_GET_SYSCALL_INFO = (
    7,
    24,
    0x4206,
    0x4208,
    0x4201,
    0x420E,
)
EVENT_EXEC, EVENT_SECCOMP, EVENT_STOP = 4, 7, 128
# sysgood, fork, vfork, clone, exec, seccomp, exitkill: all children are traced, and none outlives the tracer
OPTIONS = 0x1 | 0x2 | 0x4 | 0x8 | 0x10 | 0x80 | 0x100000
WAIT_ALL = 0x40000000  # __WALL: threads, too
ENTRY, EXIT, SECCOMP = 1, 2, 3
PR_SET_PDEATHSIG, PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS = 1, 22, 38
PAGE_BYTES = 4096
_SYSCALL_INFO = struct.Struct("=B3xIQQ7Q")

_libc = ctypes.CDLL(None, use_errno=True)
_ptrace = _libc.ptrace
_ptrace.restype, _ptrace.argtypes = ctypes.c_long, (ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p)
_prctl = _libc.prctl
_prctl.argtypes = (ctypes.c_int, ctypes.c_ulong, ctypes.c_void_p, ctypes.c_ulong, ctypes.c_ulong)
_syscall = _libc.syscall
_syscall.restype = ctypes.c_long
_info = ctypes.create_string_buffer(_SYSCALL_INFO.size)
_message = ctypes.c_ulong()


class _IoVec(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]


_vm_readv = _libc.process_vm_readv
_vm_readv.restype = ctypes.c_ssize_t
_vm_readv.argtypes = (ctypes.c_int, ctypes.c_void_p, ctypes.c_ulong, ctypes.c_void_p, ctypes.c_ulong, ctypes.c_ulong)


class SyscallStop(NamedTuple):
    """A stop of a thread at a system call.

    Attributes:
        step: ENTRY, EXIT or SECCOMP.
        number: of the call; 0 at its exit.
        args: its six arguments; at its exit the first is its result.
    """

    step: int
    number: int
    args: tuple[int, ...]


def seize(pid: int) -> None:
    """Begins to trace a process, with all that it starts.

    Raises:
        OSError: this process may not trace it.
    """
    if _ptrace(PTRACE_SEIZE, pid, None, OPTIONS) != 0:
        raise _last_error()


def resume(pid: int, how: int, signal_number: int = 0) -> None:
    """Resumes a stopped thread; one that has been killed meanwhile is ignored."""
    _ptrace(how, pid, None, signal_number)


def event_message(pid: int) -> int:
    """Returns the kernel's number for the event that a thread has stopped for."""
    return _message.value if _ptrace(PTRACE_GETEVENTMSG, pid, None, ctypes.addressof(_message)) == 0 else 0


def syscall_stop(pid: int) -> SyscallStop | None:
    """Returns the system call that a thread has stopped in; None: it is gone, or stopped elsewhere."""
    if _ptrace(PTRACE_GET_SYSCALL_INFO, pid, _SYSCALL_INFO.size, ctypes.addressof(_info)) <= 0:
        return None
    step, _, _, _, *rest = _SYSCALL_INFO.unpack(_info.raw)
    return SyscallStop(step, 0, tuple(rest)) if step == EXIT else SyscallStop(step, rest[0], tuple(rest[1:]))


def read_memory(pid: int, address: int, length: int) -> bytes:
    """Returns bytes of another process; fewer where its memory ends."""
    if length <= 0 or not 0 < address < 1 << 63:
        return b""
    buffer = ctypes.create_string_buffer(length)
    local, remote = _IoVec(ctypes.addressof(buffer), length), _IoVec(address, length)
    count = _vm_readv(pid, ctypes.byref(local), 1, ctypes.byref(remote), 1, 0)
    return buffer.raw[:count] if count > 0 else b""


def set_option(option: int, value: int, pointer: int | None = None) -> None:
    """Calls prctl.

    Raises:
        OSError: the kernel refuses.
    """
    if _prctl(option, value, pointer, 0, 0) != 0:
        raise _last_error()


def copy_of_file(number: int, pidfd: int, fd: int) -> int:
    """Returns an open file of another process as one of this process.

    Args:
        number: of `pidfd_getfd`.

    Raises:
        OSError: it has no file of this number, or does not let this process copy it.
    """
    copied: int = _syscall(ctypes.c_long(number), ctypes.c_int(pidfd), ctypes.c_int(fd), ctypes.c_uint(0))
    if copied < 0:
        raise _last_error()
    return copied


def _last_error() -> OSError:
    code = ctypes.get_errno() or errno.EIO
    return OSError(code, os.strerror(code))
