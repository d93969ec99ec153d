"""Limits how many calls of a server's tools are under way at once, and begin in a minute; the others wait for their turn.

Sessions take turns, so that one with five hundred calls delays another by one call. A call gives up its place while its client is asked a
question: otherwise a client that makes further calls to find the answer would wait for itself. A call that continues after a question (a
modern client repeats it with answers) does not wait again.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable
from functools import partial

from msgspec import Raw

from tooltray.config.settings.server_config import MCPServerConfig
from tooltray.foundation.events import Event, EventBus, ServerRemoved
from tooltray.gateway.calls.stage import Rest, Terms
from tooltray.protocol.deadlines import Deadline, DeadlineWheel
from tooltray.protocol.envelope import INTERNAL_ERROR, NOTHING, Envelope, failure
from tooltray.protocol.sessions.caller import Caller, CallerBehind
from tooltray.protocol.sessions.exchange import Exchange, Work
from tooltray.servers.upstream.managed_server import ServersConfigured
from tooltray.servers.upstream.server_manager import ServerManager

MINUTE_S = 60.0
MOST_WAITING = 1000  # waiting calls of one server; a client with more is in a loop


class ServerLimits:
    """A stage, for servers with such a limit. Belongs to the engine's loop."""

    def __init__(
        self, *, servers: ServerManager, deadlines: DeadlineWheel, bus: EventBus, now: Callable[[], float] = time.monotonic
    ) -> None:
        """
        Args:
            now: seconds, of any clock that is never set back.
        """
        self._servers, self._deadlines, self._now = servers, deadlines, now
        self._queues: dict[str, _Queue] = {}
        for kind in (ServersConfigured, ServerRemoved):
            bus.subscribe(kind, self._on_changed)

    def bind(self, terms: Terms, rest: Rest) -> Work:
        config = self._config(terms.route.server)
        is_limited = config and (config.max_calls or config.calls_per_minute)
        return partial(self._sent_in_turn, terms.route.server, rest(terms)) if is_limited else rest(terms)

    async def _sent_in_turn(self, server: str, send: Work, exchange: Exchange) -> Envelope:
        queue = self._queues.get(server)
        if queue is None:
            queue = self._queues[server] = _Queue(partial(self._config, server), self._deadlines, self._now)
        if not exchange.head.request_state:
            if queue.is_full:
                return failure(INTERNAL_ERROR, f"{MOST_WAITING:,} calls of server '{server}' are already waiting; call again later")
            await queue.turn(exchange)
        queue.working += 1
        try:
            return await send(exchange.child(caller=_InPlace(exchange.caller, queue)))
        finally:
            queue.leave()

    def _config(self, server: str) -> MCPServerConfig | None:
        managed = self._servers.find(server)
        return managed.config if managed else None

    def _on_changed(self, event: Event) -> None:
        """Applies changed limits, and wakes the calls that wait for a removed server."""
        for queue in self._queues.values():
            queue.go_on()
        if isinstance(event, ServerRemoved):
            self._queues.pop(event.name, None)


class _Queue:
    """The calls of one server.

    Attributes:
        working: calls at the server, except those whose client is being asked.
    """

    def __init__(self, config: Callable[[], MCPServerConfig | None], deadlines: DeadlineWheel, now: Callable[[], float]) -> None:
        self._config, self._deadlines, self._now = config, deadlines, now
        self.working = 0
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}  # by the session's id; the first session has the next turn
        self._begun: deque[float] = deque()  # times of calls in the last minute
        self._deadline: Deadline | None = None
        self._given = 0  # turns that were given to calls which have not continued yet

    @property
    def is_full(self) -> bool:
        return sum(map(len, self._waiting.values())) >= MOST_WAITING

    async def turn(self, exchange: Exchange) -> None:
        """Waits for the call's turn, if others are before it or the limit is reached."""
        if not self._waiting and self._has_room():
            self._begin()
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        state = exchange.session.state
        session = exchange.client if state.is_passing else state.id  # requests of a client without a session have only its name in common
        self._waiting.setdefault(session, deque()).append(turn)
        try:
            with exchange.timings.at_turn(partial(self._before, session, turn)):
                self.go_on()
                await turn
        except asyncio.CancelledError:
            self._give_up(session, turn)
            raise
        self._given -= 1

    def leave(self) -> None:
        """Frees the place of a call that has ended, or whose client is being asked."""
        self.working -= 1
        self.go_on()

    def go_on(self) -> None:
        """Gives turns to sessions, one after the other, while the limits allow."""
        while self._waiting and self._has_room():
            session = next(iter(self._waiting))
            turns = self._waiting.pop(session)
            turn = turns.popleft()
            if turns:
                self._waiting[session] = turns
            if turn.cancelled():  # its call was cancelled in this moment
                continue
            self._given += 1
            self._begin()
            turn.set_result(None)
        if not self._waiting and self._deadline:
            self._deadline.cancel()
            self._deadline = None

    def _has_room(self) -> bool:
        config = self._config()
        if config is None:
            return True
        if config.max_calls is not None and self.working + self._given >= config.max_calls:
            return False
        if config.calls_per_minute is None:
            return True
        self._forget_old()
        if len(self._begun) < config.calls_per_minute:
            return True
        if self._deadline is None:
            self._deadline = self._deadlines.add(self._begun[0] + MINUTE_S - self._now(), self._on_minute)
        return False

    def _begin(self) -> None:
        config = self._config()
        if config and config.calls_per_minute is not None:
            self._begun.append(self._now())

    def _on_minute(self) -> None:
        self._deadline = None
        self.go_on()

    def _forget_old(self) -> None:
        while self._begun and self._now() - self._begun[0] >= MINUTE_S:
            self._begun.popleft()

    def _give_up(self, session: str, turn: "asyncio.Future[None]") -> None:
        """Removes a cancelled call, which may have got its turn in this moment."""
        if not turn.cancelled():
            self._given -= 1
        elif turn in (turns := self._waiting.get(session, deque())):
            turns.remove(turn)
            if not turns:
                del self._waiting[session]
        self.go_on()

    def _before(self, session: str, turn: "asyncio.Future[None]") -> int:
        """Returns how many calls get their turn before this one."""
        own = self._waiting.get(session, deque())
        place = own.index(turn) if turn in own else 0
        others = list(self._waiting)
        is_later = others.index(session) if session in others else 0
        return place + sum(min(len(turns), place + (at < is_later)) for at, turns in enumerate(self._waiting.values()) if turns is not own)


class _InPlace(CallerBehind):
    """A caller that frees its call's place at the server while the client is asked. Satisfies Caller."""

    def __init__(self, caller: Caller, queue: _Queue) -> None:
        super().__init__(caller)
        self._queue, self._open_questions = queue, 0

    async def ask(self, method: str, params: Raw, *, about: Raw = NOTHING) -> Envelope:
        self._open_questions += 1
        if self._open_questions == 1:
            self._queue.leave()
        try:
            return await self._caller.ask(method, params, about=about)
        finally:
            self._open_questions -= 1
            if not self._open_questions:
                self._queue.working += 1  # the call continues without waiting, even if the limit is exceeded meanwhile
