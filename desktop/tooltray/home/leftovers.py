"""Removes temporary files of killed writers from a home, because there may be a token in one.

Above it: the engine, once it holds the lock. Below it: the disk. Knows the names that atomic_file makes. Blocks.
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
    """Removes them from a home and its folders; a file that cannot be removed stays.

    A file is left over if its writer's process has ended, or if it is older than STALE_AFTER_S.
    """
    for folder, _, names in os.walk(root):
        for name in names:
            if found := _TEMPORARY.fullmatch(name):
                with suppress(OSError):  # its writer has just finished
                    _remove_if_left(os.path.join(folder, name), int(found[1] or 0))


def _remove_if_left(path: str, writer: int) -> None:
    status = os.lstat(path)
    is_ours = stat.S_ISREG(status.st_mode) and status.st_uid == os.getuid()
    is_old = status.st_mtime < time.time() - STALE_AFTER_S  # counts even if another process has the writer's pid now
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
