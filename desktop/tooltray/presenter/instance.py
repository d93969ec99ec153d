"""One running copy of a server: its start, its restarts, its end.

Above it: ManagedServer. Below it: McpClient, whose owner task lives here. Knows nothing of eras but which one it is to open, and nothing of
other copies.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable

from msgspec import Raw

from tooltray.errors import Problem, TooltrayError
from tooltray.events import ServerState
from tooltray.presenter.handshake import EraRefused
from tooltray.presenter.mcp_client import McpClient
from tooltray.presenter.start_gate import StartGate
from tooltray.servers.transport import CannotStart, Transport
from tooltray.tasks import Spawn
from tooltray.wire.deadlines import DeadlineWheel
from tooltray.wire.eras import Era

logger = logging.getLogger(__name__)
RESTART_AFTER_S = (1.0, 2.0, 4.0)  # three failures in a row; then somebody has to act
HEALTHY_AFTER_S = 60.0  # a copy that ran this long starts counting anew
START_LIMIT_S = 60.0  # from the process's start to its greeting
LAUNCHER_START_LIMIT_S = 300.0  # npx and uvx may have to download the server first

TRANSITIONS: dict[ServerState, frozenset[ServerState]] = {
    ServerState.ON_DEMAND: frozenset({ServerState.STARTING, ServerState.INSTALLING, ServerState.STOPPED}),
    ServerState.STOPPED: frozenset({ServerState.STARTING, ServerState.INSTALLING, ServerState.ON_DEMAND}),
    ServerState.STARTING: frozenset({ServerState.RUNNING, ServerState.RESTARTING, ServerState.ERROR, ServerState.STOPPING}),
    ServerState.INSTALLING: frozenset({ServerState.RUNNING, ServerState.RESTARTING, ServerState.ERROR, ServerState.STOPPING}),
    ServerState.RUNNING: frozenset({ServerState.RESTARTING, ServerState.ERROR, ServerState.STOPPING}),
    ServerState.RESTARTING: frozenset({ServerState.STARTING, ServerState.INSTALLING, ServerState.STOPPING}),
    ServerState.STOPPING: frozenset({ServerState.STOPPED, ServerState.ON_DEMAND}),
    ServerState.ERROR: frozenset({ServerState.STARTING, ServerState.INSTALLING, ServerState.STOPPED, ServerState.ON_DEMAND}),
}


class Instance:
    """Methods may be called from any task of the loop; `start` and `stop` as often as one likes."""

    def __init__(
        self,
        *,
        name: str,
        wants: Era,
        make_transport: Callable[[], Awaitable[Transport]],
        deadlines: DeadlineWheel,
        spawn: Spawn,
        gate: StartGate,
        is_launcher: bool,
        is_first_start: Callable[[], bool],
        on_changed: Callable[["Instance"], None],
        on_notification: Callable[["Instance", str, Raw], None],
    ) -> None:
        """
        Args:
            make_transport: resolves the settings into a transport; may raise TooltrayError.
            is_launcher: the command downloads what it starts, so it gets more time.
            is_first_start: whether the server was never seen running: then a launcher is said to be installing it.
            on_changed: told of every change of state.
        """
        self.name, self.wants = name, wants
        self._make_transport, self._deadlines, self._spawn, self._gate = make_transport, deadlines, spawn, gate
        self._is_launcher, self._is_first_start = is_launcher, is_first_start
        self._on_changed, self._on_notification = on_changed, on_notification
        self.state, self.since = ServerState.STOPPED, time.time()
        self.problem: Problem | None = None
        self.detail = ""
        self.client: McpClient | None = None  # while it runs
        self._opening: McpClient | None = None
        self.exit_code: int | None = None  # of the last process
        self.is_refused = False  # the server does not speak the era it was to be opened in
        self._owner: asyncio.Task[None] | None = None
        self._failures = 0  # in a row
        self._settled = asyncio.Event()  # not on its way to running

    @property
    def pids(self) -> tuple[int, ...]:
        client = self.client or self._opening
        return client.transport.pids if client else ()

    def start(self) -> None:
        """Begins to run; `running` waits for it."""
        if self._owner is None and self.state is not ServerState.STOPPING:
            self.is_refused, self._failures = False, 0
            self._change(self._starting_state())
            self._owner = self._spawn(self._own(), name=f"owner of '{self.name}' ({self.wants.value})")

    def rest(self, state: ServerState) -> None:
        """While nothing runs: whether it is stopped, or waits for its first use."""
        if self._owner is None and self.state in (ServerState.STOPPED, ServerState.ON_DEMAND) and self.state is not state:
            self._change(state)

    async def stop(self, *, then: ServerState = ServerState.STOPPED) -> None:
        """Ends the process; bounded. `then` is the state afterwards: stopped by somebody, or on demand."""
        owner = self._owner
        if owner is not None and self.state is not ServerState.STOPPING:
            self._change(ServerState.STOPPING)
            owner.cancel()
        if owner is not None:
            await asyncio.wait({owner})
        if self.state is not then:
            self._change(then)

    async def running(self, *, timeout_s: float) -> McpClient:
        """The connection, started if need be.

        Raises:
            TooltrayError: it is not running after `timeout_s`; says why.
        """
        if self.client:
            return self.client
        self.start()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await self._settled.wait()
        if self.client:
            return self.client
        if self.problem:
            raise TooltrayError(f"server '{self.name}' is not running: {self.problem.title}", self.problem.message, self.problem.hint)
        raise TooltrayError(f"server '{self.name}' is not running", self.detail or f"it is {self.state.value}", "Try again in a moment.")

    @property
    def is_busy(self) -> bool:
        """Whether it is on its way to running."""
        return self.state in (ServerState.STARTING, ServerState.INSTALLING, ServerState.RESTARTING)

    async def _own(self) -> None:
        try:
            await self._run_once()
            while self.state is ServerState.RESTARTING:
                await asyncio.sleep(RESTART_AFTER_S[self._failures - 1])
                self._change(self._starting_state())
                await self._run_once()
        except Exception:  # a bug of ours: the card says so, and calls do not wait for ever
            logger.exception("running '%s' failed", self.name)
            self._give_up(Problem(f"'{self.name}' could not be run", "an internal error; the log has the details"))
        finally:
            self._owner = None

    async def _run_once(self) -> None:
        """Runs the server until it ends; leaves the state RESTARTING or ERROR."""
        client: McpClient | None = None
        reason = "the hub has stopped the server"
        started_at = time.monotonic()
        try:
            async with self._gate.passage():
                transport = await self._make_transport()
                client = self._opening = self._new_client(transport)
                await client.open(timeout_s=self._start_limit_s)
            self.client = client
            self._change(ServerState.RUNNING)
            reason = await client.lost()
            if time.monotonic() - started_at > HEALTHY_AFTER_S:
                self._failures = 0
            self._failed(Problem(f"'{self.name}' ended", reason, "See its log."))
        except EraRefused as error:
            self.is_refused = True
            self._give_up(error.problem)
        except CannotStart as error:
            self._give_up(error.problem)
        except TooltrayError as error:
            if client is None:  # its settings: a variable or a secret is missing
                self._give_up(error.problem)
            else:
                self._failed(error.problem)
        except TimeoutError:
            said = f"no greeting within {self._start_limit_s:g} s"
            self._failed(Problem(f"'{self.name}' did not answer", said, "See its log; it may be no MCP server."))
        finally:
            self.client = self._opening = None
            if client is not None:
                await client.close(reason)
                self.exit_code = client.transport.exit_code

    def _failed(self, problem: Problem) -> None:
        self._failures += 1
        if self._failures > len(RESTART_AFTER_S):
            self._give_up(problem)
            return
        self.client = None
        self._change(ServerState.RESTARTING, problem=problem, detail=f"Starts again in {RESTART_AFTER_S[self._failures - 1]:g} s")

    def _give_up(self, problem: Problem) -> None:
        self.client = None
        self._change(ServerState.ERROR, problem=problem)

    def _starting_state(self) -> ServerState:
        return ServerState.INSTALLING if self._is_launcher and self._is_first_start() else ServerState.STARTING

    @property
    def _start_limit_s(self) -> float:
        return LAUNCHER_START_LIMIT_S if self._is_launcher else START_LIMIT_S

    def _new_client(self, transport: Transport) -> McpClient:
        return McpClient(
            name=self.name,
            transport=transport,
            deadlines=self._deadlines,
            wants=self.wants,
            on_notification=lambda client, method, params: self._on_notification(self, method, params),
        )

    def _change(self, state: ServerState, *, problem: Problem | None = None, detail: str = "") -> None:
        assert state in TRANSITIONS[self.state], f"{self.name}: {self.state} -> {state}"
        self.state, self.since, self.problem, self.detail = state, time.time(), problem, detail
        if self.is_busy:
            self._settled.clear()
        else:
            self._settled.set()
        self._on_changed(self)
