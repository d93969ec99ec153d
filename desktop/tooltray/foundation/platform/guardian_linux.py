"""The guardian on Linux: it becomes the parent of orphans, and its own end reaches the hub.

Standard library only. guardian_macos has the same six functions.
"""

import ctypes
import os
import signal
from collections.abc import Set

PR_SET_PDEATHSIG, PR_SET_NAME, PR_SET_CHILD_SUBREAPER = 1, 15, 36  # linux/prctl.h
SI_KERNEL = 0x80  # asm-generic/siginfo.h: sent by no process, but by the terminal
GUARDIAN_NAME = b"tooltray-guard"  # as `ps -e` shows it; at most 15 bytes

Tie = tuple[int, frozenset[int]]  # the guardian's pid, and its earlier children: jobs of a script that `exec`ed it


def must_be_first() -> bool:
    """Returns False: an app may be any process."""
    return False


def tie() -> Tie:
    """Makes this process the parent of the hub's orphans; called before the fork."""
    _prctl(PR_SET_CHILD_SUBREAPER, 1)
    return os.getpid(), frozenset(_descendants())


def follow(guardian: Tie) -> None:
    """Makes the hub get SIGTERM when the guardian ends, also by `kill -9`; called in the hub."""
    _prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != guardian[0]:  # it ended before it could be followed
        os.kill(os.getpid(), signal.SIGTERM)


def take_name() -> None:
    """Gives the guardian a name of its own in lists of processes; called in the guardian."""
    _prctl(PR_SET_NAME, ctypes.cast(ctypes.c_char_p(GUARDIAN_NAME), ctypes.c_void_p).value or 0)


def next_signal(wanted: Set[signal.Signals], within_s: float | None) -> tuple[int, bool]:
    """Waits for one of these blocked signals.

    Args:
        within_s: at most so many seconds; None: without a limit.

    Returns:
        Its number, 0 if none came, and whether it has to be passed on to the hub: a terminal sends it to all its processes itself.
    """
    info = signal.sigwaitinfo(wanted) if within_s is None else signal.sigtimedwait(wanted, within_s)
    return (info.si_signo, info.si_code != SI_KERNEL) if info else (0, False)


def remaining(hub: int, guardian: Tie) -> set[int]:
    """Returns the processes that the hub has left behind, whatever their parents are now.

    Args:
        hub: its pid; it has ended.
        guardian: what `tie` has returned.
    """
    return _descendants() - guardian[1]


def _descendants() -> set[int]:
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:  # without a child there is nothing below a child
        return set()
    children: dict[int, list[int]] = {}
    living = set()
    for entry in os.listdir("/proc"):
        if entry.isdecimal():
            parent, is_living = _look_at(entry)
            children.setdefault(parent, []).append(int(entry))
            if is_living:
                living.add(int(entry))
    found: set[int] = set()
    ahead = [os.getpid()]
    while ahead:
        new = children.get(ahead.pop(), [])
        found.update(new)
        ahead.extend(new)
    return found & living


def _look_at(pid: str) -> tuple[int, bool]:
    """Reads a process's parent, and whether it runs. A process that has just ended may still have been the parent of others when these were
    read.
    """
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            state, parent = file.read().rpartition(b")")[2].split()[:2]
    except OSError:  # it has gone meanwhile
        return 0, False
    return int(parent), state not in (b"Z", b"X")


def _prctl(option: int, value: int) -> None:
    """Sets an option of this process. Where the kernel or a sandbox refuses, the guardian works without it."""
    ctypes.CDLL(None).prctl(ctypes.c_int(option), ctypes.c_ulong(value), ctypes.c_ulong(0), ctypes.c_ulong(0), ctypes.c_ulong(0))
