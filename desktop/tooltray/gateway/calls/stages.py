"""The stages of a tool call that need few lines; `tool_call.STAGES` has their order."""

import time
from collections.abc import Callable, Coroutine, Mapping
from functools import partial

from msgspec import Raw
from msgspec.structs import replace

from tooltray.catalogue.resource_manager import LinkingRelay, ResourceManager
from tooltray.catalogue.tool_routes import Route
from tooltray.catalogue.views.views import Views
from tooltray.consent.approvals.approval_rules import ApprovalRules
from tooltray.consent.approvals.approvals import Approvals
from tooltray.consent.approvals.edited_call import Edited, with_note
from tooltray.consent.approvals.flow_guard import FlowGuard
from tooltray.foundation.events import EventBus, ServerRemoved, ToolCallResult
from tooltray.foundation.snapshots.activity import CUT
from tooltray.foundation.snapshots.tools import MCPToolResponse
from tooltray.gateway.calls.stage import CANCELLED, ERROR, OK, REFUSED, Rest, Terms
from tooltray.gateway.calls.tool_resolver import ToolResolver
from tooltray.gateway.server_tasks.server_tasks import ServerTasks
from tooltray.protocol import envelope, eras
from tooltray.protocol.envelope import INVALID_PARAMS, NOTHING, Envelope, dump, failure, has_failed
from tooltray.protocol.eras import HEADER_MISMATCH, Era, own_result
from tooltray.protocol.sessions.exchange import FROM_RULES, Exchange, Work
from tooltray.protocol.sessions.session_state import SessionState
from tooltray.records.journal.journal_event import CALL, JournalEvent
from tooltray.records.log.call_stats import CallStats, CallsUnderWay
from tooltray.servers.builtin.hub_server import HubServer
from tooltray.servers.relay.relay import ServerRelay
from tooltray.servers.upstream.server_manager import ServerManager

OwnTool = Work
"""A tool of a built-in server that needs to know its caller: the hub itself answers its calls."""
OwnTools = Mapping[tuple[str, str], OwnTool]
"""The hub's own tools by (built-in server, tool); their calls may wait for the user."""


class AnsweredHere:
    """A stage without a state of its own; the last stage for the hub's own tools."""

    def __init__(self, *, own: OwnTools) -> None:
        self._own = own

    def bind(self, terms: Terms, rest: Rest) -> Work:
        own = self._own.get((terms.route.server, terms.route.definition.name))
        return partial(_answered, own, terms.route.server) if own else rest(terms)


async def _answered(own: OwnTool, server: str, exchange: Exchange) -> Envelope:
    """Answers a call; questions to a modern client are in the result (input required)."""
    with exchange.timings.at_server():
        return await (exchange.held.run(own, exchange, owner=server) if exchange.era is Era.MODERN else own(exchange))


class SeenServers:
    """A tool of the hub about servers (an OwnTool) that reports only the servers that the session can see."""

    def __init__(self, hub: HubServer, tool: str, *, sees: Callable[[SessionState, str], bool]) -> None:
        """
        Args:
            tool: the built-in server's own name for it.
            sees: whether a session can see a server.
        """
        self._hub, self._tool, self._sees = hub, tool, sees

    async def __call__(self, exchange: Exchange) -> Envelope:
        try:
            arguments = envelope.load(exchange.request.params).get("arguments")
        except ValueError as error:
            return failure(INVALID_PARAMS, f"the arguments cannot be read: {error}")
        reply = self._hub.call(self._tool, arguments or {}, sees=partial(self._sees, exchange.session.state))
        return own_result("tools/call", reply.result, exchange.era)


class Recording:
    """A stage without a state of its own."""

    def __init__(self, *, stats: CallStats, own: OwnTools, under_way: CallsUnderWay, bus: EventBus) -> None:
        self._stats, self._own, self._under_way, self._bus = stats, own, under_way, bus
        bus.subscribe(ServerRemoved, lambda event: stats.forget(event.name))

    def bind(self, terms: Terms, rest: Rest) -> Work:
        return partial(self._recorded, terms.route, rest(terms))

    async def _recorded(self, route: Route, then: Work, exchange: Exchange) -> Envelope:
        timings, reply = exchange.timings, None
        self._under_way.calls[exchange] = route.server, route.definition.name
        try:
            reply = await then(exchange)
            timings.outcome = timings.outcome or outcome_of(reply)
            return reply
        finally:
            self._under_way.calls.pop(exchange, None)
            timings.answered_at = timings.answered_at or time.perf_counter()
            self._record(route, exchange, reply)

    def _record(self, route: Route, exchange: Exchange, reply: Envelope | None) -> None:
        timings = exchange.timings
        outcome, ended_at = timings.outcome or CANCELLED, timings.answered_at or timings.called_at
        not_server_s = timings.turn_s + (timings.person_s or 0.0)  # whether the user was asked for approval or by the server
        duration_s = max(0.0, ended_at - timings.called_at - not_server_s)
        is_own, is_sent = (route.server, route.definition.name) in self._own, outcome == OK or timings.server_s is not None
        if outcome != REFUSED and (is_own or is_sent or outcome != CANCELLED):
            self._stats.add(route.server, duration_s if is_sent and not is_own else None, time.time())
        payload = (reply.result or reply.error) if reply else NOTHING
        record = MCPToolResponse(
            exchange.head.name,
            route.server,
            exchange.client,
            outcome,
            duration_s,
            len(memoryview(exchange.request.params)),
            len(memoryview(payload)),
            timings.named(),
        )
        timings.record = record
        self._bus.publish(ToolCallResult(record))
        if not (outcome == REFUSED and reply and not reply.error):  # a modern client is being asked, and calls again
            self._bus.publish(_happened(route, exchange, payload, record, ended_at - timings.received_at))


