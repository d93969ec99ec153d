"""A server that offers one of everything, and what a client is answered to any request of it."""

from typing import Any

from msgspec import Raw
from tests.fakes.exchanges import exchange_of
from tests.fakes.hub_parts import MODERN_META, Client, HubParts, opened
from tests.fakes.scripted_server import ScriptedServer, tool

from tooltray.protocol.envelope import Envelope, dump

EVERYTHING = {"tools": {}, "prompts": {}, "resources": {"subscribe": True}, "logging": {}, "completions": {}}
PROMPT, RESOURCE, TEMPLATE = {"name": "p"}, {"uri": "x://1", "name": "r"}, {"uriTemplate": "x://t/{id}", "name": "t"}


def server_with(capabilities: Any = EVERYTHING, *, eras: tuple[str, ...] = ("legacy",)) -> ScriptedServer:
    """A server that offers one of everything."""
    program = ScriptedServer(tool("t"), eras=eras)
    greeting = {"protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": {"name": "s", "version": "1"}}
    discovered = {
        "resultType": "complete",
        "supportedVersions": ["2026-07-28"],
        "capabilities": capabilities,
        "ttlMs": 0,
        "cacheScope": "private",
    }
    if "legacy" in eras:
        program.handlers["initialize"] = lambda copy, params: greeting
    if "modern" in eras:
        program.handlers["server/discover"] = lambda copy, params: discovered
    program.handlers |= {
        "prompts/list": lambda copy, params: {"prompts": [PROMPT]},
        "prompts/get": lambda copy, params: {"messages": [params["name"]]},
        "resources/list": lambda copy, params: {"resources": [RESOURCE]},
        "resources/templates/list": lambda copy, params: {"resourceTemplates": [TEMPLATE]},
        "resources/read": lambda copy, params: {"contents": [{"uri": params["uri"], "text": "read"}]},
        "resources/subscribe": lambda copy, params: {"subscribed": 1},
        "resources/unsubscribe": lambda copy, params: {},
        "logging/setLevel": lambda copy, params: {},
        "completion/complete": lambda copy, params: {"completion": {"values": [params["ref"]["name"]]}},
        "later/method": lambda copy, params: {"later": params},
    }
    return program


async def answered(
    parts: HubParts, method: str, client: Client | None = None, *, server: str | None = None, is_modern: bool = False, **params: Any
) -> dict[str, Any]:
    client = client or parts.client()
    if is_modern:
        params["_meta"] = MODERN_META
    request = Envelope(id=Raw(b"1"), method=method, params=dump(params))
    return opened(await parts.router.answer(exchange_of(request, client, server=server)))


async def ready(parts: HubParts) -> None:
    await parts.servers.start("s")
    await parts.offers.listed(parts.servers.get("s")).wait()
