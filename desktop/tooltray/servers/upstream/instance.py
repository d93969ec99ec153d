"""One instance of a server, a process or a connection: its start, its restarts, its end. It knows its own era, and no other instance."""

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.moments import Moment
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.protocol.declarations import Declarations
from tooltray.protocol.eras import Era
from tooltray.protocol.sessions.caller import Session
from tooltray.servers.launch.program_launch import CannotStart
from tooltray.servers.transports.transport import ConnectionFailure, Transport
from tooltray.servers.upstream.handshake import EndedAtProbe, EraRefused, GreetingPlan, OpeningFailed
from tooltray.servers.upstream.idle_stop import Usage
from tooltray.servers.upstream.mcp_client import Audience, McpClient
from tooltray.servers.upstream.server_states import STARTS, TRANSITIONS
from tooltray.servers.upstream.start_watch import StartWatch
from tooltray.servers.upstream.upstream_services import UpstreamServices

logger = logging.getLogger(__name__)


class Failure(msgspec.Struct, frozen=True):
    """A start that failed, or an end that was not requested.

    Attributes:
        is_start: the instance did not start; else it ran and has ended.
        attempt: which failure in a row this is, from 1.
        exit_code: the exit code of the process; None if the process had not exited on its own, or there was no process.
    """

    problem: Problem
    is_start: bool
    attempt: int
    exit_code: int | None


def not_running(server: str, problem: Problem) -> TooltrayError:
    """Returns the error for a caller that wants a server that did not start."""
    title = Phrase("server '{name}' is not running: {why}", name=server, why=problem.title)
    return TooltrayError(title, problem.message, problem.hint)


def _may_be_legacy(failure: ConnectionFailure | None) -> bool:
    """Reports whether a server that ended at the modern greeting may only not have known the greeting: its end has no other cause."""
    if failure is None:
        return True
    return bool(failure.how) and not (failure.is_lasting and failure.words)


