"""Questions of servers to the user at the desktop, where no AI client can be asked.

The event bus carries a question and its end to the desktop. An answer is sent only to the server that asked: it is not kept, and is in no
event and no log.
"""

from collections.abc import Mapping
from typing import Any

from msgspec import Raw
from msgspec.structs import replace

from tooltray.consent.questions import EXPIRED, WITHDRAWN, Inbox, Kind
from tooltray.foundation.errors import NotFound, TooltrayError
from tooltray.foundation.events import ElicitationAsked, ElicitationEnded, EventBus
from tooltray.foundation.snapshots.questions import ElicitationSnapshot
from tooltray.protocol import envelope
from tooltray.protocol.envelope import INTERNAL_ERROR, INVALID_PARAMS, Envelope, failure, success
from tooltray.protocol.sessions.elicitation_form import LONGEST_MESSAGE, CannotAsk, plain, read_form, read_url
from tooltray.records.journal.happenings import QUESTION, Happened

ANSWER_WAIT_S = 600.0  # the user may be away for a while; the call that waits for the answer may not wait for ever
MOST_OF_ONE_SERVER, MOST_WAITING = 4, 16  # in line; one sheet is shown at a time
NOBODY_THERE = "nobody can be asked: no AI client of this call takes questions, and no Tooltray window is there to show them"
TOO_MANY = "too many questions wait for the person already"
ID_BYTES = 16
ACTIONS = ("accept", "decline", "cancel")
DESK = "tooltray"  # who is asked, for the journal: the user at the desktop
OUTCOMES = {EXPIRED: "late", WITHDRAWN: "cancelled"}  # the journal's words
ELICITATION: Kind[dict[str, Any], ElicitationSnapshot] = Kind(ANSWER_WAIT_S, ID_BYTES, ElicitationAsked, ElicitationEnded)
"""A server's question; its subject is filled with the values that the user accepts."""


class Elicitations:
    """The servers' questions in the inbox. Belongs to the engine's loop."""

    def __init__(self, *, inbox: Inbox, bus: EventBus, has_window: bool) -> None:
        """
        Args:
            has_window: whether this hub is a desktop's, which shows questions as soon as it listens to events.
        """
        self._inbox, self._bus, self._has_window = inbox, bus, has_window

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
            view = _read(server, envelope.load(params), attempt)
        except (CannotAsk, ValueError) as error:
            return failure(INVALID_PARAMS, f"this question cannot be shown: {error}")
        question = self._inbox.open(ELICITATION, {}, server, lambda id, ends_at: replace(view, id=id, ends_at=ends_at))
        outcome = WITHDRAWN
        try:
            outcome = await question.wait()
        finally:
            self._inbox.close(question)
            shown, waited_s = OUTCOMES.get(outcome, outcome), question.waited_s
            self._bus.publish(Happened(kind=QUESTION, at=question.asked_at, outcome=shown, duration_s=waited_s, client=DESK, server=server))
        given = {"content": question.subject} if outcome == "accept" and view.mode == "form" else {}
        return success({"action": "cancel" if outcome == EXPIRED else outcome} | given)

    def answer(self, id: str, action: str, content: Mapping[str, Any] | None = None) -> None:
        """Answers a question with the user's answer.

        Args:
            action: "accept", "decline" or "cancel".
            content: with "accept" the values of a form by the names of its fields.

        Raises:
            TooltrayError: the question has ended, or the answer does not fit.
        """
        question = self._inbox.find(ELICITATION, id)
        if question is None or not question.is_open:
            raise NotFound("This question has ended", "the server does not wait for the answer any more")
        if action not in ACTIONS:
            raise TooltrayError(f"'{action}' is no answer", hint=f"Answer with one of {', '.join(ACTIONS)}.")
        if action == "accept" and question.view.mode == "form":
            if not _fits(question.view, content):
                raise TooltrayError("This answer does not fit the question", "it lacks a value, or has one that was not asked for")
            question.subject.update(content or {})
        question.end(action)

    def _has_room(self, server: str) -> bool:
        waiting = [question.view.server for question in self._inbox.of(ELICITATION)]
        return waiting.count(server) < MOST_OF_ONE_SERVER and len(waiting) < MOST_WAITING


def _read(server: str, params: Any, attempt: str) -> ElicitationSnapshot:
    """Returns what the user reads of a question that has no id yet.

    Raises:
        CannotAsk: it cannot be shown; the error has the reason.
    """
    if not isinstance(params, dict):
        raise CannotAsk("params must be an object")
    mode = params.get("mode", "form")
    if mode not in ("form", "url"):
        raise CannotAsk("its mode is neither form nor url")
    return ElicitationSnapshot(
        id="",
        server=server,
        mode=mode,
        message=plain(params.get("message"), LONGEST_MESSAGE, keeps_lines=True),
        ends_at=0.0,
        url=read_url(params.get("url")) if mode == "url" else "",
        fields=read_form(params.get("requestedSchema")) if mode == "form" else (),
        attempt=attempt,
    )


def _fits(question: ElicitationSnapshot, content: Mapping[str, Any] | None) -> bool:
    """Returns whether an answer has all required values and no others. The server checks the values again."""
    given = set(content or {})
    return given <= {field.name for field in question.fields} and given >= {field.name for field in question.fields if field.is_required}
