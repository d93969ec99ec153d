"""Opens regular files only: opening a named pipe or a device by mistake can wait for ever.

Standard library only, for readers before the settings are known.
"""

import errno
import os
import stat

StrPath = str | os.PathLike[str]
_NO_WAITING = getattr(os, "O_NONBLOCK", 0)  # opening a named pipe must not block
_PLAIN = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


class NotRegular(OSError):
    """A path that is not a regular file, but a folder, a pipe, a device or a socket."""


def open_regular(path: StrPath, flags: int = os.O_RDONLY, mode: int = 0o600) -> int:
    """Opens a regular file without blocking; also an `opener` for `open`.

    Args:
        flags: as for `os.open`.
        mode: of a file that is created.

    Returns:
        A descriptor.

    Raises:
        NotRegular: the path is something else than a file, or a link to something else.
        OSError: it cannot be opened.
    """
    try:
        check_regular(os.stat(path).st_mode, path)  # before it is opened, since the opening itself starts some devices
    except FileNotFoundError:  # `flags` decides whether it is made
        pass
    descriptor = os.open(path, flags | _NO_WAITING | _PLAIN, mode)
    try:
        check_regular(os.fstat(descriptor).st_mode, path)
    except NotRegular:
        os.close(descriptor)
        raise
    return descriptor


def read_regular(path: StrPath) -> bytes:
    """Returns the content of a regular file. Blocks.

    Raises:
        NotRegular: the path is something else than a file.
        OSError: it cannot be read.
    """
    with open(path, "rb", opener=open_regular) as file:
        return file.read()


def check_regular(mode: int, path: StrPath) -> None:
    """Checks the mode of a path, as `os.stat` returns it.

    Raises:
        NotRegular: it is something else than a file.
    """
    if not stat.S_ISREG(mode):
        if stat.S_ISDIR(mode):
            raise NotRegular(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
        raise NotRegular(errno.EINVAL, "it is not a file, but a pipe or a device", os.fspath(path))
