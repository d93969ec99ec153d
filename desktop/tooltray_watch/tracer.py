"""The loop: waits for the next thread that has stopped, passes its call to file_calls or socket_calls, and resumes it. A thread may be
killed at any moment: then requests about it fail, and nothing is reported."""

import os
import signal

from tooltray_watch import machine, ptrace, seccomp_filter
from tooltray_watch.file_calls import FileCall, FileCalls
from tooltray_watch.ptrace import (
    ENTRY,
    EVENT_EXEC,
    EVENT_SECCOMP,
    EVENT_STOP,
    EXIT,
    PTRACE_CONT,
    PTRACE_LISTEN,
    PTRACE_SYSCALL,
    SyscallStop,
)
from tooltray_watch.report import Report
from tooltray_watch.socket_calls import RECEIVES, SENDS, SocketCalls
from tooltray_watch.traced_memory import link

STOPPING = (signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU)
SYSCALL_STOP = signal.SIGTRAP | 0x80
OF_SOCKETS = ("socket", "connect", "bind", "listen", "sendto", "sendmsg", "sendmmsg")


class Tracer:
    """A tracer of one program and all that it starts; it ends with the program itself."""

    def __init__(self, pid: int, report: Report, processor: str) -> None:
        """
        Args:
            pid: of the program, which is traced already.
        """
        numbers = machine.CALLS[processor]
        self._pid, self._report = pid, report
        self._names = {numbers[name]: name for name in (*seccomp_filter.STOPS, *SENDS, *RECEIVES, "close") if name in numbers}
        self._files = FileCalls(report)
        self._sockets = SocketCalls(report, numbers["pidfd_getfd"])
        self._pending: dict[int, FileCall] = {}

    def run(self) -> int:
        """Returns how the program has ended, as a status of `os.waitpid`."""
        while True:
            tid, status = os.waitpid(-1, ptrace.WAIT_ALL)
            if os.WIFSTOPPED(status):
                self._on_stop(tid, status)
                continue
            self._forget(tid)
            if tid == self._pid:
                return status

    def _on_stop(self, tid: int, status: int) -> None:
        number, event = os.WSTOPSIG(status), status >> 16
        if event == EVENT_SECCOMP or number == SYSCALL_STOP:
            self._on_call(tid)
        elif event == EVENT_EXEC:
            self._on_exec(tid)
        elif event == EVENT_STOP and number in STOPPING:
            ptrace.resume(tid, PTRACE_LISTEN)
            return
        self._go_on(tid, 0 if event or number == SYSCALL_STOP else number)

    def _go_on(self, tid: int, signal_number: int) -> None:
        waits = tid in self._pending or tid in self._sockets.followed
        ptrace.resume(tid, PTRACE_SYSCALL if waits else PTRACE_CONT, signal_number)

    def _on_call(self, tid: int) -> None:
        stop = ptrace.syscall_stop(tid)
        if stop is None:
            return
        if stop.step == EXIT:
            self._on_exit(tid, stop.args[0])
            return
        name = self._names.get(stop.number, "")
        if stop.step == ENTRY:
            self._sockets.entered(tid, name, stop)
        else:
            self._on_interest(tid, name, stop)

    def _on_interest(self, tid: int, name: str, stop: SyscallStop) -> None:
        """Handles a call at which the filter has stopped."""
        if name in OF_SOCKETS:
            self._sockets.begun(tid, name, stop)
        elif name == "ptrace":
            self._report.tell("ptrace", link(f"/proc/{tid}/exe"))
        elif call := self._files.begun(tid, name, stop):
            self._pending[tid] = call

    def _on_exit(self, tid: int, returned: int) -> None:
        if call := self._pending.pop(tid, None):
            self._files.ended(tid, call, returned)
        self._sockets.left(tid, returned)

    def _on_exec(self, tid: int) -> None:
        """Handles a new program. The thread that called exec has become the first of its process, whichever it was before."""
        before = ptrace.event_message(tid)
        self._files.executed(tid, self._pending.pop(before, None) or self._pending.pop(tid, None))
        self._forget(before)
        self._forget(tid)

    def _forget(self, tid: int) -> None:
        self._pending.pop(tid, None)
        self._sockets.followed.pop(tid, None)
