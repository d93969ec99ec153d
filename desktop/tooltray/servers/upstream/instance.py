"""One instance of a server, a process or a connection: its start, its restarts, its end. It knows its own era, and no other instance."""

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.events import KeyringAwaited
from tooltray.foundation.moments import Moment
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.servers import AWAITS_KEYRING, ServerState
from tooltray.protocol.declarations import Declarations
from tooltray.protocol.eras import Era
from tooltray.protocol.sessions.caller import Session
from tooltray.servers.launch.program_launch import CannotStart
from tooltray.servers.transports.transport import ConnectionFailure, Transport
from tooltray.servers.upstream.handshake import EndedAtProbe, EraRefused, GreetingPlan, OpeningFailed
from tooltray.servers.upstream.idle_stop import Usage
from tooltray.servers.upstream.instance_status import IDLE, STARTS, TRANSITIONS, Failure, Program, Status, Tries
from tooltray.servers.upstream.mcp_client import Audience, McpClient
from tooltray.servers.upstream.start_limits import StartWatch
from tooltray.servers.upstream.upstream_services import UpstreamServices

logger = logging.getLogger(__name__)


def not_running(server: str, problem: Problem) -> TooltrayError:
    """Returns the error for a caller that wants a server that did not start."""
    title = Phrase("server '{name}' is not running: {why}", name=server, why=problem.title)
    return TooltrayError(title, problem.message, problem.hint)


def _may_be_legacy(failure: ConnectionFailure | None) -> bool:
    """Reports whether a server that ended at the modern greeting may only not have known the greeting: its end has no other cause."""
    if failure is None:
        return True
    return bool(failure.how) and not (failure.is_lasting and failure.words)


class _Connection(msgspec.Struct):
    """One connection, from the first attempt to open it until it has ended.

    Attributes:
        sign_in: why it was closed, if the user has to sign in.
        is_replaced: it was closed so that another one is opened at once.
    """

    client: McpClient
    sign_in: Problem | None = None
    is_replaced: bool = False


