"""The way of a request to one server and of its reply back: the right connection, opened if needed, and a bridge between different eras."""

import time
from collections.abc import Callable, Coroutine
from functools import partial

from tooltray.foundation.errors import TooltrayError
from tooltray.protocol import eras
from tooltray.protocol.envelope import CONNECTION_CLOSED, NOT_DELIVERED, Envelope, NotDelivered, failure
from tooltray.protocol.eras import LOG_LEVEL_KEY, Era
from tooltray.protocol.sessions.exchange import Exchange
from tooltray.servers.relay.input_required import answer_in_place, answer_in_rounds, needs_user
from tooltray.servers.relay.log_levels import LogLevels
from tooltray.servers.upstream.lifecycle_recorder import CLIENT, caused_by
from tooltray.servers.upstream.managed_server import ManagedServer
from tooltray.servers.upstream.mcp_client import McpClient

CALL_TIMEOUT_S = 600.0  # without progress; a server's own `callTimeout` goes before it
MAX_SENDS = 3  # of a request that its server did not take: a server that is reached again may be lost once more before it stays
START_WAIT_S = 20.0  # how long a call waits for its server


class ServerRelay:
    """The sender of requests to servers. Has no state of its own."""

    def __init__(self, *, is_paused: Callable[[], bool], log_levels: LogLevels, start_wait_s: float = START_WAIT_S) -> None:
        """
        Args:
            is_paused: whether the user has paused everything.
            log_levels: the levels that clients set, which each era expresses in its own way.
            start_wait_s: how long a call waits for its server.
        """
        self._is_paused, self._log_levels, self._start_wait_s = is_paused, log_levels, start_wait_s

    @property
    def is_paused(self) -> bool:
        return self._is_paused()

    async def send_with_retry(self, managed: ManagedServer, exchange: Exchange, *, timeout_s: float | None = None) -> Envelope:
        """Sends a request to a server and returns its reply, or an error with the reason why there was no reply.

        A request that the server certainly did not take is sent again: the connection was lost, or the server had dropped our session,
        which is being opened again.

        Args:
            timeout_s: how long the reply may take without progress; None: as long as the server's settings say.
        """
        if self._is_paused():
            return paused()
        reply: Envelope = NOT_DELIVERED
        for _ in range(MAX_SENDS):
            managed.is_used = True  # a tool listing that started it must not end it
            try:
                client = managed.client_for(exchange.era, exchange.caller.session) or await self._open(managed, exchange)
            except TooltrayError as error:
                return failure(CONNECTION_CLOSED, exchange.session.state.words(error))
            course, began_at = exchange.course, time.perf_counter()
            asked_s = course.person_s or 0.0
            limit_s = timeout_s or managed.config.call_timeout or CALL_TIMEOUT_S
            try:
                reply = await self._send(client, exchange, limit_s)
                if reply.error and needs_user(client, exchange, reply):
                    reply = await answer_in_place(client, exchange, timeout_s=limit_s)
            finally:
                course.add_server_time(began_at, asked_s)
            if not isinstance(reply, NotDelivered):
                break
        return reply

    async def _open(self, managed: ManagedServer, exchange: Exchange) -> McpClient:
        with exchange.course.at_start(), caused_by(CLIENT, exchange.session.state.client or exchange.client):
            return await managed.running(exchange.era, timeout_s=self._start_wait_s, session=exchange.session)

    def _send(self, client: McpClient, exchange: Exchange, timeout_s: float) -> Coroutine[object, None, Envelope]:
        """Sends a request unchanged if client and server speak the same era and it names no log level; else through the bridge."""
        if exchange.era is client.era and (exchange.era is Era.LEGACY or not exchange.head.meta.log_level):
            sending = client.call(exchange, timeout_s=timeout_s)
            return sending if exchange.wraps_content is None else _with_content_of_legacy(sending)
        return self._send_bridged(client, exchange, timeout_s)

    async def _send_bridged(self, client: McpClient, exchange: Exchange, timeout_s: float) -> Envelope:
        client.usage.begin()  # also before the call and between its rounds
        try:
            if exchange.era is Era.LEGACY:
                return await self._send_to_modern(client, exchange, timeout_s)
            async with self._log_levels.during(exchange, client):
                if client.era is Era.MODERN:
                    return await client.call(exchange, timeout_s=timeout_s)
                return await exchange.held.run(partial(client.call, timeout_s=timeout_s), exchange, owner=client.name)
        finally:
            client.usage.end()

    async def _send_to_modern(self, client: McpClient, exchange: Exchange, timeout_s: float) -> Envelope:
        if level := self._log_levels.of(exchange.session):
            exchange.request.params = eras.with_meta(exchange.request.params, {LOG_LEVEL_KEY: level})
        return await answer_in_rounds(client, exchange, timeout_s=timeout_s)


async def _with_content_of_legacy(sending: Coroutine[object, None, Envelope]) -> Envelope:
    reply = await sending
    if reply.result:
        reply.result = eras.with_content_of_legacy(reply.result)
    return reply


def paused() -> Envelope:
    """Returns the error that AI clients get while everything is paused."""
    return failure(CONNECTION_CLOSED, "Tooltray is paused. Ask the person to go on in Tooltray's tray menu.")
