"""The differences between processors: the numbers of system calls, and the name of the architecture in a seccomp filter. Numbers are those
of the kernel's `arch/x86/entry/syscalls/syscall_64.tbl` and `include/uapi/asm-generic/unistd.h`."""

import platform

AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_X86_64 = {
    "read": 0, "write": 1, "open": 2, "close": 3, "writev": 20, "socket": 41, "connect": 42, "sendto": 44, "recvfrom": 45, "sendmsg": 46,
    "recvmsg": 47, "bind": 49, "listen": 50, "execve": 59, "truncate": 76, "rename": 82, "mkdir": 83, "rmdir": 84, "creat": 85,
    "link": 86, "unlink": 87, "symlink": 88, "chmod": 90, "chown": 92, "lchown": 94, "ptrace": 101, "mknod": 133, "openat": 257,
    "mkdirat": 258, "mknodat": 259, "fchownat": 260, "unlinkat": 263, "renameat": 264, "linkat": 265, "symlinkat": 266, "fchmodat": 268,
    "sendmmsg": 307, "renameat2": 316, "execveat": 322, "io_uring_setup": 425, "openat2": 437, "pidfd_getfd": 438, "fchmodat2": 452,
}  # fmt: skip
_AARCH64 = {
    "mknodat": 33, "mkdirat": 34, "unlinkat": 35, "symlinkat": 36, "linkat": 37, "renameat": 38, "truncate": 45, "fchmodat": 53,
    "fchownat": 54, "openat": 56, "close": 57, "read": 63, "write": 64, "writev": 66, "ptrace": 117, "socket": 198, "bind": 200,
    "listen": 201, "connect": 203, "sendto": 206, "recvfrom": 207, "sendmsg": 211, "recvmsg": 212, "execve": 221, "sendmmsg": 269,
    "renameat2": 276, "execveat": 281, "io_uring_setup": 425, "openat2": 437, "pidfd_getfd": 438, "fchmodat2": 452,
}  # fmt: skip
CALLS = {"x86_64": _X86_64, "aarch64": _AARCH64}


def name() -> str:
    """Returns this computer's processor, as in AUDIT_ARCH; others are not watched."""
    machine = platform.machine()
    return {"amd64": "x86_64", "arm64": "aarch64"}.get(machine, machine)
