"""The event bus, and the public events that the control channel, REST's event stream and the window receive.

Imports only snapshots and errors. The bus is the only way in which parts of the engine notify each other. An event for internal use is a
subclass of Event that is not in EVENTS: it may carry objects of the engine, and never leaves the process.
"""

import contextlib
import logging
from collections import deque
from collections.abc import Callable
from typing import Any, Literal, TypeVar

import msgspec

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.approvals import ApprovalSnapshot, ConfirmationSnapshot
from tooltray.foundation.snapshots.hub import NpmRegistryStatus, ReleaseNews
from tooltray.foundation.snapshots.questions import ElicitationSnapshot, FeedbackSnapshot
from tooltray.foundation.snapshots.servers import ServerSnapshot
from tooltray.foundation.snapshots.tools import MCPToolResponse
from tooltray.foundation.verbs import JsonMapping

logger = logging.getLogger(__name__)


class Event(msgspec.Struct, frozen=True):
    """Something that has happened; named in the past tense."""


# the six events of the presenter


class ServerStarted(Event, frozen=True):
    server_name: str


class ServerStopped(Event, frozen=True):
    server_name: str


class ToolCallResult(Event, frozen=True):
    response: MCPToolResponse


class ConfigChanged(Event, frozen=True):
    """Settings as in the file. Receivers must not change the mappings."""

    mcp_servers: JsonMapping
    default_servers: tuple[str, ...]
    mcp_enabled: bool


class ServerStatusChanged(Event, frozen=True):
    name: str
    status: str  # "running" or "stopped"


class ClientListUpdated(Event, frozen=True):
    """The set of running servers changed."""


# finer news, for cards, lists and notifications


class ServerChanged(Event, frozen=True):
    """Something that a server's card shows has changed."""

    server: ServerSnapshot


class ServerRemoved(Event, frozen=True):
    name: str


class ToolListChanged(Event, frozen=True):
    """The tools of `server` that AI clients see in `tools/list` changed."""

    server: str


class PromptListChanged(Event, frozen=True):
    """The prompts of `server` that AI clients see in `prompts/list` changed."""

    server: str


class ResourceListChanged(Event, frozen=True):
    """The resources of `server` that AI clients see in `resources/list` or `resources/templates/list` changed."""

    server: str


class SessionsChanged(Event, frozen=True):
    session_count: int


class ProblemReported(Event, frozen=True):
    """A failure that the user should see: a server that does not start, settings that could not be read. The engine logs it.

    Attributes:
        project: the folder of the project whose instance of the server is affected; empty: the server as a whole.
    """

    problem: Problem
    server: str = ""
    project: str = ""


class ServerFailed(Event, frozen=True):
    """A server did not start, or its process exited unexpectedly; another attempt may follow. The engine logs it.

    Attributes:
        is_start: it did not start; False: it was running and has exited.
        attempt: the number of this failure in a row, from 1.
        exit_code: of its process; None where there was no process, or it did not exit on its own.
        project: as of ProblemReported.
    """

    server: str
    problem: Problem
    is_start: bool
    attempt: int
    exit_code: int | None = None
    project: str = ""


class NpmRegistryChanged(Event, frozen=True):
    """The measuring of npm registries has begun or ended, or another registry was chosen."""

    status: NpmRegistryStatus


class ElicitationAsked(Event, frozen=True):
    """A server waits for the user's answer."""

    question: ElicitationSnapshot


class ElicitationEnded(Event, frozen=True):
    """A server's question was answered or withdrawn, or its time is over."""

    id: str


class SessionListChanged(Event, frozen=True):
    """A session has begun or ended, or the servers, the activated tools or the project of one have changed."""


class ApprovalAsked(Event, frozen=True):
    """A tool call waits for the user's approval, or the content of that request has changed."""

    request: ApprovalSnapshot


class ApprovalEnded(Event, frozen=True):
    """An approval request was answered, its client has disconnected, or its time is over."""

    id: str


class GrantsChanged(Event, frozen=True):
    """The permissions that last longer than one call have changed."""


class FeedbackAsked(Event, frozen=True):
    """A model reports, and waits for the user's answer."""

    request: FeedbackSnapshot


class FeedbackEnded(Event, frozen=True):
    """A report was answered, dismissed or withdrawn, its time is over, or a newer one of its session has replaced it."""

    id: str


class ServerFilesChanged(Event, frozen=True):
    """A file with servers in it was read again, added or removed, or its entries that wait for the user's approval have changed."""


class ImportProgressed(Event, frozen=True):
    """The progress of an import from AI clients: `done` of `total` servers are finished.

    Attributes:
        name: the server that finished last; empty: none has just finished.
        state: the result for that server: "listed", "added", "failed" or "cancelled". Without a name "unlocking": the import waits for the
            secret store, whose prompt may be open.
    """

    done: int
    total: int
    name: str
    state: Literal["", "listed", "added", "failed", "cancelled", "unlocking"] = ""


class ActivityWritten(Event, frozen=True):
    """The journal has new entries; sent at most four times a second. `last_id`: of the newest entry; 0: the journal was emptied."""

    last_id: int


