"""What is kept of one AI client's session, also for a while after its connection was lost, and the events about sessions.

The events never leave the process.
"""

import hashlib
import itertools
import secrets
import time
from collections.abc import Collection, Hashable, Iterator
from functools import partial

import msgspec

from tooltray.foundation.errors import Problem, TooltrayError, words_for_model
from tooltray.foundation.events import Event, EventBus, SessionListChanged
from tooltray.foundation.snapshots.clients import SessionProject
from tooltray.protocol.deadlines import Deadline, DeadlineWheel
from tooltray.protocol.declarations import Declarations

KEPT_FOR_S = 600.0  # a bridge reconnects within seconds; a client whose user looks for a dialog may need minutes
OWNING_PARTS = 2  # of a key: ("bridge", its session) or ("token", its name); the parts that the hub has made follow
OWNER_DIGITS, RUN_BYTES = 32, 16
MOST_KEPT = 4096  # without a connection; the oldest go first
MOST_VIEWS = 32  # servers whose views a session may be showing; a conversation with more is rare, and the oldest are closed by then
SOURCES = ("feedback", "roots", "folder", "person")
"""Sources of the project that a session works on; the first one with a project counts."""


class SessionFlow(msgspec.Struct, frozen=True):
    """The latest read of a text that strangers wrote.

    Attributes:
        server, tool: by which the text was read; a resource or a prompt has no tool.
        place: the host or path that was read, as the journal names it; empty: not known.
    """

    server: str
    tool: str
    place: str = ""


class SessionState(msgspec.Struct):
    """The state of one session. It belongs to the engine's loop.

    Attributes:
        id: the session's name for users and other programs; not a secret.
        server: the only server of the session; None: it has all.
        folder: in which the client's bridge was started; empty if that is not known.
        roots: absolute folders that the client declares; empty if it declares none, or has not been asked.
        profile: that the session requested, or its kind of client gets; empty: none.
        client, version: the client's own name and version; empty until it has given them.
        activated: names of lazy servers whose tools the session has requested.
        allowed: fingerprints of the calls that the user has allowed for this session, see approvals.
        projects: the project from each of SOURCES.
        declared: the extensions that its client has declared recently.
        obeys_changes: whether the client lists again when it is notified of a changed list; None: not seen yet.
        calls_since_told: the number of tool calls since the client was notified that the list of tools has changed; None: the client has
            listed them since, or was not notified.
        connections: how many it has now.
        connected_at: since when it has been connected, in unix seconds; the last time if it is not connected now.
        is_passing: whether it is for a single request that cannot be tied to the client's next one; such a session is not shown.
        is_persons: whether the user calls, and not an AI client.
        reads_hints: whether the user reads its errors, and not a model.
        shows_views: whether its client declares that it shows the views of tools (MCP Apps).
        opened_views: servers of which it called tools that have a view, the last one first.
        listed_views: servers that have views, as of its last list of tools, in which no other server's tool has a name that such a view
            could use for its own; None: it has not listed.
        read_views: servers of which it read views, the last one first; a client may read them long before it shows one.
        listed_mode: how tools were shown in its first list, if that was decided by size; empty: it has not listed.
        owner: identifies the owner of what outlasts a session; the same for all sessions of one token or one bridge, also in the next hub.
            Empty: unknown.
        flow: the last text by strangers that it has read, as far as the flow guard checks; None: it has read no such text yet.
    """

    id: str
    server: str | None = None
    folder: str = ""
    roots: tuple[str, ...] = ()
    profile: str = ""
    client: str = ""
    version: str = ""
    activated: set[str] = msgspec.field(default_factory=set)
    allowed: set[Hashable] = msgspec.field(default_factory=set)
    projects: dict[str, SessionProject] = msgspec.field(default_factory=dict)
    declared: Declarations = {}
    obeys_changes: bool | None = None
    calls_since_told: int | None = None
    connections: int = 0
    connected_at: float = 0.0
    is_passing: bool = False
    is_persons: bool = False
    reads_hints: bool = False
    shows_views: bool = False
    opened_views: tuple[str, ...] = ()
    read_views: tuple[str, ...] = ()
    listed_views: frozenset[str] | None = None
    listed_mode: str = ""
    owner: str = ""
    flow: SessionFlow | None = None

    @property
    def project(self) -> SessionProject | None:
        """Returns the project that the session works on, if it is known."""
        return next((self.projects[source] for source in SOURCES if source in self.projects), None)

    def words(self, failed: Problem | TooltrayError) -> str:
        """Returns the text of a failure for the session."""
        return str(failed) if self.reads_hints else words_for_model(failed)

    def opens_view(self, server: str) -> None:
        """Records a call of a server's tool that has a view."""
        self.opened_views = _with_first(server, self.opened_views)

    def reads_view(self, server: str) -> None:
        """Records that a view of a server was read."""
        self.read_views = _with_first(server, self.read_views)

    def showing(self, servers: Collection[str]) -> list[str]:
        """Returns the servers among `servers` of which the client may be showing a view. Clients do not report when a view is closed."""
        opened = [server for server in self.opened_views if server in servers]
        return opened or [server for server in self.read_views if server in servers]

    @property
    def seen_views(self) -> tuple[str, ...]:
        """Returns all servers of which the client may be showing a view."""
        return tuple(dict.fromkeys((*self.opened_views, *self.read_views)))


