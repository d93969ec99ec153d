"""The hub's parent process: it outlives the hub by a moment, and ends processes that the hub has left behind, also after `kill -9`.

The process that was started becomes the guardian, so that its exit code is the hub's, and its child becomes the hub, with the same standard
input and output. On Windows the hub runs in this process, which a job guards. An app that macOS has opened remains the process that was
started, and its guardian is the child. Uses only the standard library, and runs before anything large is imported, because the guardian
lives as long as the hub.
"""

import contextlib
import math
import os
import signal
import sys
from collections.abc import Callable, Sequence
from time import monotonic, sleep

if sys.platform == "darwin":
    from tooltray.foundation.platform import guardian_macos as platform
elif sys.platform == "win32":
    import logging

    from tooltray.foundation.platform.win32.jobs import Job
else:
    from tooltray.foundation.platform import guardian_linux as platform

StrPath = str | os.PathLike[str]

PASSED_ON = frozenset(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
FAILED = 1
REPLACED = 75  # of a hub whose program was replaced by another version, which is to take its place
EXIT_CODES: dict[int, int] = {signal.SIGINT: 130, signal.SIGTERM: 143}  # of a hub that got the signal before it could end in order
ENDS_WITHIN_S = 30.0  # an orderly end: calls in flight 10 s at a handover, then answers, servers (4.3 s), log, each bounded; 15 s in all
GRACE_S = 2.0  # between SIGTERM and SIGKILL for processes that the hub left behind; servers that obey SIGTERM have ended by then
GIVE_UP_S = 5.0  # to wait after SIGKILL: a process that still exists then is waiting for a broken disk
LOOK_EVERY_S = 0.05  # between checks of processes that the hub left behind, if they are not our children: their end is not reported


if sys.platform == "win32":  # pragma: no cover - one branch per platform
    _jobs: list[Job] = []  # for as long as the process lives: a job ends its processes when its last handle is closed

    def _guard_this_process() -> None:
        """Puts this process into a job, so that everything it starts ends with it, however that happens; called before anything is started.

        Where another program's job forbids it, only the servers' own jobs remain. A program that must outlive the hub (a browser) is
        started with `open_outside`.
        """
        try:
            job = Job(may_leave=True)
            job.take_this_process()
        except OSError as error:
            logging.getLogger(__name__).warning("servers will keep running if Tooltray is killed: %s", error.strerror)
            return
        _jobs.append(job)


def run(
    work: Callable[[], int],
    *,
    lock: StrPath | None = None,
    files: Sequence[StrPath] = (),
    successor: Sequence[str] = (),
    is_app: bool = False,
    ends_within_s: float = ENDS_WITHIN_S,
) -> int:
    """Runs the hub in a child of this process, and guards it.

    Does not return in the child, which ends with `SystemExit`. Must be called while there are no other threads.

    Args:
        work: the hub; returns its exit code.
        lock: the file on which a hub holds an exclusive `flock` for its life.
        files: the files that a hub removes at its end. After a killed hub the guardian removes them, unless a new hub holds the lock.
        successor: the command to run after a hub that has ended with REPLACED. This process becomes it, so its parent (a session, systemd)
            keeps its child.
        is_app: the hub has a window. Where the system needs an app to be the process that was started, the guardian becomes its child.
        ends_within_s: the time that the hub has after a signal that asks it to end; if it still runs then, it hangs, and is killed.

    Returns:
        The hub's exit code. If a signal ended it: 130 or 143 for a SIGINT or SIGTERM that was meant for it, otherwise 1.
    """
    if sys.platform == "win32":  # pragma: no cover - one branch per platform
        _guard_this_process()
        return work()
    for stream in filter(None, (sys.stdout, sys.stderr)):
        stream.flush()  # otherwise both processes would write the buffers' content
    if is_app and platform.must_be_first():
        return _be_app(work, lock, files, successor)
    signal.pthread_sigmask(signal.SIG_BLOCK, PASSED_ON | {signal.SIGCHLD})
    signal.signal(signal.SIGCHLD, lambda *_: None)  # never called; our parent may have it ignored, and macOS drops ignored signals
    tie = platform.tie()
    hub = os.fork()
    if hub == 0:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        platform.follow(tie)
        sys.exit(_be_hub(work))
    _let_go_of_pipes()
    platform.take_name()
    code = _wait_for(hub, ends_within_s)
    _tidy(lock, files)
    _end_remaining(hub, tie)
    if code == REPLACED and successor:
        _become(successor)
    return code


def _be_hub(work: Callable[[], int]) -> int:
    try:
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        return work()
    except KeyboardInterrupt:  # before the hub has taken over its signals
        return EXIT_CODES[signal.SIGINT]


def _be_app(work: Callable[[], int], lock: StrPath | None, files: Sequence[StrPath], successor: Sequence[str]) -> int:
    """Runs the hub in this process, and in a child the guardian, which waits for its end. A hub that hangs is the user's to end."""
    app = os.getpid()
    reading, writing = os.pipe()
    with contextlib.suppress(OSError):  # launchd may have done it
        os.setsid()
    if os.fork() == 0:
        os.setsid()
        os.close(writing)
        _let_go_of_pipes()
        if not os.read(reading, 1):
            while os.getppid() == app:  # its end closes the pipe first, and lets go of the lock later
                sleep(LOOK_EVERY_S)
            _tidy(lock, files)
            _end_remaining(app, platform.tie())
        os._exit(0)
    os.close(reading)
    code = _be_hub(work)
    if code == REPLACED and successor:
        os.write(writing, b"-")  # this process goes on as another program, which has a guardian of its own
        _become(successor)
    return code


def _become(command: Sequence[str]) -> None:
    signal.pthread_sigmask(signal.SIG_SETMASK, ())  # a mask is inherited
    with contextlib.suppress(OSError):  # it was removed in this moment
        os.execv(command[0], list(command))


def _let_go_of_pipes() -> None:
    """Closes standard input and output, which belong to the hub: their other ends must see when the hub closes them."""
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    os.close(nothing)


def _wait_for(hub: int, ends_within_s: float) -> int:
    """Passes signals on until the hub has ended, and kills one that does not obey; returns the exit code."""
    received: set[int] = set()
    deadline = math.inf
    while (status := _reap(hub)) is None:
        left_s = None if deadline == math.inf else max(0.0, deadline - monotonic())
        number, is_for_hub = platform.next_signal(PASSED_ON | {signal.SIGCHLD}, left_s)
        if number in PASSED_ON:
            received.add(number)
            if is_for_hub:
                os.kill(hub, number)
            if signal.getsignal(number) is not signal.SIG_IGN:  # a signal that our parent ignores (nohup) is rightly ignored by the hub
                deadline = min(deadline, monotonic() + ends_within_s)
        elif monotonic() >= deadline:
            os.kill(hub, signal.SIGKILL)
    if os.WIFEXITED(status):
        return os.WEXITSTATUS(status)
    ended_by = os.WTERMSIG(status)
    return EXIT_CODES.get(ended_by, FAILED) if ended_by in received else FAILED


def _reap(hub: int) -> int | None:
    """Waits for ended children, orphans among them, without blocking; returns the hub's status if it is one of them."""
    hub_status = None
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == hub:
                hub_status = status
            elif not pid:
                break
    return hub_status


def _tidy(lock: StrPath | None, files: Sequence[StrPath]) -> None:
    """Removes the files of a killed hub. Does nothing after an orderly end, so that the lock is free for the next hub."""
    import fcntl

    if lock is None or not any(map(os.path.lexists, files)):
        return
    try:
        held = os.open(lock, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        for file in files:
            with contextlib.suppress(OSError):
                os.unlink(file)
    except OSError:  # there is a new hub, and the files are its own
        return
    finally:
        os.close(held)


def _end_remaining(hub: int, tie: "platform.Tie") -> None:
    started = monotonic()
    told: set[int] = set()
    while left := platform.remaining(hub, tie):
        passed_s = monotonic() - started
        if passed_s > GIVE_UP_S:
            return
        is_patient = passed_s < GRACE_S
        for pid in left - told if is_patient else left:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGTERM if is_patient else signal.SIGKILL)
        told |= left
        platform.next_signal({signal.SIGCHLD}, LOOK_EVERY_S)
        _reap(hub)
