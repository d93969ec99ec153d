"""Keeps servers' output and states in a file for each server, so that yesterday's failure can be read today.

A line costs the loop an append to a list; several times a second the lines are written, and `LogWritten` is published. A full or slow disk
loses lines, but never delays a server: the last lines are also in memory (ManagedServer.log).
"""

import asyncio
import time
from collections.abc import Callable

from tooltray.foundation.errors import Problem
from tooltray.foundation.events import EventBus, LogWritten
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.activity import SERVER
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.foundation.tasks import Spawn, finish_in_thread
from tooltray.servers.logs.log_files import ServerLogFiles
from tooltray.servers.logs.log_lines import MARK, OUTPUT, server_line
from tooltray.servers.logs.log_reader import cannot_read
from tooltray.servers.upstream.instance_status import IDLE
from tooltray.servers.upstream.managed_server import ServerStateChanged

WRITE_EVERY_S = 0.25  # so LogWritten comes four times a second at most
MAX_WAITING_LINES = 20_000  # while the disk hangs; about 4 MB
NOT_MARKED = frozenset({ServerState.STOPPING})  # a step of a change of state that is marked anyway

Line = tuple[float, str, str]
"""The time, in unix seconds; OUTPUT or MARK; the text."""


class LogKeeper:
    """Writes the logs of all servers. Belongs to the engine's loop.

    Attributes:
        files: where lines are kept.
    """

    def __init__(
        self,
        files: ServerLogFiles,
        *,
        bus: EventBus,
        spawn: Spawn,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """
        Args:
            clock: returns unix seconds.
        """
        self.files, self._bus, self._spawn, self._clock = files, bus, spawn, clock
        self._waiting: dict[str, list[Line]] = {}
        self._waiting_lines = 0
        self._lost: dict[str, int] = {}
        self._problems: dict[str, Problem] = {}
        self._states: dict[str, ServerState] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._writing = asyncio.Lock()
        self._is_tidied = False
        bus.subscribe(ServerStateChanged, self._on_state_changed)

    def keep(self, server: str, line: str) -> None:
        """Queues a line that a server wrote, secrets masked; does not wait."""
        self._put(server, OUTPUT, line)

    def problem(self, server: str) -> Problem | None:
        """Returns why the last lines of a server could not be kept."""
        return self._problems.get(server)

    async def flush(self) -> None:
        """Writes the queued lines."""
        async with self._writing:
            if self._timer:
                self._timer.cancel()
                self._timer = None
            waiting, self._waiting, self._waiting_lines = self._waiting, {}, 0
            self._problems |= await finish_in_thread(self._write, waiting) if waiting else {}
        for server in waiting:
            self._bus.publish(LogWritten(f"{SERVER}{server}"))

    async def close(self) -> None:
        await self.flush()

    def _put(self, server: str, kind: str, text: str) -> None:
        if self._waiting_lines >= MAX_WAITING_LINES:
            self._lost[server] = self._lost.get(server, 0) + 1
            return
        if lost := self._lost.pop(server, 0):
            self._put(server, OUTPUT, f"({lost} lines left out: the disk was too slow)")
        self._waiting.setdefault(server, []).append((self._clock(), kind, text))
        self._waiting_lines += 1
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(WRITE_EVERY_S, self._on_due)

    def _on_due(self) -> None:
        self._spawn(self.flush(), name="write servers' logs")

    def _write(self, waiting: dict[str, list[Line]]) -> dict[str, Problem]:
        """Writes lines, in a thread; returns the problem of each server whose lines could not be kept."""
        if not self._is_tidied:
            self._is_tidied = True
            self.files.remove_old()
        problems: dict[str, Problem] = {}
        for server, lines in waiting.items():
            text = "".join(server_line(*line) for line in lines)
            try:
                self.files.append(server, text.encode(errors="replace"))
                self._problems.pop(server, None)
            except OSError as error:
                problems[server] = Problem(Phrase("The log is not kept on disk"), cannot_read(error).message)
        return problems

    def _on_state_changed(self, event: ServerStateChanged) -> None:
        server, state = event.server, event.server.shown_state
        before = self._states.get(server.name)
        if server.is_builtin or state in NOT_MARKED or state is before:
            return
        self._states[server.name] = state
        if before is None and state in IDLE:
            return
        why = f" {server.problem}" if server.problem else ""
        self._put(server.name, MARK, f"{state.value}{why}")
