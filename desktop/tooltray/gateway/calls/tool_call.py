"""A `tools/call` from its client to its server and back, in four stages: resolve, authorize, forward, record.

Each stage is a class of its own: ToolResolver, ApprovalRules and Approvals, ToolForwarder, CallRecorder.

Above it: the router, and OwnCalls. Below it: ToolManager, which knows the routes; Views, which knows what a session may see; Approvals,
which asks the person; and LinkingRelay.
"""

import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from functools import partial

from tooltray.catalogue.call_routes import CallRoutes
from tooltray.catalogue.linking_relay import LinkingRelay
from tooltray.catalogue.tool_manager import ToolManager
from tooltray.catalogue.tool_routes import Route
from tooltray.catalogue.views.meta_calls import MetaCalls
from tooltray.catalogue.views.views import Views
from tooltray.config.naming import tool_settings
from tooltray.consent.approvals.approval_rules import ApprovalRules
from tooltray.consent.approvals.approvals import Approvals
from tooltray.foundation.events import EventBus, ServerRemoved, ToolCallResult
from tooltray.foundation.snapshots.activity import CUT
from tooltray.foundation.snapshots.calls import MCPToolResponse
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.gateway.calls.equal_reads import EqualReads
from tooltray.gateway.calls.server_limits import ServerLimits
from tooltray.gateway.kept_results.result_fitting import ResultFitting
from tooltray.gateway.server_tasks.server_tasks import ServerTasks
from tooltray.protocol import eras
from tooltray.protocol.envelope import CONNECTION_CLOSED, INVALID_PARAMS, NOTHING, Envelope, dump, failure
from tooltray.protocol.eras import HEADER_MISMATCH, Era
from tooltray.protocol.sessions.call_course import FROM_RULES
from tooltray.protocol.sessions.caller import Session
from tooltray.protocol.sessions.exchange import Exchange, Work
from tooltray.records.activity.call_stats import CallStats
from tooltray.records.journal.calls_under_way import CallsUnderWay
from tooltray.records.journal.happenings import CALL, Happened
from tooltray.servers.upstream.managed_server import ManagedServer
from tooltray.servers.upstream.server_manager import ServerManager

SEARCHED_FOR_ERROR_BYTES = 512  # at either end of a large result
OK, ERROR, REFUSED, CANCELLED = "ok", "error", "refused", "cancelled"  # how a call ends, for the record

OwnTool = Work
"""A tool of a built-in server that has to know who calls: the hub answers it itself."""
OwnTools = Mapping[tuple[str, str], OwnTool]
"""By (built-in server, tool); they may wait for a person."""
OnRecord = Callable[[MCPToolResponse], None]


class ToolResolver:
    """The first stage: to which tool of which server a call goes. Has no state of its own."""

    def __init__(
        self,
        *,
        servers: ServerManager,
        tools: ToolManager,
        call_routes: CallRoutes,
        views: Views,
        rules: ApprovalRules,
        look_at_project: Callable[[Session], Awaitable[None]],
        is_paused: Callable[[], bool],
    ) -> None:
        """
        Args:
            look_at_project: waits, bounded, until the servers of a session's own project are known.
            is_paused: whether the person has paused everything.
        """
        self._servers, self._tools, self._routes, self._views, self._rules = servers, tools, call_routes, views, rules
        self._look_at_project, self._is_paused = look_at_project, is_paused
        self.now = call_routes.route_now  # asked for with every call

    def target(self, exchange: Exchange) -> tuple[str, str] | None:
        """The server whose tool is called, and its own name for it; None where that is not known yet."""
        return self._tools.target(exchange.head.name, exchange.server)

    async def late(self, exchange: Exchange) -> Route | None:
        """To a tool that is not known yet, or that its one server keeps out of its list."""
        if route := await self._routes.route(exchange) or await self._in_project(exchange):
            return route
        server, is_reached = exchange.server, partial(self._views.reaches, exchange.session.state)
        alone = self._routes.unlisted_route(exchange.head.name, server) if server and is_reached(server) else None
        if alone and self._rules.allow(alone, exchange.session.state, exchange.request.params):
            return alone
        if self._is_paused():  # nothing is started or asked
            return alone
        return await self._routes.late_route(exchange, is_reached=is_reached) or alone

    async def after_mismatch(self, route: Route, exchange: Exchange) -> Route | None:
        """To the tool of a call whose headers do not fit what its server wants of it now; None if the server's list is the same."""
        found = await self._routes.relisted(route, exchange)
        is_other = found is not None and found.definition.raw != route.definition.raw
        return found if is_other and found and self._rules.allow(found, exchange.session.state, exchange.request.params) else None

    async def _in_project(self, exchange: Exchange) -> Route | None:
        """To a tool of the session's own project, which a client may know by heart before anybody here has read the project's file."""
        await self._look_at_project(exchange.session)
        if not self._servers.own(exchange.session.state):
            return None
        await self._tools.listing(exchange.server)
        return await self._routes.route(exchange)

    def unknown(self, exchange: Exchange) -> Envelope:
        """The error that says why a call goes nowhere."""
        name, target, state = exchange.head.name, self.target(exchange), exchange.session.state
        if target and self._views.reaches(state, target[0]) and (managed := self._servers.find(target[0])):
            if managed.state is not ServerState.RUNNING and managed.problem:
                return failure(CONNECTION_CLOSED, f"server '{managed.name}' is not running: {state.words(managed.problem)}")
            if refusal := managed.refusal:
                return failure(CONNECTION_CLOSED, state.words(refusal))
            if not tool_settings.is_enabled(target[1], managed.config):
                return failure(INVALID_PARAMS, f"the tool '{name}' is switched off in Tooltray")
        return failure(INVALID_PARAMS, f"Unknown tool: {name}")


