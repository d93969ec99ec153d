"""The HTTP+SSE transport of 2024-11-05, the only one that some servers speak.

The stream of one GET carries all messages of the server; its first event names the URL for our messages, which are sent by POST. When the
stream ends, so does the connection. An open request is then settled by the state of its POST: either the server did not receive it, or its
reply is lost.
"""

import asyncio
import contextlib
import logging
from functools import partial

from aiohttp import ClientResponse
from msgspec import Raw
from yarl import URL

from tooltray.foundation.phrases import Phrase
from tooltray.foundation.tasks import TaskKeeper
from tooltray.protocol.channels import Outgoing
from tooltray.protocol.dispatcher import RawDispatcher
from tooltray.protocol.envelope import CONNECTION_CLOSED, INTERNAL_ERROR, Envelope, failure, not_delivered, unanswered
from tooltray.protocol.event_stream import MEDIA_TYPE, Event, EventReader
from tooltray.servers.transports.http.bodies import Delivery, PostOrder, count_until_done, intake
from tooltray.servers.transports.http.http_connections import HttpConnection, as_ours, as_written, is_same_origin, read_error_body
from tooltray.servers.transports.http.http_failures import ExchangeFailed, is_lost_session, redacted_url, refusal, refusal_words
from tooltray.servers.transports.transport import ConnectionFailure

logger = logging.getLogger(__name__)
LAST_REPLIES_S = 2.0  # for requests under way when the session is lost; the next session is opened only afterwards
PROBE_TIMEOUT_S = 5.0  # the first event comes at once
EXPIRED = Phrase("has ended the session")
STREAM_HEADERS = {"Accept": MEDIA_TYPE, "Cache-Control": "no-store"}
POST_HEADERS = {"Content-Type": "application/json"}


async def speaks_sse(connection: HttpConnection) -> bool:
    """Returns whether a server that refuses streamable HTTP speaks HTTP+SSE; settings seldom tell the two kinds of URL apart."""
    with contextlib.suppress(ExchangeFailed, TimeoutError):
        async with asyncio.timeout(PROBE_TIMEOUT_S), connection.exchange("GET", STREAM_HEADERS) as response:
            if response.status == 200 and response.content_type == MEDIA_TYPE:
                reader = EventReader()
                async for chunk in response.content.iter_any():
                    for event in reader.feed(chunk):
                        return event.type == "endpoint"
    return False


class SseTransport:
    """The transport over HTTP+SSE. Satisfies Transport."""

    pids: tuple[int, ...] = ()
    exit_code: int | None = None
    output = None

    def __init__(self, *, name: str, connection: HttpConnection) -> None:
        self._name, self._connection = name, connection
        self._channel: SseChannel | None = None

    @property
    def has_expired(self) -> bool:
        return self._channel is not None and self._channel.has_expired

    @property
    def failure(self) -> ConnectionFailure | None:
        return self._connection.failure

    async def open(self, dispatcher: RawDispatcher) -> None:
        self._connection.open()
        self._channel = SseChannel(self._name, self._connection, dispatcher)
        dispatcher.attach_messages(self._channel)
        self._channel.begin()

    async def close(self) -> None:
        if self._channel:
            await self._channel.end()
        await self._connection.close()


