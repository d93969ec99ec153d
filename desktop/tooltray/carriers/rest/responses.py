"""Responses of the REST interface: problems (RFC 9457), and large results as fast as programs read them.

One account per token bounds unsent bytes: a program that does not read gets errors instead of further results, as an AI client does.
"""

import asyncio
import contextlib
import json
from collections import deque
from collections.abc import AsyncIterator, Iterator, Mapping
from weakref import WeakValueDictionary

from aiohttp import web

from tooltray.carriers.http_server.answers import JOIN_BELOW_BYTES, PAUSED_ABOVE_BYTES, cut_of, write_parts
from tooltray.foundation.errors import Conflict, Denied, NotFound, TooltrayError
from tooltray.protocol.in_flight import BY_REPLIES, Pace
from tooltray.protocol.unsent import AllUnsent, Unsent

PROBLEM_TYPE = "application/problem+json"
WHAT_IT_TAKES = "GET /api/openapi.json describes what is accepted."
_KINDS = {
    400: "unreadable",
    401: "no-token",
    403: "denied",
    404: "not-found",
    405: "method-not-allowed",
    408: "too-slow",
    409: "conflict",
    412: "changed-meanwhile",
    413: "too-large",
    415: "unsupported-media-type",
    422: "refused",
    500: "bug",
    503: "not-read",
}
"""The last part of a problem's `type` by status. A name and no URL: the problem itself contains all information."""


class Failed(Exception):
    """A request that is answered with a problem."""

    def __init__(self, status: int, title: str, detail: str = "", hint: str = "", *, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(title, detail, hint)
        self.status, self.title, self.detail, self.hint, self.headers = status, title, detail, hint, dict(headers or {})
        self.scope = ""  # the required scope, if the token's is too small


def failed_by(error: TooltrayError, *, had_revision: bool) -> Failed:
    """Turns an error of a verb into a response.

    Args:
        had_revision: the caller sent `If-Match`; a conflict is then answered with 412 instead of 409.
    """
    problem = error.problem
    match error:
        case NotFound():
            status = 404
        case Conflict():
            status = 412 if had_revision else 409
        case Denied():
            status = 403
        case _:
            status = 422
    return Failed(status, problem.title, problem.message, problem.hint)


def out_of_scope(scope: str, needed: str) -> Failed:
    """Builds the response for a token whose scope is too small."""
    hint = f"Make a token for it: tooltray http api token NAME --scope {needed}"
    challenge = f'Bearer error="insufficient_scope", scope="{needed}"'  # RFC 6750
    detail = f"its scope is {scope}, but this requires {needed}"
    failed = Failed(403, "This token may not do this", detail, hint, headers={"WWW-Authenticate": challenge})
    failed.scope = needed
    return failed


def problem_response(failed: Failed) -> web.Response:
    content = {
        "type": f"urn:tooltray:problem:{_KINDS[failed.status]}",
        "title": failed.title,
        "status": failed.status,
        "detail": failed.detail,
        "hint": failed.hint,
        **({"scope": failed.scope} if failed.scope else {}),
    }
    body = json.dumps(content).encode()  # escapes surrogates, as in file names that are not UTF-8
    return web.Response(status=failed.status, body=body, content_type=PROBLEM_TYPE, headers=failed.headers)


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
