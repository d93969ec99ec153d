"""The event bus, and the public events: what the control channel, REST's event stream and the Qt presenter layer see.

Everybody may import it; it imports only snapshots and errors. The bus is the one route of news inside the engine. A room that has news for
other rooms alone defines an event of its own, which may carry objects of the engine: a subclass of Event that is not in EVENTS and so
never leaves the process.
"""

import logging
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeVar

import msgspec

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.approvals import ApprovalSnapshot
from tooltray.foundation.snapshots.calls import MCPToolResponse
from tooltray.foundation.snapshots.confirmations import ConfirmationSnapshot
from tooltray.foundation.snapshots.feedback import FeedbackSnapshot
from tooltray.foundation.snapshots.questions import ElicitationSnapshot
from tooltray.foundation.snapshots.registries import NpmRegistryStatus
from tooltray.foundation.snapshots.servers import ServerSnapshot

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
    """Settings as in the file; mappings must not be changed by who receives them."""

    mcp_servers: Mapping[str, Any]
    default_servers: tuple[str, ...]
    mcp_enabled: bool


class ServerStatusChanged(Event, frozen=True):
    name: str
    status: str  # "running" or "stopped"


class ClientListUpdated(Event, frozen=True):
    """The set of running servers changed."""


# finer news, for cards, lists and notifications


class ServerChanged(Event, frozen=True):
    """Anything that a card shows changed."""

    server: ServerSnapshot


class ServerRemoved(Event, frozen=True):
    name: str


class ToolListChanged(Event, frozen=True):
    """What AI clients would see in `tools/list` changed; `server` says whose tools."""

    server: str


class PromptListChanged(Event, frozen=True):
    """What AI clients would see in `prompts/list` changed."""

    server: str


class ResourceListChanged(Event, frozen=True):
    """What AI clients would see in `resources/list` or `resources/templates/list` changed."""

    server: str


class SessionsChanged(Event, frozen=True):
    session_count: int


class ProblemReported(Event, frozen=True):
    """A failure that a person has to hear of: a server that will not start, settings that could not be read. The engine logs it.

    Attributes:
        project: the folder for whose copy of the server that is so; empty: for the server as a whole.
    """

    problem: Problem
    server: str = ""
    project: str = ""


class ServerFailed(Event, frozen=True):
    """A server did not start, or has ended by itself; it may be tried again. The engine logs it.

    Attributes:
        is_start: it did not start; else it ran and has ended.
        attempt: which failure in a row this is, from 1.
        exit_code: of its process; None where that had not ended by itself, or there was none.
        project: as of ProblemReported.
    """

    server: str
    problem: Problem
    is_start: bool
    attempt: int
    exit_code: int | None = None
    project: str = ""


class NpmRegistryChanged(Event, frozen=True):
    """A registry was measured or chosen, or that has begun."""

    status: NpmRegistryStatus


class ElicitationAsked(Event, frozen=True):
    """A server waits for a person's answer."""

    question: ElicitationSnapshot


class ElicitationEnded(Event, frozen=True):
    """It was answered, withdrawn, or has waited long enough."""

    id: str


class SessionListChanged(Event, frozen=True):
    """A session came or went, or what one sees, activated or works on is another."""


class ApprovalAsked(Event, frozen=True):
    """A tool call waits for a person's yes, or what it waits for is another thing now."""

    request: ApprovalSnapshot


class ApprovalEnded(Event, frozen=True):
    """It was answered, its client is gone, or it has waited long enough."""

    id: str


class GrantsChanged(Event, frozen=True):
    """What a person has allowed for longer than one call is another."""


class FeedbackAsked(Event, frozen=True):
    """A model reports and waits for a person's answer."""

    request: FeedbackSnapshot


class FeedbackEnded(Event, frozen=True):
    """It was answered, put away, given up, or replaced by a newer one of its session."""

    id: str


class ServerFilesChanged(Event, frozen=True):
    """A file with servers in it was read anew, comes or goes, or what of it waits for a person's yes is another thing."""


