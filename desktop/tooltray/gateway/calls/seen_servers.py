"""The hub's own tools that tell of servers, for those who call them: a session hears of the servers that exist for it.

Above it: ToolCalls, which sends it these calls, for the built-in server does not know who calls. Below it: that server, and Visibility.
"""

from collections.abc import Callable
from functools import partial

from tooltray.protocol import envelope
from tooltray.protocol.envelope import INVALID_PARAMS, Envelope, failure
from tooltray.protocol.sessions.exchange import Exchange
from tooltray.protocol.sessions.own_results import own_result
from tooltray.protocol.sessions.session_state import SessionState
from tooltray.servers.builtin.hub_server import HubServer


class SeenServers:
    """One of these tools. Satisfies OwnTool; has no state of its own."""

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
