"""The streamable HTTP transport, in both eras: legacy (2025-03-26 to 2025-11-25) and modern (2026-07-28).

A request that names its protocol version in `_meta` is modern and carries the headers of that version; any other belongs to the session
that `initialize` opened, which has a standing stream for messages that belong to no request (servers need not offer one). A server that
speaks only HTTP+SSE (2024-11-05) is handed over to SseChannel.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable
from functools import partial

from msgspec import Raw

from tooltray.foundation.tasks import TaskKeeper
from tooltray.protocol.channels import Outgoing
from tooltray.protocol.dispatcher import CANCELLED, RawDispatcher
from tooltray.protocol.envelope import NOTHING
from tooltray.protocol.eras import MODERN_VERSIONS
from tooltray.protocol.event_stream import MEDIA_TYPE, EventReader
from tooltray.protocol.member_scanner import opened
from tooltray.protocol.routing_headers import METHOD_HEADER, VERSION_HEADER, request_headers
from tooltray.servers.transports.http.bodies import INITIALIZED, PostOrder, count_until_done, intake
from tooltray.servers.transports.http.http_connections import HttpConnection, read_error_body
from tooltray.servers.transports.http.http_exchange import (
    LAST_EVENT_HEADER,
    POST_HEADERS,
    HttpExchange,
    UpstreamHttpSession,
    is_event_stream,
)
from tooltray.servers.transports.http.http_failures import ExchangeFailed, is_lost_session
from tooltray.servers.transports.http.sse_transport import LAST_REPLIES_S, SseChannel, speaks_sse
from tooltray.servers.transports.transport import ConnectionFailure, RefusedRequests

logger = logging.getLogger(__name__)
SESSION_END_TIMEOUT_S = 2.0  # for the DELETE; the server also ends an idle session on its own

ToolSchema = Callable[[str], Raw | None]


class HttpTransport:
    """The transport over streamable HTTP. Satisfies Transport."""

    pids: tuple[int, ...] = ()
    exit_code: int | None = None
    output = None

    def __init__(self, *, name: str, connection: HttpConnection, tool_schema: ToolSchema, refused: RefusedRequests) -> None:
        """
        Args:
            name: the server's name, for errors.
            tool_schema: returns the `inputSchema` of a tool, by the server's own name for it; None if the tool was never listed.
            refused: the requests that earlier sessions with this server have refused.
        """
        self._name, self._connection, self._tool_schema, self._refused = name, connection, tool_schema, refused
        self._channel: HttpChannel | None = None

    @property
    def has_expired(self) -> bool:
        return self._channel is not None and self._channel.session.has_expired

    @property
    def failure(self) -> ConnectionFailure | None:
        return self._connection.failure

    async def open(self, dispatcher: RawDispatcher) -> None:
        self._connection.open()
        session = UpstreamHttpSession(server=self._name, connection=self._connection, dispatcher=dispatcher, refused=self._refused)
        self._channel = HttpChannel(session, self._tool_schema)
        dispatcher.attach_messages(self._channel)

    async def close(self) -> None:
        """Ends the requests under way, the session and the connections."""
        if self._channel:
            await self._channel.end()
        await self._connection.close()


class HttpChannel:
    """The channel that sends the dispatcher's messages over streamable HTTP. Satisfies MessageChannel."""

    def __init__(self, session: UpstreamHttpSession, tool_schema: ToolSchema) -> None:
        self.session, self._tool_schema = session, tool_schema
        self._tasks = TaskKeeper()
        self._order = PostOrder(self._tasks.spawn)
        self._exchanges: dict[bytes, tuple[HttpExchange, asyncio.Task[None]]] = {}  # by the id of the request
        self._older: SseChannel | None = None  # took over, if the server speaks only HTTP+SSE
        session.hand_over = self._hand_over

    def send(self, message: Outgoing) -> None:
        if message.method == CANCELLED and not message.id:
            self._cancel(message)
        elif message.method and message.id:
            self._request(message)
        elif message.method:
            self._count(self._order.notify(message.method, partial(self._post, message)), message)
        else:
            self._count(self._order.start("reply", partial(self._post, message)), message)

    def _count(self, sending: asyncio.Task[None], message: Outgoing) -> None:
        count_until_done(sending, message, self.session.dispatcher.unsent)

    def close(self) -> None:
        """Cancels the requests that no caller waits for; the dispatcher sends nothing more."""
        for exchange, task in list(self._exchanges.values()):
            if not exchange.is_awaited:
                task.cancel()

    async def end(self) -> None:
        """Ends the requests under way and the session in bounded time; may be called twice."""
        if self._older:
            await self._older.end()
        await self._await_last_replies()
        await self._tasks.close()
        if session_id := self.session.id:
            headers = self.session.headers()
            self.session.id = ""
            with contextlib.suppress(ExchangeFailed, TimeoutError):
                async with asyncio.timeout(SESSION_END_TIMEOUT_S), self.session.connection.exchange("DELETE", headers) as response:
                    logger.debug("session %s… ended: HTTP %d", session_id[:4], response.status)

    async def _await_last_replies(self) -> None:
        """Waits for replies under way, then settles the rest, so that a request the server did not receive can be sent again."""
        await self.session.dispatcher.calls.last_replies(timeout_s=LAST_REPLIES_S)
        for exchange, _ in list(self._exchanges.values()):
            exchange.give_up(self.session.dispatcher.closed_because)

    async def _hand_over(self, message: Outgoing) -> bool:
        session = self.session
        if not await speaks_sse(session.connection):
            return False
        self._older = SseChannel(session.server, session.connection, session.dispatcher)
        session.dispatcher.attach_messages(self._older)
        self._older.begin()
        self._older.send(message)
        return True

    # requests

    def _request(self, message: Outgoing) -> None:
        if message.method == "initialize":
            self._begin()
        modern_headers = {} if self.session.version else request_headers(message.method, message.payload, self._tool_schema)
        self.session.is_modern = self.session.is_modern or bool(modern_headers)
        exchange, key = HttpExchange(self.session, message, modern_headers), bytes(message.id)
        task = self._order.start(message.method, exchange.run)
        self._exchanges[key] = (exchange, task)
        self._count(task, message)
        task.add_done_callback(lambda _: self._exchanges.pop(key, None))

    def _begin(self) -> None:
        """Cancels the requests of a modern attempt before the legacy session begins."""
        for _, task in list(self._exchanges.values()):
            task.cancel()
        self.session.begin()

    def _cancel(self, message: Outgoing) -> None:
        """Cancels a modern request by closing its response; a legacy server gets the notification and need not reply any more."""
        exchange, task = self._exchanges.get(_cancelled_id(message.payload), (None, None))
        if not (exchange.is_modern if exchange else self.session.is_modern):
            self._order.notify(CANCELLED, partial(self._send_cancelled, message, task))
        elif task:
            task.cancel()

    async def _send_cancelled(self, message: Outgoing, task: asyncio.Task[None] | None) -> None:
        await self._post(message)
        if task:
            task.cancel()

    # notifications and replies

    async def _post(self, message: Outgoing) -> None:
        """Sends a message that gets no reply."""
        headers = {**POST_HEADERS, **self.session.headers()}
        if self.session.is_modern:
            headers |= {VERSION_HEADER: MODERN_VERSIONS[-1]} | ({METHOD_HEADER: message.method} if message.method else {})
        try:
            await self._post_with(headers, message)
        except ExchangeFailed as failed:
            if failed.is_unreachable:
                self.session.lose(failed.reason)
            else:
                logger.info("server '%s' did not accept %s: %s", self.session.server, message.method or "a reply", failed.reason)

    async def _post_with(self, headers: dict[str, str], message: Outgoing) -> None:
        had_session = bool(self.session.id)
        async with self.session.connection.exchange("POST", headers, message.joined()) as response:
            if response.status < 300:
                self._on_taken(message)
                return
            body = await read_error_body(response)
            if had_session and is_lost_session(response.status, body):
                self.session.expire()
            else:
                what = message.method or "a reply"
                logger.info("server '%s' did not accept %s: HTTP %d", self.session.server, what, response.status)

    def _on_taken(self, message: Outgoing) -> None:
        if message.method == INITIALIZED:
            self._tasks.spawn(StandingStream(self.session).run(), name=f"standing stream of '{self.session.server}'")


