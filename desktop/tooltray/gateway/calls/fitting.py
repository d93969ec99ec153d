"""The stage of a tool call that fits its result into what the client may get."""

import time
from functools import partial

from tooltray.catalogue.tool_routes import Route
from tooltray.catalogue.views.known_clients import KnownClients
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.gateway.calls.stage import REFUSED, Rest, Terms
from tooltray.gateway.calls.stages import outcome_of
from tooltray.gateway.kept_results.result_fitting import ResultFitting
from tooltray.protocol.envelope import Envelope
from tooltray.protocol.sessions.exchange import Exchange, Work


class Fitting:
    """A stage without a state of its own, for tools and clients that have limits, or get tables as CSV."""

    def __init__(self, *, config: McpConfHelper, clients: KnownClients, result_fitting: ResultFitting) -> None:
        self._config, self._clients, self._fitting = config, clients, result_fitting

    def bind(self, terms: Terms, rest: Rest) -> Work:
        then = rest(terms)
        route = terms.route
        if route.result_limit is None and not route.csv_tables and not self._config.settings.publish.clients:
            return then
        return partial(self._fitted, route, then)

    async def _fitted(self, route: Route, then: Work, exchange: Exchange) -> Envelope:
        """Returns the reply, cut if need be. The time for this is not the server's, and the outcome of the call is not changed."""
        reply, timings = await then(exchange), exchange.timings
        if exchange.is_whole or timings.outcome == REFUSED or not reply.result:
            return reply
        if not (terms := self._clients.result_terms(route, exchange.session.state)):
            return reply
        timings.outcome, timings.answered_at = outcome_of(reply), time.perf_counter()
        return await self._fitting.fitted(reply, terms, route, exchange)
