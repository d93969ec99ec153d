"""Servers' questions to the user: shown by the window, answered by a verb. `mcp_client` asks here what no AI client can be asked."""

from typing import Any

from msgspec import Raw
from msgspec.structs import replace

from tooltray.consent.questions import EXPIRED, WITHDRAWN, Inbox, Kind
from tooltray.foundation.errors import NotFound, TooltrayError
from tooltray.foundation.events import ElicitationAsked, ElicitationEnded, EventBus
from tooltray.foundation.snapshots.questions import ElicitationSnapshot
from tooltray.foundation.verbs import JsonMapping, JsonObject
from tooltray.protocol import envelope
from tooltray.protocol.envelope import INTERNAL_ERROR, INVALID_PARAMS, Envelope, failure, success
from tooltray.protocol.sessions.elicitation_form import LONGEST_MESSAGE, CannotAsk, plain, read_form, read_url
from tooltray.records.journal.journal_event import QUESTION, JournalEvent

ANSWER_WAIT_S = 600.0  # seconds; the user may be away for a while, but the waiting call must end
MOST_OF_ONE_SERVER, MOST_WAITING = 4, 16  # waiting questions; the window shows one at a time
NOBODY_THERE = "the user cannot be asked: the AI client of this call supports no elicitation, and no Tooltray window is open"
TOO_MANY = "too many questions already wait for the user"
ID_BYTES = 16
ACTIONS = ("accept", "decline", "cancel")
DESK = "tooltray"  # the journal's word for the asked user at the desktop
OUTCOMES = {EXPIRED: "late", WITHDRAWN: "cancelled"}  # the journal's words
SERVER_QUESTION: Kind[JsonObject, ElicitationSnapshot] = Kind(ANSWER_WAIT_S, ID_BYTES, ElicitationAsked, ElicitationEnded)
"""A server's question; its subject receives the values that the user accepts."""


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
        """Shows a server's question and waits for the answer; cancelled when the server withdraws it or ends.

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
        question = self._inbox.open(SERVER_QUESTION, {}, server, lambda id, ends_at: replace(view, id=id, ends_at=ends_at))
        outcome = WITHDRAWN
        try:
            outcome = await question.wait()
        finally:
            self._inbox.close(question)
            shown, waited_s = OUTCOMES.get(outcome, outcome), question.waited_s
            self._bus.publish(
                JournalEvent(kind=QUESTION, at=question.asked_at, outcome=shown, duration_s=waited_s, client=DESK, server=server)
            )
        given = {"content": question.subject} if outcome == "accept" and view.mode == "form" else {}
        return success({"action": "cancel" if outcome == EXPIRED else outcome} | given)

    def answer(self, id: str, action: str, content: JsonMapping | None = None) -> None:
        """Answers a question with the user's answer.

        Args:
            action: "accept", "decline" or "cancel".
            content: with "accept" the values of a form by the names of its fields.

        Raises:
            TooltrayError: the question has ended, or the answer does not fit.
        """
        question = self._inbox.find(SERVER_QUESTION, id)
        if question is None or not question.is_open:
            raise NotFound("This question has ended", "the server no longer waits for the answer")
        if action not in ACTIONS:
            raise TooltrayError(f"'{action}' is not an answer", hint=f"Answer with one of {', '.join(ACTIONS)}.")
        if action == "accept" and question.view.mode == "form":
            if not _fits(question.view, content):
                raise TooltrayError("This answer does not fit the question", "it lacks a value, or has one that was not asked for")
            question.subject.update(content or {})
        question.end(action)

    def _has_room(self, server: str) -> bool:
        waiting = [question.view.server for question in self._inbox.of(SERVER_QUESTION)]
        return waiting.count(server) < MOST_OF_ONE_SERVER and len(waiting) < MOST_WAITING


def _read(server: str, params: Any, attempt: str) -> ElicitationSnapshot:
    """Returns the view of a question, still without an id.

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


def _fits(question: ElicitationSnapshot, content: JsonMapping | None) -> bool:
    """Returns whether an answer has all required values and no others. The server checks the values again."""
    given = set(content or {})
    return given <= {field.name for field in question.fields} and given >= {field.name for field in question.fields if field.is_required}
