"""A server over HTTP+SSE, the transport of 2024-11-05 that some servers still have alone.

Above it: McpClient. Below it: HttpConnection. One GET brings everything the server says; its first event names the URL that takes what we
say, by POST. When that stream ends, so does the connection.
"""

import asyncio
import contextlib
import logging
from functools import partial

from yarl import URL

from tooltray.servers.http.http_connections import HttpConnection, as_ours, is_same_origin, read_start
from tooltray.servers.http.http_failures import ExchangeFailed, refusal, refusal_words, shown
from tooltray.servers.http.post_order import PostOrder
from tooltray.tasks import TaskKeeper
from tooltray.wire.channels import Outgoing
from tooltray.wire.dispatcher import RawDispatcher
from tooltray.wire.envelope import CONNECTION_CLOSED, INTERNAL_ERROR, failure
from tooltray.wire.event_stream import MEDIA_TYPE, Event, EventReader

logger = logging.getLogger(__name__)
ASKED_FOR_S = 5.0  # its first event comes at once
STREAM_HEADERS = {"Accept": MEDIA_TYPE, "Cache-Control": "no-store"}
POST_HEADERS = {"Content-Type": "application/json"}


async def speaks_sse(connection: HttpConnection) -> bool:
    """Whether a server that knows no streamable HTTP speaks this; people seldom say which of the two a URL is."""
    with contextlib.suppress(ExchangeFailed, TimeoutError):
        async with asyncio.timeout(ASKED_FOR_S), connection.exchange("GET", STREAM_HEADERS) as response:
            if response.status == 200 and response.content_type == MEDIA_TYPE:
                reader = EventReader()
                async for chunk in response.content.iter_any():
                    for event in reader.feed(chunk):
                        return event.type == "endpoint"
    return False


class SseTransport:
    """Satisfies Transport."""

    pids: tuple[int, ...] = ()
    exit_code: int | None = None
    has_expired = False  # its session is its stream

    def __init__(self, *, name: str, connection: HttpConnection) -> None:
        self._name, self._connection = name, connection
        self._channel: SseChannel | None = None

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
    """The dispatcher's channel. Satisfies MessageChannel."""

    def __init__(self, name: str, connection: HttpConnection, dispatcher: RawDispatcher) -> None:
        self._name, self._connection, self._dispatcher = name, connection, dispatcher
        self._tasks = TaskKeeper()
        self._order = PostOrder(self._tasks.spawn)
        self._endpoint: asyncio.Future[URL] = asyncio.get_running_loop().create_future()

    def begin(self) -> None:
        self._tasks.spawn(self._listen(), name=f"events of '{self._name}'")

    async def end(self) -> None:
        await self._tasks.close()

    # what we say

    def send(self, message: Outgoing) -> None:
        if message.method and not message.id:
            self._order.notify(message.method, partial(self._post, message))
        else:
            self._order.start(message.method or "reply", partial(self._post, message))

    def close(self) -> None:
        """What is under way ends with the transport."""

    async def _post(self, message: Outgoing) -> None:
        endpoint = await asyncio.shield(self._endpoint)
        try:
            async with self._connection.exchange("POST", POST_HEADERS, message.joined(), url=endpoint) as response:
                if response.status < 300:
                    return
                body = await read_start(response)
            words, connection = response.reason or "", self._connection
            reply = refusal(self._name, response.status, words, response.headers, body, url=connection.url, mask=connection.mask)
        except ExchangeFailed as failed:
            if failed.is_unreachable:
                self._lose(f"is out of reach: {failed.reason}")
            reply = failure(CONNECTION_CLOSED, f"server '{self._name}' did not take the request: {failed.reason}")
        except Exception:  # a bug of ours: nobody waits for ever
            logger.exception("a request to '%s' failed", self._name)
            reply = failure(INTERNAL_ERROR, f"server '{self._name}' could not be asked: an internal error; the log has the details")
        if message.method and message.id:
            self._dispatcher.settle(message.id, reply)
        else:
            logger.info("server '%s' did not take %s", self._name, message.method or "a reply")

    # what the server says

    async def _listen(self) -> None:
        try:
            self._lose(await self._read_stream())
        except ExchangeFailed as failed:
            self._lose(f"is out of reach: {failed.reason}" if failed.is_unreachable else failed.reason)

    async def _read_stream(self) -> str:
        """Returns why it has ended."""
        async with self._connection.exchange("GET", STREAM_HEADERS) as response:
            if response.status != 200:
                await read_start(response)
                words = refusal_words(response.status, response.reason or "", response.headers, url=self._connection.url)
                return self._connection.mask(words)
            if response.content_type != MEDIA_TYPE:
                return f"answers with {response.content_type} in place of events; check the URL"
            reader = EventReader()
            async for chunk in response.content.iter_any():
                for event in reader.feed(chunk):
                    if reason := self._take(event):
                        return reason
        return "closed its stream of events"

    def _take(self, event: Event) -> str:
        """Why the stream cannot be used, if it cannot."""
        if event.type == "message" and event.data:
            self._dispatcher.receive(event.data)
        elif event.type == "endpoint" and not self._endpoint.done():
            return self._read_endpoint(event)
        return ""

    def _read_endpoint(self, event: Event) -> str:
        try:
            endpoint = self._connection.url.join(URL(str(event.data, "utf-8").strip()))
        except ValueError:
            return "names no URL to send messages to"
        if not is_same_origin(self._connection.url, endpoint):
            return f"wants messages sent to another host, {shown(endpoint)}"
        self._endpoint.set_result(as_ours(self._connection.url, endpoint))
        return ""

    def _lose(self, reason: str) -> None:
        self._dispatcher.connection_lost(f"server '{self._name}' {reason}")
