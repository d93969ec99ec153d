"""What the exchanges with one server over streamable HTTP share: the session it gave us, its version, and the way to the dispatcher.

Above it: http_exchange, standing_stream, http_transport. Below it: HttpConnection and the dispatcher.
"""

import logging
from collections.abc import Awaitable, Callable

import msgspec
from aiohttp import ClientResponse

from tooltray.phrases import Phrase
from tooltray.protocol import envelope
from tooltray.protocol.channels import Outgoing
from tooltray.protocol.dispatcher import RawDispatcher
from tooltray.protocol.envelope import Envelope, MalformedFrame
from tooltray.protocol.event_stream import MEDIA_TYPE
from tooltray.protocol.routing_headers import VERSION_HEADER
from tooltray.transports.http.http_connections import HttpConnection
from tooltray.transports.http.http_failures import refusal

logger = logging.getLogger(__name__)
SESSION_HEADER, LAST_EVENT_HEADER = "Mcp-Session-Id", "Last-Event-ID"
POST_HEADERS = {"Accept": f"application/json, {MEDIA_TYPE}", "Content-Type": "application/json"}
EXPIRED = Phrase("the server has ended the session")


class _Greeted(msgspec.Struct):
    version: str = msgspec.field(name="protocolVersion", default="")


class HttpSession:
    """
    Attributes:
        id: empty before `initialize`, where the server gives none, and in the modern era.
        version: what `initialize` agreed on; empty before, and in the modern era.
        is_modern: the last request named its version itself.
        has_expired: the server has forgotten the session.
        hand_over: carries on over the older transport, beginning with this message, if the server speaks that; says whether it does.
    """

    def __init__(self, *, server: str, connection: HttpConnection, dispatcher: RawDispatcher) -> None:
        self.server, self.connection, self.dispatcher = server, connection, dispatcher
        self.id = self.version = ""
        self.is_modern = self.has_expired = False
        self.hand_over: Callable[[Outgoing], Awaitable[bool]] = _stay

    def headers(self) -> dict[str, str]:
        """What every request carries once `initialize` is answered."""
        headers = {SESSION_HEADER: self.id} if self.id else {}
        return headers | ({VERSION_HEADER: self.version} if self.version else {})

    def begin(self) -> None:
        """`initialize` is about to be sent: what was known before is void."""
        self.id = self.version = ""
        self.is_modern = False

    def learn(self, response: ClientResponse, message: bytes | bytearray) -> None:
        """Takes what counts from now on out of the reply to `initialize`."""
        try:
            reply = envelope.decode(message)
            greeted = msgspec.json.decode(reply.result, type=_Greeted) if reply.result else None
        except (MalformedFrame, ValueError):
            return
        if greeted:
            self.id, self.version = response.headers.get(SESSION_HEADER, ""), greeted.version

    def expire(self) -> None:
        """The server has forgotten the session. Each request under way learns by itself whether it was still taken."""
        self.has_expired, self.id = True, ""
        self.dispatcher.connection_lost(Phrase("server '{name}': {reason}", name=self.server, reason=EXPIRED), requests_stay=True)

    def lose(self, reason: str) -> None:
        """The server is out of reach, for everybody; requests under way as above."""
        why = Phrase("server '{name}' is out of reach: {reason}", name=self.server, reason=reason)
        self.dispatcher.connection_lost(why, requests_stay=True)

    def refusal(self, response: ClientResponse, body: bytes) -> Envelope:
        connection, reason = self.connection, response.reason or ""
        return refusal(self.server, response.status, reason, response.headers, body, url=connection.url, mask=connection.mask)


async def _stay(message: Outgoing) -> bool:
    return False


def is_event_stream(response: ClientResponse) -> bool:
    return response.content_type == MEDIA_TYPE
