"""The lock that decides which process is the hub of a home.

The operating system releases it with the process, however that ends. The file stays: if it were removed, two processes could each hold a
lock of that name.
"""

import os
import sys
from pathlib import Path

from tooltray.foundation.regular_file import open_regular

if sys.platform == "win32":  # pragma: no cover - one branch per platform
    import msvcrt

    def _lock(descriptor: int) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
else:
    import fcntl

    def _lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


class HubLock:
    """A lock, held from `try_take` to `release`."""

    def __init__(self, path: Path, folder: Path | None = None) -> None:
        """
        Args:
            folder: a folder to lock as well, if the system can: the lock file may be removed while it is locked, with its folder.
        """
        self._path, self._folder = path, folder
        self._descriptors: list[int] = []

    def try_take(self) -> bool:
        """Takes the lock without waiting; returns False if another process holds it.

        Raises:
            OSError: the file cannot be opened.
        """
        descriptor = open_regular(self._path, os.O_RDWR | os.O_CREAT)
        if not _lock(descriptor):
            os.close(descriptor)
            return False
        self._descriptors.append(descriptor)
        if self._folder and not self._lock_folder(self._folder):
            self.release()
            return False
        return True

    def release(self) -> None:
        """Releases the lock, if it is held. May be called twice."""
        while self._descriptors:
            os.close(self._descriptors.pop())

    def _lock_folder(self, folder: Path) -> bool:
        if sys.platform == "win32":  # a system on which an open file cannot be removed
            return True
        descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
        self._descriptors.append(descriptor)
        try:
            return _lock(descriptor)
        except OSError:  # a network disk that locks only files
            return True
