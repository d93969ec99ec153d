"""Calls of the views that an AI client shows (MCP Apps): a view knows its tools by its own server's names, and the client passes them on.

Above it: the router. Below it: ToolManager, Views, and what a session's state says of the views that it opened. Nothing in such a call says
which view makes it, nor that one does. So a name leads to the one server that has a tool of this own name and whose view may be open, and
where several could be meant, to none. That names which clients have in their lists are not taken for a view's is JointListing's doing.
"""

from msgspec.structs import replace

from tooltray.catalogue.tool_manager import ToolManager
from tooltray.catalogue.tool_routes import Route
from tooltray.protocol.envelope import INVALID_PARAMS, Envelope, failure
from tooltray.sessions.exchange import Exchange
from tooltray.sessions.session_state import SessionState
from tooltray.views.view_lists import ViewLists
from tooltray.views.views import Views


class AppCalls:
    """Has no state of its own."""

    def __init__(self, *, tools: ToolManager, views: Views, lists: ViewLists) -> None:
        self._tools, self._views, self._lists = tools, views, lists

    def resolve(self, exchange: Exchange) -> Envelope | None:
        """Gives a `tools/call` that a view may have made the published name of the tool of its own server.

        Returns:
            An error where it could be the tool of several servers whose views are open; None: the call goes on.
        """
        state, name = exchange.session.state, exchange.head.name
        if exchange.server is not None or not (found := self._of_views(name, state)) or self._lists.key(name, None):
            return None
        if len(found) > 1:
            servers = ", ".join(f"'{route.server}'" for route in found)
            return failure(INVALID_PARAMS, f"'{name}' may be a tool of {servers}, and nothing says whose view calls it")
        if published := self._tools.published_name(found[0]):
            exchange.head = replace(exchange.head, name=published)
        return None

    def _of_views(self, name: str, state: SessionState) -> list[Route]:
        """Tools of this own name which views may call: of servers whose views are open; else of all that have views, if no list has it."""
        may_call = {route.server: route for route in self._tools.called_by_views(name) if self._views.offers(state, route)}
        if shown := state.showing(may_call.keys()):
            return [may_call[server] for server in shown]
        return list(may_call.values()) if self._tools.target(name, None) is None else []