class ToolForwarder:
    """The third stage: a server answers the call, or the hub itself. Has no state of its own."""

    def __init__(
        self,
        *,
        servers: ServerManager,
        relay: LinkingRelay,
        own: OwnTools,
        server_tasks: ServerTasks,
        limits: ServerLimits,
        reads: EqualReads,
    ) -> None:
        self._servers, self._relay, self._own, self._server_tasks = servers, relay, own, server_tasks
        self._limits, self._reads = limits, reads

    def forward(self, route: Route, exchange: Exchange) -> Coroutine[object, None, Envelope]:
        request, own_name = exchange.request, route.definition.name
        if own := self._own.get((route.server, own_name)):
            return self._answer_here(own, route.server, exchange)
        if exchange.head.name != own_name or eras.may_repeat_name(request.params):
            request.params = eras.named_once(request.params, "name", name=dump(own_name))
        if (output := route.definition.output) and exchange.era is Era.LEGACY and (output.schema or exchange.server is None):
            exchange.wraps_content = output.is_wrapped
        managed, is_task = self._servers.get(route.server), self._server_tasks.may_begin(exchange)
        if managed.config.has_limits:
            sending = self._sent_in_turn(managed, route, exchange, is_task=is_task)
        else:
            sending = self._relay.send_with_retry(managed, exchange)
        return self._server_tasks.noted(route.server, own_name, exchange, sending) if is_task else sending

    def _sent_in_turn(
        self, managed: ManagedServer, route: Route, exchange: Exchange, *, is_task: bool
    ) -> Coroutine[object, None, Envelope]:
        """When it is its turn; together with equal ones where these run once."""
        config, send = managed.config, partial(self._relay.send_with_retry, managed)
        if config.max_calls or config.calls_per_minute:
            send = partial(self._limits.sent, route.server, send=send)
        if config.share_reads and not is_task and (key := self._reads.key(managed, route, exchange)):
            return self._reads.sent(key, exchange, send)
        return send(exchange)

    async def _answer_here(self, own: OwnTool, server: str, exchange: Exchange) -> Envelope:
        """One that asks, asks a modern client in the modern way."""
        with exchange.course.at_server():
            return await (exchange.held.run(own, exchange, owner=server) if exchange.era is Era.MODERN else own(exchange))


class CallRecorder:
    """The last stage: statistics, and the event that says how a call ended. Has no state of its own.

    Attributes:
        under_way: the calls that have not ended.
    """

    def __init__(self, *, stats: CallStats, own: OwnTools, under_way: CallsUnderWay, bus: EventBus) -> None:
        self._stats, self._own, self._bus = stats, own, bus
        self.under_way = under_way
        bus.subscribe(ServerRemoved, lambda event: stats.forget(event.name))

    def record(self, route: Route, exchange: Exchange, reply: Envelope | None, outcome: str, duration_s: float) -> MCPToolResponse:
        """
        Args:
            duration_s: how long the server took, a person's time not included.
        """
        if outcome != REFUSED:
            waits_for_person = (route.server, route.definition.name) in self._own
            self._stats.add(route.server, None if waits_for_person else duration_s, time.time())
        size = len(memoryview(reply.result or reply.error)) if reply else 0
        arguments_size = len(memoryview(exchange.request.params))
        id = exchange.course.named()
        record = MCPToolResponse(exchange.head.name, route.server, exchange.client, outcome, duration_s, arguments_size, size, id)
        self._bus.publish(ToolCallResult(record))
        if not (outcome == REFUSED and reply and not reply.error):  # a modern client is being asked, and comes again
            self._bus.publish(_happened(route, exchange, reply, record))
        return record