def _with_first(server: str, servers: tuple[str, ...]) -> tuple[str, ...]:
    return servers if servers[:1] == (server,) else (server, *(each for each in servers if each != server))[:MOST_VIEWS]


class SessionStates:
    """The states of all sessions. They belong to the engine's loop."""

    def __init__(self, *, bus: EventBus, deadlines: DeadlineWheel, kept_for_s: float = KEPT_FOR_S) -> None:
        """
        Args:
            kept_for_s: how long a state without a connection is kept.
        """
        self._bus, self._deadlines, self._kept_for_s = bus, deadlines, kept_for_s
        self._numbers = itertools.count(1)
        self._run = secrets.token_hex(RUN_BYTES)
        self._states: dict[Hashable, SessionState] = {}
        self._connected: dict[Hashable, SessionState] = {}
        self._expiries: dict[Hashable, Deadline] = {}  # of those without a connection, the oldest first

    def __iter__(self) -> Iterator[SessionState]:
        return iter(self._states.values())

    @property
    def connected(self) -> Collection[SessionState]:
        """The states of sessions that have a connection now: few, while thousands may be kept of single requests over HTTP."""
        return self._connected.values()

    def find(self, id: str) -> SessionState | None:
        """Returns the state with this id, also while its client is away."""
        return next((state for state in self._states.values() if state.id == id), None)

    def connect(
        self,
        key: Hashable,
        *,
        server: str | None = None,
        folder: str = "",
        profile: str = "",
        is_lasting: bool = True,
        is_passing: bool = False,
    ) -> SessionState:
        """Returns the state of a session that has a connection now; the same one again for a known key.

        Args:
            key: identifies the session; the same for all its connections.
            server, folder, profile, is_passing: see SessionState; the values of the first connection count.
            is_lasting: False for a single request, of which subscribers need no event.
        """
        state = self._states.get(key)
        is_news = is_lasting or state is None
        if state is None:
            owner = "" if is_passing else self._owner(key)
            state = SessionState(f"s{next(self._numbers)}", server, folder, profile=profile, is_passing=is_passing, owner=owner)
            self._states[key] = state
        if expiry := self._expiries.pop(key, None):
            expiry.cancel()
        self._connected[key] = state
        state.connections += 1
        if state.connections == 1:
            state.connected_at = time.time()
        if is_news:
            if state.connections == 1:
                self._bus.publish(SessionConnected(state))
            self.tell_changed(state)
        return state

    def disconnect(self, key: Hashable, *, is_lasting: bool = True) -> None:
        """Records that one of a session's connections has ended."""
        state = self._states[key]
        state.connections -= 1
        if state.connections == 0:
            del self._connected[key]
            self._expiries[key] = self._deadlines.add(self._kept_for_s, partial(self._forget, key))
            if len(self._expiries) > MOST_KEPT:
                self._forget(next(iter(self._expiries)))
        if is_lasting:
            if not state.connections:
                self._bus.publish(SessionDisconnected(state))
            self.tell_changed(state)

    def tell_changed(self, state: SessionState | None = None) -> None:
        """Publishes that the lists of sessions have changed.

        Args:
            state: the session that changed; None: several. A session of a single request is in no list.
        """
        if state is None or not state.is_passing:
            self._bus.publish(SessionListChanged())

    def _owner(self, key: Hashable) -> str:
        """Returns a hash, since the key may be a secret. Only the first two parts of a key are the client's own."""
        lasting = key[:OWNING_PARTS] if isinstance(key, tuple) else (self._run, key)
        return hashlib.sha256(repr(lasting).encode()).hexdigest()[:OWNER_DIGITS]

    def _forget(self, key: Hashable) -> None:
        self._expiries.pop(key).cancel()
        state = self._states.pop(key)
        self._bus.publish(SessionForgotten(state))
        self.tell_changed(state)


class SessionConnected(Event, frozen=True):
    """A session has its first connection, or one again."""

    state: SessionState


class SessionDisconnected(Event, frozen=True):
    """The last connection of a session has ended; its client may come back."""

    state: SessionState


class SessionForgotten(Event, frozen=True):
    """A client has been away for so long that it gets another session if it comes back."""

    state: SessionState


class SessionMoved(Event, frozen=True):
    """A session may work on another project than before, and so use other instances of servers."""

    state: SessionState
