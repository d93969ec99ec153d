"""Decides whether a tool call runs, and asks the user if the settings do not decide: the only broker of approvals.

A call passes ApprovalRules, which has not allowed it; StandingGrants, with the user's earlier approvals; PendingApprovals, for an approval
of this call only; then the user is asked, at the desktop or at the AI client, until there is an answer to the tool as it is. If no user can
be asked, the call is refused at once.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from functools import partial

import msgspec
from msgspec.structs import replace

from tooltray.catalogue.auto_approve import Decision
from tooltray.catalogue.call_routes import CallRoutes
from tooltray.catalogue.definition import definition_text
from tooltray.catalogue.tool_routes import Route
from tooltray.consent.approvals import suspicion
from tooltray.consent.approvals.approval_rules import ApprovalRules
from tooltray.consent.approvals.asked_call import ONCE, REFUSE, SESSION, AskedCall, asked_call
from tooltray.consent.approvals.edited_call import Edited, edited, form_of
from tooltray.consent.approvals.grant_book import GrantBook
from tooltray.consent.approvals.grants import LOCK
from tooltray.consent.approvals.pending_approvals import (
    CALL,
    CHANGED,
    LONGEST_WAIT_S,
    OUTCOMES,
    TOO_MANY,
    UNASKED,
    PendingApprovals,
    PendingCall,
    refused,
)
from tooltray.consent.approvals.question_snapshots import QuestionSnapshots, form_answer, form_params, shown_lines
from tooltray.consent.approvals.standing_grants import StandingGrants, allows, is_lasting
from tooltray.consent.confirmations import NO, YES
from tooltray.consent.questions import EXPIRED, WITHDRAWN
from tooltray.foundation.confirm_widening import asker_name, current_asker
from tooltray.foundation.errors import Conflict, NotFound, TooltrayError, in_one_line
from tooltray.foundation.events import EventBus, GrantsChanged
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.activity import DECLINED
from tooltray.foundation.snapshots.approvals import ApprovalForm, ApprovalSnapshot, GrantSnapshot
from tooltray.foundation.tasks import Spawn
from tooltray.foundation.verbs import JsonMapping
from tooltray.protocol.envelope import CONNECTION_CLOSED, Envelope, failure, success
from tooltray.protocol.eras import ROUND_KEYS, Era, Head, named_once, with_members
from tooltray.protocol.member_scanner import closed, opened
from tooltray.protocol.sessions.caller import Question as ClientQuestion
from tooltray.protocol.sessions.caller import lacking
from tooltray.protocol.sessions.exchange import FROM_EDIT, FROM_PERSON, FROM_TRY, Exchange
from tooltray.records import audit_trail
from tooltray.records.audit_trail import AuditTrail
from tooltray.records.journal.journal_event import APPROVAL, JournalEvent
from tooltray.servers.relay.relay import paused

CLIENT = "client"  # who answered a question, and in which way: a form of the AI client
PERSON = "person"  # who answered it otherwise, unless a program did
MOST_ROUNDS = 6  # questions about one call; a tool that changes before each answer must not be called
MOST_FORMS = 3  # of one question, if the answer cannot be saved
ELICITATION = "elicitation/create"
APPROVED = success({})
"""The reply that means, by its identity, that the call is allowed."""
QUESTIONS_BELOW_BYTES = 262_144  # a result that only asks is small; larger ones are not parsed


class Approvals:
    """The one broker of approvals. Belongs to the engine's loop."""

    def __init__(
        self,
        *,
        call_routes: CallRoutes,
        rules: ApprovalRules,
        standing_grants: StandingGrants,
        pending_approvals: PendingApprovals,
        question_snapshots: QuestionSnapshots,
        is_paused: Callable[[], bool],
        spawn: Spawn,
    ) -> None:
        """
        Args:
            is_paused: whether the user has paused everything.
        """
        self._routes, self._rules, self._lasting, self._pending = call_routes, rules, standing_grants, pending_approvals
        self._snapshots, self._is_paused, self._spawn = question_snapshots, is_paused, spawn

    # a call

    async def refusal(self, route: Route, exchange: Exchange) -> Envelope | None:
        """Returns the hub's own reply to a call that may not run; None if the call may run, an Edited if it may run with other arguments.

        The request is sent to the server exactly as it was shown to the user, and answers to our own questions are removed.
        """
        if self._is_paused():
            return paused()
        if _is_users_own(exchange):
            exchange.timings.allowed_by = FROM_TRY
            return None
        request, head = exchange.request, exchange.head
        request.params = named_once(request.params, "name", "arguments")  # the server reads what the user has read
        call = self._call(route, self._decision(route, exchange), exchange)
        owner = f"approval {route.server} {call.digest}"
        is_answer = exchange.era is Era.MODERN and exchange.held.is_held(head.request_state, owner)
        if not is_answer:
            try:
                allowed, call = await self._allowed(call, exchange)
            except TooltrayError as error:
                return failure(CONNECTION_CLOSED, exchange.session.state.words(error))
            if allowed:
                if call.decision.category == "write":
                    exchange.timings.diff = await self._snapshots.disk_diff(call)  # the only trace of what was there
                return _edited_request(exchange, call)
        with exchange.timings.at_person():
            reply = await self._asked(call, exchange if is_answer else exchange.child(head=_first(head)), owner)
        if reply is not APPROVED and not isinstance(reply, Edited):
            return reply
        exchange.timings.allowed_by = FROM_PERSON
        if is_answer:
            _remove_answers(request, head)
        return _edited_request(exchange, reply.call) if isinstance(reply, Edited) else None

    def allow_continuation(self, route: Route, exchange: Exchange, reply: Envelope, edited: Edited | None) -> None:
        """Lets a modern client continue an allowed call whose server asks for more: the repeated call does not ask again, and has the
        arguments of the user, although the client sends its own.
        """
        if exchange.era is Era.LEGACY or ((decision := self._decision(route, exchange)).is_approved and edited is None):
            return
        state = _continuation_state(reply)
        if state is not None:
            call = edited.call if edited else self._call(route, decision, exchange)
            self._pending.allow_next((call.state.id, *call.same_as_sent, state), call.edit)

    def _decision(self, route: Route, exchange: Exchange) -> Decision:
        return self._rules.decision(route, exchange.session.state, exchange.request.params)

    def _call(self, route: Route, decision: Decision, exchange: Exchange) -> AskedCall:
        current = partial(self._routes.current, route, exchange)
        confirmed = partial(self._routes.confirmed, route, exchange)
        return asked_call(route, decision, exchange, current, confirmed)

    async def _allowed(self, call: AskedCall, exchange: Exchange) -> tuple[bool, AskedCall]:
        """Returns whether an earlier approval covers a call of the tool as its server defines it now, and the call of that tool.

        Raises:
            TooltrayError: the tool is not offered any more, or its server does not run; the error has the reason.
        """
        if self._routes.is_outdated(call.route, exchange):
            call = await self._rules.renewed(call)
        while True:
            allowed_by, call = await self._allowed_by(call, exchange.head)
            if not allowed_by:
                settled = await self._rules.settled(call, exchange.session)
                if settled is call:
                    return False, call
                call = settled
                continue
            exchange.timings.allowed_by = allowed_by
            now = await self._rules.renewed(call)
            if now is call or now.decision.is_approved:
                return True, now
            call = now

    async def _allowed_by(self, call: AskedCall, head: Head) -> tuple[str, AskedCall]:
        """Returns which earlier approval allows a call, empty if none does; and the call as it was approved."""
        if not call.decision.flow and (lasting := await self._lasting.allowed_by(call)):
            return lasting, self._lasting.as_approved(call)
        is_further = head.era is Era.MODERN and bool(head.request_state or head.input_responses)
        same = (*call.same_in_session, head.request_state) if is_further else call.same
        passed = self._pending.passed(same, call)
        return ("", call) if passed is None else (FROM_PERSON, passed)

    async def _asked(self, call: AskedCall, exchange: Exchange, owner: str) -> Envelope:
        if self._pending.is_shown:
            return await self._decided(call, exchange, has_window=True)
        is_modern = exchange.era is Era.MODERN
        if lacking(ClientQuestion(ELICITATION), exchange.head.meta.capabilities if is_modern else exchange.caller.capabilities):
            return self._pending.refuse(call)
        if is_modern:
            return await exchange.held.run(partial(self._decided, call), exchange, owner=owner)
        return await self._decided(call, exchange)

    # the user is asked

    async def _decided(self, call: AskedCall, exchange: Exchange, *, has_window: bool = False) -> Envelope:
        """Returns APPROVED, or why the call is not carried out.

        Args:
            exchange: its client is asked without a desktop.
        """
        try:
            return await self._by_rounds(call, None if has_window else exchange)
        except TooltrayError as error:
            return refused(exchange.session.state.words(error))

    async def _by_rounds(self, call: AskedCall, asked: Exchange | None) -> Envelope:
        before = self._snapshots.seen_before(call)
        for _ in range(MOST_ROUNDS):
            answer, call = await self._answered(call, asked, before)
            is_allowed = allows(answer)
            if not is_allowed and answer != CHANGED:
                return self._outcome(call, answer)
            now = await self._rules.renewed(call, is_started=is_allowed)
            if (now is call and is_allowed) or now.decision.is_approved:
                return APPROVED if now.asked is None else Edited(call=now)
            if before is None and now.route.mark != call.route.mark:
                before = definition_text(call.route.definition)
            call = now
        return refused(f"the tool '{call.shown_tool}' changed while the user was asked about it; it was not called")

    async def _release(self, by: str) -> None:
        """Allows other waiting calls that a lasting approval covers as well."""
        for other in self._pending.waiting:
            call = other.subject
            if call.decision.flow:
                continue
            if await self._lasting.covered_by(call) and other.is_open and not other.is_being_answered:
                other.answered_by = by
                other.end(SESSION)

    async def _answered(self, call: AskedCall, asked: Exchange | None, before: str | None) -> tuple[str, AskedCall]:
        """Returns the answer, and the call that it is about, whose arguments the user may have changed."""
        while same := self._pending.same(call):
            answer = await same.wait()
            if answer not in (ONCE, WITHDRAWN) and same.subject.asked == call.asked:  # else it is for one of the equal calls
                call.timings.diff = same.subject.timings.diff
                return answer, call
        if not self._pending.has_room(call.route.server):
            return TOO_MANY, call
        question = self._pending.ask(call, before)
        call.timings.diff = shown_lines(question.view)
        current_asker().on_asked(LONGEST_WAIT_S)
        asking = self._spawn(self._ask(question, asked), name=f"approval {call.route.server}") if asked else None
        try:
            return await question.wait(), question.subject
        finally:
            self._pending.close(question)
            if asking:
                asking.cancel()

    async def _ask(self, question: PendingCall, exchange: Exchange) -> None:
        """Asks the client's own user, and asks again if the answer cannot be saved."""
        shown, loop = question.view, asyncio.get_running_loop()
        for _ in range(MOST_FORMS):
            asked_at = loop.time()
            reply = await exchange.ask(ELICITATION, form_params(shown))
            answer = form_answer(reply, shown, loop.time() - asked_at)
            if answer is None:
                break
            try:
                await self._lasting.record(question.subject, answer, CLIENT)
                await self._take(question, answer, CLIENT)
                return
            except TooltrayError as error:
                shown = replace(shown, why=f"{in_one_line(error.problem.title, error.problem.message)}; {question.view.why}")
        question.end(UNASKED)

    def _outcome(self, call: AskedCall, answer: str) -> Envelope:
        if answer == UNASKED:
            return self._pending.refuse(call, "Its AI client was asked, and no one answered there")
        if answer == EXPIRED:
            return self._pending.refuse(call, "The user was asked, and did not answer in time")
        if answer == TOO_MANY:
            return refused("too many calls already wait for approval; call again when some are answered")
        return refused(f"{DECLINED} of '{call.shown_tool}'")

    # questions and answers

    def waiting(self) -> list[ApprovalSnapshot]:
        """Implements ApprovalsApi.get_approvals; a call that was refused already waits for an approval of the next equal call."""
        self._pending.refresh_refused()
        return [question.view for question in self._pending if question.is_open]

    async def question(self, id: str, answer: str, arguments: JsonMapping | None) -> tuple[AskedCall, ApprovalSnapshot]:
        """Returns a waiting call that `answer` can answer, with these arguments, and what the user reads about it.

        Raises:
            TooltrayError: the call waits no longer, or the answer or the arguments are not valid.
        """
        question = self._found(id)
        call, view = await self._edited(question, arguments)
        _check_answer(question, view, answer)
        return call, view

    def form(self, id: str) -> ApprovalForm:
        """Implements ApprovalsApi.get_approval_form."""
        return form_of(self._editable(id).subject)

    def keep_open(self, id: str) -> float:
        """Implements ApprovalsApi.keep_approval_open."""
        return self._pending.keep_open(self._editable(id))

    async def preview(self, id: str, arguments: JsonMapping) -> ApprovalSnapshot:
        """Implements ApprovalsApi.preview_approval."""
        return (await self._edited(self._editable(id), arguments))[1]

    def _editable(self, id: str) -> PendingCall:
        question = self._found(id)
        if question.kind is not CALL:
            reason = Phrase("it was declined already, and waits for an approval of the same call")
            raise Conflict(Phrase("The arguments of this call cannot be changed"), reason)
        return question

    async def _edited(self, question: PendingCall, arguments: JsonMapping | None) -> tuple[AskedCall, ApprovalSnapshot]:
        """Returns a waiting call with these arguments, and what the user reads about it; without arguments as it is."""
        if arguments is None:
            return question.subject, question.view
        call = await edited(self._editable(question.id).subject, arguments)
        if call is question.subject:
            return call, question.view
        call = replace(call, decision=self._rules.decision(call.route, call.state, call.params))
        shown = self._snapshots.of(call, None, "", question.id, question.view.ends_at)
        return call, replace(shown, why=question.view.why, definition_diff=question.view.definition_diff)

    async def disk_diff(self, id: str) -> tuple[str, ...]:
        """Implements ApprovalsApi.get_approval_diff."""
        if (found := self._pending.find(id)) is None:
            return ()
        lines = await self._snapshots.disk_diff(found.subject)
        found.subject.timings.diff = lines or shown_lines(found.view)
        return lines

    async def answer(self, id: str, answer: str, arguments: JsonMapping | None = None) -> None:
        """Implements ApprovalsApi.answer_approval."""
        await self._take(self._found(id), answer, asker_name() or PERSON, arguments)

    def _found(self, id: str) -> PendingCall:
        question = self._pending.find(id)
        if question is None:
            raise NotFound(Phrase("This call no longer waits"), Phrase("it was answered, its AI client gave it up, or its time was over"))
        return question

    async def _take(self, question: PendingCall, answer: str, by: str, arguments: JsonMapping | None = None) -> None:
        """Applies a user's answer; a lasting approval is written first.

        Args:
            by: see Question.answered_by.
            arguments: with which the call runs; None: with its own.

        Raises:
            TooltrayError: the question has ended, the answer or the arguments are not valid, or a lasting answer cannot be written: then
                it keeps waiting.
        """
        call, view = await self._edited(question, None if answer == REFUSE else arguments)
        _check_answer(question, view, answer)
        if call is not question.subject:
            call.timings.diff = shown_lines(view)
        is_waiting = question.kind is CALL
        if not is_waiting and answer != REFUSE and (id := self._pending.refresh(question)) != question.id:
            hint = f"Review it again: tooltray approve {id}" if id else "It runs without asking now: call again."
            raise Conflict("The tool has changed since this was shown", "nothing was allowed", hint)
        question.is_being_answered = True
        try:
            await self._lasting.keep(call, view, answer)
            question.subject, question.answered_by, question.way = call, by, CLIENT if by == CLIENT else current_asker().way
            question.end(answer)
            if is_lasting(answer):
                await self._release(by)
            elif answer == ONCE and is_waiting:
                self._lasting.remember(question.subject)
        finally:
            question.is_being_answered = False
            if question.is_overdue:
                question.end(EXPIRED)
        if not is_waiting:
            self._pending.answer_refused(question, passes=answer == ONCE, is_refused=answer == REFUSE)


