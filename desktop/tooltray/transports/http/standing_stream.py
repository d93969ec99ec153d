"""The standing stream of a legacy session: a GET for messages that belong to no request, open as long as the session.

Above it: http_transport. Below it: UpstreamHttpSession. Servers need not offer one.
"""

import asyncio
import logging

from tooltray.protocol.event_stream import MEDIA_TYPE, EventReader
from tooltray.transports.http.http_connections import read_error_body
from tooltray.transports.http.http_failures import ExchangeFailed
from tooltray.transports.http.intake import intake
from tooltray.transports.http.upstream_session import LAST_EVENT_HEADER, UpstreamHttpSession, is_event_stream

logger = logging.getLogger(__name__)
REOPENED_AFTER_MS = 1000  # if the server sends no `retry`
SHORTEST_PAUSE_S, LONGEST_PAUSE_S = 0.1, 60.0
NOT_FOUND, SERVER_ERROR = 404, 500


class StandingStream:
    """`run` keeps the stream open until the server does not offer one or the session is over."""

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
        async with self._session.connection.exchange("GET", headers) as response:
            if response.status == 200 and is_event_stream(response):
                self._was_open = True
                reader = EventReader()
                with intake(response, self._session.dispatcher.unsent.all) as holds:
                    async for chunk in response.content.iter_any():
                        self._take(reader, chunk)
                        await holds(reader.waiting_bytes)
                return True
            await read_error_body(response)
            if response.status == NOT_FOUND and self._was_open and self._session.id:
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
