"""One request of an AI client on its way to its answer, with everything that belongs to it."""

from collections.abc import Callable, Coroutine
from typing import Protocol

from msgspec import Raw

from tooltray.protocol.envelope import Envelope
from tooltray.protocol.eras import Era, Head
from tooltray.protocol.sessions.call_timings import CallTimings
from tooltray.protocol.sessions.caller import Caller, Session


class Held(Protocol):
    """The calls of one AI client that wait for an answer of its user; HeldCalls satisfies it."""

    def is_held(self, state: str, owner: str) -> bool:
        """Returns whether a `requestState` belongs to a call of `owner` that waits for the client's answers."""
        ...

    async def run(self, work: "Work", exchange: "Exchange", *, owner: str) -> Envelope:
        """Begins work that may ask the client's user, or continues the call that the request's `requestState` names."""
        ...


class Exchange:
    """A request with its context. One is made for each request, so it consists only of slots.

    Attributes:
        request: as it is passed on; code that forwards it under another name or URI changes it.
        head: the part of its params that the hub reads.
        era: in which the client wrote it.
        caller: gets questions and progress while the request runs.
        held: the session's calls that wait for an answer of its user.
        server: the only server of the session, whose tools then have the server's own names; None: the session has all servers.
        client: the caller's name, for the record.
        timings: the timings and facts recorded meanwhile; shared with children.
        wraps_content: for a legacy client's call of a tool whose output schema allows other values than objects: whether all its structured
            content is wrapped, or only content that is not an object; None for all other calls.
    """

    __slots__ = ("caller", "client", "era", "head", "held", "request", "server", "timings", "wraps_content")

    def __init__(
        self, request: Envelope, head: Head, caller: Caller, held: Held, server: str | None, client: str, timings: CallTimings | None = None
    ) -> None:
        self.request, self.head, self.caller, self.held, self.server, self.client = request, head, caller, held, server, client
        self.era = Era.MODERN if head.meta.version else Era.LEGACY  # `head.era`, without a call
        self.timings = timings or CallTimings()
        self.wraps_content: bool | None = None

    @property
    def session(self) -> Session:
        """Returns the session of the request; for a held call the session that called last."""
        return self.caller.session

    def child(self, *, request: Envelope | None = None, head: Head | None = None, caller: Caller | None = None) -> "Exchange":
        """Returns an exchange for a request on behalf of this one: a page of a list, the same request to another server, a held call."""
        of_this = (request or self.request, head or self.head, caller or self.caller)
        child = Exchange(*of_this, self.held, self.server, self.client, self.timings)
        child.wraps_content = self.wraps_content
        return child

    async def ask(self, method: str, params: Raw) -> Envelope:
        """Asks the client a question that belongs to its request."""
        return await self.caller.ask(method, params, about=self.request.id)

    def tell(self, method: str, params: Raw) -> None:
        """Sends the client a notification that belongs to its request."""
        self.caller.tell(method, params, about=self.request.id)


Work = Callable[[Exchange], Coroutine[object, None, Envelope]]
"""Answers a request; may ask the client's user."""
