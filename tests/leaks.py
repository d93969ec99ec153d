"""What a test left behind: log records nobody expected, threads, child processes, listening sockets, temporary files.

tests/conftest.py looks before and after each test. Leaked asyncio tasks are found there, where the loop still runs.
"""

import contextlib
import gc
import logging
import os
import socket
import stat
import tempfile
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import psutil

GRACE_S = 3.0  # what ends by itself after a test (a reader thread at the end of its pipe, a child that was told to go) may take this long

_ME = psutil.Process()


class RecordKeeper(logging.Handler):
    """Keeps log records of WARNING and above."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)

    def unexpected(self, expected: Iterable[str]) -> list[str]:
        """The records in whose line none of the expected texts stands."""
        texts = tuple(expected)
        plain = logging.Formatter("%(levelname)s %(name)s: %(message)s")
        lines = [plain.format(record) for record in self.records]
        return [line for line in lines if not any(text in line for text in texts)]


@dataclass
class Possessions:
    """What this process has at one moment that a test could leave behind."""

    threads: set[threading.Thread] = field(default_factory=set)
    children: set[psutil.Process] = field(default_factory=set)
    listening: set[str] = field(default_factory=set)
    files: set[str] = field(default_factory=set)

    @classmethod
    def now(cls) -> "Possessions":
        return cls(set(threading.enumerate()), _children(), _listening_sockets(), set(os.listdir(tempfile.gettempdir())))

    def add(self, other: "Possessions") -> None:
        self.threads |= other.threads
        self.children |= other.children
        self.listening |= other.listening
        self.files |= other.files

    def minus(self, other: "Possessions") -> "Possessions":
        return Possessions(
            self.threads - other.threads, self.children - other.children, self.listening - other.listening, self.files - other.files
        )

    def words(self) -> list[str]:
        found = [f"thread {thread.name!r}" for thread in self.threads]
        found += [f"child process {_describe(child)}" for child in self.children]
        found += [f"listening socket {socket}" for socket in self.listening]
        found += [f"temporary file {name}" for name in self.files]
        return sorted(found)


def left_since(before: Possessions) -> list[str]:
    """What came since `before` and does not go within GRACE_S, in words. Child processes among it are ended."""
    left = Possessions.now().minus(before)
    if not left.words():
        return []
    deadline = time.monotonic() + GRACE_S
    for thread in left.threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    _, alive = psutil.wait_procs(left.children, timeout=max(0.0, deadline - time.monotonic()))
    if left.listening or left.files:
        gc.collect()  # a socket or folder that only waits for the collector is not what is looked for here
    left = Possessions.now().minus(before)
    words = left.words()
    for child in alive:
        child.kill()
    psutil.wait_procs(alive, timeout=GRACE_S)
    return words


def end_windows() -> list[str]:
    """The windows that are still shown, in words; they are hidden. One that is shown as Python exits can crash it: Qt hides it then."""
    from PySide6.QtWidgets import QApplication

    left = [window for window in QApplication.topLevelWidgets() if window.isVisible()]
    words = [f"window {type(window).__name__} {window.windowTitle()!r}" for window in left]
    for window in left:
        window.hide()
    return words


def _children() -> set[psutil.Process]:
    try:
        pids = {int(pid) for tasks in Path("/proc/self/task").iterdir() for pid in (tasks / "children").read_text().split()}
    except OSError:  # no Linux, or a thread that ended meanwhile
        return set(_ME.children())  # reads every process of the machine
    found = set()
    for pid in pids:
        with contextlib.suppress(psutil.NoSuchProcess):
            found.add(psutil.Process(pid))
    return found


def _describe(process: psutil.Process) -> str:
    try:
        return f"{process.pid} ({' '.join(process.cmdline())[:200] or process.name()}, {process.status()})"
    except psutil.Error:
        return str(process.pid)


def _listening_sockets() -> set[str]:
    """Addresses on which this process listens. Linux only; elsewhere empty."""
    found = set()
    for name in _names_in("/proc/self/fd"):
        with contextlib.suppress(OSError):  # the descriptor of the listing itself, or one closed meanwhile
            if stat.S_ISSOCK((status := os.fstat(int(name))).st_mode):
                with socket.socket(fileno=os.dup(int(name))) as copy:
                    if copy.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
                        found.add(f"{_address(copy)} #{status.st_ino}")
    return found


def _address(listening: socket.socket) -> str:
    name = listening.getsockname()
    return f"port {name[1]}" if isinstance(name, tuple) else f"unix {name or '(unnamed)'}"


def _names_in(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []
