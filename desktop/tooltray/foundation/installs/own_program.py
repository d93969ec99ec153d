"""Notices that the programs of this installation were replaced while one of them runs, as a package manager does.

Such a process should end soon: its later imports come from the newer version's files, and a frozen program reads its modules from its own
file.
"""

import os
import sys
import time
from pathlib import Path

import tooltray
from tooltray.foundation.installs.installation import CHECKOUT, Installation
from tooltray.foundation.programs import is_frozen

SETTLED_S = 10.0  # a package manager has then renamed all files of the package; it does so one after the other


class OwnProgram:
    """The program's file as it was when this object was made. All methods block on the disk.

    Args:
        file: None: the program never counts as replaced.
    """

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._before = file and _identity(file)

    @classmethod
    def of(cls, installation: Installation) -> "OwnProgram":
        """Makes the object for an installation. A checkout never counts as replaced: its developer restarts by hand. Windows replaces no
        running program.
        """
        if installation.kind == CHECKOUT or sys.platform == "win32":
            return cls(None)
        return cls(Path(sys.executable if is_frozen() else tooltray.__file__))

    def is_replaced(self) -> bool:
        """Returns whether another file has had the same path for a while. A program that no longer exists was removed, not replaced."""
        if self._file is None or self._before is None:
            return False
        now = _identity(self._file)
        return now not in (None, self._before) and time.time() - os.stat(self._file).st_ctime >= SETTLED_S


def _identity(file: Path) -> tuple[int, int, int] | None:
    try:
        status = os.stat(file)
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_mtime_ns
