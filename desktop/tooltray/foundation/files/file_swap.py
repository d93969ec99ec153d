"""Two system calls beyond a rename: swapping two files in one step, and asking whether a program has a file open for writing.

On a platform or a file system without them both return `False`, and edited_files uses its slower method.
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
    """Swaps two files of one folder atomically.

    Returns:
        False if this system or file system cannot; nothing has changed then.

    Raises:
        OSError: one of them is not there, the disk is broken, ...
    """
    if sys.platform == "win32":  # pragma: no cover - one branch per platform
        return False
    import ctypes  # 10 ms, which only a change of a file costs

    libc = ctypes.CDLL(None, use_errno=True)
    ours, theirs = os.fsencode(one), os.fsencode(other)
    try:
        if sys.platform == "darwin":  # pragma: no cover - one branch per platform
            failed = libc.renamex_np(ours, theirs, _RENAME_SWAP)
        else:
            failed = libc.renameat2(_AT_FDCWD, ours, _AT_FDCWD, theirs, _RENAME_EXCHANGE)
    except AttributeError:  # pragma: no cover - a C library from before 2018
        return False
    if not failed:
        return True
    number = ctypes.get_errno()
    if number in _NOT_HERE:
        return False
    raise OSError(number, os.strerror(number), other)


def is_open_for_writing(path: str) -> bool:
    """Returns whether a program has the file open for writing. Linux grants a read lease only if none has; elsewhere False.

    Args:
        path: a name that no other program knows, so that none has to wait for the end of the lease.
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
