"""The interface of a transport, by which McpClient reaches a server; the order from which a transport is made; and the transport of a
server that is an object of Tooltray's own.
"""

import asyncio
import hashlib
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Protocol, runtime_checkable

import msgspec
from msgspec import Raw

from tooltray.config.settings.expansion import ResolvedServer
from tooltray.config.settings.server_config import MCPServerConfig
from tooltray.foundation.errors import Problem
from tooltray.foundation.hidden_fields import HidesFields
from tooltray.protocol.channels import MAX_SERVER_LINE_BYTES, Outgoing
from tooltray.protocol.deadlines import DeadlineWheel
from tooltray.protocol.dispatcher import RawDispatcher
from tooltray.protocol.envelope import Envelope
from tooltray.servers.launch.program_launch import Launch

if TYPE_CHECKING:
    from tooltray.servers.transports.server_output import ServerOutput

UNAUTHORIZED, FORBIDDEN = 401, 403
HEADER = "Authorization"
MOST = 64  # the oldest one is dropped
REMEMBERED_S = 60.0  # the repetition comes as soon as the next session is open


class NotAuthorized(Exception):
    """The error if no valid authorization is available: the request is not sent, or not sent again, as it would be refused.

    Attributes:
        reason: a sentence for the user, which names the server.
        is_temporary: the token could not be renewed now, but a later renewal may succeed.
    """

    def __init__(self, reason: str, *, is_temporary: bool) -> None:
        super().__init__(reason)
        self.reason, self.is_temporary = reason, is_temporary


class Refusal(HidesFields, frozen=True):
    """A response with status 401 or 403.

    Attributes:
        challenge: the values of the response's `WWW-Authenticate` headers, joined by commas.
        sent: the value of the `Authorization` header of the request; None if it had none.
        is_second: the request was a repetition, after an earlier `renew` returned True.
    """

    hidden: ClassVar = ("sent",)

    status: int
    challenge: str
    sent: str | None
    is_second: bool


class Authorization(Protocol):
    """The authorization of the requests to one server; all connections to the server share it."""

    @property
    def held(self) -> str | None:
        """The current value of the `Authorization` header, perhaps expired; None without a token."""
        ...

    async def header(self) -> str | None:
        """Returns the value of the `Authorization` header and renews an expired token first.

        Raises:
            NotAuthorized: the token has expired and cannot be renewed.
        """
        ...

    async def renew(self, refusal: Refusal) -> bool:
        """Reacts to a refused request and returns whether to send it once more; if False, the response is an ordinary HTTP error.

        Raises:
            NotAuthorized: the user has to sign in, or the token cannot be renewed now.
        """
        ...


class _Refused(msgspec.Struct, frozen=True):
    session: str
    at: float


class RefusedRequests:
    """The refused requests of one server; outlives its connections."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        """
        Args:
            clock: returns seconds that never go back.
        """
        self._clock = clock
        self._refused: dict[bytes, _Refused] = {}

    def is_first(self, message: Outgoing, session: str) -> bool:
        """Records a refusal. Returns False if another session just refused the request, too: an error, whatever the server claims."""
        digest, now = _digest(message), self._clock()
        before = self._refused.get(digest)
        if before and before.session != session and now - before.at < REMEMBERED_S:
            return False
        self._refused[digest] = _Refused(session, now)
        if len(self._refused) > MOST:
            del self._refused[next(iter(self._refused))]
        return True

    def note_accepted(self, message: Outgoing) -> None:
        """Drops the refusals of a request that its server has accepted."""
        if self._refused:
            self._refused.pop(_digest(message), None)


def _digest(message: Outgoing) -> bytes:
    return hashlib.blake2b(message.method.encode() + b" " + bytes(message.payload)).digest()


class ConnectionFailure(msgspec.Struct, frozen=True):
    """The reason why a connection ended or was never opened, as far as the transport knows. Contains no secrets.

    Attributes:
        problem: its title gives the reason.
        is_lasting: a retry would fail in the same way, as with CannotStart.
        variables: the environment variables that the server misses.
        how: how the server's process ended; empty without a process.
        words: the most telling line of the process's output; may be empty.
    """

    problem: Problem
    is_lasting: bool = False
    variables: tuple[str, ...] = ()
    how: str = ""
    words: str = ""


class Transport(Protocol):
    """The transport of one connection. Opened once and closed by the task that owns the connection."""

    @property
    def pids(self) -> tuple[int, ...]:
        """The running processes of the connection."""
        ...

    @property
    def exit_code(self) -> int | None:
        """The exit code of a process that has ended; negative for a signal. None while it runs, and without a process."""
        ...

    @property
    def has_expired(self) -> bool:
        """Reports whether the connection ended because the server has dropped our session; the server itself is healthy."""
        ...

    @property
    def failure(self) -> ConnectionFailure | None:
        """The reason why the connection ended or was never opened; None if the transport knows no more than was received over it."""
        ...

    @property
    def output(self) -> "ServerOutput | None":
        """The output of the server's process other than messages; None without a process."""
        ...

    async def open(self, dispatcher: RawDispatcher) -> None:
        """Attaches a channel to the dispatcher and feeds it with messages until `close`, or until it reports the connection as lost.

        Raises:
            CannotStart: the server cannot be reached; the error gives the reason and a hint.
        """
        ...

    async def close(self) -> None:
        """Closes the connection in bounded time. May be called twice, and after `open` failed."""
        ...