class Instance:
    """One instance of a server. Methods may be called from any task of the loop, `start` and `stop` any number of times.

    The owner task runs it: there is never more than one owner, so there is never more than one process.

    Attributes:
        exit_code: of the last process.
        failure: why the last connection ended, according to its transport.
    """

    def __init__(
        self,
        *,
        program: Callable[[], Program],
        wants: Era,
        owner: Session | None = None,
        services: UpstreamServices,
        on_changed: Callable[["Instance"], None],
        on_failed: Callable[["Instance", Failure], None],
        on_notification: Callable[["Instance", str, Raw], None],
    ) -> None:
        """
        Args:
            program: returns the Program to run, by the present settings; called for each attempt.
            wants: the era in which to open the server, if the server speaks it.
            owner: the session of the one AI client that the instance is for; None: all share it.
            on_changed: called after every change of state.
            on_failed: called after a failed start or an end that was not requested; not for an era that the server does not speak.
        """
        self.name, self._program, self.wants, self.owner, self._services = program().name, program, wants, owner, services
        self._spawn, self._mask, self._patience = services.spawn, services.mask, services.patience
        self._on_changed, self._on_failed, self._on_notification = on_changed, on_failed, on_notification
        self.usage = Usage(services.idle_clock)
        self.status = Status(ServerState.STOPPED)
        self.exit_code: int | None = None
        self.failure: ConnectionFailure | None = None
        self._tries = Tries()
        self._connection: _Connection | None = None
        self._client: McpClient | None = None  # of the connection, in the state RUNNING only: each call reads it
        self._owner: asyncio.Task[None] | None = None
        self._settled = asyncio.Event()

    @property
    def state(self) -> ServerState:
        return self.status.state

    @property
    def problem(self) -> Problem | None:
        return self.status.problem

    @property
    def client(self) -> McpClient | None:
        """The connection, while it is open and is not about to be ended."""
        client = self._client
        return None if client is None or client.dispatcher.is_closed else client

    @property
    def pids(self) -> tuple[int, ...]:
        return self._connection.client.transport.pids if self._connection else ()

    @property
    def is_idle(self) -> bool:
        """Reports whether the instance has no process, and is not about to have one."""
        return self._owner is None

    def start(self) -> None:
        """Starts the instance without waiting; `running` waits. While the process is being ended, the next start follows at once."""
        if self._owner is None:
            self._begin()
        elif self.state in (ServerState.STOPPING, ServerState.ERROR, ServerState.NEEDS_SIGN_IN) and not self.status.starts_again:
            self._set(replace(self.status, starts_again=True))
            if self.state is not ServerState.STOPPING:
                self._owner.cancel()  # it waits for its next attempt, or ends the process, which it does to the last step

    def require_sign_in(self, problem: Problem) -> None:
        """Closes the connection, open or being opened, until the user has signed in."""
        if connection := self._connection:
            connection.sign_in = problem
            has_requests = self.state in (ServerState.RUNNING, ServerState.STOPPING)
            connection.client.dispatcher.connection_lost(str(problem), requests_stay=has_requests)  # the server has accepted these

    def reopen(self, detail: str) -> None:
        """Ends the connection, and its process if any, and opens another connection at once. Only for a connection that is not in use.

        Args:
            detail: the text that is shown meanwhile.
        """
        if self.client and self._connection:
            self._connection.is_replaced = True
            self._connection.client.dispatcher.connection_lost(detail)

    def set_idle_state(self, state: ServerState, *, since: float | None = None) -> None:
        """Sets the state while nothing runs: stopped, or waiting for its first use.

        Args:
            since: unix seconds, 0: unknown; None: from now on.
        """
        if self.state is ServerState.STOPPING:
            self._set(replace(self.status, then=state))
        elif self.state in IDLE and self.state is not state:
            self._enter(Status(state))
        if since is not None:
            self._set(replace(self.status, since=Moment(since) if since else None))

    async def stop(self, *, then: ServerState = ServerState.STOPPED) -> None:
        """Ends the process; bounded. `then` is the state afterwards: stopped by a caller, or on demand."""
        if owner := self.start_stopping(then=then):
            await asyncio.wait({owner})

    def start_stopping(self, *, then: ServerState) -> "asyncio.Task[None] | None":
        """Starts to stop without waiting: from now on the instance has no connection, and a caller that wants one waits for the next
        process.

        Returns:
            The task that ends with the process; None if no process runs.
        """
        self._set(replace(self.status, starts_again=False, then=then))
        if self._owner is None:
            if self.state is not then:
                self._enter(Status(then))
        elif self.state is not ServerState.STOPPING:
            self._enter(Status(ServerState.STOPPING, then=then))
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
                while self.client is None and (self._is_just_lost or not self._settled.is_set() or self._falls_asleep):
                    if self._falls_asleep:  # a restart, or the end of a tool listing, stopped it meanwhile
                        self.start()
                    await (asyncio.sleep(0) if self._settled.is_set() else self._settled.wait())
        if client := self.client:
            return client
        if self.problem:
            raise not_running(self.name, self.problem)
        why = self.status.detail or Phrase("it is {state}", state=self.state.value)
        raise TooltrayError(Phrase("server '{name}' is not running", name=self.name), Phrase("{why}. Try again in a moment", why=why))

    async def settled(self) -> None:
        """Waits until the instance is not on its way to running."""
        if self.status.is_busy:
            await self._settled.wait()

    @property
    def _is_just_lost(self) -> bool:
        """Reports whether the connection is gone and the owner does not know yet."""
        return self.client is None and self.state is ServerState.RUNNING

    @property
    def _falls_asleep(self) -> bool:
        """Reports whether the process is being ended, and the next use is to start it again."""
        return self.state is ServerState.STOPPING and self.status.then is ServerState.ON_DEMAND

    def _begin(self) -> None:
        self._tries = Tries(last_error=self._tries.last_error if self._program().is_retried_by_calls else None)
        self._owner = self._spawn(self._own(), name=f"owner of '{self.name}' ({self.wants.value})")
        self._owner.add_done_callback(self._on_ended)
        self._enter(Status(self._starting_state()))

    def _on_ended(self, owner: asyncio.Task[None]) -> None:
        """Drops the owner. The caller of `stop` may be cancelled, and the owner, too, before its first step: neither can do it."""
        self._owner = None
        if self.state is ServerState.STOPPING:
            self._enter(Status(self.status.then, starts_again=self.status.starts_again))
        if self.status.starts_again:
            self._begin()

    async def _own(self) -> None:
        try:
            await self._run_once()
            while self.state in STARTS or (self.status.retry_after_s is not None and not self.status.starts_again):
                if self.state not in STARTS:
                    await asyncio.sleep(self.status.retry_after_s or 0.0)
                    self._enter(Status(self._starting_state()))
                await self._run_once()
        except Exception:  # a bug of ours: the card shows it, and calls do not wait for ever
            logger.exception("running '%s' failed", self.name)
            if self.state not in (ServerState.STOPPING, ServerState.ERROR, ServerState.NEEDS_SIGN_IN):
                title = Phrase("'{name}' could not be run", name=self.name)
                self._give_up(Problem(title, Phrase("an internal error; the log has the details")))

    @property
    def _pause_s(self) -> float:
        """The pause before the next attempt, in seconds, which grows with the failures so far."""
        quick, slow, failures = self._patience.restart_after_s, self._patience.remote_retry_after_s, self._tries.failures
        return quick[failures - 1] if failures <= len(quick) else slow[min(failures - len(quick), len(slow)) - 1]

    async def _run_once(self) -> None:
        """Runs the server until it ends. Leaves RESTARTING, NEEDS_SIGN_IN or ERROR as the state; a starting one if it is to run at once."""
        connection: _Connection | None = None
        reason: str = Phrase("server '{name}' was stopped", name=self.name)
        slow = asyncio.get_running_loop().call_later(self._patience.slow_after_s, self._on_slow)
        try:
            async with self._services.gate.passage():
                program = self._program()
                connection = self._connection = _Connection(self._new_client(program, await self._make_transport(program)))
                await self._open(connection.client, program)
            slow.cancel()
            self.usage.note()
            running_since = time.monotonic()
            self._tries.has_run = True
            self._enter(Status(ServerState.RUNNING))
            reason = await connection.client.lost()
            lived_s = time.monotonic() - running_since
            if lived_s >= self._patience.healthy_after_s:
                self._tries.failures = 0
            is_old = lived_s >= self._patience.expiry_after_s
            if ended := reason if connection.is_replaced else connection.client.orderly_end(is_old=is_old):
                self._tries.failures = 0
                self._enter(Status(ServerState.RESTARTING, detail=ended, retry_after_s=0.0))
            else:
                self._failed(self._lost_problem(connection.client, reason))
        except EraRefused as error:
            self._give_up(error.problem, is_era_refused=True)
        except CannotStart as error:
            self._cannot_start(error.problem)
        except TooltrayError as error:
            if connection is None:  # its settings: a variable or a secret is missing
                self._cannot_start(error.problem)
            else:
                self._opening_failed(connection, error)
        except TimeoutError:
            message = Phrase("No answer within {seconds} s", seconds=f"{self._patience.start_limit_s:g}")
            hint = Phrase("It may not be an MCP server; see its log.")
            self._failed(Problem(Phrase("'{name}' did not answer", name=self.name), message, hint))
        finally:
            slow.cancel()
            self._connection = None
            if connection is not None:
                await self._end(connection.client, reason)

    async def _make_transport(self, program: Program) -> Transport:
        """Makes the transport. The state shows meanwhile if that waits for the keyring.

        Raises:
            TooltrayError: see `Program.make_transport`.
        """
        if not program.needs_secrets:
            return await program.make_transport()
        unsubscribe = self._services.bus.subscribe(KeyringAwaited, lambda event: self._show_keyring(is_awaited=event.is_awaited))
        try:
            return await program.make_transport()
        finally:
            unsubscribe()
            self._show_keyring(is_awaited=False)  # another server may still wait for it

    def _show_keyring(self, *, is_awaited: bool) -> None:
        before, words = ("", AWAITS_KEYRING) if is_awaited else (AWAITS_KEYRING, "")
        if self.status.detail == before:
            self._on_progress(words)

    async def _open(self, client: McpClient, program: Program) -> None:
        """
        Raises:
            CannotStart: by its behaviour the program cannot be a server. Also raises the errors of `McpClient.open`.
        """
        self.failure = None
        patience, name, downloads, given_s = self._patience, self.name, program.is_launcher, program.start_timeout_s
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
            is_new = program.is_first_start and not program.is_remote  # a server that has run before may only be slow today
            raise (CannotStart if is_new else TooltrayError)(verdict.title, verdict.message, verdict.hint) from None
        finally:
            watching.cancel()

    def _on_progress(self, words: str) -> None:
        self._set(replace(self.status, detail=words))
        self._on_changed(self)

    def _opening_failed(self, connection: _Connection, error: TooltrayError) -> None:
        """Handles an error after the server was started or reached; the transport may know more about the cause than the protocol."""
        self.failure = failure = connection.client.transport.failure
        is_first_probe = isinstance(error, EndedAtProbe) and not self._tries.has_ended_at_probe
        if is_first_probe and not connection.sign_in and _may_be_legacy(failure):
            logger.info("'%s' ended before it answered server/discover and is initialized in the legacy way", self.name)
            self._tries.has_ended_at_probe = True
            return
        if failure is None:
            self._failed(error.problem)
            return
        words = error.words if isinstance(error, OpeningFailed) else str(error)
        problem = replace(failure.problem, message=failure.problem.message or words)
        if failure.is_lasting and not connection.sign_in:
            self._give_up(problem)
        else:
            self._failed(problem)

    def _lost_problem(self, client: McpClient, reason: str) -> Problem:
        """Returns why a server that ran does not run any more."""
        self.failure = failure = client.transport.failure
        if self._program().is_remote and failure:
            return failure.problem
        if failure and failure.words:
            return Problem(Phrase("'{name}' ended: {words}", name=self.name, words=failure.words), failure.how)
        return Problem(Phrase("'{name}' ended", name=self.name), failure.how if failure else reason)

    def _on_slow(self) -> None:
        """Shows on the card that the start is slow; the server may still answer."""
        self._on_progress(Phrase("Slow: no answer for {seconds} s", seconds=f"{self._patience.slow_after_s:g}"))

    async def _end(self, client: McpClient, reason: str) -> None:
        """Ends the process to the last step, however often the owner is cancelled: a half-ended process would outlive Tooltray."""
        ending, cancelled = self._spawn(client.close(reason), name=f"end '{self.name}'"), None
        while not ending.done():
            try:
                await asyncio.wait({ending})
            except asyncio.CancelledError as error:
                cancelled = error
        self.exit_code = client.transport.exit_code
        if cancelled:
            raise cancelled
        await ending

    def _cannot_start(self, problem: Problem) -> None:
        """Reports a failure that another attempt would not cure, and gives up."""
        self._tries.failures += 1
        self._report_failure(problem)
        self._give_up(problem)

    def _failed(self, problem: Problem) -> None:
        tries, is_remote = self._tries, self._program().is_remote
        tries.failures += 1
        if self._connection and (sign_in := self._connection.sign_in):
            self._enter(Status(ServerState.NEEDS_SIGN_IN, problem=sign_in))
            return
        self._report_failure(problem)
        if tries.failures <= len(self._patience.restart_after_s) and (tries.has_run or not is_remote):
            detail = Phrase("Restarting in {seconds} s", seconds=f"{self._pause_s:g}")
            self._enter(Status(ServerState.RESTARTING, problem=problem, detail=detail, retry_after_s=self._pause_s))
        elif is_remote:
            detail = Phrase("Retrying in {seconds} s", seconds=f"{self._pause_s:g}")
            self._enter(Status(ServerState.ERROR, problem=problem, detail=detail, retry_after_s=self._pause_s))
        else:
            self._give_up(problem)

    def _report_failure(self, problem: Problem) -> None:
        exit_code = self._connection.client.transport.exit_code if self._connection else None
        masked = replace(problem, message=self._mask(problem.message))
        self._on_failed(self, Failure(masked, self.state is not ServerState.RUNNING, self._tries.failures, exit_code))

    def _give_up(self, problem: Problem, *, is_era_refused: bool = False) -> None:
        self._enter(Status(ServerState.ERROR, problem=problem, is_era_refused=is_era_refused))

    def _starting_state(self) -> ServerState:
        program = self._program()
        return ServerState.INSTALLING if program.is_launcher and program.is_first_start else ServerState.STARTING

    def _new_client(self, program: Program, transport: Transport) -> McpClient:
        client = McpClient(
            name=self.name,
            transport=transport,
            deadlines=self._services.deadlines,
            plan=GreetingPlan(
                self.wants,
                is_known_legacy=self._tries.has_ended_at_probe or program.is_known_legacy,
                only=program.only_era,
                discover_timeout_s=self._patience.discover_timeout_s,
            ),
            audience=Audience(
                owner=self.owner,
                is_isolated=program.is_isolated,
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

    def _enter(self, status: Status) -> None:
        """Enters a state, in which no secret is shown, and reports it."""
        assert status.state in TRANSITIONS[self.state], f"{self.name}: {self.state} -> {status.state}"
        if problem := status.problem:
            problem = replace(problem, title=self._masked(problem.title), message=self._masked(problem.message))
            status = replace(status, problem=problem)
        if status.state in (ServerState.RUNNING, ServerState.ERROR):
            status = replace(status, is_repeated=problem is not None and problem == self._tries.last_error)
            self._tries.last_error = problem
        self._set(status)
        self._on_changed(self)

    def _set(self, status: Status) -> None:
        self.status = status
        self._client = self._connection.client if self._connection and status.state is ServerState.RUNNING else None
        if status.is_busy or status.starts_again:
            self._settled.clear()
        else:
            self._settled.set()