def _check_answer(question: PendingCall, view: ApprovalSnapshot, answer: str) -> None:
    if not question.is_open or question.is_being_answered:
        raise Conflict("This call no longer waits", "it was answered, or the tool has changed since this was shown")
    choices = (*view.choices, *(each.answer for each in view.rules))
    if answer not in (REFUSE, *choices):
        options = ", ".join((*choices, REFUSE))
        reason = "the screen lock cannot be detected, or the screen is locked now" if answer == LOCK else ""
        raise TooltrayError(f"'{suspicion.visible(answer)}' is not an answer to this call", reason, f"Answer with one of {options}.")


def _is_users_own(exchange: Exchange) -> bool:
    """Returns whether the user makes the call by a click in the window, which is the approval. Programs never count as the window."""
    return exchange.session.state.is_persons and current_asker().is_window


def _first(head: Head) -> Head:
    """Returns the head of a call without answers to our own questions: other answers allow nothing here."""
    return msgspec.structs.replace(head, request_state="", input_responses={})


def _edited_request(exchange: Exchange, call: AskedCall) -> Edited | None:
    """Gives a request the arguments of the user; None if there are none."""
    if call.edit is None:
        return None
    exchange.request.params = with_members(exchange.request.params, arguments=call.edit)
    exchange.timings.allowed_by = FROM_EDIT
    return Edited(call=call)


