"""Asks a person about one tool call until there is an answer to the tool as it is, and takes the answer.

PendingApprovals has the questions; LastingYeses saves what lasts.
"""

import asyncio

from msgspec.structs import replace

from tooltray.catalogue.definition import definition_text
from tooltray.consent.approvals import suspicion
from tooltray.consent.approvals.approval_questions import ONCE, REFUSE, SESSION, AskedCall, form_answer, form_params, mark
from tooltray.consent.approvals.approval_rules import ApprovalRules
from tooltray.consent.approvals.grant_ends import LOCK
from tooltray.consent.approvals.lasting_yeses import LastingYeses, is_lasting, is_yes
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
from tooltray.consent.questions import EXPIRED, WITHDRAWN
from tooltray.foundation.confirmation import current_asker
from tooltray.foundation.errors import Conflict, TooltrayError, in_one_line
from tooltray.foundation.tasks import Spawn
from tooltray.protocol.envelope import Envelope, success
from tooltray.protocol.sessions.exchange import Exchange

CLIENT = "client"  # by whom a question was answered, and by which way: a form of the AI client
MOST_ROUNDS = 6  # of one call; a tool that is another one each time a person looks is not to be called
MOST_FORMS = 3  # of one question, where the answer cannot be written
ELICITATION = "elicitation/create"
APPROVED = success({})
"""Known by identity: the call goes through."""


class ApprovalRounds:
    """Belongs to the engine's loop."""

    def __init__(
        self,
        *,
        rules: ApprovalRules,
        pending_approvals: PendingApprovals,
        question_snapshots: QuestionSnapshots,
        lasting_yeses: LastingYeses,
        spawn: Spawn,
    ) -> None:
        self._rules, self._pending, self._snapshots = rules, pending_approvals, question_snapshots
        self.disk_diff = question_snapshots.disk_diff
        self._lasting, self._spawn = lasting_yeses, spawn

    async def decided(self, call: AskedCall, exchange: Exchange, *, has_window: bool = False) -> Envelope:
        """APPROVED, or why not.

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
        """Other calls that wait, and that a yes which lasts covers as well, are not asked about one by one."""
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
