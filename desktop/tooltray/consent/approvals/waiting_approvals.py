"""The calls about which a person is being asked, and those that were refused a short while ago because nobody could be asked.

Above it: Approvals and ApprovalRounds. Below it: the event bus, by which the desktop hears of a question and of its end, and the wheel of
deadlines.
"""

import asyncio
import secrets
import time
from collections.abc import Callable, Hashable, Iterator
from functools import partial

from msgspec.structs import replace

from tooltray.consent.approvals.approval_questions import REFUSE, RULE, AskedCall, is_rule, mark
from tooltray.consent.approvals.ignored_questions import SEEN_AFTER_S, IgnoredQuestions
from tooltray.foundation.events import ApprovalAsked, ApprovalEnded, EventBus, ToolListChanged
from tooltray.foundation.snapshots.approvals import ApprovalSnapshot
from tooltray.protocol.deadlines import Deadline, DeadlineWheel
from tooltray.records.journal.happenings import APPROVAL, Happened

WAIT_S = 120.0  # a person who is there sees it; a model that waits longer is better told
KEPT_FOR_S = 600.0  # a person reads that a call was refused, allows it, and the model calls again
MOST_OF_ONE_SERVER, MOST_WAITING = 4, 16  # nobody answers more with care
MOST_REFUSED = 32
MOST_PASSES = 256  # and as many refusals
ID_BYTES = 4  # people type it

# besides what a person answers
EXPIRED, WITHDRAWN, CHANGED, UNASKED, TOO_MANY = "expired", "withdrawn", "changed", "unasked", "too many"
OUTCOMES = {REFUSE: "refused", EXPIRED: "late", UNASKED: "late", WITHDRAWN: "cancelled", CHANGED: "cancelled"}
"""What the journal calls an answer; a yes is called as it is."""


class Question:
    """
    Attributes:
        answer: of the person, or why there is none.
        answered_by: "person" at the desktop or a terminal, "client" at the AI client, or a program's name; empty: nobody.
        asked_at: unix seconds.
        is_being_answered: an answer is being written to the disk.
        is_overdue: its time has passed meanwhile.
        is_asked: False for a call that was refused already: an answer counts for the next one that is the same.
    """

    def __init__(self, call: AskedCall, snapshot: ApprovalSnapshot, *, is_asked: bool = True) -> None:
        self.call, self.snapshot, self.is_asked = call, snapshot, is_asked
        self._loop = asyncio.get_running_loop()
        self.answer: asyncio.Future[str] = self._loop.create_future()
        self.is_being_answered = self.is_overdue = False
        self.answered_by = ""
        self.asked_at, self._clock = time.time(), self._loop.time()
        self.deadline: Deadline

    def end(self, answer: str) -> None:
        """The first answer counts."""
        if not self.answer.done():
            self.answer.set_result(answer)

    @property
    def waited_s(self) -> float:
        return self._loop.time() - self._clock

    async def ended(self) -> str:
        """Who waits may be cancelled; others wait on."""
        return await asyncio.shield(self.answer)

    def is_current(self) -> bool:
        """Whether the tool is still defined as it was when it was called."""
        now = self.call.current()
        return now is not None and mark(now) == mark(self.call.route)


