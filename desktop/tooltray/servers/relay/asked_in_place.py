"""Calls on a modern server that needs answers which their AI client cannot give: the person at this machine gives them, in place.

A modern server sees what the client declared, and refuses the call if that lacks elicitation. Only then, and only where a window shows
questions, the hub makes the call again in the name of a client that has both kinds of forms; the person is asked, and the client gets the
result. Where nobody can be asked the refusal stays as it is. Sampling needs a model, which the hub has none of.

Above it: ServerRelay. Below it: asked_calls, McpClient, which knows the person.
"""

import msgspec
from msgspec import Raw

from tooltray.protocol import eras
from tooltray.protocol.envelope import NOTHING, Envelope, dump, failure
from tooltray.protocol.eras import CLIENT_CAPABILITIES_KEY, MISSING_CLIENT_CAPABILITY, Era, error_code
from tooltray.protocol.member_scanner import opened
from tooltray.protocol.sessions.caller import MAY_ASK, Caller, Question, Session, can_be_asked, lacking
from tooltray.protocol.sessions.exchange import Exchange
from tooltray.servers.relay import asked_calls
from tooltray.servers.upstream.mcp_client import ELICITATION, NO_CLIENT_TO_ASK, McpClient

FORMS = dump({"form": {}, "url": {}})


class _Data(msgspec.Struct):
    required: dict[str, Raw] = msgspec.field(name="requiredCapabilities", default_factory=dict)


class _Error(msgspec.Struct):
    data: _Data = msgspec.field(default_factory=_Data)


class InPlace:
    """The client with the person beside it (a Caller)."""

    def __init__(self, server: McpClient, exchange: Exchange) -> None:
        self._server, self._exchange = server, exchange
        self._own = exchange.head.meta.capabilities if exchange.era is Era.MODERN else exchange.caller.capabilities
        self.capabilities = eras.with_members(self._own, elicitation=FORMS)

    @property
    def _client(self) -> Caller:
        return self._exchange.caller

    @property
    def session(self) -> Session:
        return self._client.session

    def can_answer(self, method: str) -> bool:
        return can_be_asked(method, self.capabilities)

    async def ask(self, method: str, params: Raw, *, about: Raw = NOTHING) -> Envelope:
        if self._exchange.era is Era.LEGACY and not lacking(Question(method, params), self._own):
            return await self._client.ask(method, params, about=about)
        if method != ELICITATION:
            return failure(NO_CLIENT_TO_ASK, f"{method} cannot be answered during a call that waits for the person at this machine")
        return await self._server.ask_person(self._exchange, params)

    def tell(self, method: str, params: Raw, *, about: Raw = NOTHING) -> None:
        self._client.tell(method, params, about=about)


def is_wanted(server: McpClient, exchange: Exchange, reply: Envelope) -> bool:
    """Whether a reply refuses for want of elicitation alone, which the person can do in the client's place."""
    if exchange.request.method not in MAY_ASK or server.era is not Era.MODERN or not server.has_person:
        return False
    if error_code(reply.error) != MISSING_CLIENT_CAPABILITY:
        return False
    try:
        missing = msgspec.json.decode(reply.error, type=_Error).data.required
        opened(exchange.head.meta.capabilities if exchange.era is Era.MODERN else exchange.caller.capabilities)
    except (ValueError, RecursionError):
        return False
    return missing.keys() == {"elicitation"}


async def answered(server: McpClient, exchange: Exchange, *, timeout_s: float) -> Envelope:
    """Makes a refused call again, until the server no longer asks."""
    in_place = exchange.child(caller=InPlace(server, exchange))
    if exchange.era is Era.MODERN:
        added = {CLIENT_CAPABILITIES_KEY: in_place.caller.capabilities}
        exchange.request.params = eras.with_meta(exchange.request.params, added)
    server.usage.begin()  # also between its rounds
    try:
        return await asked_calls.answered(server, in_place, timeout_s=timeout_s)
    finally:
        server.usage.end()
