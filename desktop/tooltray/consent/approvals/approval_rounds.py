"""Asks the user about one tool call until there is an answer to the tool as it is, and takes the answer.

The same question as a form for an AI client's own user has one field; what is no clear approval is a refusal.
"""

import asyncio

from msgspec import Raw
from msgspec.structs import replace

from tooltray.catalogue.definition import definition_text
from tooltray.consent.approvals import suspicion
from tooltray.consent.approvals.approval_rules import ApprovalRules
from tooltray.consent.approvals.asked_call import ONCE, READS, REFUSE, SESSION, AskedCall, mark
from tooltray.consent.approvals.grant_ends import ALWAYS, DAY, HOUR, LIKE, LOCK
from tooltray.consent.approvals.pending_approvals import (
    CALL,
    CHANGED,
    TOO_MANY,
    UNASKED,
    WAIT_S,
    PendingApprovals,
    PendingCall,
    refusal,
)
from tooltray.consent.approvals.question_snapshots import QuestionSnapshots
from tooltray.consent.approvals.standing_grants import StandingGrants, is_lasting, is_yes
from tooltray.consent.questions import EXPIRED, WITHDRAWN
from tooltray.foundation.confirmation import current_asker
from tooltray.foundation.errors import Conflict, TooltrayError, in_one_line
from tooltray.foundation.snapshots.approvals import ApprovalSnapshot, OfferedRule
from tooltray.foundation.tasks import Spawn
from tooltray.protocol import envelope
from tooltray.protocol.envelope import Envelope, dump, success
from tooltray.protocol.sessions.elicitation_form import is_persons_no
from tooltray.protocol.sessions.exchange import Exchange

FIELD = "answer"
LONGEST_TITLE = 300  # characters of a choice in a form
MOST_LINES = 60  # of each part; a form in a terminal is small
LONGEST_IN_FORM = 4_000  # characters
TITLES = {
    REFUSE: "No",
    ONCE: "Yes, this once",
    LIKE: "Yes, and the like of it for some seconds",
    SESSION: "Yes, for this session",
    HOUR: "Yes, for an hour",
    DAY: "Yes, for a day",
    LOCK: "Yes, until the screen locks",
    ALWAYS: "Yes, always for this tool",
    READS: "Yes, for all tools of this server that read",
}

CLIENT = "client"  # by whom a question was answered, and by which way: a form of the AI client
MOST_ROUNDS = 6  # of one call; a tool that is another one each time a person looks is not to be called
MOST_FORMS = 3  # of one question, where the answer cannot be written
ELICITATION = "elicitation/create"
APPROVED = success({})
"""Known by identity: the call goes through."""


class ApprovalRounds:
    """The questions about one call, one after the other. Belongs to the engine's loop."""

    def __init__(
        self,
        *,
        rules: ApprovalRules,
        pending_approvals: PendingApprovals,
        question_snapshots: QuestionSnapshots,
        standing_grants: StandingGrants,
        spawn: Spawn,
    ) -> None:
        self._rules, self._pending, self._snapshots = rules, pending_approvals, question_snapshots
        self._lasting, self._spawn = standing_grants, spawn

    async def decided(self, call: AskedCall, exchange: Exchange, *, has_window: bool = False) -> Envelope:
        """Returns APPROVED, or why the call is not carried out.

        Args:
            exchange: its client is asked where no desktop is there.
        """
        try:
            return await self._decided(call, None if has_window else exchange)
        except TooltrayError as error:
            return refusal(exchange.session.state.words(error))

    async def _decided(self, call: AskedCall, asked: Exchange | None) -> Envelope:
        before = self._snapshots.seen_before(call)
        for _ in range(MOST_ROUNDS):
            answer = await self._answered(call, asked, before)
            is_allowed = is_yes(answer)
            if not is_allowed and answer != CHANGED:
                return self._outcome(call, answer)
            now = await self._rules.renewed(call, is_started=is_allowed)
            if (now is call and is_allowed) or now.decision.is_approved:
                return APPROVED
            if before is None and mark(now.route) != mark(call.route):
                before = definition_text(call.route.definition)
            call = now
        return refusal(f"the tool '{call.shown_tool}' changes while a person is asked about it; it was not called")

    async def take(self, question: PendingCall, answer: str, by: str) -> None:
        """Takes a person's answer; what lasts is written first.

        Args:
            by: see Question.answered_by.

        Raises:
            TooltrayError: the question has ended, this is no answer to it, or what lasts cannot be written: then it waits on.
        """
        if not question.is_open or question.is_being_answered:
            raise Conflict("This call waits no longer", "it was answered, or the tool has changed since this was shown")
        choices = (*question.view.choices, *(each.answer for each in question.view.rules))
        if answer not in (REFUSE, *choices):
            options = ", ".join((*choices, REFUSE))
            reason = "nothing here can tell when the screen locks, or it is locked now" if answer == LOCK else ""
            raise TooltrayError(f"'{suspicion.visible(answer)}' is no answer to this call", reason, f"Answer with one of {options}.")
        is_waiting = question.kind is CALL
        if not is_waiting and answer != REFUSE and (id := self._pending.refresh(question)) != question.id:
            hint = f"Look at it as it is now: tooltray approve {id}" if id else "It goes through now: call again."
            raise Conflict("The tool has changed since this was shown", "nothing was allowed", hint)
        question.is_being_answered = True
        try:
            await self._lasting.keep(question.subject, question.view, answer)
            question.answered_by = by
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

    async def _release(self, by: str) -> None:
        """Lets other calls through that wait and that a lasting approval covers as well."""
        for other in self._pending.waiting:
            call = other.subject
            if call.decision.flow:
                continue
            if await self._lasting.covered_by(call) and other.is_open and not other.is_being_answered:
                other.answered_by = by
                other.end(SESSION)

    async def _answered(self, call: AskedCall, asked: Exchange | None, before: str | None) -> str:
        while same := self._pending.same(call):
            if (answer := await same.wait()) not in (ONCE, WITHDRAWN):  # once is for one of them; the next of them asks again
                return answer
        if not self._pending.has_room(call.route.server):
            return TOO_MANY
        question = self._pending.ask(call, before)
        current_asker().on_asked(WAIT_S)
        asking = self._spawn(self._ask(question, asked), name=f"approval {call.route.server}") if asked else None
        try:
            return await question.wait()
        finally:
            self._pending.close(question)
            if asking:
                asking.cancel()

    async def _ask(self, question: PendingCall, exchange: Exchange) -> None:
        """Asks the client's own person; an answer that cannot be kept is asked for again."""
        shown, loop = question.view, asyncio.get_running_loop()
        for _ in range(MOST_FORMS):
            asked_at = loop.time()
            reply = await exchange.ask(ELICITATION, form_params(shown))
            answer = form_answer(reply, shown, loop.time() - asked_at)
            if answer is None:
                break
            try:
                await self._lasting.record(question.subject, answer, CLIENT)
                await self.take(question, answer, CLIENT)
                return
            except TooltrayError as error:
                shown = replace(shown, why=f"{in_one_line(error.problem.title, error.problem.message)}; {question.view.why}")
        question.end(UNASKED)

    def _outcome(self, call: AskedCall, answer: str) -> Envelope:
        if answer == UNASKED:
            return self._pending.refuse(call, "Its AI client was asked, and nobody answered there")
        if answer == EXPIRED:
            return self._pending.refuse(call, f"A person was asked, and nobody answered within {WAIT_S:.0f} s")
        if answer == TOO_MANY:
            return refusal("too many calls wait for a person's yes already; call again when some are answered")
        return refusal(f"the person refused this call of '{call.shown_tool}'")