def _remove_answers(request: Envelope, head: Head) -> None:
    members = opened(request.params)
    request.params = closed({name: value for name, value in members.items() if name not in ROUND_KEYS})
    head.request_state, head.input_responses = "", {}


class _Result(msgspec.Struct):
    result_type: str = msgspec.field(name="resultType", default="complete")
    state: str = msgspec.field(name="requestState", default="")


def _continuation_state(reply: Envelope) -> str | None:
    """Returns the state with which a client has to call again; None if the call is over."""
    if reply.error or len(memoryview(reply.result)) >= QUESTIONS_BELOW_BYTES:
        return None
    try:
        result = msgspec.json.decode(reply.result, type=_Result)
    except (ValueError, RecursionError):
        return None
    return result.state if result.result_type == "input_required" else None


ENDED = Phrase("Something that was allowed for a time has ended")
A_CALL = Phrase("A call of a tool")


class SeenDecisions:
    """The recorder of decisions that pass no asker: answers in an AI client's own form, refusals, and grants that have ended.

    Lasting approvals are recorded before they take effect (see StandingGrants.record). Belongs to the engine's loop.
    """

    def __init__(self, *, trail: AuditTrail, grants: GrantBook, bus: EventBus, spawn: Spawn, now: Callable[[], float] = time.time) -> None:
        """
        Args:
            now: unix seconds.
        """
        self._trail, self._book, self._spawn, self._now = trail, grants, spawn, now
        self._grants: dict[str, GrantSnapshot] = {}
        bus.subscribe(JournalEvent, self._on_happened)
        bus.subscribe(GrantsChanged, self._on_grants_changed)

    def start(self) -> None:
        """Reads the present grants, to notice later which have ended."""
        self._grants = _by_id(self._book.snapshots())

    def _on_happened(self, event: JournalEvent) -> None:
        """Records answers of an AI client's form, and each refusal; other approvals were recorded when they were confirmed."""
        is_no = event.outcome == OUTCOMES[REFUSE]
        if event.kind != APPROVAL or not (is_no or (event.reason == CLIENT and event.outcome == ONCE)):
            return
        who = event.client if event.reason == CLIENT else "" if event.reason == PERSON else event.reason
        about = {"server": event.server, "tool": event.tool, "client": event.client, "project": event.project}
        about = {name: value for name, value in about.items() if value}
        self._note(audit_trail.Decision(A_CALL, NO if is_no else YES, event.way, who, about=about))

    def _on_grants_changed(self, _event: GrantsChanged) -> None:
        before, self._grants = self._grants, _by_id(self._book.snapshots())
        for id, grant in before.items():
            if id not in self._grants and 0 < grant.expires_at <= self._now():
                about = {"server": grant.server, "tool": grant.tool, "client": grant.client}
                self._note(audit_trail.Decision(ENDED, "narrowed", "", about={name: value for name, value in about.items() if value}))

    def _note(self, decision: audit_trail.Decision) -> None:
        self._spawn(self._trail.note(decision), name="audit trail")


def _by_id(grants: Sequence[GrantSnapshot]) -> dict[str, GrantSnapshot]:
    return {grant.id: grant for grant in grants}
