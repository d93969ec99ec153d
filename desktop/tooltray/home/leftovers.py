"""Temporary files in a home whose writer was killed: there may be a token in one.

Above it: the engine, once it has its place. Below it: the disk; names as atomic_file makes them. Blocks.
"""

import os
import re
import stat
import time
from contextlib import suppress
from pathlib import Path

from tooltray.files.atomic_file import STALE_AFTER_S

_TEMPORARY = re.compile(r"\..+\.(?:(\d+)-)?[a-z0-9_]{8}\.tmp")


def remove_leftovers(root: Path) -> None:
    """Removes them from a home and the folders in it; what cannot be removed stays."""
    for folder, _, names in os.walk(root):
        for name in names:
            if found := _TEMPORARY.fullmatch(name):
                with suppress(OSError):  # its writer has finished in this moment
                    _remove_if_left(os.path.join(folder, name), int(found[1] or 0))


def _remove_if_left(path: str, writer: int) -> None:
    status = os.lstat(path)
    is_ours = stat.S_ISREG(status.st_mode) and status.st_uid == os.getuid()
    is_old = status.st_mtime < time.time() - STALE_AFTER_S  # also where another process has the writer's number now
    if is_ours and (is_old or (writer and not _is_running(writer))):
        os.unlink(path)


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):  # another user's
        return True
    return True
