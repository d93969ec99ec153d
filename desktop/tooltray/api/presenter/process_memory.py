"""The memory of processes and their descendants, from /proc, Win32, and `ps` on macOS. Reading it blocks for some milliseconds.

Memory that two processes share counts for both.
"""

import mmap
import os
import subprocess
import sys
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

PROC = Path("/proc")
PAGE_BYTES = mmap.PAGESIZE
PS_WAIT_S = 2.0  # `ps` takes 10 ms; on a hanging computer the memory is not shown


class Process(msgspec.Struct, frozen=True):
    """A process: its parent, and its memory now."""

    parent: int
    resident_bytes: int


def memory_of(pids: Collection[int]) -> int:
    """Returns how many bytes these processes and their descendants have, as far as the system reports it."""
    if sys.platform == "linux":
        return _on_linux(pids)
    if sys.platform == "win32":  # pragma: no cover - one branch per platform
        from tooltray.foundation.platform.win32 import processes

        there = {pid: Process(parent, processes.resident_bytes(pid)) for pid, parent in processes.parents().items()}
        return memory_in(there, pids)
    return memory_in(read_ps(_ps()), pids)  # pragma: no cover - macOS


def own_memory() -> int:
    """Returns how many bytes this process has, without its descendants."""
    pid = os.getpid()
    if sys.platform == "linux":
        return _resident(PROC / str(pid))
    if sys.platform == "win32":  # pragma: no cover - one branch per platform
        from tooltray.foundation.platform.win32 import processes

        return processes.resident_bytes(pid)
    there = read_ps(_ps())  # pragma: no cover - macOS
    return there[pid].resident_bytes if pid in there else 0  # pragma: no cover - macOS


def memory_in(there: Mapping[int, Process], pids: Collection[int]) -> int:
    """Returns how many bytes `pids` and their descendants have in a table of all processes."""
    wanted = {pid for pid in pids if pid in there}
    grown = True
    while grown:
        more = {pid for pid, each in there.items() if each.parent in wanted and pid not in wanted}
        wanted, grown = wanted | more, bool(more)
    return sum(there[pid].resident_bytes for pid in wanted)


def read_ps(text: str) -> dict[int, Process]:
    """Parses the output of `ps -axo pid=,ppid=,rss=`; other lines are skipped."""
    rows = (line.split() for line in text.splitlines())
    return {int(row[0]): Process(int(row[1]), int(row[2]) * 1024) for row in rows if len(row) == 3 and all(map(str.isdigit, row))}


def _ps() -> str:  # pragma: no cover - macOS
    try:
        command = ["/bin/ps", "-axo", "pid=,ppid=,rss="]
        return subprocess.run(command, capture_output=True, text=True, timeout=PS_WAIT_S, check=False).stdout
    except (OSError, subprocess.SubprocessError):
        return ""


def _on_linux(pids: Collection[int]) -> int:
    return sum(_resident(PROC / str(pid)) for pid in _with_started(pids))


def _with_started(pids: Collection[int]) -> Iterator[int]:
    waiting, seen = list(pids), set(pids)
    while waiting:
        pid = waiting.pop()
        yield pid
        new = [each for each in _started(pid) if each not in seen]
        seen.update(new)
        waiting += new


def _started(pid: int) -> list[int]:
    """Returns the children that a process's threads started; empty if the kernel does not report them, or if the process has ended."""
    found: list[int] = []
    for file in (PROC / str(pid) / "task").glob("*/children"):
        with suppress(OSError):
            found += map(int, file.read_text().split())
    return found


def _resident(folder: Path) -> int:
    try:
        return int((folder / "statm").read_text().split()[1]) * PAGE_BYTES
    except (OSError, IndexError):  # the process has just ended
        return 0
