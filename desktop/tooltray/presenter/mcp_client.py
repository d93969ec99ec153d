"""One connection to one server and the calls in flight on it; owned by one task from open to close.

Above it: Instance (lifecycle), ToolManager and McpPresenter (calls). Below it: a transport and the dispatcher. Knows nothing of settings,
of names shown to AI clients, or of other servers.
"""

import asyncio
import contextlib
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from msgspec import Raw

from tooltray import __version__
from tooltray.presenter.handshake import DISCOVER_TIMEOUT_S, Greeting, greet
from tooltray.servers.transport import Transport
from tooltray.wire import eras
from tooltray.wire.deadlines import DeadlineWheel
from tooltray.wire.dispatcher import PendingCall, RawDispatcher
from tooltray.wire.envelope import METHOD_NOT_FOUND, Envelope, dump, failure, success
from tooltray.wire.eras import Era, Head
from tooltray.wire.framing import MAX_SERVER_LINE_BYTES
from tooltray.wire.protocol import CAPABILITY_FOR, CLIENT_CAPABILITIES_KEY, CLIENT_INFO_KEY, PROTOCOL_VERSION_KEY

NO_CLIENT_TO_ASK = -32603
CLIENT_INFO = {"name": "tooltray", "version": __version__}
DECLARED: dict[str, Any] = {"roots": {}, "elicitation": {}}  # to a shared server; sampling only belongs to one AI client's own copy


class Caller(Protocol):
    """Who a call is for."""

    @property
    def capabilities(self) -> Raw:
        """What the AI client declared, as JSON."""
        ...

    def can_answer(self, method: str) -> bool:
        """Whether it declared what a server's request needs."""
        ...

    async def ask(self, method: str, params: Raw) -> Envelope: ...
    def tell(self, method: str, params: Raw) -> None: ...


@dataclass(eq=False)
class _RelayedCall:
    caller: Caller
    pending: PendingCall
    progress_token: Raw
    is_token_changed: bool


