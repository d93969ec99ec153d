"""Calls of the views that an AI client shows (MCP Apps): a view knows its tools by its own server's names, and the client passes them on.

Above it: the router. Below it: ToolManager, Views, and what a session's state says of the views that it opened. Nothing in such a call says
which view makes it, nor that one does. So a name leads to the one server that has a tool of this own name and whose view may be open, and
where several could be meant, to none: no view reaches another server's tool while its own has one of that name, also not while its server
is stopped or does not offer that tool. That a client's list has no
name that a view could mean otherwise is JointListing's doing.
"""

from collections.abc import Collection

from msgspec.structs import replace

from tooltray.catalogue.tool_manager import ToolManager
from tooltray.catalogue.views.hub_tools import HubTools
from tooltray.catalogue.views.views import Views
from tooltray.protocol.envelope import INVALID_PARAMS, Envelope, failure
from tooltray.protocol.sessions.exchange import Exchange
from tooltray.protocol.sessions.session_state import SessionState

LISTED = "the names that are listed tell them apart"


class AppCalls:
    """Has no state of its own."""

    def __init__(self, *, tools: ToolManager, views: Views, hub_tools: HubTools) -> None:
        self._tools, self._views, self._hub_tools = tools, views, hub_tools

    def resolve(self, exchange: Exchange) -> Envelope | None:
        """Gives a `tools/call` that a view may have made the published name of the tool of its own server.

        Returns:
            An error where it could be the tool of several servers whose views are open; None: the call goes on.
        """
        state, name = exchange.session.state, exchange.head.name
        if exchange.server is not None:
            return None
        may_call = {route.server: route for route in self._tools.called_by_views(name) if self._views.offers(state, route)}
        at_rest = [server for server in state.seen_views if server not in may_call and self._tools.may_be_of_view(server, name)]
        if not (may_call or at_rest) or self._hub_tools.key(name, None):
            return None
        found = self._meant(name, [*may_call, *at_rest], state)
        if len(found) > 1:
            servers = ", ".join(f"'{server}'" for server in found)
            return failure(INVALID_PARAMS, f"'{name}' may be a tool of {servers}, and nothing says whose view calls it; {LISTED}")
        if found[0] in at_rest and (target := self._tools.target(name, None)) and target[0] != found[0]:
            return failure(INVALID_PARAMS, f"'{name}' may be a tool of '{found[0]}', whose view is open, and is not offered now; {LISTED}")
        if route := may_call.get(found[0]):
            exchange.head = replace(exchange.head, name=self._tools.published_name(route) or name)
        return None

    def _meant(self, name: str, may_call: Collection[str], state: SessionState) -> list[str]:
        """The servers of which it may be a tool."""
        if shown := state.showing(may_call):  # whatever views there are besides: they have been opened, or read, before they call
            return shown
        target = self._tools.target(name, None)
        if target is None or target[0] not in self._tools.server_names:
            return list(may_call)
        others = [server for server in may_call if server != target[0]]
        is_listed_so = state.listed_views is not None and state.listed_views.isdisjoint(others)
        return [target[0]] if is_listed_so else [target[0], *others]
