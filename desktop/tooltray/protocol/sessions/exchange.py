"""Exchange: one request of an AI client on its way to whoever answers it, with all that goes along.

Above it: the sessions, which make one for each request, and everybody on the way of a request, who takes it whole. Below it: Caller and
Session. Knows no server and no tool.
"""

from collections.abc import Callable, Coroutine
from typing import Protocol

from msgspec import Raw

from tooltray.protocol.envelope import Envelope
from tooltray.protocol.eras import Era, Head
from tooltray.protocol.sessions.call_course import CallCourse
from tooltray.protocol.sessions.caller import Caller, Session


class Held(Protocol):
    """The calls of one AI client that wait for an answer of its person; HeldCalls satisfies it."""

    def is_held(self, state: str, owner: str) -> bool:
        """Whether a `requestState` is that of a call of `owner` which waits for the client's answers."""
        ...

    async def run(self, work: "Work", exchange: "Exchange", *, owner: str) -> Envelope:
        """Begins what may ask the client's person, or goes on with what the request's `requestState` names."""
        ...


class Exchange:
    """Made once a request, so that it is nothing but slots.

    Attributes:
        request: as it goes on; who forwards it under another name or URI changes it.
        head: what the hub reads of its params.
        era: in which the client wrote it.
        caller: who may be asked meanwhile, and hears of progress.
        held: the session's calls that wait for an answer of its person.
        server: the one server that the session has, under its own names; None: it has all.
        client: who asks, for the record.
        course: what is noted of it meanwhile; its children share it.
        wraps_content: of a legacy client's call of a tool whose output schema is not one of objects: whether all its structured content is
            wrapped, or only what is no object; None for all other calls.
    """

    __slots__ = ("caller", "client", "course", "era", "head", "held", "request", "server", "wraps_content")

    def __init__(
        self, request: Envelope, head: Head, caller: Caller, held: Held, server: str | None, client: str, course: CallCourse | None = None
    ) -> None:
        self.request, self.head, self.caller, self.held, self.server, self.client = request, head, caller, held, server, client
        self.era = Era.MODERN if head.meta.version else Era.LEGACY  # `head.era`, without a call
        self.course = course or CallCourse()
        self.wraps_content: bool | None = None

    @property
    def session(self) -> Session:
        """Whose request it is; of a held call it is the session that called last."""
        return self.caller.session

    def child(self, *, request: Envelope | None = None, head: Head | None = None, caller: Caller | None = None) -> "Exchange":
        """What the hub asks on behalf of this one: a page of a list, the same of another server, a call that is held."""
        of_this = (request or self.request, head or self.head, caller or self.caller)
        child = Exchange(*of_this, self.held, self.server, self.client, self.course)
        child.wraps_content = self.wraps_content
        return child

    async def ask(self, method: str, params: Raw) -> Envelope:
        """Asks the client a question that belongs to its request."""
        return await self.caller.ask(method, params, about=self.request.id)

    def tell(self, method: str, params: Raw) -> None:
        """Tells the client news that belong to its request."""
        self.caller.tell(method, params, about=self.request.id)


Work = Callable[[Exchange], Coroutine[object, None, Envelope]]
"""Answers a request; may ask the client's person."""
