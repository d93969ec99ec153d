"""Records that a session uses a server: it counts as activated, views of its tools may be open, and the flow guard is informed."""

from functools import partial

from tooltray.catalogue.tool_routes import Route
from tooltray.catalogue.views.views import Views
from tooltray.consent.approvals.flow_guard import FlowGuard
from tooltray.gateway.calls.stage import Rest, Terms
from tooltray.protocol.envelope import Envelope
from tooltray.protocol.sessions.exchange import Exchange, Work
from tooltray.protocol.sessions.session_state import SessionState


class Activating:
    """A stage without a state of its own: a server that a session calls is shown to it from now on."""

    def __init__(self, *, views: Views) -> None:
        self._views = views

    def bind(self, terms: Terms, rest: Rest) -> Work:
        opens = terms.shows_views and bool(terms.route.definition.view.uris)
        hides = not (terms.is_free and terms.is_plain)  # the settings may have changed while the user was asked
        return partial(self._used, terms.route.server, hides, opens, rest(terms)) if hides or opens else rest(terms)

    async def _used(self, server: str, hides: bool, opens: bool, then: Work, exchange: Exchange) -> Envelope:
        state = exchange.session.state
        if hides:
            self._views.used(state, server)
        if opens:
            state.opens_view(server)
        return await then(exchange)


class FlowNotes:
    """A stage without a state of its own: records the content that a call has brought, while the flow guard is on for some client."""

    def __init__(self, *, flow_guard: FlowGuard) -> None:
        self._guard = flow_guard

    def bind(self, terms: Terms, rest: Rest) -> Work:
        return partial(self._noted, terms.route, rest(terms)) if self._guard.is_on else rest(terms)

    async def _noted(self, route: Route, then: Work, exchange: Exchange) -> Envelope:
        reply = await then(exchange)
        self._guard.note(route, exchange)
        return reply


class ServerUses:
    """Uses of a server by anything but a call of a tool. Has no state of its own."""

    def __init__(self, *, views: Views, flow_guard: FlowGuard) -> None:
        self._views, self._guard = views, flow_guard

    def used(self, state: SessionState, server: str) -> None:
        """Records that a session gets a prompt or a resource of a server, or asks it for something of an extension."""
        self._views.used(state, server)
        self.passed(state, server)

    def passed(self, state: SessionState, server: str) -> None:
        """Records that a server has sent something, which strangers may have written. Asking for it activates nothing."""
        if self._guard.is_on:
            self._guard.note_other(server, state)