class TransportOrder(msgspec.Struct, frozen=True):
    """The parts from which a transport is made; each type of server takes what it needs.

    Attributes:
        name: the server's name.
        config: the server's settings as written, with placeholders.
        resolved: the settings with all placeholders filled in.
        environ: the environment of the user's login shell.
        own_url: the address at which Tooltray itself listens for AI clients, without a path; None if it does not listen.
        mask: masks secrets in a text.
        tool_schema: returns the `inputSchema` of a tool, by the server's own name for it; None if the tool was never listed.
        prepare_launch: works out the command line and environment of a server that runs as a child process.
        start_process: makes the transport for such a launch.
        authorize: returns the Authorization of a remote server; None if its settings already authorize the requests.
        refused: the requests that sessions with the server have refused.
        log: the server's log.
        packages: a further folder in which servers inside Tooltray are searched, beside this Python's packages; None: no such folder.
    """

    name: str
    config: MCPServerConfig
    resolved: ResolvedServer
    environ: Mapping[str, str]
    own_url: str | None
    mask: Callable[[str], str]
    tool_schema: Callable[[str], Raw | None]
    prepare_launch: Callable[[], Awaitable[Launch]]
    start_process: Callable[[Launch], Transport]
    authorize: Callable[[], Awaitable[Authorization | None]]
    refused: RefusedRequests
    log: deque[str]
    packages: Path | None


class MemoryServer(Protocol):
    def answer(self, request: Envelope) -> Awaitable[Envelope]: ...


@runtime_checkable
class NotifyingServer(Protocol):
    """A MemoryServer that also sends notifications."""

    def listen(self, tell: Callable[[str], None]) -> Callable[[], None]:
        """Subscribes `tell`, which is called with the method of each notification; returns a function that unsubscribes it."""
        ...


class _Wire:
    """One direction of the connection. Delivers in the loop's next iteration, as a socket does; neither side runs inside the other."""

    def __init__(self, target: RawDispatcher) -> None:
        self._target = target

    def write(self, data: bytes | memoryview) -> None:
        asyncio.get_running_loop().call_soon(self._target.feed, bytes(data))

    def close(self) -> None:
        asyncio.get_running_loop().call_soon(self._target.connection_lost, "the other side has closed")


class MemoryTransport:
    """The transport of a MemoryServer. Satisfies Transport."""

    pids: tuple[int, ...] = ()
    exit_code: int | None = None
    has_expired = False
    failure = output = None

    def __init__(self, *, name: str, server: MemoryServer, deadlines: DeadlineWheel) -> None:
        self._server = server
        self._end_listening: Callable[[], None] = lambda: None
        self._far_end = RawDispatcher(
            name=f"built-in '{name}'",
            deadlines=deadlines,
            answer=server.answer,
            take_notification=lambda notification: None,
            max_line_bytes=MAX_SERVER_LINE_BYTES,
        )

    async def open(self, dispatcher: RawDispatcher) -> None:
        self._far_end.attach(_Wire(dispatcher))
        dispatcher.attach(_Wire(self._far_end))
        if isinstance(self._server, NotifyingServer):
            self._end_listening = self._server.listen(self._far_end.send_notification)

    async def close(self) -> None:
        self._end_listening()
        await self._far_end.close("Tooltray stopped it")
