"""How many files this process may have open: as many as the system allows, and its children as many as they would have had without us.

Above it: the engine, and what starts servers. Below it: the system (POSIX). A hub has some for each AI client and each server, and the
usual soft limit is 1024, or 256; programs that go through all numbers up to their limit take minutes where that is a million.
"""

import contextlib
import sys

if sys.platform != "win32":
    import resource

_before: list[int] = []  # the soft limit that this process was started with; a fact of the process, like the limit itself


def raise_limit() -> None:
    """From now on as many as the system allows."""
    if sys.platform == "win32":
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == hard:
        return
    with contextlib.suppress(ValueError, OSError):  # macOS names a limit that it does not grant
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        _before[:] = [soft]


def restore_for(pid: int) -> None:
    """A child that has just been started gets the soft limit of before. Linux; a step between fork and exec would cost far more."""
    if sys.platform != "linux" or not _before:
        return
    with contextlib.suppress(OSError):  # it has ended already
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (_before[0], resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