class McpClient:
    """Methods may be called from any task of the loop; `open` and `close` belong to the owner."""

    def __init__(
        self,
        *,
        name: str,
        transport: Transport,
        deadlines: DeadlineWheel,
        wants: Era,
        is_known_legacy: bool = False,
        discover_timeout_s: float = DISCOVER_TIMEOUT_S,
        on_notification: Callable[["McpClient", str, Raw], None],
    ) -> None:
        """
        Args:
            wants: the era to open the server in, if it speaks it.
            is_known_legacy: it spoke nothing else the last time.
            discover_timeout_s: after which it counts as silent to `server/discover`.
            on_notification: told of what concerns no call: list changes, updates, log messages.
        """
        self.name, self.transport = name, transport
        self._wants, self._is_known_legacy, self._discover_timeout_s = wants, is_known_legacy, discover_timeout_s
        self._on_notification = on_notification
        self._calls: set[_RelayedCall] = set()
        self._by_token: dict[bytes, _RelayedCall] = {}
        self._spare_tokens = itertools.count(1)
        self.greeting = Greeting(Era.LEGACY, "", {}, None)
        self._dispatcher = RawDispatcher(
            name=f"server '{name}'",
            deadlines=deadlines,
            answer=self._answer,
            take_notification=self._take_notification,
            is_server=True,
            max_line_bytes=MAX_SERVER_LINE_BYTES,
        )

    async def open(self, *, timeout_s: float) -> None:
        """Starts the server and greets it.

        Raises:
            TooltrayError: it cannot be started, or its greeting failed; `close` is still to be called.
            TimeoutError: no greeting within `timeout_s`.
        """
        await self.transport.open(self._dispatcher)
        async with asyncio.timeout(timeout_s):
            self.greeting = await greet(
                self._dispatcher,
                server=self.name,
                wants=self._wants,
                is_known_legacy=self._is_known_legacy,
                client_info=CLIENT_INFO,
                capabilities=DECLARED,
                discover_timeout_s=self._discover_timeout_s,
            )
        self._envelope = {PROTOCOL_VERSION_KEY: dump(self.greeting.version), CLIENT_INFO_KEY: dump(CLIENT_INFO)}

    @property
    def era(self) -> Era:
        return self.greeting.era

    @property
    def noise_lines(self) -> int:
        """Lines on stdout that were no messages."""
        return self._dispatcher.noise_lines

    @property
    def calls_in_flight(self) -> int:
        return len(self._calls)

    async def lost(self) -> str:
        """Waits until the connection is gone and returns why."""
        await self._dispatcher.closed.wait()
        return self._dispatcher.closed_because

    async def close(self, reason: str) -> None:
        """Ends the connection and the server. `reason` is what callers in flight read."""
        await self._dispatcher.close(reason)
        await self.transport.close()

    async def request(self, method: str, params: dict[str, Any] | None = None, *, timeout_s: float) -> Envelope:
        """A request of the hub's own (lists), in the server's era."""
        raw = dump(params or {})
        if self.era is Era.MODERN:
            raw = eras.with_meta(raw, {**self._envelope, CLIENT_CAPABILITIES_KEY: dump(DECLARED)})
        return await self._dispatcher.call(method, raw, timeout_s=timeout_s)

    async def call(self, request: Envelope, head: Head, caller: Caller, *, timeout_s: float) -> Envelope:
        """Sends an AI client's request on and returns the server's reply, verbatim but for what the other era requires.

        Args:
            timeout_s: without progress; the server is told to cancel when it is over.
        """
        call = self._start(request, head, caller, timeout_s)
        try:
            reply = await self._dispatcher.outcome(call.pending)
        finally:
            self._forget(call)
        if head.era is Era.MODERN and self.era is Era.LEGACY and reply.result:
            reply.result = eras.as_modern_result(request.method, reply.result)
        return reply

    def _start(self, request: Envelope, head: Head, caller: Caller, timeout_s: float) -> _RelayedCall:
        params, token = request.params, head.meta.progress_token
        is_token_taken = bool(token) and bytes(token) in self._by_token
        wire_token = self._spare_token() if is_token_taken else token
        if is_token_taken:
            params = eras.with_meta(params, {"progressToken": wire_token})
        if head.era is Era.MODERN and self.era is Era.LEGACY:
            params = eras.without_envelope(params)
        elif head.era is Era.LEGACY and self.era is Era.MODERN:
            params = eras.with_meta(params, {**self._envelope, CLIENT_CAPABILITIES_KEY: caller.capabilities})
        call = _RelayedCall(caller, self._dispatcher.start_call(request.method, params, timeout_s=timeout_s), token, is_token_taken)
        self._calls.add(call)
        if token:
            self._by_token[bytes(wire_token)] = call
        return call

    def _spare_token(self) -> Raw:
        tokens = (dump(f"shared-{number}") for number in self._spare_tokens)
        return next(token for token in tokens if bytes(token) not in self._by_token)  # an AI client may use such a token itself

    def _forget(self, call: _RelayedCall) -> None:
        self._calls.discard(call)
        if call.progress_token:
            for token in [token for token, other in self._by_token.items() if other is call]:
                del self._by_token[token]

    def _take_notification(self, message: Envelope) -> None:
        if message.method == "notifications/progress":
            self._pass_progress(message.params)
        else:
            self._on_notification(self, message.method, message.params)

    def _pass_progress(self, params: Raw) -> None:
        with contextlib.suppress(ValueError):
            token = eras.read_progress_token(params)
            if call := self._by_token.get(bytes(token)):
                call.pending.progressed()
                if call.is_token_changed:
                    params = eras.with_members(params, progressToken=call.progress_token)
                call.caller.tell("notifications/progress", params)

    async def _answer(self, request: Envelope) -> Envelope:
        """A server's request goes to the one AI client with a call in flight that can answer it."""
        if request.method == "ping":
            return success({})
        if request.method not in CAPABILITY_FOR:
            return failure(METHOD_NOT_FOUND, "Method not found")
        callers = {call.caller for call in self._calls if call.caller.can_answer(request.method)}
        if len(callers) == 1:
            return await callers.pop().ask(request.method, request.params)
        if request.method == "roots/list":
            return success({"roots": []})
        who = "no AI client" if not callers else "more than one AI client"
        return failure(NO_CLIENT_TO_ASK, f"{who} with a call in flight can answer {request.method}")
