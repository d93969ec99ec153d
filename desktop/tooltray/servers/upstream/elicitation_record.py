"""Records a server's questions to AI clients.

The journal gets who was asked, for how long, and whether an answer came, but never the question or the answer. Two mappings lead from an id
to its client: from the id of a page that the user was sent to, and from the id of a task.

A server asks for a page with `elicitation/create` in the mode "url", or refuses a request with -32042, which names the pages to be visited
first. Later it may send `notifications/elicitation/complete` with the id (2025-11-25; later revisions have neither).
"""

import contextlib
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Iterator

import msgspec
from msgspec import Raw

from tooltray.protocol import eras
from tooltray.protocol import task_messages as messages
from tooltray.protocol.envelope import Envelope, dump
from tooltray.protocol.eras import with_members
from tooltray.protocol.sessions.caller import Session
from tooltray.protocol.sessions.exchange import Exchange
from tooltray.records.journal.journal_event import QUESTION, JournalEvent

ACTIONS = ("accept", "decline", "cancel")


class _Answer(msgspec.Struct):
    action: str = ""


@contextlib.contextmanager
def at_person(exchanges: Iterable[Exchange]) -> Iterator[None]:
    """Marks these exchanges as waiting for the user while the block lasts."""
    with contextlib.ExitStack() as stack:
        for exchange in exchanges:
            stack.enter_context(exchange.timings.at_person())
        yield


async def recorded(asking: Awaitable[Envelope], server: str, session: Session, note: Callable[[JournalEvent], None]) -> Envelope:
    """Returns the client's answer, and records the question in the journal when the answer arrives or the wait is cancelled."""
    asked_at, clock, outcome = time.time(), time.perf_counter(), "cancelled"
    try:
        reply = await asking
        outcome = _outcome(reply)
        return reply
    finally:
        state = session.state
        note(
            JournalEvent(
                kind=QUESTION,
                at=asked_at,
                outcome=outcome,
                duration_s=time.perf_counter() - clock,
                client=state.client,
                session=state.id,
                project=state.project.path if state.project else "",
                server=server,
            )
        )


def _outcome(reply: Envelope) -> str:
    """Returns the action of an answer; "error" if the client's reply has no action that can be understood."""
    try:
        action = "" if reply.error else msgspec.json.decode(reply.result, type=_Answer).action
    except (ValueError, RecursionError):
        action = ""
    return action if action in ACTIONS else "error"


URL_ELICITATION_REQUIRED = -32042
REMEMBERED = 256  # of one connection; a user has a few pages open


class _Page(msgspec.Struct):
    id: str = msgspec.field(name="elicitationId", default="")


class _Required(msgspec.Struct):
    elicitations: list[_Page] = []


class _Refusal(msgspec.Struct):
    data: _Required = msgspec.field(default_factory=_Required)


class UrlQuestions:
    """The open pages of one connection to a server."""

    def __init__(self) -> None:
        self._asked: dict[str, Session] = {}  # by id, the oldest first

    def asked(self, params: Raw, session: Session) -> None:
        """Notes a question for a client; a question without an id is not one with a page."""
        self._note(_page_of(params), session)

    def required(self, error: Raw, session: Session) -> None:
        """Notes the pages in the error by which a request of a client was refused."""
        if eras.error_code(error) != URL_ELICITATION_REQUIRED:
            return
        try:
            pages = msgspec.json.decode(error, type=_Refusal).data.elicitations
        except (ValueError, RecursionError):
            return
        for page in pages[:REMEMBERED]:
            self._note(page.id, session)

    def ended(self, params: Raw) -> Session | None:
        """Returns the session that knows of the page that the user is done with; each is notified once."""
        return self._asked.pop(_page_of(params), None)

    def _note(self, id: str, session: Session) -> None:
        if id:
            self._asked.pop(id, None)
            self._asked[id] = session
            if len(self._asked) > REMEMBERED:
                del self._asked[next(iter(self._asked))]


def _page_of(params: Raw) -> str:
    try:
        return msgspec.json.decode(params, type=_Page).id
    except (ValueError, RecursionError):
        return ""


MOST_KEPT = 1000  # of one server; the oldest go
ABOUT_ONE = frozenset({"tasks/get", "tasks/result", "tasks/cancel"})


class ClientTasks:
    """The tasks of one connection to a server. Belongs to the engine's loop."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, tuple[Session, str]] = OrderedDict()  # by the server's id: the session and the client's own id

    def noted(self, session: Session, reply: Envelope) -> Envelope:
        """Returns a client's answer to a question, for the server. If the answer begins a task, the task is recorded."""
        state = None if reply.error else messages.read_begun(reply.result)
        if state is None or not state.id:
            return reply
        id = self._id_of(session, state.id) or self._free(state.id)
        self._known[id] = session, state.id
        if len(self._known) > MOST_KEPT:
            self._known.popitem(last=False)
        return reply if id == state.id else Envelope(result=messages.begun_as(reply.result, id))

    def find(self, request: Envelope) -> tuple[Session, Envelope] | None:
        """Returns the session of the task that a server's request names, and the request with that client's id; None: it names none."""
        if request.method not in ABOUT_ONE or not (found := self._known.get(messages.read_id(request.params))):
            return None
        session, own_id = found
        params = with_members(request.params, taskId=dump(own_id))
        return session, Envelope(id=request.id, method=request.method, params=params)

    def answered(self, request: Envelope, reply: Envelope) -> Envelope:
        """Returns a client's reply to a `tasks/*` request with the ids that the server knows."""
        if not reply.error:
            id = messages.read_id(request.params)
            reply.result = messages.related_to(messages.with_id(reply.result, id), id)
        return reply

    def news(self, session: Session, params: Raw) -> Raw | None:
        """Returns the params of a client's notification about its task, for the server; None if the server does not know that task."""
        id = self._id_of(session, messages.read_id(params))
        return messages.with_id(params, id) if id else None

    def _id_of(self, session: Session, own_id: str) -> str:
        """Returns the id by which the server knows a client's task; empty if the server does not know the task."""
        return next((id for id, known in self._known.items() if known[0] is session and known[1] == own_id), "")

    def _free(self, own_id: str) -> str:
        number, id = 1, own_id
        while id in self._known:
            number, id = number + 1, f"{own_id}-{number}"
        return id
