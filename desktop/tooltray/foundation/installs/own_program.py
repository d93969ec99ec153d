"""Notices that the programs of this installation were replaced while one of them runs, as a package manager does.

Above it: the engine, which then makes room for the new version. Below it: installation. A process whose files are no longer its own should
not go on for long: what it imports later comes from the newer version's files, and a frozen program reads its modules from its own file.
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
    """Knows the program's file as it was when this was made. All methods block on the disk.

    Args:
        file: None: nothing is ever replaced.
    """

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._before = file and _identity(file)

    @classmethod
    def of(cls, installation: Installation) -> "OwnProgram":
        """Of a checkout nothing counts as replaced: who works on the source restarts by hand. Windows replaces no program that runs."""
        if installation.kind == CHECKOUT or sys.platform == "win32":
            return cls(None)
        return cls(Path(sys.executable if is_frozen() else tooltray.__file__))

    def is_replaced(self) -> bool:
        """Whether another file has its place, and has had it for a while. A program that is gone was removed, not replaced."""
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
