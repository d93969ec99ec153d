"""`completion/complete` over all servers: to the one whose prompt or resource is being filled in, under its own name for it.

Above it: McpPresenter. Below it: PromptManager and ResourceManager, which know whose it is, and ServerRelay.
"""

from collections.abc import Callable

from msgspec import Raw

from tooltray.catalogue.prompt_manager import PromptManager
from tooltray.catalogue.resource_manager import ResourceManager, anybody
from tooltray.protocol import eras
from tooltray.protocol.envelope import INVALID_PARAMS, METHOD_NOT_FOUND, Envelope, dump, failure, load
from tooltray.protocol.member_scanner import closed, opened
from tooltray.protocol.sessions.exchange import Exchange
from tooltray.protocol.sessions.own_results import own_result
from tooltray.servers.relay.relay import ServerRelay
from tooltray.servers.upstream.server_manager import ServerManager

NO_VALUES = Raw(b'{"completion":{"values":[]}}')
PROMPT, RESOURCE = "ref/prompt", "ref/resource"
_KEYS = {PROMPT: "name", RESOURCE: "uri"}  # the member of a reference that says which one


class Completion:
    """Has no state of its own."""

    def __init__(self, *, servers: ServerManager, prompts: PromptManager, resources: ResourceManager, relay: ServerRelay) -> None:
        self._servers, self._prompts, self._resources, self._relay = servers, prompts, resources, relay

    async def complete(self, exchange: Exchange, *, is_reached: Callable[[str], bool] = anybody) -> Envelope:
        """Carries one `completion/complete` of an AI client to the right server; one that completes nothing has no values to offer.

        Args:
            is_reached: whether the session may have anything of a server, by its name.
        """
        request = exchange.request
        ref, kind, name = _read_ref(request.params)
        if not kind:
            return failure(INVALID_PARAMS, "Invalid request parameters: they refer to nothing that could be completed")
        find = self._prompts.target if kind == PROMPT else self._resources.completion_target
        target = await find(name, is_reached=is_reached)
        managed = self._servers.find(target[0]) if target and is_reached(target[0]) else None
        if managed is None or target is None:
            return failure(INVALID_PARAMS, f"Unknown {'prompt' if kind == PROMPT else 'resource'}: {name}")
        if name != target[1]:
            request.params = eras.with_members(request.params, ref=closed({**ref, _KEYS[kind]: dump(target[1])}))
        reply = await self._relay.send_with_retry(managed, exchange)
        return _no_values(exchange) if _says_unknown(reply) else reply


def _read_ref(params: Raw) -> tuple[dict[str, Raw], str, str]:
    """The reference, what it refers to, and its name or URI; empty where it is none."""
    try:
        ref = opened(opened(params)["ref"])
        kind = load(ref["type"])
        name = load(ref[_KEYS[kind]])
    except (KeyError, TypeError, ValueError):
        return {}, "", ""
    return (ref, kind, name) if isinstance(name, str) else ({}, "", "")


def _says_unknown(reply: Envelope) -> bool:
    """Whether the server does not know the method; the AI client was told that it may ask, because others do."""
    return bool(reply.error) and load(opened(reply.error)["code"]) == METHOD_NOT_FOUND


def _no_values(exchange: Exchange) -> Envelope:
    return own_result(exchange.request.method, NO_VALUES, exchange.era)
