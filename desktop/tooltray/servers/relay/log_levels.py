"""Which log messages servers send, and which clients get them.

A legacy server has one level per connection, which several AI clients share: it gets the lowest level that any of the clients set, and each
client gets only messages of its own level and above. A modern server gets a level with each request.
"""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable, Iterable
from weakref import WeakKeyDictionary, WeakSet

import msgspec
from msgspec import Raw

from tooltray.foundation.events import EventBus
from tooltray.foundation.tasks import Spawn
from tooltray.protocol.envelope import INVALID_PARAMS, NOTHING, Envelope, dump, failure, success
from tooltray.protocol.eras import Era
from tooltray.protocol.sessions.caller import Session
from tooltray.protocol.sessions.exchange import Exchange
from tooltray.protocol.sessions.session_state import SessionMoved
from tooltray.servers.upstream.managed_server import InstanceOpened
from tooltray.servers.upstream.mcp_client import McpClient

logger = logging.getLogger(__name__)
LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")  # of RFC 5424, the lowest first
USUAL_RANK = LEVELS.index("info")  # most servers send it and above without a request
SET_TIMEOUT_S = 5.0  # calls wait for it


class _Asked(msgspec.Struct, frozen=True):
    """The level that a client set for its session: for `server`, or for all if it is None."""

    rank: int
    server: str | None


class _Call(msgspec.Struct, frozen=True, eq=False):
    """One call of a modern client that named a level."""

    session: Session
    rank: int
    server: McpClient


class LogLevels:
    """The levels that clients set. Belongs to the engine's loop."""

    def __init__(self, *, bus: EventBus, spawn: Spawn, serves: Callable[[McpClient, Session], bool] = lambda client, session: True) -> None:
        """
        Args:
            serves: whether a session uses a connection to a server.
        """
        self._spawn, self._serves = spawn, serves
        self._asked: dict[Session, _Asked] = {}
        self._calls: list[_Call] = []
        self._told: WeakKeyDictionary[McpClient, int] = WeakKeyDictionary()  # the level that each legacy server has
        self._copies: WeakSet[McpClient] = WeakSet()
        bus.subscribe(InstanceOpened, self._on_instance_opened)
        bus.subscribe(SessionMoved, lambda event: self._apply_to_all())

    async def set(self, session: Session, level: str, copies: Iterable[McpClient], *, server: str | None = None) -> Envelope:
        """Carries out a legacy client's `logging/setLevel`.

        Args:
            copies: the connections to servers that the session can reach and that run.
            server: the only one that the session can reach; None: all.

        Returns:
            The reply for the client; an error if the level is unknown, or if all servers refuse it.
        """
        if level not in LEVELS:
            return failure(INVALID_PARAMS, f"unknown log level {level!r}; available: {', '.join(LEVELS)}")
        self._asked[session] = _Asked(LEVELS.index(level), server)
        replies = await asyncio.gather(*(self._apply(copy) for copy in copies))
        errors = [reply for reply in replies if reply and reply.error]
        return errors[0] if errors and len(errors) == len(replies) else success({})

    def of(self, session: Session) -> Raw:
        """Returns the level for a legacy client's requests to a modern server; empty if the client has set none."""
        asked = self._asked.get(session)
        return dump(LEVELS[asked.rank]) if asked else NOTHING

    def wants(self, session: Session, level: str) -> bool:
        """Returns whether a client is to get messages of a level.

        A legacy client that set no level gets what servers usually send; a modern one gets only the levels that its calls in flight named.
        """
        rank = LEVELS.index(level) if level in LEVELS else len(LEVELS)
        if any(call.session is session and call.rank <= rank for call in self._calls):
            return True
        if asked := self._asked.get(session):
            return asked.rank <= rank
        return bool(session.introduction) and (not self._asked or rank >= USUAL_RANK)

    @contextlib.asynccontextmanager
    async def during(self, exchange: Exchange, server: McpClient) -> AsyncIterator[None]:
        """Applies the level that a modern client names in a call until the call ends, also at a legacy server."""
        level = _read(exchange.head.meta.log_level)
        if level not in LEVELS:
            yield
            return
        call = _Call(exchange.session, LEVELS.index(level), server)
        self._calls.append(call)
        try:
            await self._apply(server)
            yield
        finally:
            self._calls.remove(call)
            self._apply_soon(server)

    def _on_instance_opened(self, event: InstanceOpened) -> None:
        """Sets the level of a connection that was just opened."""
        self._copies.add(event.client)
        self._apply_soon(event.client)

    def _apply_to_all(self) -> None:
        """Applies the levels again after sessions use other instances than before, or other levels."""
        for copy in list(self._copies):
            self._apply_soon(copy)

    def end(self, session: Session) -> None:
        """Drops the levels of a client that has disconnected."""
        if self._asked.pop(session, None):
            self._apply_to_all()

    def _apply_soon(self, client: McpClient) -> None:
        if self._is_news(client):
            self._spawn(self._apply(client), name=f"log level of '{client.name}'")

    async def _apply(self, client: McpClient) -> Envelope | None:
        """Sends a server its level if the level changed; returns the server's reply."""
        if not self._is_news(client):
            return None
        self._told[client] = rank = self._lowest(client)
        reply = await client.request("logging/setLevel", {"level": LEVELS[rank]}, timeout_s=SET_TIMEOUT_S)
        if reply.error:
            logger.info("'%s' rejects the log level '%s'", client.name, LEVELS[rank])
        return reply

    def _is_news(self, client: McpClient) -> bool:
        has_levels = client.era is Era.LEGACY and "logging" in client.greeting.capabilities and not client.dispatcher.is_closed
        return has_levels and self._lowest(client) not in (len(LEVELS), self._told.get(client))

    def _lowest(self, client: McpClient) -> int:
        """Returns the lowest rank that a client set for a server; more than any rank if none did: then the server keeps its level."""
        asked = [asked.rank for session, asked in self._asked.items() if self._concerns(asked, session, client)]
        calls = [call.rank for call in self._calls if call.server is client]
        return min((*asked, *calls), default=len(LEVELS))

    def _concerns(self, asked: _Asked, session: Session, client: McpClient) -> bool:
        if client.owner is not None:
            return client.owner is session
        return asked.server in (None, client.name) and self._serves(client, session)


def read_level(params: Raw) -> str:
    """Returns the `level` of a `logging/setLevel` or of a message; empty if it has none."""
    try:
        return msgspec.json.decode(params, type=_Leveled).level
    except (ValueError, RecursionError):
        return ""


class _Leveled(msgspec.Struct):
    level: str = ""


def _read(level: Raw) -> str:
    try:
        return msgspec.json.decode(level, type=str) if level else ""
    except ValueError:
        return ""
