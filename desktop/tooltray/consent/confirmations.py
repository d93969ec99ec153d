"""What waits in the window until a person confirms it: put there for commands, told to the window, answered by it alone.

Above it: the askers of commands, and ConfirmationsApi, by which the window answers. Below it: the event bus and the wheel of deadlines.
"""

import asyncio
import json
import secrets
import time
from collections.abc import Callable, Iterator
from functools import partial

import msgspec
from msgspec.structs import replace

from tooltray.consent.ancestry import Origin
from tooltray.consent.approvals.suspicion import visible
from tooltray.foundation.confirmation import Wish
from tooltray.foundation.errors import Denied, NotFound
from tooltray.foundation.events import ConfirmationAsked, ConfirmationEnded, EventBus
from tooltray.foundation.phrases import Phrase, plain_text
from tooltray.foundation.snapshots.confirmations import ConfirmationSnapshot
from tooltray.protocol.deadlines import Deadline, DeadlineWheel

WAIT_S = 120.0  # as a tool call waits for its answer
REFUSED_FOR_S = 60.0  # the same request is refused without a question for so long after a no
MOST_WAITING = 8  # nobody answers more with care
MOST_REFUSED = 64
MOST_FACTS, LONGEST_FACT = 24, 1500  # what a person reads before an answer; characters
ID_BYTES = 8
YES, NO, LATE = "yes", "no", "late"

Key = tuple[str, str, str]


class _Question:
    def __init__(self, snapshot: ConfirmationSnapshot, key: Key, origin: Origin) -> None:
        self.snapshot, self.key = snapshot, key
        self.parents = _parents(origin)
        self.answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.waiting = 0  # commands
        self.deadline: Deadline

    def end(self, answer: str) -> None:
        """The first answer counts."""
        if not self.answer.done():
            self.answer.set_result(answer)


class Confirmations:
    """Belongs to the engine's loop."""

    def __init__(self, *, bus: EventBus, deadlines: DeadlineWheel, has_window: bool, masked: Callable[[str], str]) -> None:
        """
        Args:
            has_window: this hub is a desktop's.
            masked: takes known secrets out of what is shown.
        """
        self._bus, self._deadlines, self._masked = bus, deadlines, masked
        self.has_window = has_window
        self._questions: dict[str, _Question] = {}
        self._refused: dict[Key, Deadline] = {}

    def waiting(self) -> list[ConfirmationSnapshot]:
        """The oldest first."""
        return [each.snapshot for each in self._questions.values() if not each.answer.done()]

    async def ask(self, wish: Wish, origin: Origin, on_asked: Callable[[float], None]) -> str:
        """Asks in the window.

        Args:
            on_asked: called with the seconds that there are for an answer, once it waits there.

        Returns:
            YES, NO or LATE.

        Raises:
            Denied: it cannot be asked there now; says why.
        """
        if not self._bus.is_heard(ConfirmationAsked):
            reason = Phrase("the window of Tooltray is not there yet, or is going")
            raise Denied(Phrase("{what} is confirmed in Tooltray's window", what=wish.what), reason, Phrase("Try again in a moment"))
        question = self._question(wish, origin)
        question.waiting += 1
        self._tell(question)
        try:
            on_asked(max(question.snapshot.ends_at - time.time(), 0.0))
            return await asyncio.shield(question.answer)
        finally:
            question.waiting -= 1
            if not question.waiting:
                self._close(question)

    def answer(self, id: str, is_yes: bool) -> None:
        """
        Raises:
            NotFound: it waits no longer.
        """
        question = self._questions.get(id)
        if question is None or question.answer.done():
            raise NotFound(Phrase("This waits no longer"), Phrase("it was answered, the command has ended, or its time was over"))
        if is_yes:
            question.end(YES)
            return
        self._remember_refusal(question.key)
        for other in self._questions.values():  # a no is one to the thing, whoever asks; a yes is for whom the person has seen
            if other.key == question.key:
                other.end(NO)

    def _question(self, wish: Wish, origin: Origin) -> _Question:
        """The one that waits already, where the same is asked for once more from the same place: of another the person sees its own."""
        key = _key(wish)
        if key in self._refused:
            reason = Phrase("you said no to the same in Tooltray's window a moment ago")
            raise Denied(Phrase("{what} was not confirmed", what=wish.what), reason, Phrase("Ask again in a minute"))
        for question in self._questions.values():
            if (question.key, question.parents) == (key, _parents(origin)) and not question.answer.done():
                return question
        if len(self._questions) >= MOST_WAITING:
            reason = Phrase("too many things wait in Tooltray's window")
            raise Denied(Phrase("{what} was not confirmed", what=wish.what), reason, Phrase("Answer those first"))
        question = _Question(self._snapshot(wish, origin), key, origin)
        question.deadline = self._deadlines.add(WAIT_S, partial(question.end, LATE))
        self._questions[question.snapshot.id] = question
        return question

    def _tell(self, question: _Question) -> None:
        question.snapshot = replace(question.snapshot, count=question.waiting)
        self._bus.publish(ConfirmationAsked(question.snapshot))

    def _close(self, question: _Question) -> None:
        """Answered, or nobody waits for the answer any more."""
        question.deadline.cancel()
        question.end(LATE)
        del self._questions[question.snapshot.id]
        self._bus.publish(ConfirmationEnded(question.snapshot.id))

    def _remember_refusal(self, key: Key) -> None:
        while len(self._refused) >= MOST_REFUSED:
            self._forget_refusal(next(iter(self._refused)))
        self._refused[key] = self._deadlines.add(REFUSED_FOR_S, partial(self._forget_refusal, key))

    def _forget_refusal(self, key: Key) -> None:
        self._refused.pop(key).cancel()

    def _snapshot(self, wish: Wish, origin: Origin) -> ConfirmationSnapshot:
        return ConfirmationSnapshot(
            id=secrets.token_hex(ID_BYTES),
            what=wish.what,
            verb=wish.verb,
            facts=tuple(_facts(wish, self._masked)),
            origin=origin.shown,
            ai_client=origin.ai_client,
            ends_at=time.time() + WAIT_S,
        )


def _parents(origin: Origin) -> tuple[int, ...]:
    """Above the command itself, which is another process each time."""
    return tuple(process.pid for process in origin.processes[1:])


def _key(wish: Wish) -> Key:
    return str(wish.what), wish.verb, _text([wish.about, wish.arguments])


def _facts(wish: Wish, masked: Callable[[str], str]) -> Iterator[tuple[str, str]]:
    """What it is about first, then what else the command has said; what is left empty says nothing."""
    first = {**wish.about, **wish.shown}
    others = {name: value for name, value in wish.arguments.items() if name not in first}
    pairs = [*first.items(), *((name, _text(value)) for name, value in others.items() if value not in (None, "", [], {}))]
    for name, value in pairs[:MOST_FACTS]:
        yield _harmless(name, masked), _harmless(value, masked)
    if len(pairs) > MOST_FACTS:
        yield "…", Phrase("{count} more", count=len(pairs) - MOST_FACTS)


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(msgspec.to_builtins(value, enc_hook=plain_text), ensure_ascii=False, sort_keys=True)


def _harmless(text: str, masked: Callable[[str], str]) -> str:
    shown = "\n".join(visible(line) for line in masked(text[: 4 * LONGEST_FACT]).splitlines())
    hidden = max(len(text) - 4 * LONGEST_FACT, 0) + len(shown) - LONGEST_FACT
    return (
        shown
        if hidden <= 0
        else Phrase("{beginning}… ({count} more characters, which are not shown)", beginning=shown[:LONGEST_FACT], count=f"{hidden:,}")
    )
