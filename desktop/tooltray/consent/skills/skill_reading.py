"""Reads a skill's own text from its server, for the person, whom the hub itself stands for.

Above it: SkillsApi. Below it: ServerRelay. What AI clients read of skills passes Skills.
"""

from msgspec import Raw

from tooltray.protocol.envelope import Envelope, dump, load
from tooltray.protocol.eras import Head
from tooltray.protocol.sessions.caller import OwnCaller
from tooltray.protocol.sessions.exchange import Exchange
from tooltray.servers.relay.held_calls import HeldCalls
from tooltray.servers.relay.relay import ServerRelay
from tooltray.servers.upstream.server_manager import ServerManager


class SkillReading:
    """Has no state of its own."""

    def __init__(self, *, servers: ServerManager, relay: ServerRelay, caller: OwnCaller, held: HeldCalls) -> None:
        self._servers, self._relay, self._caller, self._held = servers, relay, caller, held

    async def result(self, server: str, uri: str) -> Raw:
        """The result of `resources/read`.

        Args:
            uri: as the server has it.

        Raises:
            ReadingFailed: its server refused, with its own words.
        """
        request = Envelope(method="resources/read", params=dump({"uri": uri}))
        exchange = Exchange(request, Head(), self._caller, self._held, None, self._caller.name)
        reply = await self._relay.send_with_retry(self._servers.get(server), exchange)
        if reply.error:
            error = load(reply.error)
            raise ReadingFailed(str(error.get("message", "")) if isinstance(error, dict) else "")
        return reply.result


class ReadingFailed(Exception):
    """What a server says when it does not give a skill."""
