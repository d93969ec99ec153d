"""The stage that answers calls of the hub's own tools here, and those of the hub's tools that depend on the caller."""

from collections.abc import Callable, Mapping
from functools import partial

from tooltray.gateway.calls.stage import Rest, Terms
from tooltray.protocol import envelope
from tooltray.protocol.envelope import INVALID_PARAMS, Envelope, failure
from tooltray.protocol.eras import Era
from tooltray.protocol.sessions.exchange import Exchange, Work
from tooltray.protocol.sessions.own_results import own_result
from tooltray.protocol.sessions.session_state import SessionState
from tooltray.servers.builtin.hub_server import HubServer

OwnTool = Work
"""A tool of a built-in server that has to know its caller: the hub answers it itself."""
OwnTools = Mapping[tuple[str, str], OwnTool]
"""Tools by (built-in server, tool); they may wait for the user."""


class AnsweredHere:
    """A stage without a state of its own; the last one of the hub's own tools."""

    def __init__(self, *, own: OwnTools) -> None:
        self._own = own

    def bind(self, terms: Terms, rest: Rest) -> Work:
        own = self._own.get((terms.route.server, terms.route.definition.name))
        return partial(_answered, own, terms.route.server) if own else rest(terms)


async def _answered(own: OwnTool, server: str, exchange: Exchange) -> Envelope:
    """Answers a call; a tool that asks the user asks a modern client in the modern way."""
    with exchange.course.at_server():
        return await (exchange.held.run(own, exchange, owner=server) if exchange.era is Era.MODERN else own(exchange))


class SeenServers:
    """One of the hub's tools about servers (an OwnTool): it reports to a session only the servers that exist for it."""

    def __init__(self, hub: HubServer, tool: str, *, sees: Callable[[SessionState, str], bool]) -> None:
        """
        Args:
            tool: the built-in server's own name for it.
            sees: whether a server exists for a session.
        """
        self._hub, self._tool, self._sees = hub, tool, sees

    async def __call__(self, exchange: Exchange) -> Envelope:
        try:
            params = envelope.load(exchange.request.params)
        except ValueError as error:
            return failure(INVALID_PARAMS, f"the arguments cannot be read: {error}")
        arguments = params.get("arguments") if isinstance(params, dict) else None
        reply = self._hub.call(self._tool, arguments or {}, sees=partial(self._sees, exchange.session.state))
        return own_result("tools/call", reply.result, exchange.era)
