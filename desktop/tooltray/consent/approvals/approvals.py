"""Whether a tool call goes through, and who is asked where the settings do not decide: the one broker of approvals.

A call passes ApprovalRules, which has not allowed it; StandingGrants, what the user has allowed before; PendingApprovals, an approval of
this call only; then the user, by ApprovalRounds at the desktop or at the AI client. Where no one can be asked it is refused at once.
"""

from collections.abc import Callable
from functools import partial

import msgspec

from tooltray.catalogue.approval import Decision
from tooltray.catalogue.call_routes import CallRoutes
from tooltray.catalogue.tool_routes import Route
from tooltray.consent.approvals.approval_rounds import APPROVED, ELICITATION, ApprovalRounds
from tooltray.consent.approvals.approval_rules import ApprovalRules
from tooltray.consent.approvals.asked_call import AskedCall, asked_call
from tooltray.consent.approvals.pending_approvals import PendingApprovals
from tooltray.consent.approvals.question_snapshots import QuestionSnapshots
from tooltray.consent.approvals.standing_grants import StandingGrants
from tooltray.foundation.confirmation import asker_name, current_asker
from tooltray.foundation.errors import NotFound, TooltrayError
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.approvals import ApprovalSnapshot
from tooltray.protocol.envelope import CONNECTION_CLOSED, Envelope, failure
from tooltray.protocol.eras import ROUND_KEYS, Era, Head, named_once
from tooltray.protocol.member_scanner import closed, opened
from tooltray.protocol.sessions.call_course import FROM_PERSON
from tooltray.protocol.sessions.caller import Question as ClientQuestion
from tooltray.protocol.sessions.caller import lacking
from tooltray.protocol.sessions.exchange import Exchange
from tooltray.servers.relay.relay import paused

QUESTIONS_BELOW_BYTES = 262_144  # a result that only asks is small; larger ones are not looked into


