"""The API for this installation of Tooltray: version and kind, start at login, licences, its load, and diagnostics for a bug report.

Diagnostics leave out commands, addresses, values of variables, arguments and results of calls. Secrets are masked, and the user's home
folder is shortened to `~`. The memory of processes is read from /proc, Win32, and `ps` on macOS, which blocks for some milliseconds; memory
that two processes share counts for both.
"""

import mmap
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from tooltray import __version__
from tooltray.foundation.home.home import Home
from tooltray.foundation.installs import start_at_login
from tooltray.foundation.installs.installation import KINDS, how_to_update, licence_text, this_installation
from tooltray.foundation.snapshots.diagnosis import Diagnosis
from tooltray.foundation.snapshots.hub import EnvironmentSnapshot, HubSnapshot, ProgramLoad, ProgramSnapshot
from tooltray.foundation.tasks import finish_in_thread
from tooltray.foundation.verbs import always, verb

if TYPE_CHECKING:
    from tooltray.api.presenter.snapshots import HubSnapshots
    from tooltray.servers.launch.variable_sources import ServerEnvironment
    from tooltray.servers.upstream.server_manager import ServerManager
    from tooltray.sources.doctor.doctor import CheckUp


PROC = Path("/proc")
PAGE_BYTES = mmap.PAGESIZE
PS_WAIT_S = 2.0  # `ps` takes 10 ms; on a hanging computer the memory is not shown
_DESKTOP = ("XDG_CURRENT_DESKTOP", "XDG_SESSION_TYPE")
SHORTEST_S = 0.001  # for two requests at the same moment: clocks are no finer


class ProgramApi:
    def __init__(
        self,
        *,
        snapshots: "HubSnapshots",
        check_up: "CheckUp",
        environment: "ServerEnvironment",
        masked: Callable[[str], str],
        servers: "ServerManager",
        home: Home,
        began: tuple[float, float],
    ) -> None:
        """
        Args:
            masked: replaces the secrets in a text.
            began: the start of the hub, and the seconds of the processor that were used by then.
        """
        self._snapshots, self._check_up, self._environment, self._masked = snapshots, check_up, environment, masked
        self._servers, self._home = servers, home
        self._asked_at, self._cpu_s = began

    async def get_program(self) -> ProgramSnapshot:
        """Returns the kind of this installation, how it is updated, and whether it starts at login."""
        return await finish_in_thread(_program, self._home)

    async def get_load(self) -> ProgramLoad:
        """Returns how much memory and processor time Tooltray uses, and how much memory its servers use."""
        roots = [server.pids for server in self._servers if server.pids]
        pids = [pid for each in roots for pid in each]
        own, theirs = await finish_in_thread(lambda: (own_memory(), memory_of(pids)))
        before, now = (self._asked_at, self._cpu_s), (time.monotonic(), time.process_time())
        self._asked_at, self._cpu_s = now
        share = (now[1] - before[1]) / max(now[0] - before[0], SHORTEST_S)
        return ProgramLoad(own, round(share, 3), theirs, len(roots))

    @verb(trusted=always)
    async def set_start_at_login(self, enabled: bool) -> ProgramSnapshot:
        """Switches the start of Tooltray in the tray at login on or off. The setting belongs to the user, not to this home.

        Raises:
            TooltrayError: the system refuses.
        """
        await finish_in_thread(start_at_login.switch, on=enabled)
        return await self.get_program()

    async def get_licences(self) -> str:
        """Returns the licences of Tooltray and of everything shipped with it."""
        return await finish_in_thread(licence_text)

    async def get_diagnostics(self) -> str:
        """Returns the diagnostics for a bug report, as text without secrets; the user should read the text before sending it."""
        diagnoses = await self._check_up.diagnose(None, 0.0)
        lines = [*_versions(), *_hub(self._snapshots.now(), await self._environment.snapshot())]
        for diagnosis in diagnoses:
            lines += ["", *_server(diagnosis)]
        return self._masked("\n".join(lines).replace(str(Path.home()), "~")) + "\n"


def _program(home: Home) -> ProgramSnapshot:
    own = this_installation()
    kind_name = KINDS.get(own.kind, own.kind)
    places = {"home": str(home.root), "settings": str(home.settings), "logs": str(home.logs)}
    return ProgramSnapshot(own.version, own.kind, kind_name, how_to_update(own), start_at_login.is_on(), **places)


def _versions() -> Iterator[str]:
    yield f"Tooltray {__version__} ({this_installation().kind}), Python {platform.python_version()}"
    yield f"{platform.platform()}, {platform.machine()}"
    if desktop := [os.environ[name] for name in _DESKTOP if os.environ.get(name)]:
        yield f"desktop: {', '.join(desktop)}"


def _hub(hub: HubSnapshot, environment: EnvironmentSnapshot) -> Iterator[str]:
    yield f"AI clients: {hub.session_count}; servers: {len(hub.servers)}{'; paused' if hub.is_paused else ''}"
    if variables := [f"{each.name} ({each.origin})" for each in environment.variables]:
        yield f"variables for servers: {', '.join(variables)}"
    yield from (f"notice: {notice}" for notice in hub.notices)


def _server(diagnosis: Diagnosis) -> Iterator[str]:
    tools = diagnosis.tool_count if diagnosis.is_listed else "not known"
    yield f"server {diagnosis.server}: {diagnosis.state}, {diagnosis.transport}, tools: {tools}"
    if diagnosis.problem:
        yield f"  problem: {diagnosis.problem}"
    if diagnosis.exit_code is not None:
        yield f"  exit code: {diagnosis.exit_code}"
    if diagnosis.noise_lines:
        yield f"  lines that were not messages: {diagnosis.noise_lines}"
    if not diagnosis.is_ok:
        yield from (f"  stderr: {line}" for line in diagnosis.stderr)


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
