"""The way of a request to one server and of its reply back: the right copy, started if need be, and the join where eras differ.

Above it: ToolManager, PromptManager, ResourceManager and the router, which know where a request goes. Below it: ManagedServer, McpClient,
and the calls across eras.
"""

from collections.abc import Callable

from tooltray.errors import TooltrayError
from tooltray.protocol import eras
from tooltray.protocol.envelope import CONNECTION_CLOSED, Envelope, NotDelivered, failure
from tooltray.protocol.eras import Era, Head
from tooltray.protocol.protocol import LOG_LEVEL_KEY
from tooltray.sessions.caller import Caller
from tooltray.upstream import asked_calls
from tooltray.upstream.held_calls import HeldCalls
from tooltray.upstream.log_levels import LogLevels
from tooltray.upstream.managed_server import ManagedServer
from tooltray.upstream.mcp_client import McpClient

CALL_TIMEOUT_S = 600.0  # without progress; a server's own `callTimeout` goes before it
SENT_AGAIN = 2  # times that a request is, which a server did not take: one that comes back may go once more before it stays
START_WAIT_S = 20.0  # how long a call waits for its server


class Relay:
    """Has no state of its own."""

    def __init__(self, *, is_paused: Callable[[], bool], log_levels: LogLevels, start_wait_s: float = START_WAIT_S) -> None:
        """
        Args:
            is_paused: whether the person has paused everything.
            log_levels: what clients asked for, which each era says in its own way.
            start_wait_s: how long a call waits for its server.
        """
        self._is_paused, self._log_levels, self._start_wait_s = is_paused, log_levels, start_wait_s

    @property
    def is_paused(self) -> bool:
        return self._is_paused()

    async def to(self, managed: ManagedServer, request: Envelope, head: Head, caller: Caller, held: HeldCalls) -> Envelope:
        """Carries a request to a server and returns its reply, or an error that says why there is none."""
        if self._is_paused():
            return paused()
        reply = await self._once(managed, request, head, caller, held)
        for _ in range(SENT_AGAIN):
            if not isinstance(reply, NotDelivered):  # else it was gone, or had forgotten our session, and is being opened anew
                break
            reply = await self._once(managed, request, head, caller, held)
        return reply

    async def _once(self, managed: ManagedServer, request: Envelope, head: Head, caller: Caller, held: HeldCalls) -> Envelope:
        managed.is_used = True  # whoever started it to list it is not to end it
        client = managed.client_for(head.era, caller.session)
        if client is None:
            try:
                client = await managed.running(head.era, timeout_s=self._start_wait_s, session=caller.session)
            except TooltrayError as error:
                return failure(CONNECTION_CLOSED, str(error))
        return await self._over(client, request, head, caller, held, timeout_s=managed.config.call_timeout or CALL_TIMEOUT_S)

    async def _over(
        self, client: McpClient, request: Envelope, head: Head, caller: Caller, held: HeldCalls, *, timeout_s: float
    ) -> Envelope:
        if head.era is client.era and (head.era is Era.LEGACY or not head.meta.log_level):
            return await client.call(request, head, caller, timeout_s=timeout_s)
        client.usage.begin()  # also before the call and between its rounds
        try:
            return await self._joined(client, request, head, caller, held, timeout_s=timeout_s)
        finally:
            client.usage.end()

    async def _joined(
        self, client: McpClient, request: Envelope, head: Head, caller: Caller, held: HeldCalls, *, timeout_s: float
    ) -> Envelope:
        """A call that needs more than to be sent on: a log level for its time, or the join of the eras."""
        if head.era is client.era:
            async with self._log_levels.during(head, caller.session, client):
                return await client.call(request, head, caller, timeout_s=timeout_s)
        if head.era is Era.MODERN:
            async with self._log_levels.during(head, caller.session, client):
                return await held.relay(client, request, head, caller, timeout_s=timeout_s)
        if level := self._log_levels.of(caller.session):
            request.params = eras.with_meta(request.params, {LOG_LEVEL_KEY: level})
        return await asked_calls.relay(client, request, head, caller, timeout_s=timeout_s)


def paused() -> Envelope:
    """What an AI client reads while everything is paused."""
    return failure(CONNECTION_CLOSED, "Tooltray is paused. Ask the person to go on in Tooltray's tray menu.")