def outcome_of(reply: Envelope) -> str:
    """Returns ERROR for a failed call, else OK."""
    return ERROR if has_failed(reply) else OK


def _happened(route: Route, exchange: Exchange, payload: Raw, record: MCPToolResponse, passed_s: float) -> JournalEvent:
    """Returns the event for the journal, which reads arguments and result later."""
    state, timings = exchange.caller.session.state, exchange.timings
    project = state.project if state.projects else None
    return JournalEvent(
        kind=CALL,
        at=time.time() - passed_s,
        outcome=record.outcome,
        duration_s=passed_s - (timings.person_s or 0.0),
        client=state.client or exchange.client,
        session=state.id,
        project=project.path if project else "",
        server=route.server,
        tool=route.definition.name,
        published=exchange.head.name,
        argument_bytes=record.argument_bytes,
        result_bytes=record.result_bytes,
        params=exchange.request.params,
        reply=payload,
        is_fault=record.outcome != OK,
        reason=f"{CUT}{timings.cut_from}" if timings.cut_from and record.outcome == OK else "",
        timings=timings,
    )


class Authorizing:
    """A stage without a state of its own."""

    def __init__(self, *, rules: ApprovalRules, approvals: Approvals) -> None:
        self._rules, self._approvals = rules, approvals

    def bind(self, terms: Terms, rest: Rest) -> Work:
        then = rest(terms)
        return partial(_let_through, then) if self._rules.frees(terms.route) else partial(self._authorized, terms, then, rest)

    async def _authorized(self, terms: Terms, then: Work, rest: Rest, exchange: Exchange) -> Envelope:
        route, timings = terms.route, exchange.timings
        if self._rules.allow(route, exchange.session.state, exchange.request.params):
            timings.allowed_by = FROM_RULES
            return await then(exchange)
        refusal = await self._approvals.refusal(route, exchange)
        edited = refusal if isinstance(refusal, Edited) else None
        if refusal and not edited:
            timings.outcome = REFUSED
            return refusal
        reply = await rest(replace(terms, is_free=False))(exchange)  # composed now, since the settings may have changed during the question
        self._approvals.allow_continuation(route, exchange, reply, edited)
        return with_note(edited.call, reply) if edited else reply


def _let_through(then: Work, exchange: Exchange) -> Coroutine[object, None, Envelope]:
    exchange.timings.allowed_by = FROM_RULES
    return then(exchange)


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
    """A stage without a state of its own: records for the flow guard what a call has returned, while the guard is on for any client."""

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
        """Records that a session gets a prompt or a resource of a server, or uses an extension of it."""
        self._views.used(state, server)
        self.passed(state, server)

    def passed(self, state: SessionState, server: str) -> None:
        """Records that a server has sent content that strangers may have written. This does not activate the server."""
        if self._guard.is_on:
            self._guard.note_other(server, state)


class Relisting:
    """A stage without a state of its own: a call whose headers its server refuses is repeated with the headers of the server's new list.

    A server that refuses headers has not carried out the call. A call that the user was asked about is not repeated.
    """

    def __init__(self, *, resolver: ToolResolver) -> None:
        self._resolver = resolver

    def bind(self, terms: Terms, rest: Rest) -> Work:
        return partial(self._sent, terms, rest(terms), rest) if terms.is_free else rest(terms)

    async def _sent(self, terms: Terms, then: Work, rest: Rest, exchange: Exchange) -> Envelope:
        reply = await then(exchange)
        if not reply.error or eras.error_code(reply.error) != HEADER_MISMATCH:
            return reply
        anew = await self._resolver.after_mismatch(terms.route, exchange)
        return await rest(replace(terms, route=anew))(exchange) if anew else reply


class Addressing:
    """A stage without a state of its own: the call gets the server's own name for the tool."""

    def bind(self, terms: Terms, rest: Rest) -> Work:
        definition, wraps_content = terms.route.definition, None
        if (output := definition.output) and terms.era is Era.LEGACY and (output.schema or not terms.is_alone):
            wraps_content = output.is_wrapped
        return partial(_addressed, definition.name, wraps_content, rest(terms))


def _addressed(own_name: str, wraps_content: bool | None, then: Work, exchange: Exchange) -> Coroutine[object, None, Envelope]:
    request = exchange.request
    if exchange.head.name != own_name or eras.may_repeat_name(request.params):
        request.params = eras.named_once(request.params, "name", name=dump(own_name))
    if wraps_content is not None:
        exchange.wraps_content = wraps_content
    return then(exchange)


class NotingTasks:
    """A stage without a state of its own: a task with which a server answers is recorded before the client gets the answer."""

    def __init__(self, *, server_tasks: ServerTasks) -> None:
        self._tasks = server_tasks

    def bind(self, terms: Terms, rest: Rest) -> Work:
        return partial(self._noted, terms.route.server, terms.route.definition.name, rest(terms)) if terms.may_be_task else rest(terms)

    def _noted(self, server: str, tool: str, then: Work, exchange: Exchange) -> Coroutine[object, None, Envelope]:
        return self._tasks.noted(server, tool, exchange, then(exchange))


class Sending:
    """The last stage, without a state of its own. URIs in replies are not rewritten if no other server has resources."""

    def __init__(self, *, servers: ServerManager, relay: ServerRelay, linking_relay: LinkingRelay, resources: ResourceManager) -> None:
        self._servers, self._relay, self._linking_relay, self._resources = servers, relay, linking_relay, resources

    def bind(self, terms: Terms, rest: Rest) -> Work:
        server = terms.route.server
        has_links = not terms.is_alone and self._resources.may_replace_uris(server)
        return partial((self._linking_relay if has_links else self._relay).send_with_retry, self._servers.get(server))
