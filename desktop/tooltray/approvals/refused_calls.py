"""Calls that are refused because nobody could be asked: what their AI client is told, and the questions that they stay for a while.

Above it: Approvals and ApprovalRounds. Below it: WaitingApprovals, which remembers them, and ApprovalRules. A person who answers one at a
terminal allows the next call that is the same.
"""

from functools import partial

from tooltray.approvals.approval_questions import OTHER_SETTINGS, AskedCall, mark
from tooltray.approvals.approval_rules import ApprovalRules
from tooltray.approvals.question_snapshots import QuestionSnapshots
from tooltray.approvals.waiting_approvals import Question, WaitingApprovals
from tooltray.catalogue.definition import definition_text
from tooltray.phrases import Phrase
from tooltray.protocol.envelope import CONNECTION_CLOSED, Envelope, failure
from tooltray.shell_words import joined

WORDS_OF_APPROVE = ("refuse",)
"""What `tooltray approve` takes as a word of its own before a name."""

_REFUSED_ALREADY = Phrase("nobody answered when it was called, and it was refused")


class RefusedCalls:
    """Belongs to the engine's loop."""

    def __init__(self, *, waiting: WaitingApprovals, rules: ApprovalRules, question_snapshots: QuestionSnapshots) -> None:
        self._waiting, self._rules, self._snapshots = waiting, rules, question_snapshots

    def refuse(self, call: AskedCall, how: str = "Nobody can be asked here") -> Envelope:
        """Refused without a person's answer, and remembered: the command that is named allows the next call that is the same.

        Args:
            how: it came to that.
        """
        before = self._snapshots.seen_before(call)
        question = self._waiting.refuse(call, partial(self._snapshots.of, call, before, _REFUSED_ALREADY))
        command = f"tooltray approve {question.snapshot.id}"
        if self._waiting.is_refused(call.same):
            return refusal(
                f"the person refused this call of '{call.shown_tool}' a short while ago; do not call it again unasked. "
                f"A person who thinks better of it types in a terminal: {command} (the next call that is the same, within 10 minutes)"
            )
        why = call.decision.message
        if before is not None:
            why = f"the tool '{call.shown_tool}' is defined in another way than when it was allowed"
        if before == definition_text(call.route.definition):
            why = f"'{call.shown_tool}' was allowed, but {OTHER_SETTINGS}"
        if call.decision.flow:
            way = f"To allow it, a person types in a terminal: {command}"
            return refusal(f"{why}. {how}. {way} (the next call that is the same, within 10 minutes)")
        return refusal(
            f"{why}. {how}. To allow it, a person types in a terminal: {command} (the next call that is the same, "
            f"within 10 minutes) or {lasting_command(call) or f'{command} --always'} (always, for this AI client alone), "
            f"or {call.decision.hint}."
        )

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


def lasting_command(call: AskedCall) -> str:
    """What allows a tool to the client that calls it; empty where a name has characters that nobody can type."""
    server, tool, client = call.route.server, call.route.definition.name, call.client
    if not "".join((server, tool, client)).isprintable() or not tool:
        return ""
    for_whom = [f"--client={client}"] if client.startswith("-") else ["--client", client] if client else []
    needs_mark = server in WORDS_OF_APPROVE or server.startswith("-") or tool.startswith("-")
    words = [*for_whom, "--", server, tool] if needs_mark else [server, tool, *for_whom]
    return joined(["tooltray", "approve", *words])


def refusal(message: str) -> Envelope:
    """What answers a call that is not carried out."""
    return failure(CONNECTION_CLOSED, message)
