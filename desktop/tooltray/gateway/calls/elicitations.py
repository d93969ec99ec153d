"""Questions of servers to the user at the desktop, where no AI client can be asked.

The event bus carries a question and its end to the desktop. An answer is sent only to the server that asked: it is not kept, and is in no
event and no log.
"""

import asyncio
import time
import uuid
from collections.abc import Mapping
from typing import Any

from msgspec import Raw

from tooltray.foundation.errors import NotFound, TooltrayError
from tooltray.foundation.events import ElicitationAsked, ElicitationEnded, EventBus
from tooltray.foundation.snapshots.questions import ElicitationSnapshot
from tooltray.protocol import envelope
from tooltray.protocol.envelope import INTERNAL_ERROR, INVALID_PARAMS, Envelope, failure, success
from tooltray.protocol.sessions.elicitation_form import LONGEST_MESSAGE, CannotAsk, plain, read_form, read_url
from tooltray.records.journal.journal_event import QUESTION, JournalEvent

ANSWER_WAIT_S = 600.0  # the user may be away for a while; the call that waits for the answer may not wait for ever
MOST_OF_ONE_SERVER, MOST_WAITING = 4, 16  # in line; one sheet is shown at a time
NOBODY_THERE = "nobody can be asked: no AI client of this call takes questions, and no Tooltray window is there to show them"
TOO_MANY = "too many questions wait for the person already"
ACTIONS = ("accept", "decline", "cancel")
DESK = "tooltray"  # who is asked, for the journal: the user at the desktop
_NO_ANSWER = {"action": "cancel"}  # the protocol's word for a question without an answer


class Elicitations:
    """The questions that wait for the user. Belongs to the engine's loop."""

    def __init__(self, bus: EventBus, *, has_window: bool, wait_s: float = ANSWER_WAIT_S) -> None:
        """
        Args:
            has_window: whether this hub is a desktop's, which shows questions as soon as it listens to events.
            wait_s: how long a question waits for its answer.
        """
        self._bus, self._has_window, self._wait_s = bus, has_window, wait_s
        self._waiting: dict[str, tuple[ElicitationSnapshot, asyncio.Future[dict[str, Any]]]] = {}

    @property
    def are_shown(self) -> bool:
        """Returns whether a window shows questions."""
        return self._has_window and self._bus.is_heard(ElicitationAsked)

    async def ask(self, server: str, params: Raw, *, attempt: str = "") -> Envelope:
        """Shows a server's question and waits for the answer; cancelled when the server withdraws it or is gone.

        Args:
            attempt: of a call that the user makes by hand, during which the server asks.
        """
        if not self.are_shown:
            return failure(INTERNAL_ERROR, NOBODY_THERE)
        if not self._has_room(server):
            return failure(INTERNAL_ERROR, TOO_MANY)
        try:
            question = self._read(server, envelope.load(params), attempt)
        except (CannotAsk, ValueError) as error:
            return failure(INVALID_PARAMS, f"this question cannot be shown: {error}")
        return success(await self._answer_to(question))

    def answer(self, id: str, action: str, content: Mapping[str, Any] | None = None) -> None:
        """Answers a question with the user's answer.

        Args:
            action: "accept", "decline" or "cancel".
            content: with "accept" the values of a form by the names of its fields.

        Raises:
            TooltrayError: the question has ended, or the answer does not fit.
        """
        question, answer = self._waiting.get(id, (None, None))
        if question is None or answer is None or answer.done():
            raise NotFound("This question has ended", "the server does not wait for the answer any more")
        if action not in ACTIONS:
            raise TooltrayError(f"'{action}' is no answer", hint=f"Answer with one of {', '.join(ACTIONS)}.")
        is_form = action == "accept" and question.mode == "form"
        if is_form and not _fits(question, content):
            raise TooltrayError("This answer does not fit the question", "it lacks a value, or has one that was not asked for")
        answer.set_result({"action": action} | ({"content": dict(content or {})} if is_form else {}))

    def _has_room(self, server: str) -> bool:
        of_this = sum(question.server == server for question, _ in self._waiting.values())
        return of_this < MOST_OF_ONE_SERVER and len(self._waiting) < MOST_WAITING

    def _read(self, server: str, params: Any, attempt: str) -> ElicitationSnapshot:
        if not isinstance(params, dict):
            raise CannotAsk("params must be an object")
        mode = params.get("mode", "form")
        if mode not in ("form", "url"):
            raise CannotAsk("its mode is neither form nor url")
        return ElicitationSnapshot(
            id=uuid.uuid4().hex,
            server=server,
            mode=mode,
            message=plain(params.get("message"), LONGEST_MESSAGE, keeps_lines=True),
            ends_at=time.time() + self._wait_s,
            url=read_url(params.get("url")) if mode == "url" else "",
            fields=read_form(params.get("requestedSchema")) if mode == "form" else (),
            attempt=attempt,
        )

    async def _answer_to(self, question: ElicitationSnapshot) -> dict[str, Any]:
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        asked_at, clock, outcome = time.time(), time.perf_counter(), "cancelled"
        self._waiting[question.id] = question, answer
        try:
            self._bus.publish(ElicitationAsked(question))
            async with asyncio.timeout(self._wait_s):
                given = await answer
            outcome = given["action"]
            return given
        except TimeoutError:
            outcome = "late"
            return _NO_ANSWER
        finally:
            del self._waiting[question.id]
            self._bus.publish(ElicitationEnded(question.id))
            waited_s = time.perf_counter() - clock
            self._bus.publish(
                JournalEvent(kind=QUESTION, at=asked_at, outcome=outcome, duration_s=waited_s, client=DESK, server=question.server)
            )


def _fits(question: ElicitationSnapshot, content: Mapping[str, Any] | None) -> bool:
    """Returns whether an answer has all required values and no others. The server checks the values again."""
    given = set(content or {})
    return given <= {field.name for field in question.fields} and given >= {field.name for field in question.fields if field.is_required}
