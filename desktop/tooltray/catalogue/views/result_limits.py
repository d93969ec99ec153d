"""How many tokens of a result each AI client gets at once: by its own settings, a server's or a tool's; without such a setting, all. Used
with each call: awaits nothing.
"""

import msgspec

from tooltray.catalogue.tool_routes import Route
from tooltray.catalogue.views.known_clients import KnownClients
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.config.settings.server_config import MCPServerConfig
from tooltray.protocol.sessions.session_state import SessionState
from tooltray.servers.upstream.server_manager import ServerManager

TEXT = "text"


class ResultTerms(msgspec.Struct, frozen=True):
    """How a result is given to a client.

    Attributes:
        tokens: how many of a result are given at once; None: all.
        reads: if a result has the same content twice, the client's model gets only its "text" or "structured" form; empty: both are sent.
    """

    tokens: int | None
    reads: str = ""


class ResultLimits:
    """The limits of results; has no state of its own."""

    def __init__(self, *, config: McpConfHelper, servers: ServerManager, clients: KnownClients) -> None:
        self._config, self._servers, self._clients = config, servers, clients

    def of_call(self, route: Route, state: SessionState) -> ResultTerms | None:
        """Returns the terms for the result of one tool; None: it is unchanged. The smaller limit of the client's and the tool's counts.

        Built-in servers have no limit, nor do calls by views of the server or by the user.
        """
        if route.result_limit is None and not self._config.settings.publish.clients:  # no limit at all: each call skips the rest
            return None
        client = self._clients.settings(state.client)
        theirs, reads = client.result_limit, client.reads or ""
        limit = route.result_limit if theirs is None else min(theirs, route.result_limit or theirs)
        if (limit is None and not reads) or state.is_persons or not route.definition.view.is_for_models:
            return None
        return None if self._servers.get(route.server).is_builtin else ResultTerms(limit, reads)

    def are_any(self, state: SessionState) -> bool:
        """Reports whether some result that a session can get may be cut."""
        if self._clients.settings(state.client).result_limit is not None:
            return True
        own = self._servers.find(state.server) if state.server else None
        servers = [own] if own else self._servers
        return any(_has_any(server.config) for server in servers)

    def cuts(self, route: Route, state: SessionState) -> bool:
        """Reports whether a tool is listed to a session without the schema of its results: a cut result does not satisfy the schema.

        Where a view shows the results, they keep their structured content.
        """
        terms = self.of_call(route, state)
        may_lack = terms is not None and (terms.tokens is not None or terms.reads == TEXT)
        return may_lack and not (state.shows_views and route.definition.view.uris)

    def leaves_structure_out(self, state: SessionState) -> bool:
        """Reports whether some results lack their structured content because a session's client does not read it."""
        return self._clients.settings(state.client).reads == TEXT


def _has_any(config: MCPServerConfig) -> bool:
    return config.result_limit is not None or any(each.result_limit is not None for each in config.tool_overrides.values())
