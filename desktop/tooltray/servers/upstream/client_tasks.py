"""Tasks that AI clients have begun for one server's questions (2025-11-25: a question with `task`), and which client has each, so that the
server's `tasks/*` requests reach that client and its notifications reach the server. Two clients may use the same id; the server then knows
one of the tasks by another id. This module knows no dispatcher.
"""

from collections import OrderedDict

from msgspec import Raw

from tooltray.protocol import task_messages as messages
from tooltray.protocol.envelope import Envelope, dump
from tooltray.protocol.eras import with_members
from tooltray.protocol.sessions.caller import Session

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
        """Returns the session whose task a server's request is about and the request for that client; None if it is about no known task."""
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
