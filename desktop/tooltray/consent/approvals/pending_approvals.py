"""Tool calls that wait for the user's approval, and calls that were refused a short while ago because the user could not be asked.

A user who allows a refused call, as at a terminal, allows the next equal call.
"""

from collections.abc import Hashable, Iterator
from functools import partial

from msgspec import Raw
from msgspec.structs import replace

from tooltray.catalogue.definition import definition_text
from tooltray.consent.approvals.approval_rules import ApprovalRules
from tooltray.consent.approvals.asked_call import REFUSE, RULE, AskedCall, is_rule
from tooltray.consent.approvals.edited_call import changed_names
from tooltray.consent.approvals.grant_book import OTHER_SETTINGS
from tooltray.consent.approvals.question_snapshots import QuestionSnapshots
from tooltray.consent.questions import EXPIRED, WITHDRAWN, Inbox, Kind, Question, Remembered
from tooltray.foundation.events import ApprovalAsked, ApprovalEnded, EventBus, ToolListChanged
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.activity import DECLINED
from tooltray.foundation.snapshots.approvals import ApprovalSnapshot
from tooltray.protocol.deadlines import DeadlineWheel
from tooltray.protocol.envelope import CONNECTION_CLOSED, NOTHING, Envelope, failure
from tooltray.protocol.eras import with_members
from tooltray.protocol.member_scanner import closed
from tooltray.records.journal.call_params import target_of
from tooltray.records.journal.journal_event import APPROVAL, JournalEvent

WAIT_S = 120.0  # enough for a user at the computer; a longer wait does not help the model
EDITED_FOR_S = 120.0  # from the last time that the window reported that the user edits the call
LONGEST_WAIT_S = 600.0  # of a call that is edited
KEPT_FOR_S = 600.0  # the user reads that a call was refused, allows it, and the model calls again
MOST_OF_ONE_SERVER, MOST_WAITING = 4, 16  # users would not read more with care
MOST_REFUSED = 32
MOST_PASSES = 256  # as many refusals
ID_BYTES = 4  # people type it
QUIET_AFTER = 2  # questions of an AI client that expire in a row; later ones notify quietly
SEEN_AFTER_S = 30.0  # the user may not have noticed a question that its client withdrew sooner
MOST_CLIENTS = 256

PendingCall = Question[AskedCall, ApprovalSnapshot]
CALL: Kind[AskedCall, ApprovalSnapshot] = Kind(WAIT_S, ID_BYTES, ApprovalAsked, ApprovalEnded)
"""A waiting call; `answered_by` is "person" at the desktop or a terminal, "client" at the AI client, or a program's name."""
REFUSED: Kind[AskedCall, ApprovalSnapshot] = Kind(KEPT_FOR_S, ID_BYTES, is_awaited=False)
"""A call that was refused already: an answer applies to the next equal call."""

# besides what the user answers, EXPIRED and WITHDRAWN
CHANGED, UNASKED, TOO_MANY = "changed", "unasked", "too many"
OUTCOMES = {REFUSE: "refused", EXPIRED: "late", UNASKED: "late", WITHDRAWN: "cancelled", CHANGED: "cancelled"}
"""The journal's words for answers; an approval is recorded unchanged."""
_REFUSED_ALREADY = Phrase("no one answered in time, so the call was declined")


