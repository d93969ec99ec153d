"""One running copy of a server: its start, its restarts, its end.

Above it: ManagedServer. Below it: McpClient, whose owner task lives here. Knows nothing of eras but which one it is to open, and nothing of
other copies.
"""

import asyncio
import contextlib
import logging
import shlex
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from msgspec import Raw

from tooltray.errors import Problem, TooltrayError
from tooltray.phrases import Phrase
from tooltray.presenter.caller import Session
from tooltray.presenter.handshake import DISCOVER_TIMEOUT_S, EraRefused
from tooltray.presenter.mcp_client import AskPerson, McpClient
from tooltray.presenter.start_gate import StartGate
from tooltray.presenter.usage import Usage
from tooltray.servers.transport import CannotStart, Transport
from tooltray.snapshots.servers import ServerState
from tooltray.tasks import Spawn
from tooltray.wire.deadlines import DeadlineWheel
from tooltray.wire.eras import Era

logger = logging.getLogger(__name__)
RESTART_AFTER_S = (1.0, 2.0, 4.0)  # three failures in a row; then somebody has to act
HEALTHY_AFTER_S = 60.0  # a copy that ran this long starts counting anew
START_LIMIT_S = 300.0  # from the first attempt to reach it to its greeting; npx and uvx may have to download the server first
EXPIRY_AFTER_S = 10.0  # a session that ends sooner is a failure, or we would open one after the other
SLOW_AFTER_S = 45.0  # from then on the card says so
REMOTE_RETRY_AFTER_S = (15.0, 30.0, 60.0, 120.0, 300.0)  # a server elsewhere comes back by itself; the last pause stays

TRANSITIONS: dict[ServerState, frozenset[ServerState]] = {
    ServerState.ON_DEMAND: frozenset({ServerState.STARTING, ServerState.INSTALLING, ServerState.STOPPED, ServerState.WAITING}),
    ServerState.WAITING: frozenset({ServerState.STARTING, ServerState.INSTALLING, ServerState.STOPPED, ServerState.ON_DEMAND}),
    ServerState.STOPPED: frozenset({ServerState.STARTING, ServerState.INSTALLING, ServerState.ON_DEMAND, ServerState.WAITING}),
    ServerState.STARTING: frozenset(
        {ServerState.RUNNING, ServerState.RESTARTING, ServerState.NEEDS_SIGN_IN, ServerState.ERROR, ServerState.STOPPING}
    ),
    ServerState.INSTALLING: frozenset({ServerState.RUNNING, ServerState.RESTARTING, ServerState.ERROR, ServerState.STOPPING}),
    ServerState.RUNNING: frozenset({ServerState.RESTARTING, ServerState.NEEDS_SIGN_IN, ServerState.ERROR, ServerState.STOPPING}),
    ServerState.RESTARTING: frozenset({ServerState.STARTING, ServerState.INSTALLING, ServerState.ERROR, ServerState.STOPPING}),
    ServerState.STOPPING: frozenset({ServerState.STOPPED, ServerState.ON_DEMAND, ServerState.WAITING}),
    ServerState.NEEDS_SIGN_IN: frozenset({ServerState.STARTING, ServerState.STOPPING, ServerState.STOPPED, ServerState.ON_DEMAND}),
    ServerState.ERROR: frozenset(
        {ServerState.STARTING, ServerState.INSTALLING, ServerState.STOPPING, ServerState.STOPPED, ServerState.ON_DEMAND}
    ),
}


@dataclass(frozen=True)
class Patience:
    """How long a server is waited for, and how often it is tried again; all in seconds.

    Attributes:
        restart_after_s: one pause per restart in a row.
        healthy_after_s: a copy that ran this long starts counting anew.
        expiry_after_s: a server elsewhere that forgets our session is opened anew at once, unless it does so sooner than this.
        start_limit_s: from the first attempt to reach it to its greeting.
        slow_after_s: a start that takes longer is called slow.
        remote_retry_after_s: the pauses after which a server elsewhere is tried again in the background; the last one stays.
        discover_timeout_s: after which a server counts as silent to the modern greeting.
    """

    restart_after_s: tuple[float, ...] = RESTART_AFTER_S
    healthy_after_s: float = HEALTHY_AFTER_S
    expiry_after_s: float = EXPIRY_AFTER_S
    start_limit_s: float = START_LIMIT_S
    slow_after_s: float = SLOW_AFTER_S
    remote_retry_after_s: tuple[float, ...] = REMOTE_RETRY_AFTER_S
    discover_timeout_s: float = DISCOVER_TIMEOUT_S


