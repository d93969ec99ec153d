"""The path of a `tools/call`: the stages in the order in which a call passes them, composed once for all calls of the same terms."""

import time
from collections.abc import Coroutine, Sequence
from functools import partial

from tooltray.catalogue.tool_copies import ToolCopies
from tooltray.catalogue.tool_manager import OffersChanged
from tooltray.catalogue.tool_routes import Route
from tooltray.catalogue.views.meta_calls import MetaCalls
from tooltray.catalogue.views.views import Views
from tooltray.foundation.events import ConfigChanged, Event, EventBus, ResourceListChanged, ServerRemoved, ToolListChanged
from tooltray.gateway.calls.fitting import Fitting
from tooltray.gateway.calls.server_limits import ServerLimits
from tooltray.gateway.calls.stage import Stage, Terms
from tooltray.gateway.calls.stages import (
    Activating,
    Addressing,
    AnsweredHere,
    Authorizing,
    FlowNotes,
    NotingTasks,
    Recording,
    Relisting,
    Sending,
)
from tooltray.gateway.calls.tool_resolver import Offering, ToolResolver
from tooltray.gateway.server_tasks.server_tasks import ServerTasks
from tooltray.protocol.envelope import Envelope
from tooltray.protocol.eras import Era
from tooltray.protocol.sessions.exchange import Exchange, Work
from tooltray.servers.upstream.managed_server import ServersConfigured

STAGES: tuple[type[Stage], ...] = (
    Offering,  # refuses tools that the session's profile leaves out
    Recording,  # the call counts as running until its end; then statistics and journal
    Fitting,  # a large result is cut, and the rest kept
    Authorizing,  # approval by the rules or the user
    FlowNotes,  # the flow guard records what the call returned
    Activating,  # the server is shown to the session from now on
    Relisting,  # once more if the server wants other headers
    AnsweredHere,  # calls of the hub's own tools end here
    Addressing,  # uses the server's own name of the tool
    NotingTasks,  # records a task that the server answers with
    ServerLimits,  # the call waits for its turn
    Sending,
)
MOST_WAYS = 4096  # composed paths in the cache; clients call fewer tools
CHANGES: tuple[type[Event], ...] = (ConfigChanged, ServersConfigured, ServerRemoved, OffersChanged, ToolListChanged, ResourceListChanged)
"""Events after which paths are composed again."""

_Key = tuple[str, str | None, bool, str, bool, bool]
"""The tool's name, the session's only server, whether the client is modern, the profile, and `shows_views` and `may_be_task` as in
Terms.
"""


def compose(stages: Sequence[Stage], terms: Terms) -> Work:
    """Returns the composed path of all calls of these terms."""
    return stages[0].bind(terms, partial(compose, stages[1:]))


class ToolCalls:
    """Carries out tool calls, and caches the composed paths. Belongs to the engine's loop."""

    def __init__(
        self,
        *,
        views: Views,
        meta: MetaCalls,
        resolver: ToolResolver,
        server_tasks: ServerTasks,
        tool_copies: ToolCopies,
        stages: Sequence[Stage],
        bus: EventBus,
    ) -> None:
        self._views, self._meta, self._resolver, self._tasks = views, meta, resolver, server_tasks
        self._copies, self._stages = tool_copies, stages
        self._ways: dict[_Key, tuple[Route, Work]] = {}
        for kind in CHANGES:
            bus.subscribe(kind, lambda event: self._ways.clear())

    def call(self, exchange: Exchange) -> Coroutine[object, None, Envelope]:
        """Carries out one `tools/call` of an AI client."""
        exchange.timings.called_at = time.perf_counter()
        state, is_modern = exchange.caller.session.state, exchange.era is Era.MODERN
        key = exchange.head.name, exchange.server, is_modern, state.profile, state.shows_views, self._tasks.may_begin(exchange)
        known = self._ways.get(key)
        if known and not self._copies.are_any:
            return known[1](exchange)
        route = self._resolver.resolve(exchange)  # copies of a server may have tools of their own
        if route is None:
            return self._call_late(exchange)
        if not (known and (known[0] is route or known[0] == route)):  # routes to a copy's own tools are new for each call
            if len(self._ways) >= MOST_WAYS:
                self._ways.clear()
            known = self._ways[key] = route, self._way(route, exchange)
        return known[1](exchange)

    async def _call_late(self, exchange: Exchange) -> Envelope:
        if meta := self._meta.find(exchange.head.name, exchange.session.state):
            return await meta(exchange)
        route = await self._resolver.resolve_late(exchange)
        return await (self._way(route, exchange)(exchange) if route else self._resolver.refuse(exchange))

    def _way(self, route: Route, exchange: Exchange) -> Work:
        state = exchange.session.state
        terms = Terms(
            route=route,
            era=exchange.era,
            is_alone=exchange.server is not None,
            is_plain=self._views.is_plain(state),
            shows_views=state.shows_views,
            may_be_task=self._tasks.may_begin(exchange),
        )
        return compose(self._stages, terms)