class ImportProgressed(Event, frozen=True):
    """Of the servers that are being imported from AI clients, `done` of `total` are finished.

    Attributes:
        name: the server that finished last; empty: none did just now.
        state: what became of it: "listed", "added", "failed" or "cancelled"; without a name "unlocking": the import waits for the place of
            secrets, whose prompt may be open.
    """

    done: int
    total: int
    name: str
    state: Literal["", "listed", "added", "failed", "cancelled", "unlocking"] = ""


class ActivityWritten(Event, frozen=True):
    """The journal has new entries; not more often than four times a second. `last_id`: of the newest one; 0: it was emptied."""

    last_id: int


class ServerTestOutput(Event, frozen=True):
    """A server that is being tested has written to its stderr; secrets are masked.

    Attributes:
        test: as whoever began the test has named it.
    """

    test: str
    lines: tuple[str, ...]


class LogWritten(Event, frozen=True):
    """A log has new lines; of each log not more often than four times a second.

    Attributes:
        source: "server:NAME", or "messages:NAME", whose recording may also have ended.
    """

    source: str


class TryProgressed(Event, frozen=True):
    """A call that a person makes by hand goes on; told not more often than ten times a second for each.

    Attributes:
        attempt: the id of the call, as its caller made it up.
        total: None where the server does not know it.
        message: the server's, made harmless.
    """

    attempt: str
    progress: float
    total: float | None = None
    message: str = ""


class ResourceUpdated(Event, frozen=True):
    """A resource that somebody subscribed to with `subscribe_resource` has changed; `uri` as AI clients see it."""

    uri: str


class HttpAddressChanged(Event, frozen=True):
    """HTTP is open at another address, or at none, or could not be opened. For the engine and the window: it is not in EVENTS."""


class ConfirmationAsked(Event, frozen=True):
    """A command wants to allow something and waits for the person at the window, or more of them do. It is for the window alone."""

    request: ConfirmationSnapshot


class ConfirmationEnded(Event, frozen=True):
    """It was answered, nobody waits for it any more, or it has waited long enough. For the window alone."""

    id: str


class SecretsChanged(Event, frozen=True):
    """A secret may be another one than before, or can be read now. For the engine and the window: it is not in EVENTS.

    Attributes:
        backend: where secrets are kept: "keyring", "file" or "memory".
    """

    backend: str


FOR_THE_WINDOW: tuple[type[Event], ...] = (HttpAddressChanged, SecretsChanged, ConfirmationAsked, ConfirmationEnded)
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
    """Delivers events to handlers in the order of publication, in the publisher's task. Belongs to one event loop's thread."""

    def __init__(self) -> None:
        self._handlers: dict[type[Event], list[Callable[[Any], None]]] = {}
        self._queue: deque[Event] = deque()
        self._is_delivering = False

    def subscribe(self, kind: type[E], handler: Callable[[E], None]) -> Callable[[], None]:
        """Calls `handler` with every event of exactly this class from now on; returns what ends that, and may be called twice."""
        handlers = self._handlers.setdefault(kind, [])
        handlers.append(handler)

        def unsubscribe() -> None:
            if handler in handlers:
                handlers.remove(handler)

        return unsubscribe

    def subscribe_all(self, handler: Callable[[Any], None]) -> Callable[[], None]:
        """Calls `handler` with every public event."""
        ends = [self.subscribe(kind, handler) for kind in EVENTS]

        def unsubscribe() -> None:
            for end in ends:
                end()

        return unsubscribe

    def is_heard(self, kind: type[Event]) -> bool:
        """Whether anybody subscribes to this kind."""
        return bool(self._handlers.get(kind))

    def publish(self, event: Event) -> None:
        """Delivers an event to its handlers before it returns, except inside a handler.

        What a handler publishes waits until all handlers have had the event that it handles: else those behind it would get the newer
        event first. A handler that fails is logged; the others still get the event.
        """
        if self._is_delivering:
            self._queue.append(event)
            return
        self._is_delivering = True
        try:
            self._queue.append(event)
            while self._queue:
                event = self._queue.popleft()
                for handler in tuple(self._handlers.get(type(event), ())):
                    try:
                        handler(event)
                    except Exception:
                        logger.exception("a handler of %s failed", type(event).__name__)
        finally:
            self._is_delivering = False
