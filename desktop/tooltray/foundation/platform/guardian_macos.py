"""The guardian on macOS, where orphans become children of launchd: a pipe notifies the hub of the guardian's end, and the hub has its own
session.

Its children stay in that session, whatever their process groups; a child that opens a session itself is not found. Uses only POSIX and the
standard library, so that it is tested on Linux too. guardian_linux has the same six functions.
"""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Set

LOOK_EVERY_S = 0.02  # for a signal within a bounded time, for which macOS has no call

Tie = tuple[int, int]  # the ends of a pipe: nothing is ever written to it, and only the guardian keeps its writing end


def must_be_first() -> bool:
    """Returns whether an app has to be the process that was started, so that its guardian is its child: unless a shell has started it.

    macOS sends links, and the wish to show an app that runs already, to the process that it has started; a child does not get them
    (https://github.com/pyinstaller/pyinstaller/pull/5276). And its frameworks for windows may not be used between fork and exec.
    """
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
    except OSError:  # no terminal controls this process
        return True
    return False


def tie() -> Tie:
    """Opens the pipe that ends with the guardian; called before the fork."""
    return os.pipe()


def follow(guardian: Tie) -> None:
    """Makes the hub get SIGTERM when the guardian ends, also by `kill -9`; called in the hub."""
    reading, writing = guardian
    os.close(writing)
    os.setsid()

    def watch() -> None:
        os.read(reading, 1)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, name="guardian watch", daemon=True).start()


def take_name() -> None:
    """Does nothing: macOS gives a process no second name."""


def next_signal(wanted: Set[signal.Signals], within_s: float | None) -> tuple[int, bool]:
    """Waits for one of the blocked signals.

    Args:
        within_s: at most so many seconds; None: without a limit.

    Returns:
        Its number, 0 if none came, and whether it has to be passed on to the hub: always, because the hub has left the terminal.
    """
    if within_s is None:
        return signal.sigwait(wanted), True
    until = time.monotonic() + within_s
    while not signal.sigpending() & wanted:
        if time.monotonic() >= until:
            return 0, False
        time.sleep(LOOK_EVERY_S)
    return signal.sigwait(wanted), True


def remaining(hub: int, guardian: Tie) -> set[int]:
    """Returns the processes that the hub has left behind in its session.

    Args:
        hub: its pid, which is its session's too; it has ended.
        guardian: what `tie` has returned.
    """
    listed = subprocess.run(["/bin/ps", "-axo", "pid=,stat="], capture_output=True, check=False).stdout
    found = set()
    for line in listed.splitlines():
        pid, state = line.split()[:2]
        if not state.startswith(b"Z") and _session_of(int(pid)) == hub:
            found.add(int(pid))
    return found


def _session_of(pid: int) -> int:
    try:
        return os.getsid(pid)
    except OSError:  # it has just ended, or is none of ours
        return 0
