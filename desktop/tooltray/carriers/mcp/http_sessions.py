"""The sessions of legacy clients over HTTP: found by their id, bounded in number, ended when unused. The module knows no HTTP library."""

import secrets
from collections import OrderedDict
from functools import partial
from typing import Protocol

from msgspec import Raw

from tooltray.carriers.mcp.http_session import CLIENT_GONE, Dispatcher, HttpSession
from tooltray.protocol.deadlines import Deadline, DeadlineWheel
from tooltray.protocol.envelope import Envelope
from tooltray.servers.relay.held_calls import HeldCalls

MAX_SESSIONS = 1000
IDLE_EXPIRY_S = 1800.0  # killed clients do not end their sessions
SESSION_ID_BYTES = 24  # besides its token, the id identifies the client, so it must not be guessable
EXPIRED = "the session was not used for long"


class Client(Protocol):
    """The part of a client's session that is used here."""

    @property
    def dispatcher(self) -> Dispatcher: ...


class OpensClients(Protocol):
    """The part of the hub's Sessions that is used here."""

    def open_client(self, server: str | None, *, is_lasting: bool = True, client: str = "", held: HeldCalls | None = None) -> Client: ...
    def note_refusal(self, id: Raw, refusal: Envelope) -> None: ...


class HttpSessions:
    """The open sessions. Belongs to one event loop."""

    def __init__(
        self, opens: OpensClients, *, deadlines: DeadlineWheel, max_sessions: int = MAX_SESSIONS, idle_expiry_s: float = IDLE_EXPIRY_S
    ) -> None:
        self._opens, self._deadlines = opens, deadlines
        self._max_sessions, self._idle_expiry_s = max_sessions, idle_expiry_s
        self._sessions: OrderedDict[str, HttpSession] = OrderedDict()  # the most recently used one is last
        self._expiries: dict[str, Deadline] = {}

    def __len__(self) -> int:
        return len(self._sessions)

    def open(self, owner: str, server: str | None) -> HttpSession | None:
        """Opens a session; if there are too many, replaces the one that was idle for longest. Returns None if no session is idle."""
        if len(self._sessions) >= self._max_sessions and not self._end_oldest_idle():
            return None
        id = secrets.token_urlsafe(SESSION_ID_BYTES)
        dispatcher = self._opens.open_client(server).dispatcher
        session = HttpSession(id=id, owner=owner, server=server, dispatcher=dispatcher, on_closed=self._on_closed)
        self._sessions[id] = session
        self._expiries[id] = self._deadlines.add(self._idle_expiry_s, partial(self._on_expiry, id))
        return session

    def find(self, id: str, owner: str, server: str | None) -> HttpSession | None:
        """Returns the session of this id, if it is this client's and this endpoint's, and marks it as used now."""
        session = self._sessions.get(id)
        if session is None or (session.owner, session.server) != (owner, server):
            return None
        self.touch(session)
        return session

    def touch(self, session: HttpSession) -> None:
        """Marks a session as used now."""
        if session.id in self._sessions:
            self._sessions.move_to_end(session.id)
            self._expiries[session.id].restart()

    def end(self, session: HttpSession, reason: str = CLIENT_GONE) -> None:
        session.dispatcher.connection_lost(reason)  # closes the session's streams, and removes the session
        session.close()  # if the dispatcher was closed before

    def dispatchers(self, owner: str | None = None) -> list[Dispatcher]:
        """Returns the dispatchers of one owner's sessions, or all; a session ends with its dispatcher."""
        return [session.dispatcher for session in self._sessions.values() if owner in (None, session.owner)]

    def _end_oldest_idle(self) -> bool:
        oldest = next((session for session in self._sessions.values() if session.is_idle), None)
        if oldest:
            self.end(oldest, EXPIRED)
        return oldest is not None

    def _on_expiry(self, id: str) -> None:
        session = self._sessions[id]
        if session.is_idle:
            self.end(session, EXPIRED)
        else:
            self._expiries[id] = self._deadlines.add(self._idle_expiry_s, partial(self._on_expiry, id))

    def _on_closed(self, session: HttpSession) -> None:
        del self._sessions[session.id]
        self._expiries.pop(session.id).cancel()
