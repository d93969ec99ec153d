"""One request with its context, and the timings recorded of it. No recording may cost a call more than reading the clock."""

import contextlib
import itertools
import secrets
import time
from collections.abc import Callable, Coroutine, Iterator
from types import TracebackType
from typing import Protocol

from msgspec import Raw

from tooltray.foundation.snapshots.tools import MCPToolResponse
from tooltray.protocol.envelope import Envelope
from tooltray.protocol.eras import Era, Head
from tooltray.protocol.sessions.caller import Caller, Session

FROM_RULES, FROM_GRANT, FROM_PERSON, FROM_EDIT, FROM_TRY = "rules", "grant", "person", "edited", "try"


_RUN, _numbers = secrets.token_hex(6), itertools.count(1)


def _none() -> int:
    return 0


class CallTimings:
    """The timings of one request; times are readings of `time.perf_counter`.

    Attributes:
        id: the call's name for its caller; empty: the call has none, see `named`.
        received_at: when the request had come.
        person_s, start_s, server_s: seconds that it has spent with the user, with the start of its server, and with the server; None: it
            was not there.
        called_at: when the handling of a tool call began.
        answered_at: when there was a reply; None: not yet.
        sent_at: when the reply went to the client; None: not yet, or to no outside client.
        allowed_by: what approved it: FROM_RULES, FROM_GRANT, FROM_PERSON, FROM_EDIT with arguments of the user, or FROM_TRY: the user
            made the call in the window; empty: nothing.
        diff: what the call would change, in lines, as the user has seen it; empty: the user has seen no change.
        turn_s: how long it waited for its turn, because of its server's limits.
        waits_for: "server", "person", "start" or "turn".
        before: while it waits for its turn, returns how many calls come first.
        outcome: how a tool call ends, as soon as that is certain; empty: not yet.
        record: the record of a tool call that has ended.
        cut_from: how many bytes the result had before it was cut for its client; 0: it was not cut.
    """

    __slots__ = (
        "allowed_by",
        "answered_at",
        "before",
        "called_at",
        "cut_from",
        "diff",
        "id",
        "outcome",
        "person_s",
        "received_at",
        "record",
        "sent_at",
        "server_s",
        "start_s",
        "turn_s",
        "waits_for",
    )

    def __init__(self) -> None:
        self.received_at = self.called_at = time.perf_counter()
        self.person_s: float | None = None
        self.start_s: float | None = None
        self.server_s: float | None = None
        self.answered_at: float | None = None
        self.sent_at: float | None = None
        self.id = self.allowed_by = self.outcome = ""
        self.record: MCPToolResponse | None = None
        self.waits_for = "server"
        self.cut_from, self.turn_s = 0, 0.0
        self.before: Callable[[], int] = _none
        self.diff: tuple[str, ...] = ()

    def named(self) -> str:
        """Returns the id, and makes one first if necessary; no other call of any hub gets the same id."""
        if not self.id:
            self.id = f"{_RUN}-{next(_numbers):x}"
        return self.id

    @property
    def passed_s(self) -> float:
        """Returns the seconds from the request's arrival until its reply, or until now."""
        return (self.answered_at or time.perf_counter()) - self.received_at

    def at_person(self) -> "_Waiting":
        """Counts the time of a block in which the user has the call."""
        return _Waiting(self, "person")

    def at_start(self) -> "_Waiting":
        """Counts the time of a block in which the call's server is being started."""
        return _Waiting(self, "start")

    def at_turn(self, before: Callable[[], int]) -> "_Waiting":
        """Counts the time of a block in which the call's server works on other calls."""
        self.before = before
        return _Waiting(self, "turn")

    @contextlib.contextmanager
    def at_server(self) -> Iterator[None]:
        """Counts the time of a block in which the server has the call, without the time that the user has it."""
        began_at, asked_s = time.perf_counter(), self.person_s or 0.0
        try:
            yield
        finally:
            self.add_server_time(began_at, asked_s)

    def add_server_time(self, began_at: float, asked_s: float) -> None:
        """Adds the server's time after a block; this costs a call less than `with at_server()`.

        Args:
            began_at: when the server got the call.
            asked_s: the value of `person_s` at that time.
        """
        passed_s = time.perf_counter() - began_at
        if self.person_s:
            passed_s -= self.person_s - asked_s
        self.server_s = passed_s + self.server_s if self.server_s else passed_s


class _Waiting:
    __slots__ = ("_began_at", "_for", "_is_first", "_timings")

    def __init__(self, timings: CallTimings, waits_for: str) -> None:
        self._timings, self._for = timings, waits_for

    def __enter__(self) -> None:
        self._is_first = self._timings.waits_for == "server"  # several questions at once count the user's time once
        if self._is_first:
            self._timings.waits_for, self._began_at = self._for, time.perf_counter()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if not self._is_first:
            return
        passed_s, timings = time.perf_counter() - self._began_at, self._timings
        timings.waits_for = "server"
        if self._for == "person":
            timings.person_s = (timings.person_s or 0.0) + passed_s
        elif self._for == "turn":
            timings.turn_s += passed_s
        else:
            timings.start_s = (timings.start_s or 0.0) + passed_s


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
        is_whole: the result is needed whole, also if the client may have only a part of it: it is not the client that gets it.
    """

    __slots__ = ("caller", "client", "era", "head", "held", "is_whole", "request", "server", "timings", "wraps_content")

    def __init__(
        self, request: Envelope, head: Head, caller: Caller, held: Held, server: str | None, client: str, timings: CallTimings | None = None
    ) -> None:
        self.request, self.head, self.caller, self.held, self.server, self.client = request, head, caller, held, server, client
        self.era = Era.MODERN if head.meta.version else Era.LEGACY  # `head.era`, without a call
        self.timings = timings or CallTimings()
        self.wraps_content: bool | None = None
        self.is_whole = False

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