class Approvals:
    """The one broker of approvals. Belongs to the engine's loop."""

    def __init__(
        self,
        *,
        call_routes: CallRoutes,
        rules: ApprovalRules,
        standing_grants: StandingGrants,
        pending_approvals: PendingApprovals,
        rounds: ApprovalRounds,
        question_snapshots: QuestionSnapshots,
        is_paused: Callable[[], bool],
    ) -> None:
        """
        Args:
            is_paused: whether the person has paused everything.
        """
        self._routes, self._rules, self._lasting, self._pending = call_routes, rules, standing_grants, pending_approvals
        self._rounds, self._snapshots, self._is_paused = rounds, question_snapshots, is_paused
        self.allow_unasked = rules.allow  # asked with every call

    # a call

    async def refusal(self, route: Route, exchange: Exchange) -> Envelope | None:
        """Returns what answers a call that the rules do not let through, in the place of its server; None: it goes through.

        What a person is shown of the request is what goes to the server, and answers to our own questions are taken off.
        """
        if self._is_paused():
            return paused()
        if _is_users_own(exchange):
            exchange.course.allowed_by = FROM_PERSON
            return None
        request, head = exchange.request, exchange.head
        request.params = named_once(request.params, "name", "arguments")  # the server reads what the person has read
        call = self._call(route, self._decision(route, exchange), exchange)
        owner = f"approval {route.server} {call.digest}"
        is_answer = exchange.era is Era.MODERN and exchange.held.is_held(head.request_state, owner)
        if not is_answer:
            try:
                allowed, call = await self._allowed(call, exchange)
            except TooltrayError as error:
                return failure(CONNECTION_CLOSED, exchange.session.state.words(error))
            if allowed:
                return None
        with exchange.course.at_person():
            reply = await self._asked(call, exchange if is_answer else exchange.child(head=_first(head)), owner)
        if reply is not APPROVED:
            return reply
        exchange.course.allowed_by = FROM_PERSON
        if is_answer:
            _take_off_answers(request, head)
        return None

    def answered(self, route: Route, exchange: Exchange, reply: Envelope, *, is_free: bool) -> None:
        """Records that a call has gone through. A modern one whose server asks for more comes again, and is then the call that was allowed.

        Args:
            is_free: by the rules alone.
        """
        if not is_free:
            self._let_come_again(route, exchange, reply)
        self._rules.note_answered(route, exchange)

    def _let_come_again(self, route: Route, exchange: Exchange, reply: Envelope) -> None:
        if exchange.era is Era.LEGACY or (decision := self._decision(route, exchange)).is_approved:
            return
        state = _state_to_come_with(reply)
        if state is not None:
            call = self._call(route, decision, exchange)
            self._pending.let_pass((*call.same_in_session, state))

    def _decision(self, route: Route, exchange: Exchange) -> Decision:
        return self._rules.decision(route, exchange.session.state, exchange.request.params)

    def _call(self, route: Route, decision: Decision, exchange: Exchange) -> AskedCall:
        current = partial(self._routes.current, route, exchange)
        confirmed = partial(self._routes.confirmed, route, exchange)
        return asked_call(route, decision, exchange, current, confirmed)

    async def _allowed(self, call: AskedCall, exchange: Exchange) -> tuple[bool, AskedCall]:
        """Returns whether the user has allowed a call before, of the tool as its server defines it at this moment; and the call of that
        tool.

        Raises:
            TooltrayError: the tool is not offered any more, or its server does not run; says why.
        """
        if self._routes.is_outdated(call.route, exchange):
            call = await self._rules.renewed(call)
        while allowed_by := await self._allowed_by(call, exchange.head):
            exchange.course.allowed_by = allowed_by
            now = await self._rules.renewed(call)
            if now is call or now.decision.is_approved:
                return True, now
            call = now
        return False, call

    async def _allowed_by(self, call: AskedCall, head: Head) -> str:
        """Returns by which earlier approval a call goes through; empty: by none."""
        if not call.decision.flow and (lasting := await self._lasting.allowed_by(call)):
            return lasting
        is_further = head.era is Era.MODERN and bool(head.request_state or head.input_responses)
        same = (*call.same_in_session, head.request_state) if is_further else call.same
        return FROM_PERSON if self._pending.passes(same) else ""

    async def _asked(self, call: AskedCall, exchange: Exchange, owner: str) -> Envelope:
        if self._pending.is_shown:
            return await self._rounds.decided(call, exchange, has_window=True)
        is_modern = exchange.era is Era.MODERN
        if lacking(ClientQuestion(ELICITATION), exchange.head.meta.capabilities if is_modern else exchange.caller.capabilities):
            return self._pending.refuse(call)
        if is_modern:
            return await exchange.held.run(partial(self._rounds.decided, call), exchange, owner=owner)
        return await self._rounds.decided(call, exchange)

    # questions and answers

    def waiting(self) -> list[ApprovalSnapshot]:
        """See ApprovalsApi.get_approvals. Those among them that were refused already wait for an approval of the next call that is the
        same.
        """
        self._pending.refresh_refused()
        return [question.view for question in self._pending if question.is_open]

    def question(self, id: str) -> ApprovalSnapshot | None:
        """Returns what the user is asked about a call; None where it waits no longer."""
        found = self._pending.find(id)
        return found.view if found else None

    async def disk_diff(self, id: str) -> tuple[str, ...]:
        """See ApprovalsApi.get_approval_diff."""
        found = self._pending.find(id)
        return await self._snapshots.disk_diff(found.subject) if found else ()

    async def answer(self, id: str, answer: str) -> None:
        """See ApprovalsApi.answer_approval."""
        question = self._pending.find(id)
        if question is None:
            raise NotFound(Phrase("This call waits no longer"), Phrase("it was answered, its AI client gave it up, or its time was over"))
        await self._rounds.take(question, answer, asker_name() or "person")


def _is_users_own(exchange: Exchange) -> bool:
    """Returns whether the user makes the call in the window, by a click on what it calls: that is the approval. No program is the
    window.
    """
    return exchange.session.state.is_persons and current_asker().is_window


def _first(head: Head) -> Head:
    """Returns the head of a call that answers no question of ours: what else it answers opens nothing here."""
    return msgspec.structs.replace(head, request_state="", input_responses={})


def _take_off_answers(request: Envelope, head: Head) -> None:
    members = opened(request.params)
    request.params = closed({name: value for name, value in members.items() if name not in ROUND_KEYS})
    head.request_state, head.input_responses = "", {}


class _Result(msgspec.Struct):
    result_type: str = msgspec.field(name="resultType", default="complete")
    state: str = msgspec.field(name="requestState", default="")


def _state_to_come_with(reply: Envelope) -> str | None:
    """Returns the state with which a client is to call again; None where the call is over."""
    if reply.error or len(memoryview(reply.result)) >= QUESTIONS_BELOW_BYTES:
        return None
    try:
        result = msgspec.json.decode(reply.result, type=_Result)
    except (ValueError, RecursionError):
        return None
    return result.state if result.result_type == "input_required" else None
