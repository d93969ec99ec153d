"""Everything the engine tells others: one frozen dataclass per event, and the bus that carries them.

Everybody may import it; it imports only snapshots and errors. Sessions, the control channel and the Qt presenter layer subscribe;
presenter, managers and the settings store publish.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from tooltray.errors import Problem
from tooltray.snapshots.approvals import ApprovalSnapshot
from tooltray.snapshots.calls import MCPToolResponse
from tooltray.snapshots.feedback import FeedbackSnapshot
from tooltray.snapshots.questions import ElicitationSnapshot
from tooltray.snapshots.registries import NpmRegistryStatus
from tooltray.snapshots.servers import ServerSnapshot

logger = logging.getLogger(__name__)


# the six events of the presenter


@dataclass(frozen=True)
class ServerStarted:
    server_name: str


@dataclass(frozen=True)
class ServerStopped:
    server_name: str


@dataclass(frozen=True)
class ToolCallResult:
    response: MCPToolResponse


@dataclass(frozen=True)
class ConfigChanged:
    """Settings as in the file; mappings must not be changed by who receives them."""

    mcp_servers: Mapping[str, Any]
    default_servers: tuple[str, ...]
    mcp_enabled: bool


@dataclass(frozen=True)
class ServerStatusChanged:
    name: str
    status: str  # "running" or "stopped"


@dataclass(frozen=True)
class ClientListUpdated:
    """The set of running servers changed."""


# finer news, for cards, lists and notifications


@dataclass(frozen=True)
class ServerChanged:
    """Anything that a card shows changed."""

    server: ServerSnapshot


@dataclass(frozen=True)
class ServerRemoved:
    name: str


@dataclass(frozen=True)
class ToolListChanged:
    """What AI clients would see in `tools/list` changed; `server` says whose tools."""

    server: str


@dataclass(frozen=True)
class PromptListChanged:
    """What AI clients would see in `prompts/list` changed."""

    server: str


@dataclass(frozen=True)
class ResourceListChanged:
    """What AI clients would see in `resources/list` or `resources/templates/list` changed."""

    server: str


@dataclass(frozen=True)
class SessionsChanged:
    session_count: int


@dataclass(frozen=True)
class ProblemReported:
    """A failure that a person has to hear of: a server that will not start, settings that could not be read. The engine logs it.

    Attributes:
        project: the folder for whose copy of the server that is so; empty: for the server as a whole.
    """

    problem: Problem
    server: str = ""
    project: str = ""


@dataclass(frozen=True)
class ServerFailed:
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


@dataclass(frozen=True)
class NpmRegistryChanged:
    """A registry was measured or chosen, or that has begun."""

    status: NpmRegistryStatus


@dataclass(frozen=True)
class ElicitationAsked:
    """A server waits for a person's answer."""

    question: ElicitationSnapshot


@dataclass(frozen=True)
class ElicitationEnded:
    """It was answered, withdrawn, or has waited long enough."""

    id: str


@dataclass(frozen=True)
class SessionListChanged:
    """A session came or went, or what one sees, activated or works on is another."""


@dataclass(frozen=True)
class ApprovalAsked:
    """A tool call waits for a person's yes, or what it waits for is another thing now."""

    request: ApprovalSnapshot


@dataclass(frozen=True)
class ApprovalEnded:
    """It was answered, its client is gone, or it has waited long enough."""

    id: str


@dataclass(frozen=True)
class GrantsChanged:
    """What a person has allowed for longer than one call is another."""


@dataclass(frozen=True)
class FeedbackAsked:
    """A model reports and waits for a person's answer."""

    request: FeedbackSnapshot


@dataclass(frozen=True)
class FeedbackEnded:
    """It was answered, put away, given up, or replaced by a newer one of its session."""

    id: str


@dataclass(frozen=True)
class ServerFilesChanged:
    """A file with servers in it was read anew, comes or goes, or what of it waits for a person's yes is another thing."""


EVENTS: tuple[type, ...] = (
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
)

E = TypeVar("E")


class EventBus:
    """Delivers events to handlers, in order, at once, in the publisher's task. Belongs to one event loop's thread."""

    def __init__(self) -> None:
        self._handlers: dict[type, list[Callable[[Any], None]]] = {kind: [] for kind in EVENTS}

    def subscribe(self, kind: type[E], handler: Callable[[E], None]) -> Callable[[], None]:
        """Calls `handler` with every event of a kind from now on; returns what ends that.

        Raises:
            KeyError: `kind` is no event.
        """
        handlers = self._handlers[kind]
        handlers.append(handler)

        def unsubscribe() -> None:
            if handler in handlers:
                handlers.remove(handler)

        return unsubscribe

    def subscribe_all(self, handler: Callable[[Any], None]) -> Callable[[], None]:
        """Calls `handler` with every event of every kind."""
        ends = [self.subscribe(kind, handler) for kind in EVENTS]

        def unsubscribe() -> None:
            for end in ends:
                end()

        return unsubscribe

    def is_heard(self, kind: type) -> bool:
        """Whether anybody would hear of an event of this kind."""
        return bool(self._handlers[kind])

    def publish(self, event: object) -> None:
        """A handler that fails is logged; the others still hear of the event."""
        for handler in tuple(self._handlers[type(event)]):
            try:
                handler(event)
            except Exception:
                logger.exception("a handler of %s failed", type(event).__name__)