class PendingApprovals:
    """The calls in the inbox. Belongs to the engine's loop."""

    def __init__(
        self,
        *,
        inbox: Inbox,
        bus: EventBus,
        deadlines: DeadlineWheel,
        has_window: bool,
        rules: ApprovalRules,
        question_snapshots: QuestionSnapshots,
    ) -> None:
        """
        Args:
            has_window: whether this hub is a desktop's, which shows questions as soon as it listens to events.
        """
        self._inbox, self._bus, self._has_window, self._rules, self._snapshots = inbox, bus, has_window, rules, question_snapshots
        self._passes = Remembered[Raw](deadlines, for_s=KEPT_FOR_S, most=MOST_PASSES)
        self._refusals = Remembered[None](deadlines, for_s=KEPT_FOR_S, most=MOST_PASSES)
        self._unattended: dict[str, int] = {}  # questions that expired in a row, by AI client
        bus.subscribe(ToolListChanged, self._on_tool_list_changed)

    def __iter__(self) -> Iterator[PendingCall]:
        """Yields all calls that can be answered: first the refused ones, then the waiting ones, each the oldest first."""
        yield from (*self._inbox.of(REFUSED), *self._inbox.of(CALL))

    @property
    def is_shown(self) -> bool:
        """Whether a window shows questions."""
        return self._has_window and self._bus.is_heard(ApprovalAsked)

    @property
    def waiting(self) -> list[PendingCall]:
        """The calls that wait and have no answer yet."""
        return [question for question in self._inbox.of(CALL) if question.is_open]

    def find(self, id: str) -> PendingCall | None:
        return self._inbox.find(CALL, id) or self._inbox.find(REFUSED, id)

    # calls that wait

    def same(self, call: AskedCall) -> PendingCall | None:
        """Returns the waiting question about the same call of the same session."""
        return self._inbox.same(CALL, call.same_in_session)

    def has_room(self, server: str) -> bool:
        asked = self._inbox.of(CALL)
        return sum(each.subject.route.server == server for each in asked) < MOST_OF_ONE_SERVER and len(asked) < MOST_WAITING

    def ask(self, call: AskedCall, before: str | None) -> PendingCall:
        """Opens a question.

        Args:
            before: the definition that was allowed or shown before, if the tool has another one now.
        """

        def view(id: str, ends_at: float) -> ApprovalSnapshot:
            is_quiet = self._unattended.get(call.client, 0) >= QUIET_AFTER
            return replace(self._snapshots.of(call, before, "", id, ends_at), is_quiet=is_quiet)

        return self._inbox.open(CALL, call, call.same_in_session, view)

    def keep_open(self, question: PendingCall) -> float:
        """Lets a call wait for longer while the user edits it; returns its latest possible end in unix seconds."""
        for_s = min(EDITED_FOR_S, LONGEST_WAIT_S - question.waited_s)
        ends_at = question.asked_at + question.waited_s + for_s
        if question.is_open and ends_at > question.view.ends_at:
            self._inbox.extend(question, replace(question.view, ends_at=ends_at), for_s)
        return question.asked_at + LONGEST_WAIT_S

    def close(self, question: PendingCall) -> None:
        """Removes a question, and records how it has ended."""
        self._inbox.close(question)
        self.record(question)

    def record(self, question: PendingCall) -> None:
        """Publishes for the journal that a question has its answer, or will have none."""
        call, answer = question.subject, question.answer.result()
        if question.answered_by:
            self._unattended.clear()  # the user is at the computer
        elif answer == EXPIRED or (answer == WITHDRAWN and question.waited_s >= SEEN_AFTER_S):
            self._count_unattended(call.client)
        self._bus.publish(
            JournalEvent(
                kind=APPROVAL,
                at=question.asked_at,
                outcome=RULE if is_rule(answer) else OUTCOMES.get(answer, answer),
                duration_s=question.waited_s,
                client=call.client,
                session=call.state.id,
                project=call.project,
                server=call.route.server,
                tool=call.route.definition.name,
                way=question.way,
                reason=question.answered_by or (answer if answer in OUTCOMES else ""),
                line=" · ".join(filter(None, (_flow(call), _changes(call)))),
                params=NOTHING if call.asked is None else with_members(call.params, arguments=call.asked or Raw(b"{}")),
            )
        )

    # calls that were refused

    def refuse(self, call: AskedCall, how: str = "The user cannot be asked here") -> Envelope:
        """Refuses a call without the user's answer, and remembers it as a question that the user can still answer. The text is for a model:
        it names the question, but no command with which a model with a shell could answer it.

        Args:
            how: why the user has not answered.
        """
        before = self._snapshots.seen_before(call)
        question = self._hold_refused(call, before)
        waits = f"Ask the user to look at it in Tooltray, where it waits as {question.id}."
        if call.same in self._refusals:
            declined = f"{DECLINED} of '{call.shown_tool}' a short while ago"
            return refused(f"{declined}; do not call it again unless the user asks for it. It waits in Tooltray as {question.id}.")
        why = call.decision.message
        if before is not None:
            why = f"the tool '{call.shown_tool}' has changed since it was allowed"
        if before == definition_text(call.route.definition):
            why = f"'{call.shown_tool}' was allowed, but {OTHER_SETTINGS}"
        return refused(f"{why}. {how}. {waits}")

    def refresh_refused(self) -> None:
        """Replaces a refused call's question by a question about the present tool if the tool has changed since."""
        for question in self._inbox.of(REFUSED):
            self.refresh(question)

    def refresh(self, question: PendingCall) -> str:
        """Returns the id under which a refused call waits now; empty if it waits no longer."""
        call, now = question.subject, question.subject.current()
        if now is None or now.mark == call.route.mark:
            return question.id
        self._inbox.drop(question)
        other = self._rules.judged_again(call, now)
        if other.decision.is_approved:
            return ""
        if known := self._inbox.same(REFUSED, other.same):
            return known.id  # its client has read this id
        return self._hold_refused(other, definition_text(call.route.definition), replaces=question.id).id

    def answer_refused(self, question: PendingCall, *, passes: bool, is_refused: bool) -> None:
        """Removes a refused call that the user has answered; the answer applies to the next equal call.

        Args:
            passes: whether the next equal call is allowed, once.
            is_refused: the user has refused it.
        """
        self._inbox.drop(question)
        self.record(question)
        if passes:
            self.allow_next(question.subject.same)
        elif is_refused:
            self._refusals.add(question.subject.same, None)

    def _hold_refused(self, call: AskedCall, before: str | None, *, replaces: str = "") -> PendingCall:
        if known := self._inbox.same(REFUSED, call.same):
            self._inbox.drop(known)
        for question in self._inbox.of(REFUSED)[: 1 - MOST_REFUSED]:
            self._inbox.drop(question)
        return self._inbox.open(REFUSED, call, call.same, partial(self._snapshots.of, call, before, _REFUSED_ALREADY, replaces=replaces))

    # approvals for one later call

    def allow_next(self, key: Hashable, arguments: Raw | None = None) -> None:
        """Allows the next call of this kind, within KEPT_FOR_S.

        Args:
            arguments: of the user, with which it runs; None: with its own.
        """
        self._passes.add(key, arguments or NOTHING)
        self._refusals.take(key)

    def passed(self, key: Hashable, call: AskedCall) -> AskedCall | None:
        """Returns a call of this kind as it is allowed to run, or None; an approval counts once."""
        arguments = self._passes.take(key)
        return call.with_arguments(arguments) if arguments else None if arguments is None else call

    def _count_unattended(self, client: str) -> None:
        if client not in self._unattended and len(self._unattended) >= MOST_CLIENTS:
            del self._unattended[next(iter(self._unattended))]
        self._unattended[client] = self._unattended.get(client, 0) + 1

    def _on_tool_list_changed(self, event: ToolListChanged) -> None:
        """Ends questions about tools that have changed."""
        for question in self._inbox.of(CALL):
            if question.subject.route.server == event.server and not question.subject.is_current():
                question.end(CHANGED)


def refused(message: str) -> Envelope:
    """Returns the reply to a call that is not carried out."""
    return failure(CONNECTION_CLOSED, message)


def _flow(call: AskedCall) -> str:
    """Returns why the flow guard makes a call ask: what the session had read, and the tool with which it wanted to send."""
    read = call.state.flow if call.decision.flow else None
    return f"{' '.join(filter(None, [read.tool or read.server, read.place]))} → {call.route.definition.name}" if read else ""


def _changes(call: AskedCall) -> str:
    """Returns what the user has changed in the arguments: the target, if that is another one, and the names."""
    if call.asked is None:
        return ""
    before, now = target_of(closed({"arguments": call.asked or Raw(b"{}")})), target_of(call.params)
    return f"{before} → {now} ({', '.join(changed_names(call))})" if before != now else ", ".join(changed_names(call))