def _cancelled_id(params: Raw) -> bytes:
    try:
        return bytes(opened(params).get("requestId", NOTHING))
    except ValueError:
        return b""


REOPENED_AFTER_MS = 1000  # if the server sends no `retry`
SHORTEST_PAUSE_S, LONGEST_PAUSE_S = 0.1, 60.0
SERVER_ERROR = 500


class StandingStream:
    """The stream for messages that belong to no request. `run` keeps it open until the server does not offer one or the session is over."""

    def __init__(self, session: UpstreamHttpSession) -> None:
        self._session = session
        self._last_event_id, self._retry_ms = "", REOPENED_AFTER_MS
        self._was_open = False
        self._fruitless = 0  # attempts in a row without an event

    async def run(self) -> None:
        while await self._listen():
            pause_s = max(self._retry_ms / 1000, SHORTEST_PAUSE_S) * 2**self._fruitless
            self._fruitless = min(self._fruitless + 1, 10)
            await asyncio.sleep(min(pause_s, LONGEST_PAUSE_S))

    async def _listen(self) -> bool:
        """Reads the stream and returns whether to reopen it."""
        try:
            return await self._listen_once()
        except ExchangeFailed as failed:
            if failed.is_unreachable:
                self._session.lose(failed.reason)
            return not failed.is_unreachable

    async def _listen_once(self) -> bool:
        headers = {"Accept": MEDIA_TYPE, **self._session.headers()}
        if self._last_event_id:
            headers[LAST_EVENT_HEADER] = self._last_event_id
        async with self._session.connection.exchange("GET", headers, is_optional=True) as response:
            if response.status == 200 and is_event_stream(response):
                self._was_open = True
                reader = EventReader()
                with intake(response, self._session.dispatcher.unsent.all) as holds:
                    async for chunk in response.content.iter_any():
                        self._take(reader, chunk)
                        await holds(reader.waiting_bytes)
                return True
            body = await read_error_body(response)
            if self._was_open and self._session.id and is_lost_session(response.status, body):
                self._session.expire()
            elif response.status < SERVER_ERROR:
                logger.debug("server '%s' offers no standing stream (HTTP %d)", self._session.server, response.status)
            return response.status >= SERVER_ERROR

    def _take(self, reader: EventReader, chunk: bytes) -> None:
        for event in reader.feed(chunk):
            self._fruitless = 0
            self._last_event_id = self._last_event_id if event.id is None else event.id
            self._retry_ms = self._retry_ms if event.retry_ms is None else event.retry_ms
            if event.data and event.type == "message":
                self._session.dispatcher.receive(event.data)