class WaitingApprovals:
    """Belongs to the engine's loop."""

    def __init__(self, *, bus: EventBus, deadlines: DeadlineWheel, has_window: bool) -> None:
        """
        Args:
            has_window: whether this hub is a desktop's, which shows questions as soon as it listens to events.
        """
        self._bus, self._deadlines, self._has_window = bus, deadlines, has_window
        self._asked: dict[str, Question] = {}
        self._refused: dict[str, Question] = {}
        self._ignored = IgnoredQuestions()
        self._passes, self._refusals = _Remembered(deadlines), _Remembered(deadlines)
        bus.subscribe(ToolListChanged, self._on_tool_list_changed)

    def __iter__(self) -> Iterator[Question]:
        """All that can be answered, the oldest first."""
        yield from (*self._refused.values(), *self._asked.values())

    @property
    def is_shown(self) -> bool:
        """Whether a window shows questions."""
        return self._has_window and self._bus.is_heard(ApprovalAsked)

    @property
    def asked(self) -> list[Question]:
        """Those that have no answer yet."""
        return [question for question in self._asked.values() if not question.answer.done()]

    @property
    def refused(self) -> list[Question]:
        """Of calls that were refused because nobody could be asked."""
        return list(self._refused.values())

    def find(self, id: str) -> Question | None:
        return self._asked.get(id) or self._refused.get(id)

    def same(self, call: AskedCall) -> Question | None:
        """The question that waits about the same call of the same session."""
        return next((each for each in self.asked if each.call.same_in_session == call.same_in_session), None)

    def has_room(self, server: str) -> bool:
        of_this = sum(each.call.route.server == server for each in self._asked.values())
        return of_this < MOST_OF_ONE_SERVER and len(self._asked) < MOST_WAITING

    def ask(self, call: AskedCall, shown: Callable[[str, float], ApprovalSnapshot]) -> Question:
        """Puts a question in line and tells of it.

        Args:
            shown: makes what the person reads, of an id and of the time at which the question ends.
        """
        snapshot = shown(secrets.token_hex(ID_BYTES), time.time() + WAIT_S)
        question = Question(call, replace(snapshot, is_quiet=self._ignored.is_ignored(call.client)))
        self._asked[question.snapshot.id] = question
        question.deadline = self._deadlines.add(WAIT_S, partial(self._expire, question))
        self._bus.publish(ApprovalAsked(question.snapshot))
        return question

    def close(self, question: Question) -> None:
        """A question has ended, however it did."""
        question.deadline.cancel()
        question.end(WITHDRAWN)
        del self._asked[question.snapshot.id]
        self._bus.publish(ApprovalEnded(question.snapshot.id))
        self.note(question)

    def note(self, question: Question) -> None:
        """For the journal: a question has its answer, or will have none."""
        call, answer = question.call, question.answer.result()
        if question.answered_by:
            self._ignored.answered()
        elif answer == EXPIRED or (answer == WITHDRAWN and question.waited_s >= SEEN_AFTER_S):
            self._ignored.ran_out(call.client)
        self._bus.publish(
            Happened(
                kind=APPROVAL,
                at=question.asked_at,
                outcome=RULE if is_rule(answer) else OUTCOMES.get(answer, answer),
                duration_s=question.waited_s,
                client=call.client,
                session=call.state.id,
                project=call.project,
                server=call.route.server,
                tool=call.route.definition.name,
                reason=question.answered_by or (answer if answer in OUTCOMES else ""),
                line=_flow(call),
            )
        )

    # calls that were refused

    def refuse(self, call: AskedCall, shown: Callable[[str, float], ApprovalSnapshot]) -> Question:
        """Remembers a call about which nobody could be asked."""
        if known := self.refused_like(call):
            self.forget(known)
        if len(self._refused) >= MOST_REFUSED:
            self.forget(next(iter(self._refused.values())))
        question = Question(call, shown(secrets.token_hex(ID_BYTES), time.time() + KEPT_FOR_S), is_asked=False)
        self._refused[question.snapshot.id] = question
        question.deadline = self._deadlines.add(KEPT_FOR_S, partial(self.forget, question))
        return question

    def refused_like(self, call: AskedCall) -> Question | None:
        """The remembered question about the same call."""
        return next((each for each in self._refused.values() if each.call.same == call.same), None)

    def forget(self, question: Question) -> None:
        self._refused.pop(question.snapshot.id, None)
        question.deadline.cancel()

    # a yes to one call that comes (again)

    def let_pass(self, key: Hashable) -> None:
        """The next call of this kind goes through, within KEPT_FOR_S."""
        self._passes.add(key)
        self._refusals.take(key)

    def passes(self, key: Hashable) -> bool:
        """Whether it may; once."""
        return self._passes.take(key)

    # a no to one call that comes again

    def remember_refusal(self, key: Hashable) -> None:
        """A person said no to calls of this kind; that is known for KEPT_FOR_S."""
        self._refusals.add(key)

    def is_refused(self, key: Hashable) -> bool:
        return key in self._refusals

    def _on_tool_list_changed(self, event: ToolListChanged) -> None:
        """Questions about tools that are other tools now get no answer any more."""
        for question in list(self._asked.values()):
            if question.call.route.server == event.server and not question.is_current():
                question.end(CHANGED)

    def _expire(self, question: Question) -> None:
        question.is_overdue = True
        if not question.is_being_answered:  # else the person was in time, and the disk is slow
            question.end(EXPIRED)


def _flow(call: AskedCall) -> str:
    """What the session had read, and what it wanted to send with: why the flow guard has a call ask."""
    read = call.state.flow if call.decision.flow else None
    return f"{' '.join(filter(None, [read.tool or read.server, read.place]))} → {call.route.definition.name}" if read else ""


class _Remembered:
    """Keys that are known for KEPT_FOR_S; of too many the oldest go."""

    def __init__(self, deadlines: DeadlineWheel) -> None:
        self._deadlines = deadlines
        self._keys: dict[Hashable, Deadline] = {}

    def __contains__(self, key: Hashable) -> bool:
        return key in self._keys

    def add(self, key: Hashable) -> None:
        self.take(key)
        if len(self._keys) >= MOST_PASSES:
            self.take(next(iter(self._keys)))
        self._keys[key] = self._deadlines.add(KEPT_FOR_S, partial(self._forget, key))

    def take(self, key: Hashable) -> bool:
        """Forgets a key; whether it was known."""
        deadline = self._keys.pop(key, None)
        if deadline:
            deadline.cancel()
        return deadline is not None

    def _forget(self, key: Hashable) -> None:
        del self._keys[key]
