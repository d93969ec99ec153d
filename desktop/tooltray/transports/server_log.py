"""The log of one server: what its processes wrote to stderr, and to stdout where it was no message. Bounded; outlives the processes.

The lowest layer of servers. Between one process and the next stands a line, so that one attempt's words are not taken for another's.
"""

import time
from collections import deque
from collections.abc import Sequence

LOG_LINES = 1000
SEPARATOR = "--- started again"
STDOUT_MARK = "stdout: "
LAUNCHER_MARK = "its launcher's own log: "


def new_log() -> deque[str]:
    """An empty one."""
    return deque(maxlen=LOG_LINES)


def begin_attempt(log: deque[str], now: float | None = None) -> None:
    """Separates what comes from what another process wrote, if one did.

    Args:
        now: unix seconds; None: this moment.
    """
    if log and not log[-1].startswith(SEPARATOR):
        log.append(f"{SEPARATOR} {time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(now))} ---")


def last_attempt(log: Sequence[str]) -> list[str]:
    """What the last process wrote that wrote anything."""
    lines = list(log)
    while lines and lines[-1].startswith(SEPARATOR):
        del lines[-1]
    starts = [at for at, line in enumerate(lines) if line.startswith(SEPARATOR)]
    return lines[starts[-1] + 1 :] if starts else lines
