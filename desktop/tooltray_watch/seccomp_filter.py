"""The seccomp filter of a watched program: it stops only at the calls of interest, and runs at full speed between them. A call that
io_uring makes passes every filter, so io_uring is refused while a program is watched; programs work without it, as under every profile
but Open."""

import ctypes
import errno
import struct

from tooltray_watch import machine, ptrace

SECCOMP_MODE_FILTER = 2
ALLOW, TRACE, REFUSE = 0x7FFF0000, 0x7FF00000, 0x00050000 | errno.ENOSYS
NUMBER, ARCH, FIFTH_ARGUMENT = 0, 4, 16 + 4 * 8  # offsets in `struct seccomp_data`, which is little-endian on both processors
_LOAD, _IS_EQUAL, _RETURN = 0x20, 0x15, 0x06

STOPS = (
    "open", "openat", "openat2", "creat", "execve", "execveat", "unlink", "unlinkat", "rmdir", "mkdir", "mkdirat", "mknod", "mknodat",
    "rename", "renameat", "renameat2", "link", "linkat", "symlink", "symlinkat", "truncate", "chmod", "fchmodat", "fchmodat2", "chown",
    "lchown", "fchownat", "socket", "connect", "bind", "listen", "sendmsg", "sendmmsg", "ptrace",
)  # fmt: skip


def program(processor: str) -> bytes:
    """Returns the filter's instructions. `sendto` stops only with an address: Python sends all TCP data by `sendto` without one."""
    numbers = machine.CALLS[processor]
    stops = [numbers[name] for name in STOPS if name in numbers]
    code = [_step(_LOAD, ARCH), _step(_IS_EQUAL, machine.AUDIT_ARCH[processor], 1, 0), _step(_RETURN, ALLOW), _step(_LOAD, NUMBER)]
    for number in stops:
        code += [_step(_IS_EQUAL, number, 0, 1), _step(_RETURN, TRACE)]
    code += [_step(_IS_EQUAL, numbers["io_uring_setup"], 0, 1), _step(_RETURN, REFUSE)]
    code += [_step(_IS_EQUAL, numbers["sendto"], 1, 0), _step(_RETURN, ALLOW)]
    for half in (FIFTH_ARGUMENT, FIFTH_ARGUMENT + 4):
        code += [_step(_LOAD, half), _step(_IS_EQUAL, 0, 1, 0), _step(_RETURN, TRACE)]
    return b"".join((*code, _step(_RETURN, ALLOW)))


def install(processor: str) -> None:  # pragma: no cover - in a child that becomes another program
    """Filters this process and all that it starts from now on.

    Raises:
        OSError: the kernel refuses.
    """
    code = program(processor)
    buffer = ctypes.create_string_buffer(code, len(code))
    header = ctypes.create_string_buffer(struct.pack("=H6xQ", len(code) // 8, ctypes.addressof(buffer)))
    ptrace.set_option(ptrace.PR_SET_NO_NEW_PRIVS, 1)
    ptrace.set_option(ptrace.PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.addressof(header))


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)
