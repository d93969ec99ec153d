"""One request over streamable HTTP: its POST, the reply as JSON or as a stream of events, and the error if no reply arrives. http_transport
runs each exchange in its own task and cancels the task with the request.
"""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Mapping

import msgspec
from aiohttp import ClientResponse
from msgspec import Raw

from tooltray.foundation.phrases import Phrase
from tooltray.protocol import envelope
from tooltray.protocol.channels import Outgoing
from tooltray.protocol.dispatcher import RawDispatcher
from tooltray.protocol.envelope import (
    CONNECTION_CLOSED,
    NOT_DELIVERED,
    Envelope,
    MalformedFrame,
    failure,
    not_delivered,
    unanswered,
    worded,
)
from tooltray.protocol.event_stream import MEDIA_TYPE, Event, EventReader
from tooltray.protocol.routing_headers import VERSION_HEADER
from tooltray.servers.transports.http.bodies import Delivery, intake, read_whole
from tooltray.servers.transports.http.http_connections import HttpConnection, read_error_body
from tooltray.servers.transports.http.http_failures import (
    ExchangeFailed,
    error_in,
    is_lost_session,
    may_be_lost_session,
    may_be_older,
    refusal,
)
from tooltray.servers.transports.transport import RefusedRequests

logger = logging.getLogger(__name__)
SESSION_HEADER, LAST_EVENT_HEADER = "Mcp-Session-Id", "Last-Event-ID"
POST_HEADERS = {"Accept": f"application/json, {MEDIA_TYPE}", "Content-Type": "application/json"}
PING_ID = Raw(b'"still there?"')
PING = b'{"jsonrpc":"2.0","id":%b,"method":"ping"}' % bytes(PING_ID)
PING_TIMEOUT_S = 5.0
EXPIRED = Phrase("the server has ended the session")
LINGER_S = 1.0  # after the reply, for the end of its stream: the connection can then be reused
RESUME_AFTER_MS = 1000  # if the server sends no `retry`
LONGEST_RESUME_PAUSE_S = 60.0  # even if the server's `retry` is longer: a caller waits
RESUME_ATTEMPTS = 6  # failures in a row; each pause is twice the one before
GREETINGS = ("initialize", "server/discover")


class _Greeted(msgspec.Struct):
    version: str = msgspec.field(name="protocolVersion", default="")


class UpstreamHttpSession:
    """The state that all exchanges of one session share.

    Attributes:
        id: the `Mcp-Session-Id`; empty before `initialize`, if the server gives none, and in the modern era.
        version: the protocol version that `initialize` agreed on; empty before, and in the modern era.
        is_modern: whether the last request named its protocol version itself.
        has_expired: whether the server has dropped the session.
        refused: the requests that sessions with this server have refused.
        hand_over: continues over HTTP+SSE, beginning with the given message, if the server speaks that; returns whether it does.
    """

    def __init__(self, *, server: str, connection: HttpConnection, dispatcher: RawDispatcher, refused: RefusedRequests) -> None:
        self.server, self.connection, self.dispatcher = server, connection, dispatcher
        self.refused = refused
        self.id = self.version = ""
        self.is_modern = self.has_expired = False
        self.hand_over: Callable[[Outgoing], Awaitable[bool]] = _stay

    def headers(self) -> dict[str, str]:
        """Returns the headers of every legacy request after `initialize`."""
        headers = {SESSION_HEADER: self.id} if self.id else {}
        return headers | ({VERSION_HEADER: self.version} if self.version else {})

    def begin(self) -> None:
        """Drops the previous session, since `initialize` is about to be sent."""
        self.id = self.version = ""
        self.is_modern = False

    def learn(self, response: ClientResponse, message: bytes | bytearray) -> None:
        """Takes session id and version from the response to `initialize`; a reply that is an error or malformed changes nothing."""
        try:
            reply = envelope.decode(message)
            greeted = msgspec.json.decode(reply.result, type=_Greeted) if reply.result else None
        except (MalformedFrame, ValueError):
            return
        if greeted:
            self.id, self.version = response.headers.get(SESSION_HEADER, ""), greeted.version

    def expire(self) -> None:
        """Ends the session, which the server has dropped. Requests under way continue: each gets its own reply or error."""
        self.has_expired, self.id = True, ""
        self.dispatcher.connection_lost(Phrase("server '{name}': {reason}", name=self.server, reason=EXPIRED), requests_stay=True)

    def lose(self, reason: str) -> None:
        """Ends the session, since the server is unreachable. Requests under way continue as in `expire`."""
        why = Phrase("server '{name}' cannot be reached: {reason}", name=self.server, reason=reason)
        self.dispatcher.connection_lost(why, requests_stay=True)

    async def is_refused(self, headers: Mapping[str, str]) -> bool:
        """Sends a ping with the headers of a session; returns whether it is refused, too, as in a session that the server does not know."""
        with contextlib.suppress(ExchangeFailed, TimeoutError):
            async with asyncio.timeout(PING_TIMEOUT_S), self.connection.exchange("POST", {**POST_HEADERS, **headers}, PING) as response:
                return response.status >= 300 and may_be_lost_session(response.status, await read_error_body(response), PING_ID)
        return False

    def refusal(self, response: ClientResponse, body: bytes) -> Envelope:
        """Builds the reply to a request whose response is an HTTP error."""
        connection, reason = self.connection, response.reason or ""
        return refusal(self.server, response.status, reason, response.headers, body, url=connection.url, mask=connection.mask)