def not_running(server: str, problem: Problem) -> TooltrayError:
    """What somebody is told who wants a server that did not start."""
    title = Phrase("server '{name}' is not running: {why}", name=server, why=problem.title)
    return TooltrayError(title, problem.message, problem.hint)


class Instance:
    """Methods may be called from any task of the loop; `start` and `stop` as often as one likes.

    The owner task runs it: there is never more than one, so there is never more than one process.
    """

    def __init__(
        self,
        *,
        name: str,
        wants: Era,
        make_transport: Callable[[], Awaitable[Transport]],
        deadlines: DeadlineWheel,
        spawn: Spawn,
        gate: StartGate,
        patience: Patience,
        is_launcher: bool,
        is_remote: bool = False,
        owner: Session | None = None,
        is_isolated: bool = False,
        ask_person: AskPerson | None = None,
        mask: Callable[[str], str] = str,
        usage: Usage | None = None,
        is_known_legacy: Callable[[], bool],
        is_first_start: Callable[[], bool],
        on_changed: Callable[["Instance"], None],
        on_notification: Callable[["Instance", str, Raw], None],
    ) -> None:
        """
        Args:
            make_transport: resolves the settings into a transport; may raise TooltrayError.
            is_launcher: the command downloads what it starts.
            is_remote: it runs elsewhere, and is tried again in the background however often it fails.
            owner, is_isolated, ask_person: see McpClient.
            mask: takes secrets out of a text: a server may repeat them in its errors.
            usage: notes who uses it; None: one of its own.
            is_known_legacy: whether the server spoke the legacy era alone when it last ran.
            is_first_start: whether the server was never seen running: then a launcher is said to be installing it.
            on_changed: told of every change of state.
        """
        self.name, self.wants = name, wants
        self._make_transport, self._deadlines, self._spawn, self._gate = make_transport, deadlines, spawn, gate
        self._patience = patience
        self._is_launcher, self._is_known_legacy, self._is_first_start = is_launcher, is_known_legacy, is_first_start
        self._is_remote, self.owner, self._is_isolated, self._ask_person = is_remote, owner, is_isolated, ask_person
        self._on_changed, self._on_notification, self._mask = on_changed, on_notification, mask
        self.usage = usage or Usage()
        self.state, self.since = ServerState.STOPPED, time.time()
        self.problem: Problem | None = None
        self.detail = ""
        self._client: McpClient | None = None  # while it runs
        self._opening: McpClient | None = None
        self.exit_code: int | None = None  # of the last process
        self.is_refused = False  # the server does not speak the era it was to be opened in
        self._sign_in: Problem | None = None  # why the connection was given up, where a person has to sign in
        self._owner: asyncio.Task[None] | None = None
        self._starts_again = False  # as soon as the owner has ended
        self._then = ServerState.STOPPED  # after STOPPING
        self._failures = 0  # in a row
        self._is_given_up = self._is_pausing = False
        self._settled = asyncio.Event()  # not on its way to running

    @property
    def client(self) -> McpClient | None:
        """The connection, while it is one and is not about to be ended."""
        client = self._client
        is_over = client is None or client.dispatcher.closed.is_set() or self.state is ServerState.STOPPING
        return None if is_over else client

    @property
    def pids(self) -> tuple[int, ...]:
        client = self._client or self._opening
        return client.transport.pids if client else ()

    def start(self) -> None:
        """Begins to run; `running` waits for it. While its process is being ended, it begins right after."""
        if self._owner is None:
            self._begin()
        elif self.state in (ServerState.STOPPING, ServerState.ERROR, ServerState.NEEDS_SIGN_IN):
            self._starts_again = True
            self._settled.clear()
            if self._is_pausing:
                self._owner.cancel()

    def require_sign_in(self, problem: Problem) -> None:
        """Gives up the connection, if it is one or is being opened, until a person has signed in."""
        if client := self._client or self._opening:
            self._sign_in = problem
            client.dispatcher.connection_lost(str(problem), requests_stay=client is self._client)  # some were let in before

    def rest(self, state: ServerState) -> None:
        """While nothing runs: whether it is stopped, or waits for its first use."""
        self._then = state
        if self.state in (ServerState.STOPPED, ServerState.ON_DEMAND, ServerState.WAITING) and self.state is not state:
            self._change(state)

    async def stop(self, *, then: ServerState = ServerState.STOPPED) -> None:
        """Ends the process; bounded. `then` is the state afterwards: stopped by somebody, or on demand."""
        if owner := self.begin_stop(then=then):
            await asyncio.wait({owner})

    def begin_stop(self, *, then: ServerState) -> "asyncio.Task[None] | None":
        """The same without waiting: from now on there is no connection, and who wants one waits for the next process.

        Returns:
            What ends with the process; None if there is none.
        """
        self._starts_again, self._then = False, then
        if self._owner is None:
            if self.state is not then:
                self._change(then)
        elif self.state is not ServerState.STOPPING:
            self._change(ServerState.STOPPING)
            self._owner.cancel()
        return self._owner

    async def running(self, *, timeout_s: float) -> McpClient:
        """The connection, started if need be.

        Raises:
            TooltrayError: it is not running after `timeout_s`; says why.
        """
        if client := self.client:
            return client
        self.start()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                while self._is_to_be_waited_for:  # it may have died again before we were woken
                    await (asyncio.sleep(0) if self._client else self._settled.wait())
        if client := self.client:
            return client
        if self.problem:
            raise not_running(self.name, self.problem)
        why = self.detail or Phrase("it is {state}", state=self.state.value)
        raise TooltrayError(Phrase("server '{name}' is not running", name=self.name), why, Phrase("Try again in a moment."))

    @property
    def _is_to_be_waited_for(self) -> bool:
        is_just_lost = self._client is not None  # and its owner has not been told yet
        return self.client is None and (is_just_lost or self.is_busy or self._starts_again)

    @property
    def is_stopped(self) -> bool:
        """Whether somebody stopped it, or is just doing so."""
        state = self._then if self.state is ServerState.STOPPING else self.state
        return state is ServerState.STOPPED

    @property
    def is_at_rest(self) -> bool:
        """Whether it has no process, and is not about to have one."""
        return self._owner is None

    @property
    def is_busy(self) -> bool:
        """Whether it is on its way to running."""
        return self.state in (ServerState.STARTING, ServerState.INSTALLING, ServerState.RESTARTING)

    def _begin(self) -> None:
        self._starts_again = self.is_refused = self._is_given_up = False
        self._failures = 0
        self._owner = self._spawn(self._own(), name=f"owner of '{self.name}' ({self.wants.value})")
        self._owner.add_done_callback(self._on_ended)
        self._change(self._starting_state())

    def _on_ended(self, owner: asyncio.Task[None]) -> None:
        """Not left to whoever stops it, who may be cancelled, nor to the owner, which may be cancelled before its first step."""
        self._owner = None
        if self.state is ServerState.STOPPING:
            self._change(self._then)
        if self._starts_again:
            self._begin()

    async def _own(self) -> None:
        try:
            await self._run_once()
            while not self._is_given_up:
                await self._pause()
                self._change(self._starting_state())
                await self._run_once()
        except Exception:  # a bug of ours: the card says so, and calls do not wait for ever
            logger.exception("running '%s' failed", self.name)
            if self.state not in (ServerState.STOPPING, ServerState.ERROR, ServerState.NEEDS_SIGN_IN):
                title = Phrase("'{name}' could not be run", name=self.name)
                self._give_up(Problem(title, Phrase("an internal error; the log has the details")))

    async def _pause(self) -> None:
        self._is_pausing = True
        try:
            await asyncio.sleep(self._pause_s)
        finally:
            self._is_pausing = False

    @property
    def _pause_s(self) -> float:
        """Before the next attempt, which the failures so far call for."""
        quick, slow = self._patience.restart_after_s, self._patience.remote_retry_after_s
        if self._failures <= len(quick):
            return quick[self._failures - 1] if self._failures else 0.0
        return slow[min(self._failures - len(quick), len(slow)) - 1]

    async def _run_once(self) -> None:
        """Runs the server until it ends; leaves the state RESTARTING, NEEDS_SIGN_IN or ERROR."""
        client: McpClient | None = None
        self._sign_in = None
        reason: str = Phrase("server '{name}' was stopped", name=self.name)
        slow = asyncio.get_running_loop().call_later(self._patience.slow_after_s, self._on_slow)
        try:
            async with self._gate.passage():
                transport = await self._make_transport()
                client = self._opening = self._new_client(transport)
                await client.open(timeout_s=self._patience.start_limit_s)
            slow.cancel()
            self._client = client
            self.usage.note()
            running_since = time.monotonic()
            self._change(ServerState.RUNNING)
            reason = await client.lost()
            lived_s = time.monotonic() - running_since
            if lived_s >= self._patience.healthy_after_s:
                self._failures = 0
            if client.transport.has_expired and lived_s >= self._patience.expiry_after_s:
                self._failures = 0
                self._change(ServerState.RESTARTING, detail=Phrase("Its session has expired; opens a new one"))
            else:
                hint = Phrase("See its log: {command}", command=self._log_command)
                self._failed(Problem(Phrase("'{name}' ended", name=self.name), reason, hint))
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
            said = Phrase("no greeting within {seconds} s", seconds=f"{self._patience.start_limit_s:g}")
            hint = Phrase("See its log; it may be no MCP server: {command}", command=self._log_command)
            self._failed(Problem(Phrase("'{name}' did not answer", name=self.name), said, hint))
        finally:
            slow.cancel()
            self._client = self._opening = None
            if client is not None:
                await self._end(client, reason)

    @property
    def _log_command(self) -> str:
        return f"tooltray servers logs {shlex.quote(self.name)}"

    def _on_slow(self) -> None:
        """It may still come; a person who waits for it is told."""
        self.detail = Phrase("Slow: no answer for {seconds} s", seconds=f"{self._patience.slow_after_s:g}")
        self._on_changed(self)

    async def _end(self, client: McpClient, reason: str) -> None:
        """Ends the process to the last step, also when the owner is told to stop meanwhile: what is half ended outlives the hub."""
        ending = self._spawn(client.close(reason), name=f"end '{self.name}'")
        try:
            await asyncio.shield(ending)
        except asyncio.CancelledError:
            await asyncio.wait({ending})
            raise
        finally:
            self.exit_code = client.transport.exit_code

    def _failed(self, problem: Problem) -> None:
        self._failures += 1
        self._client = None
        if self._sign_in:
            self._is_given_up = True
            self._change(ServerState.NEEDS_SIGN_IN, problem=self._sign_in)
        elif self._failures <= len(self._patience.restart_after_s):
            detail = Phrase("Starts again in {seconds} s", seconds=f"{self._pause_s:g}")
            self._change(ServerState.RESTARTING, problem=problem, detail=detail)
        elif self._is_remote:
            detail = Phrase("Is tried again every {seconds} s", seconds=f"{self._pause_s:g}")
            self._change(ServerState.ERROR, problem=problem, detail=detail)
        else:
            self._give_up(problem)

    def _give_up(self, problem: Problem) -> None:
        self._is_given_up, self._client = True, None
        self._change(ServerState.ERROR, problem=problem)

    def _starting_state(self) -> ServerState:
        return ServerState.INSTALLING if self._is_launcher and self._is_first_start() else ServerState.STARTING

    def _new_client(self, transport: Transport) -> McpClient:
        return McpClient(
            name=self.name,
            transport=transport,
            deadlines=self._deadlines,
            wants=self.wants,
            is_known_legacy=self._is_known_legacy(),
            discover_timeout_s=self._patience.discover_timeout_s,
            owner=self.owner,
            is_isolated=self._is_isolated,
            ask_person=self._ask_person,
            usage=self.usage,
            on_notification=lambda client, method, params: self._on_notification(self, method, params),
        )

    def _change(self, state: ServerState, *, problem: Problem | None = None, detail: str = "") -> None:
        assert state in TRANSITIONS[self.state], f"{self.name}: {self.state} -> {state}"
        self.state, self.since, self.detail = state, time.time(), detail
        self.problem = replace(problem, message=self._mask(problem.message)) if problem else None
        if self.is_busy:
            self._settled.clear()
        else:
            self._settled.set()
        self._on_changed(self)
