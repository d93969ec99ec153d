"""Tasks that AI clients have begun for one server's questions (2025-11-25: a question with `task`): which client has each, so that the
server's `tasks/*` reach it and news of it reach the server. Two clients may give the same id; the server then knows one of them by another.

Above it: McpClient. Below it: protocol. Knows no dispatcher.
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
    """Of one connection to a server. Belongs to the engine's loop."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, tuple[Session, str]] = OrderedDict()  # by the id that the server knows: whose, and the client's own

    def noted(self, session: Session, reply: Envelope) -> Envelope:
        """A client's answer to a question, for the server; it may begin a task."""
        state = None if reply.error else messages.read_begun(reply.result)
        if state is None or not state.id:
            return reply
        id = self._id_of(session, state.id) or self._free(state.id)
        self._known[id] = session, state.id
        if len(self._known) > MOST_KEPT:
            self._known.popitem(last=False)
        return reply if id == state.id else Envelope(result=messages.begun_as(reply.result, id))

    def find(self, request: Envelope) -> tuple[Session, Envelope] | None:
        """Whose task a request of the server is about, and the request for that client; None where it is about none."""
        if request.method not in ABOUT_ONE or not (found := self._known.get(messages.read_id(request.params))):
            return None
        session, own_id = found
        params = with_members(request.params, taskId=dump(own_id))
        return session, Envelope(id=request.id, method=request.method, params=params)

    def answered(self, request: Envelope, reply: Envelope) -> Envelope:
        """A client's reply to one of those, for the server."""
        if not reply.error:
            id = messages.read_id(request.params)
            reply.result = messages.related_to(messages.with_id(reply.result, id), id)
        return reply

    def news(self, session: Session, params: Raw) -> Raw | None:
        """The params of a client's notification about a task of its own, for the server; None where that has nothing to do with it."""
        id = self._id_of(session, messages.read_id(params))
        return messages.with_id(params, id) if id else None

    def _id_of(self, session: Session, own_id: str) -> str:
        """By which id the server knows a client's task; empty if it does not."""
        return next((id for id, known in self._known.items() if known[0] is session and known[1] == own_id), "")

    def _free(self, own_id: str) -> str:
        number, id = 1, own_id
        while id in self._known:
            number, id = number + 1, f"{own_id}-{number}"
        return id
