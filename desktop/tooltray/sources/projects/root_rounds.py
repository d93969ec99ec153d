"""Asks modern AI clients which folder they work on: such a client is never asked, it gets an `input_required` result and calls again.

Its roots are asked for with each call that depends on them, since nothing tells of others (2026-07-28 has no notification for it) and
requests over HTTP stand for themselves; and once where nobody knows the session's folder, so that the servers of that folder are found.
What the call itself had to say of its server's questions goes to the client as a part of the state, and comes back with it: nothing is kept
here.

Above it: Projects. Below it: ProjectSources, which judges the answer.
"""

import base64
import secrets
from functools import partial
from weakref import WeakSet

from msgspec import Raw

from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.events import EventBus
from tooltray.protocol import envelope, eras
from tooltray.protocol.deadlines import DeadlineWheel
from tooltray.protocol.envelope import INVALID_PARAMS, NOTHING, Envelope, MalformedFrame, dump, failure
from tooltray.protocol.eras import ROUND_KEYS
from tooltray.protocol.member_scanner import closed, opened
from tooltray.protocol.sessions.caller import Session, can_be_asked
from tooltray.protocol.sessions.exchange import Exchange
from tooltray.protocol.sessions.session_state import SessionForgotten, SessionState
from tooltray.servers.upstream.deferred_server import DeferredServer
from tooltray.servers.upstream.server_manager import ServerManager
from tooltray.sources.projects.project_sources import ROOTS, ProjectSources

KEY = "roots"  # of the question, in the result and among the answers
COUNTS_FOR_S = 30.0  # an answer, on a connection that lasts: its client is one window, and seldom opens another folder in it
MARK_BYTES = 12  # a server that is a hub itself asks in the same way, and its state is not to be taken for one of ours
UNREADABLE = "the state of this call is none of this hub's; call again"


class RootRounds:
    """Belongs to the engine's loop."""

    def __init__(
        self,
        *,
        sources: ProjectSources,
        servers: ServerManager,
        config: McpConfHelper,
        deadlines: DeadlineWheel,
        bus: EventBus,
    ) -> None:
        self._sources, self._servers, self._config, self._deadlines = sources, servers, config, deadlines
        self._mark = f"roots.{secrets.token_urlsafe(MARK_BYTES)}."
        self._asked: set[str] = set()  # ids of states
        self._are_known: WeakSet[Session] = WeakSet()  # whose answer still counts
        bus.subscribe(SessionForgotten, lambda event: self._asked.discard(event.state.id))

    async def before(self, exchange: Exchange, server: str | None) -> Envelope | None:
        """What is answered first to a request that may be answered with questions; None: it goes on.

        Args:
            exchange: request and head of one that brings the answer become those of the request that was asked. Over HTTP, its session
                works on what its client has answered from then on.
            server: whose the request is; None: that is not known yet.
        """
        if exchange.head.request_state.startswith(self._mark):
            return await self._go_on(exchange)
        if not await self._is_needed(exchange, server):
            return None
        self._asked.add(exchange.session.state.id)
        question, state = {KEY: {"method": ROOTS}}, self._state(exchange.request)
        return Envelope(result=dump({"resultType": "input_required", "inputRequests": question, "requestState": state}))

    async def _is_needed(self, exchange: Exchange, server: str | None) -> bool:
        session, state = exchange.session, exchange.session.state
        depends = self._depends_on_project(server)
        if not depends and (state.is_passing or state.id in self._asked):
            return False  # one that ends with its request need not know without a reason
        if session in self._are_known or "feedback" in state.projects or not can_be_asked(ROOTS, exchange.head.meta.capabilities):
            return False
        return depends or await self._is_lost(state)

    def _depends_on_project(self, server: str | None) -> bool:
        """Whether it may count for a request to a server; the hub's own tools call others."""
        managed = self._servers.find(server) if server else None
        if managed is None or managed.is_builtin:
            return any(map(self._is_of_projects, self._config.settings.mcp_servers))
        return self._is_of_projects(managed.name)

    def _is_of_projects(self, server: str) -> bool:
        return isinstance(self._servers.find(server), DeferredServer) or not self._servers.is_for_all(server)

    async def _is_lost(self, state: SessionState) -> bool:
        """Whether nobody has said on what a session works."""
        await self._sources.looked(state)
        return "folder" not in state.projects

    async def _go_on(self, exchange: Exchange) -> Envelope | None:
        request, head, session = exchange.request, exchange.head, exchange.session
        members = opened(request.params)
        try:
            asked = _unpacked(head.request_state.removeprefix(self._mark))
        except (ValueError, MalformedFrame):
            return failure(INVALID_PARAMS, UNREADABLE)
        params = closed({name: value for name, value in members.items() if name not in ROUND_KEYS} | asked)
        if (now := eras.read_head(params)) is None:
            return failure(INVALID_PARAMS, UNREADABLE)
        answer = head.input_responses.get(KEY, NOTHING)
        request.params, head.request_state, head.input_responses = params, now.request_state, now.input_responses
        await self._sources.take(session, answer)
        if session.is_lasting:
            self._are_known.add(session)
            self._deadlines.add(COUNTS_FOR_S, partial(self._are_known.discard, session))
        return None

    def _state(self, request: Envelope) -> str:
        members = opened(request.params)
        asked = {name: members[name] for name in ROUND_KEYS if name in members}
        return self._mark + (base64.urlsafe_b64encode(bytes(closed(asked))).decode() if asked else "")


def _unpacked(state: str) -> dict[str, Raw]:
    """
    Raises:
        ValueError, MalformedFrame: it is nothing that was packed here.
    """
    if not state:
        return {}
    packed = base64.b64decode(state, altchars=b"-_", validate=True)
    members = opened(envelope.decode(b'{"method":"%b","params":%b}' % (ROOTS.encode(), packed)).params)  # a client could write anything
    return {name: value for name, value in members.items() if name in ROUND_KEYS}
