"""Requests of commands to allow something, which the user confirms in the window: only the window shows and answers them."""

import json
import time
from collections.abc import Callable, Iterator
from functools import partial

import msgspec
from msgspec.structs import replace

from tooltray.consent.ancestry import Origin
from tooltray.consent.approvals.suspicion import visible
from tooltray.consent.questions import EXPIRED, Inbox, Kind, Question, Remembered
from tooltray.foundation.confirm_widening import Wish
from tooltray.foundation.errors import Denied, NotFound
from tooltray.foundation.events import ConfirmationAsked, ConfirmationEnded, EventBus
from tooltray.foundation.phrases import Phrase, plain_text
from tooltray.foundation.snapshots.approvals import ConfirmationSnapshot
from tooltray.protocol.deadlines import DeadlineWheel

WAIT_S = 120.0  # as long as a tool call waits for its answer
REFUSED_FOR_S = 60.0  # for so long after a refusal the same request is refused without a question
MOST_WAITING = 8  # users would not read more with care
MOST_REFUSED = 64
MOST_FACTS, LONGEST_FACT = 24, 1500  # characters; users read no more before an answer
ID_BYTES = 8
YES, NO, LATE = "yes", "no", "late"

Key = tuple[str, str, str]


class _Request(msgspec.Struct):
    """A request, and how many commands wait for its answer."""

    key: Key
    waiting: int = 1


WISH: Kind[_Request, ConfirmationSnapshot] = Kind(WAIT_S, ID_BYTES, ConfirmationAsked, ConfirmationEnded)


class Confirmations:
    """The requests of commands in the inbox. Belongs to the engine's loop."""

    def __init__(self, *, inbox: Inbox, bus: EventBus, deadlines: DeadlineWheel, has_window: bool, masked: Callable[[str], str]) -> None:
        """
        Args:
            has_window: this hub is a desktop's.
            masked: removes known secrets from shown texts.
        """
        self._inbox, self._bus, self._masked = inbox, bus, masked
        self.has_window = has_window
        self._refused = Remembered[None](deadlines, for_s=REFUSED_FOR_S, most=MOST_REFUSED)

    def waiting(self) -> list[ConfirmationSnapshot]:
        """Returns the requests that can be confirmed, the oldest first."""
        return [each.view for each in self._inbox.of(WISH) if each.is_open]

    async def ask(self, wish: Wish, origin: Origin, on_asked: Callable[[float], None]) -> str:
        """Asks in the window.

        Args:
            on_asked: called with the number of seconds that the user has for an answer, once the request waits in the window.

        Returns:
            YES, NO or LATE.

        Raises:
            Denied: the window cannot ask now; the error has the reason.
        """
        if not self._bus.is_heard(ConfirmationAsked):
            reason = Phrase("the window of Tooltray is not there yet, or is going")
            raise Denied(Phrase("{what} is confirmed in Tooltray's window", what=wish.what), reason, Phrase("Try again in a moment"))
        question = self._question(wish, origin)
        try:
            on_asked(max(question.view.ends_at - time.time(), 0.0))
            answer = await question.wait()
            return LATE if answer == EXPIRED else answer
        finally:
            self._count(question, -1)
            if not question.subject.waiting:
                self._inbox.close(question)

    def answer(self, id: str, is_yes: bool) -> None:
        """Records the user's answer.

        Raises:
            NotFound: it waits no longer.
        """
        question = self._inbox.find(WISH, id)
        if question is None or not question.is_open:
            raise NotFound(Phrase("This no longer waits"), Phrase("it was answered, the command has ended, or its time was over"))
        if is_yes:
            question.end(YES)
            return
        key = question.subject.key
        self._refused.add(key, None)
        for other in self._inbox.of(WISH):
            if other.subject.key == key:  # a refusal is for requests from any origin; an approval is only for the origin that was shown
                other.end(NO)

    def _question(self, wish: Wish, origin: Origin) -> Question[_Request, ConfirmationSnapshot]:
        """Joins a waiting question about the same request from the same origin, or opens one."""
        key = _key(wish)
        if key in self._refused:
            reason = Phrase("you declined the same request in Tooltray's window a moment ago")
            raise Denied(Phrase("{what} was not confirmed", what=wish.what), reason, Phrase("Ask again in a minute"))
        digest = key, tuple(process.pid for process in origin.processes[1:])  # the command itself is a new process each time
        if same := self._inbox.same(WISH, digest):
            self._count(same, 1)
            return same
        if len(self._inbox.of(WISH)) >= MOST_WAITING:
            reason = Phrase("too many things wait in Tooltray's window")
            raise Denied(Phrase("{what} was not confirmed", what=wish.what), reason, Phrase("Answer those first"))
        return self._inbox.open(WISH, _Request(key), digest, partial(self._snapshot, wish, origin))

    def _count(self, question: Question[_Request, ConfirmationSnapshot], more: int) -> None:
        """Changes how many commands wait for the answer, which the user reads."""
        question.subject.waiting += more
        if question.is_open and question.subject.waiting:
            question.view = replace(question.view, count=question.subject.waiting)
            self._inbox.publish(question)

    def _snapshot(self, wish: Wish, origin: Origin, id: str, ends_at: float) -> ConfirmationSnapshot:
        return ConfirmationSnapshot(
            id=id,
            what=wish.what,
            verb=wish.verb,
            facts=tuple(_facts(wish, self._masked)),
            origin=origin.shown,
            ai_client=origin.ai_client,
            ends_at=ends_at,
        )


def _key(wish: Wish) -> Key:
    return str(wish.what), wish.verb, _text([wish.about, wish.arguments])


def _facts(wish: Wish, masked: Callable[[str], str]) -> Iterator[tuple[str, str]]:
    """Yields the subject of the request first, then the other arguments of the command that are not empty."""
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