async def _stay(message: Outgoing) -> bool:
    return False


def is_event_stream(response: ClientResponse) -> bool:
    return response.content_type == MEDIA_TYPE


class HttpExchange:
    """One request until it is answered, by the server or with an error of ours."""

    def __init__(self, session: UpstreamHttpSession, message: Outgoing, modern_headers: Mapping[str, str]) -> None:
        """
        Args:
            modern_headers: the headers of a modern request, which names its protocol version itself; empty for a legacy request.
        """
        self._session, self._message = session, message
        self.is_modern = bool(modern_headers)
        self._session_headers = session.headers()  # kept after the session's end: a resumed stream belongs to that session
        self._headers = {**POST_HEADERS, **(modern_headers or self._session_headers)}
        self._delivery = Delivery()
        self._had_session = bool(session.id) and not self.is_modern
        self._last_event_id, self._retry_ms = "", RESUME_AFTER_MS
        self._why: str = Phrase("ended its answer before the reply")
        self._is_handed_over = False

    async def run(self) -> None:
        """Sends the request, reads or resumes the reply, and settles the request in any case."""
        try:
            await self._post()
            if self._is_unanswered and self._can_resume:
                await self._resume()
        except ExchangeFailed as failed:
            self._on_failed(failed)
        except Exception:  # a bug of ours must not leave the caller waiting forever
            logger.exception("a request to '%s' failed", self._session.server)
            self._why = Phrase("was not reached: an internal error; the log has the details")
        if self._is_unanswered:
            self._settle(worded(CONNECTION_CLOSED, Phrase("server '{name}' {how}", name=self._session.server, how=self._why)))

    @property
    def is_awaited(self) -> bool:
        """Reports whether a caller still waits for the reply."""
        return self._session.dispatcher.calls.waits_for(self._message.id)

    def give_up(self, reason: str) -> None:
        """Settles an open request with an error; the rest of an unsent body is not sent any more."""
        self._delivery.is_given_up = True
        self._settle(unanswered(reason) if self._delivery.is_whole else not_delivered(reason))

    @property
    def _is_unanswered(self) -> bool:
        return not self._is_handed_over and self.is_awaited

    @property
    def _can_resume(self) -> bool:
        return bool(self._last_event_id) and not self.is_modern

    def _settle(self, reply: Envelope) -> None:
        self._session.dispatcher.calls.settle(self._message.id, reply)

    def _on_failed(self, failed: ExchangeFailed) -> None:
        if failed.is_unauthorized:  # `closed_because` also names the remedy, if the sign-in has ended the connection
            self._settle(failure(CONNECTION_CLOSED, self._session.dispatcher.closed_because or failed.reason))
        is_afar, reason = failed.is_unreachable, failed.reason
        self._why = Phrase("cannot be reached: {reason}", reason=reason) if is_afar else Phrase("gave no answer: {reason}", reason=reason)
        if failed.is_undelivered and self._message.method not in GREETINGS:
            self._settle(NOT_DELIVERED)
        if failed.is_unreachable:
            self._session.lose(failed.reason)

    async def _post(self) -> None:
        exchange = self._session.connection.exchange("POST", self._headers, self._message.joined(), delivery=self._delivery)
        try:
            async with exchange as response:
                if response.status >= 300:
                    await self._handle_refusal(response)
                    return
                self._session.refused.note_accepted(self._message)
                if is_event_stream(response):
                    await self._read_events(response)
                else:
                    await self._read_body(response)
        except ExchangeFailed:
            if not self._can_resume:
                raise

    # the response

    async def _handle_refusal(self, response: ClientResponse) -> None:
        body = await read_error_body(response)
        if self._had_session and await self._is_session_lost(response.status, body):
            if self._session.refused.is_first(self._message, self._session_headers[SESSION_HEADER]):
                self._settle(NOT_DELIVERED)  # sent once more in a new session, whose error counts
                self._session.expire()
        elif self._message.method == "initialize" and may_be_older(response.status, body):
            self._is_handed_over = await self._session.hand_over(self._message)
        if self._is_unanswered:
            self._settle(self._session.refusal(response, body))

    async def _is_session_lost(self, status: int, body: bytes) -> bool:
        """Reports whether the session was refused; if the response does not show that, another request of the session does."""
        if is_lost_session(status, body, self._message.id):
            return True
        return may_be_lost_session(status, body, self._message.id) and await self._session.is_refused(self._session_headers)

    async def _read_body(self, response: ClientResponse) -> None:
        if response.status == 202:
            self._why = Phrase("accepted the request and does not answer it (HTTP 202)")
            return
        is_json = response.content_type == "application/json" or "Content-Type" not in response.headers
        body = await (read_whole(response, self._session.dispatcher.unsent.all) if is_json else read_error_body(response))
        if body.strip()[:1] in (b"{", b"["):
            self._take(response, body)
        if not self._is_unanswered:
            return
        if error := error_in(body):  # an error with another id or none
            self._settle(Envelope(error=error))
        else:
            kind, status = response.content_type, response.status
            self._why = Phrase("answered with {kind} instead of JSON (HTTP {status})", kind=kind, status=status)

    async def _read_events(self, response: ClientResponse) -> None:
        reader = EventReader()
        with contextlib.suppress(TimeoutError), intake(response, self._session.dispatcher.unsent.all) as holds:
            async with asyncio.timeout(None) as linger:  # for a server that keeps the stream open after its answer
                async for chunk in response.content.iter_any():
                    for event in reader.feed(chunk):
                        self._take_event(response, event)
                    await holds(reader.waiting_bytes)
                    if linger.when() is None and not self._is_unanswered:
                        linger.reschedule(asyncio.get_running_loop().time() + LINGER_S)

    def _take_event(self, response: ClientResponse, event: Event) -> None:
        self._last_event_id = self._last_event_id if event.id is None else event.id
        self._retry_ms = self._retry_ms if event.retry_ms is None else event.retry_ms
        if event.data and event.type == "message":
            self._take(response, event.data)

    def _take(self, response: ClientResponse, message: bytes | bytearray) -> None:
        if self._message.method == "initialize":
            self._session.learn(response, message)
        self._session.dispatcher.receive(message, along_with=self._message.id)

    # resuming a stream that ended before the reply

    async def _resume(self) -> None:
        """Resumes the stream by `Last-Event-ID` until the reply has come; a server may end it repeatedly while it works."""
        failures = 0
        while self._is_unanswered and failures < RESUME_ATTEMPTS:
            await asyncio.sleep(min(self._retry_ms / 1000 * 2**failures, LONGEST_RESUME_PAUSE_S))
            try:
                failures = 0 if await self._read_rest() else RESUME_ATTEMPTS
            except ExchangeFailed as failed:
                failures += 1
                if failures == RESUME_ATTEMPTS:
                    raise ExchangeFailed(failed.reason) from None  # unreachable now, but the request was delivered

    async def _read_rest(self) -> bool:
        """Reads the resumed stream and returns whether another attempt makes sense."""
        headers = {"Accept": MEDIA_TYPE, **(self._session_headers or self._session.headers()), LAST_EVENT_HEADER: self._last_event_id}
        async with self._session.connection.exchange("GET", headers) as response:
            if response.status == 200 and is_event_stream(response):
                with contextlib.suppress(ExchangeFailed):
                    await self._read_events(response)
                return True
            body = await read_error_body(response)
            if self._had_session and is_lost_session(response.status, body, self._message.id):
                self._session.expire()
                self._why = Phrase("has ended the session")
            else:
                self._why = Phrase("ended its answer before the reply and does not resume it (HTTP {status})", status=response.status)
            return False
