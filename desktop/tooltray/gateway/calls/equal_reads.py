"""Merges equal calls at the same moment: the first one is sent to the server, and all get its reply.

Calls are equal if the same running copy of the same server gets the same tool, arguments and `_meta` (so the same trace and log level) in
the same era, for the same URIs; the progress token is each caller's own. Only tools take part that declare that they only read and may be
called again; no call that may become a task, or continues with a client's answers. If the server asks the client something, the answer is
private to that client: the others then send their own calls.
"""

import asyncio
from collections.abc import Coroutine, Hashable
from copy import copy
from functools import partial
from typing import Any

from msgspec import Raw

from tooltray.catalogue.definition import read_once_named
from tooltray.catalogue.tool_routes import Route
from tooltray.foundation.tasks import Spawn
from tooltray.gateway.calls.stage import Rest, Terms
from tooltray.protocol import eras
from tooltray.protocol.envelope import NOTHING, Envelope, dump
from tooltray.protocol.member_scanner import closed, elements_of, opened
from tooltray.protocol.sessions.caller import CallerBehind
from tooltray.protocol.sessions.exchange import Exchange, Work
from tooltray.servers.upstream.managed_server import ManagedServer
from tooltray.servers.upstream.server_manager import ServerManager

PROGRESS = "notifications/progress"
LONGEST_PARAMS = 2**16  # bytes; calls with longer ones are hardly equal, and are not compared


class EqualReads:
    """A stage, for servers whose settings merge identical reads. Belongs to the engine's loop."""

    def __init__(self, *, servers: ServerManager, spawn: Spawn) -> None:
        self._servers, self._spawn = servers, spawn
        self._running: dict[Hashable, _Shared] = {}

    def bind(self, terms: Terms, rest: Rest) -> Work:
        managed, hints = self._servers.get(terms.route.server), terms.route.hints
        is_read = isinstance(hints, dict) and hints.get("readOnlyHint") is True and hints.get("idempotentHint") is True
        if not (is_read and managed.config.share_reads and not terms.may_be_task):
            return rest(terms)
        return partial(self._shared, managed, terms.route, rest(terms))

    def _shared(self, managed: ManagedServer, route: Route, then: Work, exchange: Exchange) -> Coroutine[object, None, Envelope]:
        key = _key(managed, route, exchange)
        return self._sent(key, exchange, then) if key else then(exchange)

    async def _sent(self, key: Hashable, exchange: Exchange, send: Work) -> Envelope:
        """Returns the reply to a call: its own, or the reply to an equal one which is under way.

        Args:
            send: sends it, if it is the first.
        """
        shared = self._running.get(key)
        if shared is None or not shared.may_be_joined:
            shared = self._running[key] = _Shared(exchange)
            work = shared.child(exchange)
            shared.outcome = self._spawn(send(work), name="a call for several clients")
            shared.outcome.add_done_callback(lambda _: self._ended(key, shared))
            return await shared.reply_to(exchange) or await send(exchange)
        with exchange.course.at_server():
            reply = await shared.reply_to(exchange)
        return reply or await send(exchange)

    def _ended(self, key: Hashable, shared: "_Shared") -> None:
        if self._running.get(key) is shared:
            del self._running[key]


def _key(managed: ManagedServer, route: Route, exchange: Exchange) -> Hashable | None:
    """Returns a key that equal calls share; None: the call must not be merged."""
    params = exchange.request.params
    copy_of_server = managed.client_for(exchange.era, exchange.session)
    if copy_of_server is None or exchange.head.request_state or exchange.head.input_responses or len(memoryview(params)) > LONGEST_PARAMS:
        return None
    has_token = bool(exchange.head.meta.progress_token)
    compared = _compared(params)
    return (id(copy_of_server), route.definition.name, exchange.era, exchange.server, has_token, compared) if compared else None


class _Shared(CallerBehind):
    """A call that is under way for several clients, and their caller at the server's side. Satisfies Caller.

    Attributes:
        is_private: the server has asked the first client, so that the others do not get the reply.
    """

    outcome: "asyncio.Task[Envelope]"

    def __init__(self, first: Exchange) -> None:
        super().__init__(first.caller)
        self._first, self._callers = first, list[Exchange]()
        self.is_private = False
        self._parted: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    @property
    def may_be_joined(self) -> bool:
        """Returns whether further clients may share it; not once all have left: then it is being cancelled, and has no reply."""
        return not (self.is_private or self.outcome.cancelling())

    def child(self, exchange: Exchange) -> Exchange:
        request = exchange.request
        return exchange.child(request=Envelope(id=request.id, method=request.method, params=request.params), caller=self)

    async def reply_to(self, exchange: Exchange) -> Envelope | None:
        """Returns a client's own copy of the reply; None: it has to send its own call. Cancels the server's call when no client waits."""
        self._callers.append(exchange)
        waits_for: set[asyncio.Future[Any]] = {self.outcome} if exchange is self._first else {self.outcome, self._parted}
        try:
            await asyncio.wait(waits_for, return_when=asyncio.FIRST_COMPLETED)
            if self.is_private and exchange is not self._first:
                return None
            return copy(self.outcome.result())
        finally:
            self._callers.remove(exchange)
            if not self._callers and not self.outcome.done():
                self.outcome.cancel()

    # what the server sees

    async def ask(self, method: str, params: Raw, *, about: Raw = NOTHING) -> Envelope:
        self.is_private = True
        if not self._parted.done():
            self._parted.set_result(None)
        return await self._caller.ask(method, params, about=about)

    def tell(self, method: str, params: Raw, *, about: Raw = NOTHING) -> None:
        """Notifies each client that waits, under its own token."""
        for each in list(self._callers):
            token = each.head.meta.progress_token
            own = params if each is self._first or method != PROGRESS else eras.with_members(params, progressToken=token)
            each.caller.tell(method, own, about=each.request.id)


def _compared(params: Raw) -> bytes | None:
    """Returns params in one spelling, without the progress token.

    None: they are nested too deeply, or have a member twice, of which a server may take either.
    """
    try:
        read_once_named(bytes(params))
        return _spelled(closed(_without_token(params)))
    except (ValueError, RecursionError):
        return None


def _without_token(params: Raw) -> dict[str, Raw]:
    members = opened(params)
    if "_meta" in members:
        meta = {name: value for name, value in opened(members["_meta"]).items() if name != "progressToken"}
        members = {name: value for name, value in members.items() if name != "_meta"} | ({"_meta": closed(meta)} if meta else {})
    return members


def _spelled(value: Raw) -> bytes:
    """Returns a value without white space, and the members of objects in one order; numbers and strings stay as they are written."""
    match bytes(memoryview(value)[:1]):
        case b"{":
            members = sorted(opened(value).items())
            return b"{%b}" % b",".join(b"%b:%b" % (bytes(dump(name)), _spelled(each)) for name, each in members)
        case b"[":
            return b"[%b]" % b",".join(map(_spelled, elements_of(value)))
    return bytes(value)
