"""What a replacement needs of the operating system beyond a rename: two files change places in one step; does anybody still write into one?

Above it: edited_files. Below it: the kernel (renameat2 on Linux, renamex_np on macOS). Knows no content. On a platform or a file system
without them the answers are `False`, and edited_files takes its slower way.
"""

import errno
import os
import signal
import sys

_RENAME_EXCHANGE = 2  # linux/fs.h
_RENAME_SWAP = 2  # sys/stdio.h of macOS
_AT_FDCWD = -100  # paths count from the working directory
_NOT_HERE = (errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP, errno.EPERM)  # an old kernel, a file system or a sandbox without it


def exchange(one: str, other: str) -> bool:
    """Two files of one folder change places, in one step for everybody who looks.

    Returns:
        False where that cannot be done here; nothing has happened then.

    Raises:
        OSError: one of them is not there, the disk is broken, ...
    """
    import ctypes  # 10 ms, which only a change of a file costs

    libc = ctypes.CDLL(None, use_errno=True)
    ours, theirs = os.fsencode(one), os.fsencode(other)
    try:
        if sys.platform == "darwin":  # pragma: no cover - one branch per platform
            failed = libc.renamex_np(ours, theirs, _RENAME_SWAP)
        else:
            failed = libc.renameat2(_AT_FDCWD, ours, _AT_FDCWD, theirs, _RENAME_EXCHANGE)
    except AttributeError:  # pragma: no cover - a C library from before 2018, or Windows
        return False
    if not failed:
        return True
    number = ctypes.get_errno()
    if number in _NOT_HERE:
        return False
    raise OSError(number, os.strerror(number), other)


def is_open_for_writing(path: str) -> bool:
    """Whether some program has a file open to write into it. Linux knows: it gives a read lease only where nobody does.

    Asked of a file under a name that nobody else knows, so no program comes to wait for the end of the lease.
    """
    if sys.platform != "linux":  # pragma: no cover - one branch per platform
        return False
    import fcntl

    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)  # ignored by default; the usual SIGIO would end the process
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except OSError as error:
        return error.errno == errno.EAGAIN  # anything else: another user's file, or a file system that has no leases
    finally:
        os.close(descriptor)
    return False
