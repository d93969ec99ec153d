"""The processes that a request comes from: the one at the other end of a socket, its parent, and so on.

No request is refused because of them: editors' terminals descend from AI clients, too, and a process may leave its parents. They help the
user to recognise who makes a request. Names are chosen by the programs themselves, so they are made harmless and bounded. Blocks for some
milliseconds: call it in a thread.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping

import msgspec

from tooltray.consent.approvals.suspicion import visible

MOST_PROCESSES = 16  # from a command up to init there are five to ten
LONGEST_NAME = 40  # characters
LONGEST_COMMAND = 4096  # bytes of a command line that are read
PS_TIMEOUT_S = 2.0  # it takes 10 ms
INTERPRETERS = frozenset({"node", "bun", "deno", "python", "python3", "ruby", "perl", "java", "MainThread"})
"""Programs whose script is more informative than their name; threads of node are called MainThread."""


class Process(msgspec.Struct, frozen=True):
    """A process that a request comes through.

    Attributes:
        name: of its program, or of the script that an interpreter runs.
        words: further names by which an AI client may be known: the program and the parts of the script's path.
    """

    pid: int
    name: str
    words: frozenset[str] = frozenset()


class Origin(msgspec.Struct, frozen=True):
    """The processes that a request comes from.

    Attributes:
        processes: the nearest first; empty: the system does not report them.
        ai_client: the first AI client among them, as people know it; empty without a known one.
    """

    processes: tuple[Process, ...] = ()
    ai_client: str = ""

    @property
    def shown(self) -> tuple[str, ...]:
        """The processes as harmless, bounded texts."""
        return tuple(f"{_harmless(each.name)} ({each.pid})" for each in self.processes)

    def __str__(self) -> str:
        return ", ".join(self.shown)


Look = Callable[[int], tuple[int, Process] | None]
"""Returns a process and its parent's number; None: it does not exist, or may not be read."""


def origin_of(pid: int, known: Mapping[str, str], look: Look | None = None) -> Origin:
    """Looks up a process and its ancestors.

    Args:
        pid: 0: the system does not report it.
        known: names of AI clients by their programs' names.
    """
    processes = tuple(_line(pid, look or _look()))
    clients = (known[word] for each in processes for word in (each.name, *sorted(each.words)) if word in known)
    return Origin(processes, next(clients, ""))


def _line(pid: int, look: Look) -> Iterator[Process]:
    seen: set[int] = set()
    while pid > 1 and pid not in seen and len(seen) < MOST_PROCESSES:
        seen.add(pid)
        found = look(pid)
        if found is None:
            return
        pid, process = found
        yield process


def read_known_programs(data: bytes) -> dict[str, str]:
    """Reads the AI clients' names by the names of their programs from `ai-clients.json`."""
    clients = msgspec.json.decode(data, type=_Clients).clients
    return {program: client.name for client in reversed(clients) for program in client.signs.programs}


class _Signs(msgspec.Struct, frozen=True):
    programs: tuple[str, ...] = ()


class _Client(msgspec.Struct):
    name: str
    signs: _Signs = _Signs()


class _Clients(msgspec.Struct):
    clients: tuple[_Client, ...] = ()


def _look() -> Look:
    if sys.platform == "linux":
        return look_in_proc
    return look_among(_table())


def look_in_proc(pid: int, proc: str = "/proc") -> tuple[int, Process] | None:
    """Looks up a process on Linux, see Look."""
    try:
        with open(f"{proc}/{pid}/stat", "rb") as file:
            text = file.read().decode("utf-8", "replace")
        with open(f"{proc}/{pid}/cmdline", "rb") as file:
            words = file.read(LONGEST_COMMAND).decode("utf-8", "replace").split("\0")
        name, _, rest = text.partition("(")[2].rpartition(")")  # a name may have brackets in it
        return int(rest.split()[1]), _process(pid, name, words)
    except (OSError, ValueError, IndexError):
        return None


def look_among(table: Mapping[int, tuple[int, str]]) -> Look:
    """Makes a Look over parents and names of all processes."""

    def look(pid: int) -> tuple[int, Process] | None:
        if pid not in table:
            return None
        parent, command = table[pid]
        return parent, _process(pid, os.path.basename(command), [command])

    return look


def _table() -> dict[int, tuple[int, str]]:
    if sys.platform == "win32":
        from tooltray.foundation.platform.win32 import processes

        return processes.named_parents()
    return table_by_ps()


def table_by_ps(ps: str = "/bin/ps") -> dict[int, tuple[int, str]]:
    """Lists parents and names of all processes; empty if they cannot be read."""
    try:
        asked = subprocess.run([ps, "-axo", "pid=,ppid=,comm="], capture_output=True, timeout=PS_TIMEOUT_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return {}
    return table_of_ps(asked.stdout.decode("utf-8", "replace"))


def table_of_ps(text: str) -> dict[int, tuple[int, str]]:
    """Reads the output of `ps -axo pid=,ppid=,comm=`."""
    rows = (line.split(None, 2) for line in text.splitlines())
    return {int(row[0]): (int(row[1]), row[2]) for row in rows if len(row) == 3 and row[0].isdigit() and row[1].isdigit()}


def _process(pid: int, name: str, words: list[str]) -> Process:
    """
    Args:
        words: of its command line, at least one.
    """
    program = os.path.basename(words[0])
    script = next((word for word in words[1:] if word and not word.startswith("-")), "")
    is_interpreted = name in INTERPRETERS or program in INTERPRETERS
    shown = os.path.basename(script) if is_interpreted and script else name or program
    parts = {part.removesuffix(".exe").removesuffix(".js") for part in script.replace("\\", "/").split("/")} if is_interpreted else set()
    return Process(pid, shown, frozenset({name.removesuffix(".exe"), program.removesuffix(".exe"), *parts}) - {""})


def _harmless(name: str) -> str:
    shown = visible(" ".join(name.split()))
    return shown if len(shown) <= LONGEST_NAME else f"{shown[: LONGEST_NAME - 1]}…"
