"""The session with one server over streamable HTTP: its id, its protocol version, and the dispatcher that gets its messages."""

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
from tooltray.protocol.envelope import Envelope, MalformedFrame
from tooltray.protocol.event_stream import MEDIA_TYPE
from tooltray.protocol.routing_headers import VERSION_HEADER
from tooltray.servers.transports.http.http_connections import HttpConnection, read_error_body
from tooltray.servers.transports.http.http_failures import ExchangeFailed, may_be_lost_session, refusal
from tooltray.servers.transports.refused_requests import RefusedRequests

logger = logging.getLogger(__name__)
SESSION_HEADER, LAST_EVENT_HEADER = "Mcp-Session-Id", "Last-Event-ID"
POST_HEADERS = {"Accept": f"application/json, {MEDIA_TYPE}", "Content-Type": "application/json"}
PING_ID = Raw(b'"still there?"')
PING = b'{"jsonrpc":"2.0","id":%b,"method":"ping"}' % bytes(PING_ID)
PING_TIMEOUT_S = 5.0
EXPIRED = Phrase("the server has ended the session")


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

    def __init__(
        self, *, server: str, connection: HttpConnection, dispatcher: RawDispatcher, refused: RefusedRequests | None = None
    ) -> None:
        self.server, self.connection, self.dispatcher = server, connection, dispatcher
        self.refused = refused or RefusedRequests()
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
        why = Phrase("server '{name}' is out of reach: {reason}", name=self.server, reason=reason)
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
