"""Sends large responses of the REST interface as fast as programs read them, within the hub's bounds for unsent bytes.

One account per token: a program that does not read gets errors instead of further results, as an AI client does.
"""

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator, Iterator
from weakref import WeakValueDictionary

from aiohttp import web

from tooltray.carriers.http_server.answers import cut_of
from tooltray.carriers.http_server.event_streams import JOIN_BELOW_BYTES, PAUSED_ABOVE_BYTES, write_parts
from tooltray.carriers.rest.problems import Failed
from tooltray.protocol.in_flight import BY_REPLIES, Pace
from tooltray.protocol.unsent import AllUnsent, Unsent


class _Account:
    """One token's unsent bytes, and the calls that run for it: some at once, as for an AI client, and one while it does not read."""

    def __init__(self, unsent: Unsent) -> None:
        self.unsent = unsent
        self._running = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._pace = Pace(is_even=False, go_on=self._admit)

    @contextlib.asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Waits until a call may begin, and counts it until it has ended."""
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        self._admit()
        try:
            await turn
            yield
        finally:
            if not turn.cancelled():
                self._running -= 1
                self._pace.max_in_flight = max(self._pace.max_in_flight, min(self._pace.max_in_flight + 1, BY_REPLIES))
            self._admit()

    def _admit(self) -> None:
        is_congested = self.unsent.bytes > PAUSED_ABOVE_BYTES
        if is_congested:
            self._pace.slow_down()
        while self._waiting and self._running < (1 if is_congested else self._pace.max_in_flight):
            turn = self._waiting.popleft()
            if not turn.done():  # the waiting caller has not disconnected in this moment
                self._running += 1
                turn.set_result(None)
        if self._waiting:
            self._pace.grow_later()


class Deliveries:
    """The sender of large responses. Belongs to the engine's loop."""

    def __init__(self, unsent: AllUnsent) -> None:
        self._unsent = unsent
        self._accounts: WeakValueDictionary[str, _Account] = WeakValueDictionary()  # by the names of tokens

    @contextlib.asynccontextmanager
    async def turn(self, name: str) -> AsyncIterator[None]:
        """Waits until a call of a program may begin.

        Args:
            name: of the program's token.
        """
        account = self._of(name)
        async with account.turn():
            yield

    def _of(self, name: str) -> _Account:
        account = self._accounts.get(name)
        if account is None:
            account = self._accounts[name] = _Account(self._unsent.of(is_server=False))
        return account

    async def send(self, request: web.Request, name: str, response: web.Response) -> web.StreamResponse:
        """Sends a response with a large body; returns the response for aiohttp, which sends small ones itself.

        Args:
            name: of the program's token.

        Raises:
            Failed: too much waits for the program already.
        """
        body = response.body
        if not isinstance(body, bytes) or len(body) < JOIN_BELOW_BYTES or request.method == "HEAD":
            return response
        account = self._of(name)  # lives as long as something waits
        if not account.unsent.has_room(len(body)):
            what = f"the result of this call, {len(body):,} bytes, was dropped"
            raise Failed(503, "The result is not sent", account.unsent.no_room(name, what), headers={"Retry-After": "5"})
        streamed = web.StreamResponse(status=response.status, headers=response.headers)
        streamed.content_length = len(body)
        with _counted(account.unsent, request, len(body)):
            await streamed.prepare(request)
            await write_parts(streamed, [body])
            await streamed.write_eof()
        return streamed


@contextlib.contextmanager
def _counted(account: Unsent, request: web.Request, size: int) -> Iterator[None]:
    cut = cut_of(request)
    if cut:
        account.ends.add(cut)
    account.add(size)
    try:
        yield
    finally:
        account.take(size)
        if cut:
            account.ends.discard(cut)