class Program(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """The program or connection that an instance runs.

    Attributes:
        make_transport: resolves the settings into a transport; may raise TooltrayError.
        is_launcher: the command may have to download what it starts.
        start_timeout_s: how many seconds the server may be silent before its first answer; None: the limit of all servers.
        is_remote: the server is reached by a URL, and is tried again in the background however often it fails.
        is_isolated: every AI client has an instance of its own.
        is_known_legacy: whether the server spoke only the legacy era when it last ran.
        only_era: the only era that the server's settings allow; None: any era that the server speaks.
        is_first_start: whether the server was never seen running: then a launcher is shown as installing it.
    """

    name: str
    make_transport: Callable[[], Awaitable[Transport]]
    is_launcher: bool = False
    start_timeout_s: float | None = None
    is_remote: bool = False
    is_isolated: bool = False
    is_known_legacy: Callable[[], bool]
    only_era: Era | None = None
    is_first_start: Callable[[], bool]


class Instance:
    """One instance of a server. Methods may be called from any task of the loop, `start` and `stop` any number of times.

    The owner task runs it: there is never more than one owner, so there is never more than one process.
    """

    def __init__(
        self,
        *,
        program: Program,
        wants: Era,
        owner: Session | None = None,
        services: UpstreamServices,
        on_changed: Callable[["Instance"], None],
        on_failed: Callable[["Instance", Failure], None],
        on_notification: Callable[["Instance", str, Raw], None],
    ) -> None:
        """
        Args:
            wants: the era in which to open the server, if the server speaks it.
            owner: the session of the one AI client that the instance is for; None: all share it.
            on_changed: called after every change of state.
            on_failed: called after a failed start or an end that was not requested; not for an era that the server does not speak.
        """
        self.name, self._program, self.wants, self.owner, self._services = program.name, program, wants, owner, services
        self._spawn, self._mask, self._patience = services.spawn, services.mask, services.patience
        self._on_changed, self._on_failed, self._on_notification = on_changed, on_failed, on_notification
        self.usage = Usage(services.idle_clock)
        self.state = ServerState.STOPPED
        self._since: Moment | None = Moment()  # None: unknown
        self.problem: Problem | None = None
        self.detail = ""
        self._client: McpClient | None = None  # while it runs
        self._opening: McpClient | None = None
        self.exit_code: int | None = None  # of the last process
        self.failure: ConnectionFailure | None = None  # why the last connection ended, according to its transport
        self.is_repeated = False  # its error is the one that it had before, with no success between
        self._last_error: Problem | None = None
        self._has_run = False  # since it was last started
        self.is_refused = False  # the server does not speak the era it was to be opened in
        self._has_ended_at_probe = False  # so that it is greeted in the legacy way from then on
        self._sign_in: Problem | None = None  # why the connection was closed, if the user has to sign in
        self._owner: asyncio.Task[None] | None = None
        self._starts_again = False  # as soon as the owner has ended
        self._then = ServerState.STOPPED  # after STOPPING
        self._failures = 0  # in a row
        self._is_reopened = False  # its connection ends to be replaced by the next one
        self._is_given_up = self._is_pausing = False
        self._settled = asyncio.Event()  # not on its way to running

    @property
    def client(self) -> McpClient | None:
        """The connection, while it is open and is not about to be ended."""
        client = self._client
        is_over = client is None or client.dispatcher.is_closed or self.state is ServerState.STOPPING
        return None if is_over else client

    @property
    def since(self) -> float:
        """The time when the state was entered, in unix seconds; 0: unknown."""
        return self._since.unix if self._since else 0.0

    @property
    def pids(self) -> tuple[int, ...]:
        client = self._client or self._opening
        return client.transport.pids if client else ()

    def start(self) -> None:
        """Starts the instance without waiting; `running` waits. While the process is being ended, the next start follows at once."""
        if self._owner is None:
            self._begin()
        elif self.state in (ServerState.STOPPING, ServerState.ERROR, ServerState.NEEDS_SIGN_IN):
            self._starts_again = True
            self._settled.clear()
            if self._is_pausing:
                self._owner.cancel()

    def require_sign_in(self, problem: Problem) -> None:
        """Closes the connection, open or being opened, until the user has signed in."""
        if client := self._client or self._opening:
            self._sign_in = problem
            client.dispatcher.connection_lost(str(problem), requests_stay=client is self._client)  # some were let in before

    def reopen(self, detail: str) -> None:
        """Ends the connection, and its process if any, and opens another connection at once. Only for a connection that is not in use.

        Args:
            detail: the text that is shown meanwhile.
        """
        if client := self.client:
            self._is_reopened = True
            client.dispatcher.connection_lost(detail)

    def rest(self, state: ServerState, *, since: float | None = None) -> None:
        """Sets the idle state while nothing runs: stopped, or waiting for its first use.

        Args:
            since: unix seconds, 0: unknown; None: from now on.
        """
        self._then = state
        if self.state in (ServerState.STOPPED, ServerState.ON_DEMAND, ServerState.WAITING) and self.state is not state:
            self._change(state)
        if since is not None:
            self._since = Moment(since) if since else None

    async def stop(self, *, then: ServerState = ServerState.STOPPED) -> None:
        """Ends the process; bounded. `then` is the state afterwards: stopped by a caller, or on demand."""
        if owner := self.begin_stop(then=then):
            await asyncio.wait({owner})

    def begin_stop(self, *, then: ServerState) -> "asyncio.Task[None] | None":
        """Starts to stop without waiting: from now on no connection is available, and a caller that wants one waits for the next process.

        Returns:
            The task that ends with the process; None if no process runs.
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
        """Returns the connection, started if needed.

        Raises:
            TooltrayError: the instance is not running after `timeout_s`; the error gives the reason.
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
        raise TooltrayError(Phrase("server '{name}' is not running", name=self.name), Phrase("{why}. Try again in a moment", why=why))

    async def settled(self) -> None:
        """Waits until the instance is not on its way to running."""
        if self.is_busy:
            await self._settled.wait()

    @property
    def _is_to_be_waited_for(self) -> bool:
        is_just_lost = self._client is not None  # and its owner does not know yet
        return self.client is None and (is_just_lost or self.is_busy or self._starts_again)

    @property
    def is_stopped(self) -> bool:
        """Reports whether a caller stopped the instance, or is just doing so."""
        state = self._then if self.state is ServerState.STOPPING else self.state
        return state is ServerState.STOPPED

    @property
    def is_at_rest(self) -> bool:
        """Reports whether the instance has no process, and is not about to have one."""
        return self._owner is None

    @property
    def is_busy(self) -> bool:
        """Reports whether the instance is on its way to running."""
        return self.state in (ServerState.STARTING, ServerState.INSTALLING, ServerState.RESTARTING)

    def _begin(self) -> None:
        self._starts_again = self.is_refused = self._has_ended_at_probe = self._is_given_up = self._has_run = False
        self._failures, self._last_error = 0, None
        self._owner = self._spawn(self._own(), name=f"owner of '{self.name}' ({self.wants.value})")
        self._owner.add_done_callback(self._on_ended)
        self._change(self._starting_state())

    def _on_ended(self, owner: asyncio.Task[None]) -> None:
        """Drops the owner. The caller of `stop` may be cancelled, and the owner, too, before its first step: neither can do it."""
        self._owner = None
        if self.state is ServerState.STOPPING:
            self._change(self._then)
        if self._starts_again:
            self._begin()

    async def _own(self) -> None:
        try:
            await self._run_once()
            while not self._is_given_up and not self._starts_again:  # else the next owner starts it, without a pause
                if self.state not in STARTS:
                    await self._pause()
                    self._change(self._starting_state())
                await self._run_once()
        except Exception:  # a bug of ours: the card shows it, and calls do not wait for ever
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
        """The pause before the next attempt, in seconds, which grows with the failures so far."""
        quick, slow = self._patience.restart_after_s, self._patience.remote_retry_after_s
        if self._failures <= len(quick):
            return quick[self._failures - 1] if self._failures else 0.0
        return slow[min(self._failures - len(quick), len(slow)) - 1]

    async def _run_once(self) -> None:
        """Runs the server until it ends. Leaves RESTARTING, NEEDS_SIGN_IN or ERROR as the state; a starting one if it is to run at once."""
        client: McpClient | None = None
        self._sign_in = None
        reason: str = Phrase("server '{name}' was stopped", name=self.name)
        slow = asyncio.get_running_loop().call_later(self._patience.slow_after_s, self._on_slow)
        try:
            async with self._services.gate.passage():
                transport = await self._program.make_transport()
                client = self._opening = self._new_client(transport)
                await self._open(client)
            slow.cancel()
            self._client = client
            self.usage.note()
            running_since = time.monotonic()
            self._has_run = True
            self._change(ServerState.RUNNING)
            reason = await client.lost()
            lived_s = time.monotonic() - running_since
            if lived_s >= self._patience.healthy_after_s:
                self._failures = 0
            if ended := reason if self._is_reopened else client.orderly_end(is_old=lived_s >= self._patience.expiry_after_s):
                self._is_reopened, self._failures = False, 0
                self._change(ServerState.RESTARTING, detail=ended)
            else:
                self._failed(self._lost_problem(client, reason))
        except EraRefused as error:
            self.is_refused = True
            self._give_up(error.problem)
        except CannotStart as error:
            self._cannot_start(error.problem)
        except TooltrayError as error:
            if client is None:  # its settings: a variable or a secret is missing
                self._cannot_start(error.problem)
            else:
                self._opening_failed(client, error)
        except TimeoutError:
            message = Phrase("No answer within {seconds} s", seconds=f"{self._patience.start_limit_s:g}")
            hint = Phrase("It may be no MCP server; its log may say more.")
            self._failed(Problem(Phrase("'{name}' did not answer", name=self.name), message, hint))
        finally:
            slow.cancel()
            self._client = self._opening = None
            if client is not None:
                await self._end(client, reason)

    async def _open(self, client: McpClient) -> None:
        """
        Raises:
            CannotStart: by its behaviour the program cannot be a server. Also raises the errors of `McpClient.open`.
        """
        self.failure = None
        patience, name, downloads, given_s = self._patience, self.name, self._program.is_launcher, self._program.start_timeout_s
        limits = replace(patience.start, silent_s=given_s or patience.start.silent_s)
        watch = StartWatch(name=name, watched=client, limits=limits, downloads=downloads, on_progress=self._on_progress)
        limit = asyncio.timeout(None)
        watching = self._spawn(watch.run(limit), name=f"start of '{self.name}'")
        try:
            async with limit:
                await client.open(timeout_s=max(patience.start_limit_s, given_s or 0.0))
        except TimeoutError:
            if (verdict := watch.verdict) is None:
                raise
            is_new = self._program.is_first_start() and not self._program.is_remote  # a server that has run before may only be slow today
            raise (CannotStart if is_new else TooltrayError)(verdict.title, verdict.message, verdict.hint) from None
        finally:
            watching.cancel()

    def _on_progress(self, words: str) -> None:
        self.detail = words
        self._on_changed(self)

    def _opening_failed(self, client: McpClient, error: TooltrayError) -> None:
        """Handles an error after the server was started or reached; the transport may know more about the cause than the protocol."""
        self.failure = failure = client.transport.failure
        if isinstance(error, EndedAtProbe) and not self._has_ended_at_probe and not self._sign_in and _may_be_legacy(failure):
            logger.info("'%s' ended before it answered server/discover and is greeted in the legacy way", self.name)
            self._has_ended_at_probe = True
            return
        if failure is None:
            self._failed(error.problem)
            return
        words = error.words if isinstance(error, OpeningFailed) else str(error)
        problem = replace(failure.problem, message=failure.problem.message or words)
        if failure.is_lasting and not self._sign_in:
            self._give_up(problem)
        else:
            self._failed(problem)

    def _lost_problem(self, client: McpClient, reason: str) -> Problem:
        """Returns why a server that ran does not run any more."""
        self.failure = failure = client.transport.failure
        if self._program.is_remote and failure:
            return failure.problem
        if failure and failure.words:
            return Problem(Phrase("'{name}' ended: {words}", name=self.name, words=failure.words), failure.how)
        return Problem(Phrase("'{name}' ended", name=self.name), failure.how if failure else reason)

    def _on_slow(self) -> None:
        """Shows on the card that the start is slow; the server may still answer."""
        self.detail = Phrase("Slow: no answer for {seconds} s", seconds=f"{self._patience.slow_after_s:g}")
        self._on_changed(self)

    async def _end(self, client: McpClient, reason: str) -> None:
        """Ends the process to the last step, also when the owner is cancelled meanwhile: a half-ended process would outlive Tooltray."""
        ending = self._spawn(client.close(reason), name=f"end '{self.name}'")
        try:
            await asyncio.shield(ending)
        except asyncio.CancelledError:
            await asyncio.wait({ending})
            raise
        finally:
            self.exit_code = client.transport.exit_code

    def _cannot_start(self, problem: Problem) -> None:
        """Reports a failure that another attempt would not cure, and gives up."""
        self._failures += 1
        self._report_failure(problem)
        self._give_up(problem)

    def _failed(self, problem: Problem) -> None:
        self._failures += 1
        if self._sign_in is None:
            self._report_failure(problem)
        self._client = None
        if self._sign_in:
            self._is_given_up = True
            self._change(ServerState.NEEDS_SIGN_IN, problem=self._sign_in)
        elif self._failures <= len(self._patience.restart_after_s) and (self._has_run or not self._program.is_remote):
            detail = Phrase("Starts again in {seconds} s", seconds=f"{self._pause_s:g}")
            self._change(ServerState.RESTARTING, problem=problem, detail=detail)
        elif self._program.is_remote:
            self._change(ServerState.ERROR, problem=problem, detail=Phrase("Next try in {seconds} s", seconds=f"{self._pause_s:g}"))
        else:
            self._give_up(problem)

    def _report_failure(self, problem: Problem) -> None:
        client = self._client or self._opening
        exit_code = client.transport.exit_code if client else None
        masked = replace(problem, message=self._mask(problem.message))
        self._on_failed(self, Failure(masked, self._client is None, self._failures, exit_code))

    def _give_up(self, problem: Problem) -> None:
        self._is_given_up, self._client = True, None
        self._change(ServerState.ERROR, problem=problem)

    def _starting_state(self) -> ServerState:
        return ServerState.INSTALLING if self._program.is_launcher and self._program.is_first_start() else ServerState.STARTING

    def _new_client(self, transport: Transport) -> McpClient:
        client = McpClient(
            name=self.name,
            transport=transport,
            deadlines=self._services.deadlines,
            plan=GreetingPlan(
                self.wants,
                is_known_legacy=self._has_ended_at_probe or self._program.is_known_legacy(),
                only=self._program.only_era,
                discover_timeout_s=self._patience.discover_timeout_s,
            ),
            audience=Audience(
                owner=self.owner,
                is_isolated=self._program.is_isolated,
                ask_person=self._services.ask_person,
                of_task=self._services.of_task,
                declared=self._declared,
                is_person_there=self._services.is_person_there,
                on_question=self._services.bus.publish,
            ),
            usage=self.usage,
            on_notification=lambda client, method, params: self._on_notification(self, method, params),
        )
        client.dispatcher.tap = self._services.tap(self.name)
        return client

    def _declared(self) -> Declarations:
        """Returns the extensions of the one AI client that owns the instance, or of all that share it."""
        return self.owner.state.declared if self.owner else self._services.declared()

    def _masked(self, text: str) -> str:
        """Returns a text without secrets; a text that has none keeps its phrase."""
        masked = self._mask(text)
        return text if masked == text else masked

    def _change(self, state: ServerState, *, problem: Problem | None = None, detail: str = "") -> None:
        assert state in TRANSITIONS[self.state], f"{self.name}: {self.state} -> {state}"
        self.state, self._since, self.detail = state, Moment(), detail
        self.problem = replace(problem, title=self._masked(problem.title), message=self._masked(problem.message)) if problem else None
        if state in (ServerState.RUNNING, ServerState.ERROR):
            self.is_repeated = self.problem is not None and self.problem == self._last_error
            self._last_error = self.problem
        if self.is_busy:
            self._settled.clear()
        else:
            self._settled.set()
        self._on_changed(self)