class SseChannel:
    """The channel that sends the dispatcher's messages by POST and reads the stream. Satisfies MessageChannel."""

    def __init__(self, name: str, connection: HttpConnection, dispatcher: RawDispatcher) -> None:
        self._name, self._connection, self._dispatcher = name, connection, dispatcher
        self._tasks = TaskKeeper()
        self._order = PostOrder(self._tasks.spawn)
        self._endpoint: asyncio.Future[URL] = asyncio.get_running_loop().create_future()
        self._posting: dict[bytes, Delivery] = {}  # by request id, until the POST has its response
        self._has_stream = True
        self.has_expired = False  # the server has dropped the session, although its stream may still be open

    def begin(self) -> None:
        self._tasks.spawn(self._listen(), name=f"events of '{self._name}'")

    async def end(self) -> None:
        """Ends the requests under way and the stream in bounded time; may be called twice."""
        await self._await_last_replies()
        await self._tasks.close()

    async def _await_last_replies(self) -> None:
        await self._dispatcher.calls.last_replies(timeout_s=LAST_REPLIES_S)
        for id in self._dispatcher.calls.unanswered():
            self._give_up(id, self._posting.get(bytes(id)))

    # our messages

    def send(self, message: Outgoing) -> None:
        if message.method and not message.id:
            sending = self._order.notify(message.method, partial(self._post, message))
        elif message.method:
            self._posting[bytes(message.id)] = delivery = Delivery()
            sending = self._order.start(message.method, partial(self._request, message, delivery))
        else:
            sending = self._order.start("reply", partial(self._post, message))
        count_until_done(sending, message, self._dispatcher.unsent)

    def close(self) -> None:
        """Does nothing: requests under way end with the transport."""

    async def _post(self, message: Outgoing) -> None:
        """Sends a message that gets no reply."""
        if await self._send(message, Delivery()):
            logger.info("server '%s' did not accept %s", self._name, message.method or "a reply")

    async def _request(self, message: Outgoing, delivery: Delivery) -> None:
        try:
            reply = await self._send(message, delivery)
        finally:
            self._posting.pop(bytes(message.id), None)
        if reply:
            self._dispatcher.calls.settle(message.id, reply)
        elif not self._has_stream:
            self._give_up(message.id, None)

    async def _send(self, message: Outgoing, delivery: Delivery) -> Envelope | None:
        """Sends a message by POST and returns an error reply if the server does not accept it, else None."""
        endpoint = await asyncio.shield(self._endpoint)
        try:
            async with self._connection.exchange("POST", POST_HEADERS, message.joined(), url=endpoint, delivery=delivery) as response:
                return None if response.status < 300 else self._refusal(message, response, await read_error_body(response))
        except ExchangeFailed as failed:
            return self._failed(failed)
        except Exception:  # a bug of ours must not leave the caller waiting forever
            logger.exception("a request to '%s' failed", self._name)
            return failure(INTERNAL_ERROR, f"server '{self._name}' was not reached: an internal error; the log has the details")

    def _refusal(self, message: Outgoing, response: ClientResponse, body: bytes) -> Envelope:
        if message.method != "initialize" and is_lost_session(response.status, body, message.id):
            self.has_expired = True
            self._lose(EXPIRED, has_stream=self._has_stream)
            return not_delivered(f"server '{self._name}' {EXPIRED}")
        words, connection = response.reason or "", self._connection
        return refusal(self._name, response.status, words, response.headers, body, url=connection.url, mask=connection.mask)

    def _failed(self, failed: ExchangeFailed) -> Envelope:
        if failed.is_unreachable:
            self._lose(Phrase("cannot be reached: {reason}", reason=failed.reason), has_stream=self._has_stream)
            return not_delivered(f"server '{self._name}' cannot be reached: {failed.reason}")
        if failed.is_unauthorized:  # `closed_because` also names the remedy, if the sign-in has ended the connection
            return failure(CONNECTION_CLOSED, self._dispatcher.closed_because or failed.reason)
        if failed.is_undelivered:
            return not_delivered(f"server '{self._name}' did not accept the request: {failed.reason}")
        return failure(CONNECTION_CLOSED, f"server '{self._name}' gave no answer: {failed.reason}")

    # the server's messages

    async def _listen(self) -> None:
        try:
            self._lose(await self._read_stream())
        except ExchangeFailed as failed:
            is_afar, reason = failed.is_unreachable, failed.reason
            self._lose(Phrase("cannot be reached: {reason}", reason=reason) if is_afar else Phrase("is gone: {reason}", reason=reason))

    async def _read_stream(self) -> str:
        """Reads the stream and returns why it has ended."""
        async with self._connection.exchange("GET", STREAM_HEADERS) as response:
            if response.status != 200:
                await read_error_body(response)
                words = refusal_words(response.status, response.reason or "", response.headers, url=self._connection.url)
                return self._connection.mask(words)
            if response.content_type != MEDIA_TYPE:
                return Phrase("answers with {kind} in place of events; check the URL", kind=response.content_type)
            reader = EventReader()
            with intake(response, self._dispatcher.unsent.all) as holds:
                async for chunk in response.content.iter_any():
                    for event in reader.feed(chunk):
                        if reason := self._take(event):
                            return reason
                    await holds(reader.waiting_bytes)
        return Phrase("closed its stream of events")

    def _take(self, event: Event) -> str | None:
        """Handles an event and returns why the stream cannot be used; None if it can."""
        if event.type == "message" and event.data:
            self._dispatcher.receive(event.data)
        elif event.type == "endpoint" and not self._endpoint.done():
            return self._read_endpoint(event)
        return None

    def _read_endpoint(self, event: Event) -> str | None:
        try:
            endpoint = self._connection.url.join(as_written(str(event.data, "utf-8").strip()))
        except ValueError:
            return Phrase("names no URL to send messages to")
        if not is_same_origin(self._connection.url, endpoint):
            return Phrase("wants messages sent to another host, {url}", url=redacted_url(endpoint))
        self._endpoint.set_result(as_ours(self._connection.url, endpoint))
        return None

    # the end

    def _lose(self, reason: str, *, has_stream: bool = False) -> None:
        """Reports the connection as lost and settles requests that can get no reply.

        Args:
            has_stream: the stream is still open, so a server that accepts no more requests may still send pending replies.
        """
        self._has_stream = has_stream
        if not self._dispatcher.is_closed:
            self._dispatcher.connection_lost(Phrase("server '{name}' {how}", name=self._name, how=reason), requests_stay=True)
            self._tasks.spawn(self._await_last_replies(), name=f"last answers of '{self._name}'")
        if not has_stream:
            for id in self._dispatcher.calls.unanswered():
                delivery = self._posting.get(bytes(id))
                if not (delivery and delivery.is_whole):  # else the response to its POST decides
                    self._give_up(id, delivery)

    def _give_up(self, id: Raw, delivery: Delivery | None) -> None:
        """Settles a request with an error; the rest of an unsent body is not sent any more."""
        reason = self._dispatcher.closed_because
        if delivery:
            delivery.is_given_up = True
        is_out = delivery is None or delivery.is_whole
        self._dispatcher.calls.settle(id, unanswered(reason) if is_out else not_delivered(reason))
