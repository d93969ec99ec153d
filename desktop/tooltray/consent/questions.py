"""The inbox: everything that waits for the user's answer for a limited time.

Each kind of question has its own time limit and its own events; its own class (PendingApprovals, Confirmations, Elicitations) decides what
an answer does. Decisions without a time limit (projects' own files, proposals of programs, changed definitions) are derived from files and
are not in the inbox.
"""

import asyncio
import secrets
import time
from collections.abc import Callable, Hashable
from functools import partial
from typing import Any, Generic, TypeVar

import msgspec

from tooltray.foundation.events import Event, EventBus
from tooltray.protocol.deadlines import Deadline, DeadlineWheel

EXPIRED, WITHDRAWN = "expired", "withdrawn"  # how a question ends without an answer of the user

S = TypeVar("S")
V = TypeVar("V")
T = TypeVar("T")


class Kind(msgspec.Struct, Generic[S, V], frozen=True):
    """The common properties of questions of one kind; `S` is the type of their subject, `V` of the view that the user reads.

    Attributes:
        wait_s: for how long the user may answer.
        id_bytes: the length of an id.
        opened: makes the event of a new or changed question from its view; None: without an event.
        closed: makes the event of its end from its id; None: without an event.
        is_awaited: the opener of a question waits for the answer, and closes it; else it is dropped when its time has passed.
    """

    wait_s: float
    id_bytes: int
    opened: Callable[[V], Event] | None = None
    closed: Callable[[str], Event] | None = None
    is_awaited: bool = True


class Question(Generic[S, V]):
    """One question to the user.

    Attributes:
        digest: equal for questions that one answer covers.
        view: what the user reads.
        answer: of the user, or EXPIRED, WITHDRAWN, or another reason why the user gave no answer.
        answered_by: who gave the answer, in the words of the question's own class; empty without an answer.
        way: where it was given, see AuditEntry; empty: not known.
        asked_at: unix seconds.
        is_being_answered: an answer is being written to the disk, so the time does not run out meanwhile.
        is_overdue: its time has passed meanwhile.
    """

    def __init__(self, kind: Kind[S, V], subject: S, digest: Hashable, make_view: Callable[[str, float], V]) -> None:
        self.kind, self.subject, self.digest = kind, subject, digest
        self.id, self.asked_at = secrets.token_hex(kind.id_bytes), time.time()
        self.view = make_view(self.id, self.asked_at + kind.wait_s)
        self._loop = asyncio.get_running_loop()
        self._opened_at = self._loop.time()
        self.answer: asyncio.Future[str] = self._loop.create_future()
        self.is_being_answered = self.is_overdue = False
        self.answered_by = self.way = ""
        self.deadline: Deadline

    @property
    def is_open(self) -> bool:
        return not self.answer.done()

    @property
    def waited_s(self) -> float:
        return self._loop.time() - self._opened_at

    def end(self, answer: str) -> None:
        """Sets the answer; later ones are ignored."""
        if self.is_open:
            self.answer.set_result(answer)

    def expire(self) -> None:
        """Ends the question because its time has passed, unless an answer is being written: then the user was in time."""
        self.is_overdue = True
        if not self.is_being_answered:
            self.end(EXPIRED)

    async def wait(self) -> str:
        """Waits until there is an answer; a caller that is cancelled does not end the question for others."""
        return await asyncio.shield(self.answer)


class Inbox:
    """All open questions. Belongs to the engine's loop."""

    def __init__(self, *, bus: EventBus, deadlines: DeadlineWheel) -> None:
        self._bus, self._deadlines = bus, deadlines
        self._questions: dict[str, Question[Any, Any]] = {}

    def of(self, kind: Kind[S, V]) -> list[Question[S, V]]:
        """Returns the questions of a kind, the oldest first; also those with an answer that have not been closed yet."""
        return [each for each in self._questions.values() if each.kind is kind]

    def find(self, kind: Kind[S, V], id: str) -> Question[S, V] | None:
        found = self._questions.get(id)
        return found if found and found.kind is kind else None

    def same(self, kind: Kind[S, V], digest: Hashable) -> Question[S, V] | None:
        """Returns the open question of a kind about the same thing."""
        return next((each for each in self.of(kind) if each.digest == digest and each.is_open), None)

    def open(self, kind: Kind[S, V], subject: S, digest: Hashable, make_view: Callable[[str, float], V]) -> Question[S, V]:
        """Opens a question and publishes its event.

        Args:
            make_view: makes the view that the user reads from the question's id and its end in unix seconds.
        """
        question = Question(kind, subject, digest, make_view)
        self._questions[question.id] = question
        question.deadline = self._deadlines.add(kind.wait_s, partial(self._expire, question))
        self.publish(question)
        return question

    def publish(self, question: Question[S, V]) -> None:
        """Publishes a question whose text may have changed."""
        if question.kind.opened:
            self._bus.publish(question.kind.opened(question.view))

    def extend(self, question: Question[S, V], view: V, for_s: float) -> None:
        """Lets a question wait for so many seconds from now, and publishes the view that shows it."""
        question.deadline.cancel()
        question.deadline = self._deadlines.add(for_s, partial(self._expire, question))
        question.view = view
        self.publish(question)

    def close(self, question: Question[S, V]) -> None:
        """Removes a question that an opener waited for; without an answer it counts as withdrawn."""
        self.drop(question)
        question.end(WITHDRAWN)
        if question.kind.closed:
            self._bus.publish(question.kind.closed(question.id))

    def drop(self, question: Question[S, V]) -> None:
        """Removes a question that has not ended, for example because another one replaces it."""
        question.deadline.cancel()
        self._questions.pop(question.id, None)

    def _expire(self, question: Question[Any, Any]) -> None:
        question.expire()
        if not question.kind.is_awaited:
            self.drop(question)


class Remembered(Generic[T]):
    """Keys with values that are remembered for a time; if there are too many, the oldest are dropped."""

    def __init__(self, deadlines: DeadlineWheel, *, for_s: float, most: int) -> None:
        self._deadlines, self._for_s, self._most = deadlines, for_s, most
        self._keys: dict[Hashable, tuple[Deadline, T]] = {}

    def __contains__(self, key: Hashable) -> bool:
        return key in self._keys

    def add(self, key: Hashable, value: T) -> None:
        self.take(key)
        if len(self._keys) >= self._most:
            self.take(next(iter(self._keys)))
        self._keys[key] = self._deadlines.add(self._for_s, partial(self._forget, key)), value

    def take(self, key: Hashable) -> T | None:
        """Drops a key; returns its value, or None for an unknown one."""
        deadline, value = self._keys.pop(key, (None, None))
        if deadline:
            deadline.cancel()
        return value

    def _forget(self, key: Hashable) -> None:
        del self._keys[key]