def _happened(route: Route, exchange: Exchange, reply: Envelope | None, record: MCPToolResponse) -> Happened:
    """What the journal keeps of a call; it reads arguments and result itself, later."""
    state, course = exchange.session.state, exchange.course
    project = state.project if state.projects else None
    return Happened(
        kind=CALL,
        at=time.time() - course.passed_s,
        outcome=record.outcome,
        duration_s=course.passed_s - (course.person_s or 0.0),
        client=state.client or exchange.client,
        session=state.id,
        project=project.path if project else "",
        server=route.server,
        tool=route.definition.name,
        published=exchange.head.name,
        argument_bytes=record.argument_bytes,
        result_bytes=record.result_bytes,
        params=exchange.request.params,
        reply=(reply.result or reply.error) if reply else NOTHING,
        is_fault=record.outcome != OK,
        reason=f"{CUT}{course.cut_from}" if course.cut_from and record.outcome == OK else "",
        course=course,
    )


class ToolCalls:
    """Has no state of its own."""

    def __init__(
        self,
        *,
        views: Views,
        meta: MetaCalls,
        resolver: ToolResolver,
        approvals: Approvals,
        forwarder: ToolForwarder,
        recorder: CallRecorder,
        result_fitting: ResultFitting,
    ) -> None:
        self._views, self._meta, self._resolver, self._approvals = views, meta, resolver, approvals
        self._forwarder, self._recorder, self._fitting = forwarder, recorder, result_fitting
        self.target = resolver.target

    async def call(self, exchange: Exchange, *, on_record: OnRecord | None = None) -> Envelope:
        """Carries out one `tools/call` of an AI client.

        Args:
            on_record: gets the record of the call; a tool that is not known leaves none.
        """
        started_at, state = time.perf_counter(), exchange.session.state
        route = self._resolver.now(exchange)  # resolve
        if route is None:
            if meta := self._meta.find(exchange.head.name, state):
                return await meta(exchange)
            route = await self._resolver.late(exchange)
        is_plain = self._views.is_plain(state)
        if route is None or not (is_plain or self._views.offers(state, route)):
            return self._resolver.unknown(exchange)
        outcome, reply, answered_at = CANCELLED, None, 0.0
        self._recorder.under_way.begin(exchange, route.server, route.definition.name)
        try:
            is_free = self._approvals.allow_unasked(route, state, exchange.request.params)  # authorize
            if is_free:
                exchange.course.allowed_by = FROM_RULES
            if not is_free and (reply := await self._approvals.refusal(route, exchange)):
                outcome = REFUSED
                return reply
            if not (is_free and is_plain):  # the settings may have changed while a person was asked
                self._views.used(state, route.server)
            if state.shows_views and route.definition.view.uris:
                state.opens_view(route.server)
            reply = await self._forwarder.forward(route, exchange)  # forward
            if reply.error and is_free and _is_mismatch(reply) and (anew := await self._resolver.after_mismatch(route, exchange)):
                reply = await self._forwarder.forward(anew, exchange)
            self._approvals.answered(route, exchange, reply, is_free=is_free)
            outcome = ERROR if is_error(reply) else OK
            if reply.result and (terms := self._fitting.terms(route, state)):
                answered_at = time.perf_counter()  # what comes now is not the server's time
                reply = await self._fitting.fitted(reply, terms, route, exchange)
            return reply
        finally:
            self._recorder.under_way.end(exchange)
            course = exchange.course
            course.answered_at = answered_at = answered_at or time.perf_counter()
            not_server_s = course.turn_s + (course.person_s or 0.0)  # whether the user was asked for approval or by the server
            record = self._recorder.record(route, exchange, reply, outcome, max(0.0, answered_at - started_at - not_server_s))  # record
            if on_record:
                on_record(record)


def _is_mismatch(reply: Envelope) -> bool:
    """Whether a server refuses the headers of a call, which it has not carried out then."""
    return eras.error_code(reply.error) == HEADER_MISMATCH


def is_error(reply: Envelope) -> bool:
    """Whether a reply says that the call failed; looks at the ends of large results only, where every known server writes it."""
    if reply.error:
        return True
    view = memoryview(reply.result)
    edge = SEARCHED_FOR_ERROR_BYTES
    ends = bytes(view) if len(view) <= 2 * edge else bytes(view[:edge]) + bytes(view[-edge:])
    return b'"isError"' in ends and b'"isError":true' in ends.replace(b" ", b"")