class ServerTestOutput(Event, frozen=True):
    """A server under test has written to its stderr; secrets are masked.

    Attributes:
        test: the name that the caller gave to the test.
    """

    test: str
    lines: tuple[str, ...]


class LogWritten(Event, frozen=True):
    """A log has new lines; sent at most four times a second for each log.

    Attributes:
        source: "server:NAME"; or "messages:NAME", also when its recording has ended.
    """

    source: str


class TryProgressed(Event, frozen=True):
    """A call that the user makes by hand reports progress; sent at most ten times a second for each call.

    Attributes:
        attempt: the id that the caller chose for the call.
        total: None where the server does not know it.
        message: the server's, cleaned for display.
    """

    attempt: str
    progress: float
    total: float | None = None
    message: str = ""


class ResourceUpdated(Event, frozen=True):
    """A resource that was subscribed to with `subscribe_resource` has changed; `uri` as AI clients see it."""

    uri: str


class HttpAddressChanged(Event, frozen=True):
    """HTTP is open at another address or closed, or could not be opened. For the engine and the window: it is not in EVENTS."""


class ConfirmationAsked(Event, frozen=True):
    """A command wants to allow something and waits for the user's confirmation, or more commands ask for the same. Only for the window."""

    request: ConfirmationSnapshot


class ConfirmationEnded(Event, frozen=True):
    """A confirmation request was answered or withdrawn, or its time is over. Only for the window."""

    id: str


class SecretsChanged(Event, frozen=True):
    """A secret may have another value, or has become readable. For the engine and the window: it is not in EVENTS.

    Attributes:
        backend: where secrets are stored: "keyring", "file" or "memory".
    """

    backend: str


class KeyringAwaited(Event, frozen=True):
    """The system's keyring keeps a call waiting, so it probably shows its own prompt; or no call waits any more. For the engine
    and the window, as SecretsChanged.

    Attributes:
        is_awaited: published again for each further call that waits; False: all of them have ended.
    """

    is_awaited: bool


class ReleaseNewsChanged(Event, frozen=True):
    """The list of releases was read, or the user has decided whether it is. Only for the window, as SecretsChanged."""

    news: ReleaseNews


FOR_THE_WINDOW: tuple[type[Event], ...] = (
    HttpAddressChanged,
    SecretsChanged,
    KeyringAwaited,
    ConfirmationAsked,
    ConfirmationEnded,
    ReleaseNewsChanged,
)
"""What it hears of besides EVENTS, and no other program."""
EVENTS: tuple[type[Event], ...] = (
    ServerStarted,
    ServerStopped,
    ToolCallResult,
    ConfigChanged,
    ServerStatusChanged,
    ClientListUpdated,
    ServerChanged,
    ServerRemoved,
    ToolListChanged,
    PromptListChanged,
    ResourceListChanged,
    SessionsChanged,
    ProblemReported,
    ServerFailed,
    NpmRegistryChanged,
    ElicitationAsked,
    ElicitationEnded,
    SessionListChanged,
    ApprovalAsked,
    ApprovalEnded,
    GrantsChanged,
    FeedbackAsked,
    FeedbackEnded,
    ServerFilesChanged,
    ImportProgressed,
    ActivityWritten,
    ServerTestOutput,
    LogWritten,
    TryProgressed,
    ResourceUpdated,
)
"""The public ones. Names and fields are an interface to other programs."""

E = TypeVar("E", bound=Event)


class EventBus:
    """A bus that delivers events in the order of publication, in the publisher's task. Belongs to one event loop's thread."""

    def __init__(self) -> None:
        self._handlers: dict[type[Event], tuple[Callable[[Any], None], ...]] = {}
        self._queue: deque[Event] = deque()
        self._is_delivering = False

    def subscribe(self, kind: type[E], handler: Callable[[E], None]) -> Callable[[], None]:
        """Calls `handler` with every event of exactly this class from now on; returns a function that ends this and may be called twice."""
        self._handlers[kind] = (*self._handlers.get(kind, ()), handler)

        def unsubscribe() -> None:
            handlers = list(self._handlers[kind])
            with contextlib.suppress(ValueError):
                handlers.remove(handler)
            self._handlers[kind] = tuple(handlers)

        return unsubscribe

    def subscribe_all(self, handler: Callable[[Any], None]) -> Callable[[], None]:
        """Calls `handler` with every public event."""
        ends = [self.subscribe(kind, handler) for kind in EVENTS]

        def unsubscribe() -> None:
            for end in ends:
                end()

        return unsubscribe

    def is_heard(self, kind: type[Event]) -> bool:
        """Returns whether this kind has a subscriber."""
        return bool(self._handlers.get(kind))

    def publish(self, event: Event) -> None:
        """Delivers an event to its handlers before it returns, except inside a handler.

        An event that a handler publishes waits until all handlers have received the current one; otherwise the remaining handlers would get
        the newer event first. A handler that fails is logged, and the others still get the event.
        """
        if self._is_delivering:
            self._queue.append(event)
            return
        self._is_delivering = True
        try:
            self._queue.append(event)
            while self._queue:
                event = self._queue.popleft()
                for handler in self._handlers.get(type(event), ()):
                    try:
                        handler(event)
                    except Exception:
                        logger.exception("a handler of %s failed", type(event).__name__)
        finally:
            self._is_delivering = False
