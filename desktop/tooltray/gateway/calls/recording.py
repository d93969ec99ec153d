"""The outermost stage of a tool call: it records calls under way, statistics, and the events of how calls ended."""

import time
from functools import partial

from msgspec import Raw

from tooltray.catalogue.tool_routes import Route
from tooltray.foundation.events import EventBus, ServerRemoved, ToolCallResult
from tooltray.foundation.snapshots.activity import CUT
from tooltray.foundation.snapshots.calls import MCPToolResponse
from tooltray.gateway.calls.own_tools import OwnTools
from tooltray.gateway.calls.stage import CANCELLED, ERROR, OK, REFUSED, Rest, Terms
from tooltray.protocol.envelope import NOTHING, Envelope
from tooltray.protocol.sessions.exchange import Exchange, Work
from tooltray.records.activity.call_stats import CallStats
from tooltray.records.journal.calls_under_way import CallsUnderWay
from tooltray.records.journal.journal_event import CALL, JournalEvent

SEARCHED_FOR_ERROR_BYTES = 512  # at either end of a large result


class Recording:
    """A stage without a state of its own."""

    def __init__(self, *, stats: CallStats, own: OwnTools, under_way: CallsUnderWay, bus: EventBus) -> None:
        self._stats, self._own, self._under_way, self._bus = stats, own, under_way, bus
        bus.subscribe(ServerRemoved, lambda event: stats.forget(event.name))

    def bind(self, terms: Terms, rest: Rest) -> Work:
        return partial(self._recorded, terms.route, rest(terms))

    async def _recorded(self, route: Route, then: Work, exchange: Exchange) -> Envelope:
        course, reply = exchange.course, None
        self._under_way.calls[exchange] = route.server, route.definition.name
        try:
            reply = await then(exchange)
            course.outcome = course.outcome or outcome_of(reply)
            return reply
        finally:
            self._under_way.calls.pop(exchange, None)
            course.answered_at = course.answered_at or time.perf_counter()
            self._record(route, exchange, reply)

    def _record(self, route: Route, exchange: Exchange, reply: Envelope | None) -> None:
        course = exchange.course
        outcome, ended_at = course.outcome or CANCELLED, course.answered_at or course.called_at
        not_server_s = course.turn_s + (course.person_s or 0.0)  # whether the user was asked for approval or by the server
        duration_s = max(0.0, ended_at - course.called_at - not_server_s)
        if outcome != REFUSED:
            waits_for_person = (route.server, route.definition.name) in self._own
            self._stats.add(route.server, None if waits_for_person else duration_s, time.time())
        payload = (reply.result or reply.error) if reply else NOTHING
        record = MCPToolResponse(
            exchange.head.name,
            route.server,
            exchange.client,
            outcome,
            duration_s,
            len(memoryview(exchange.request.params)),
            len(memoryview(payload)),
            course.named(),
        )
        course.record = record
        self._bus.publish(ToolCallResult(record))
        if not (outcome == REFUSED and reply and not reply.error):  # a modern client is being asked, and calls again
            self._bus.publish(_happened(route, exchange, payload, record, ended_at - course.received_at))


def outcome_of(reply: Envelope) -> str:
    """Returns ERROR for a failed call; reads only the ends of large results, where every known server has `isError`."""
    if reply.error:
        return ERROR
    view = memoryview(reply.result)
    edge = SEARCHED_FOR_ERROR_BYTES
    ends = bytes(view) if len(view) <= 2 * edge else bytes(view[:edge]) + bytes(view[-edge:])
    return ERROR if b'"isError"' in ends and b'"isError":true' in ends.replace(b" ", b"") else OK


def _happened(route: Route, exchange: Exchange, payload: Raw, record: MCPToolResponse, passed_s: float) -> JournalEvent:
    """Returns the event for the journal, which reads arguments and result later."""
    state, course = exchange.caller.session.state, exchange.course
    project = state.project if state.projects else None
    return JournalEvent(
        kind=CALL,
        at=time.time() - passed_s,
        outcome=record.outcome,
        duration_s=passed_s - (course.person_s or 0.0),
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
        reason=f"{CUT}{course.cut_from}" if course.cut_from and record.outcome == OK else "",
        course=course,
    )
