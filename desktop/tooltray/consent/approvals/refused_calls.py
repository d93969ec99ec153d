"""Calls that are refused because nobody could be asked: what their AI client is told, and the questions that they stay for a while.

Above it: Approvals and ApprovalRounds. Below it: WaitingApprovals, which remembers them, and ApprovalRules. A person who answers one at a
terminal allows the next call that is the same.
"""

from functools import partial

from tooltray.catalogue.definition import definition_text
from tooltray.consent.approvals.approval_questions import OTHER_SETTINGS, AskedCall, mark
from tooltray.consent.approvals.approval_rules import ApprovalRules
from tooltray.consent.approvals.question_snapshots import QuestionSnapshots
from tooltray.consent.approvals.waiting_approvals import Question, WaitingApprovals
from tooltray.foundation.phrases import Phrase
from tooltray.protocol.envelope import CONNECTION_CLOSED, Envelope, failure

_REFUSED_ALREADY = Phrase("nobody answered when it was called, and it was refused")


class RefusedCalls:
    """Belongs to the engine's loop."""

    def __init__(self, *, waiting: WaitingApprovals, rules: ApprovalRules, question_snapshots: QuestionSnapshots) -> None:
        self._waiting, self._rules, self._snapshots = waiting, rules, question_snapshots

    def refuse(self, call: AskedCall, how: str = "Nobody can be asked here") -> Envelope:
        """Refuses a call without the user's answer, and remembers it as a question that the user can still answer. The text is for a model:
        it names the question, and nothing that a model with a shell could do about it.

        Args:
            how: why the user has not answered.
        """
        before = self._snapshots.seen_before(call)
        question = self._waiting.refuse(call, partial(self._snapshots.of, call, before, _REFUSED_ALREADY))
        waits = f"Ask the user to look at it in Tooltray, where it waits as {question.snapshot.id}."
        if self._waiting.is_refused(call.same):
            declined = f"the user declined this call of '{call.shown_tool}' a short while ago"
            return refusal(f"{declined}; do not call it again unless the user asks for it. It waits in Tooltray as {question.snapshot.id}.")
        why = call.decision.message
        if before is not None:
            why = f"the tool '{call.shown_tool}' is defined in another way than when it was allowed"
        if before == definition_text(call.route.definition):
            why = f"'{call.shown_tool}' was allowed, but {OTHER_SETTINGS}"
        return refusal(f"{why}. {how}. {waits}")

    def renew_all(self) -> None:
        """Those whose tool is defined in another way since are questions about the tool as it is now."""
        for question in self._waiting.refused:
            self.renew(question)

    def renew(self, question: Question) -> str:
        """The id under which the question goes on; empty if there is none any more."""
        call, now = question.call, question.call.current()
        if now is None or mark(now) == mark(call.route):
            return question.snapshot.id
        self._waiting.forget(question)
        other = self._rules.judged_anew(call, now)
        if other.decision.is_approved:
            return ""
        if known := self._waiting.refused_like(other):
            return known.snapshot.id  # which its client was told
        before = definition_text(call.route.definition)
        shown = partial(self._snapshots.of, other, before, _REFUSED_ALREADY, replaces=question.snapshot.id)
        return self._waiting.refuse(other, shown).snapshot.id


def refusal(message: str) -> Envelope:
    """What answers a call that is not carried out."""
    return failure(CONNECTION_CLOSED, message)