# the question as a form for an AI client's own user


def form_params(question: ApprovalSnapshot) -> Raw:
    """Returns the params of the request to the client."""
    values = [REFUSE, *question.choices, *(each.answer for each in _in_form(question))]
    titles = TITLES | {each.answer: _rule_title(each) for each in _in_form(question)}
    field = {
        "type": "string",
        "title": "Allow this call?",
        "enum": values,
        "enumNames": [titles[value] for value in values],
        "default": REFUSE,
    }
    schema = {"type": "object", "properties": {FIELD: field}, "required": [FIELD]}
    return dump({"message": "\n".join(_message(question)), "requestedSchema": schema})


def form_answer(reply: Envelope, question: ApprovalSnapshot, waited_s: float) -> str | None:
    """Returns the user's answer; None where the user has given none: the client did not ask, or the user was away.

    Args:
        waited_s: for how long the client had the form.
    """
    if reply.error:
        return None
    try:
        result: object = envelope.load(reply.result)
    except ValueError:
        return None
    if not isinstance(result, dict):
        return None
    action, content = result.get("action"), result.get("content")
    answer = content.get(FIELD) if action == "accept" and isinstance(content, dict) else None
    if isinstance(answer, str) and answer in (*question.choices, *(each.answer for each in _in_form(question))):
        return answer
    return REFUSE if is_persons_no(action, waited_s) else None


def _in_form(question: ApprovalSnapshot) -> tuple[OfferedRule, ...]:
    """Returns only the narrowest rule: a form in another program is read in a hurry."""
    return tuple(each for each in question.rules[:1] if len(each.words) <= LONGEST_TITLE)


def _rule_title(offered: OfferedRule) -> str:
    return f"Yes, always: {offered.words}"


def _message(question: ApprovalSnapshot) -> list[str]:
    client = question.client or "An AI client"
    lines = [f"{client} wants to call the tool '{question.tool}' of the server '{question.server}' ({question.category})."]
    lines += [f"Project: {question.project}"] if question.project else []
    lines += [f"It asks because {question.why}."]
    lines += [f"Careful: {warning}" for warning in question.warnings]
    lines += _part("The definition has changed:", list(question.definition_diff))
    lines += _part("It would change:", list(question.diff))
    arguments = question.arguments[:LONGEST_IN_FORM]
    cut = ["…"] if len(question.arguments) > LONGEST_IN_FORM else []
    return lines + (
        _part("Arguments:", arguments.splitlines() + cut) if not question.diff or cut else ["Arguments:", *arguments.splitlines()]
    )


def _part(title: str, lines: list[str]) -> list[str]:
    if not lines:
        return []
    return [title, *lines[:MOST_LINES], *(["…"] if len(lines) > MOST_LINES else [])]
