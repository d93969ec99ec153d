"""Lazy servers that a test scripts, and clients that list, activate and call."""

import contextlib
import re
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

from msgspec import Raw
from tests.fakes.exchanges import exchange_of
from tests.fakes.hub_parts import MODERN_META, Client, HubParts, entry, hub_parts, opened
from tests.fakes.scripted_server import ScriptedServer, tool

from tooltray.protocol.envelope import Envelope, dump

TOOLS, PROMPTS, RESOURCES = (f"notifications/{kind}/list_changed" for kind in ("tools", "prompts", "resources"))
SEARCH = ["find_tools", "describe_tools", "call_tool"]
PROMPT, RESOURCE, TEMPLATE = {"name": "p"}, {"uri": "x://1", "name": "r"}, {"uriTemplate": "x://t/{id}", "name": "t"}


def rich(*tools: dict[str, Any]) -> ScriptedServer:
    """A server that offers one of everything else, too."""
    program = ScriptedServer(*tools)
    capabilities = {"tools": {}, "prompts": {}, "resources": {"subscribe": True}}
    greeting = {"protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": {"name": "s", "version": "1"}}
    program.handlers |= {
        "initialize": lambda copy, params: greeting,
        "prompts/list": lambda copy, params: {"prompts": [PROMPT]},
        "prompts/get": lambda copy, params: {"messages": [params["name"]]},
        "resources/list": lambda copy, params: {"resources": [RESOURCE]},
        "resources/templates/list": lambda copy, params: {"resourceTemplates": [TEMPLATE]},
        "resources/read": lambda copy, params: {"contents": [{"uri": params["uri"], "text": "read"}]},
        "resources/subscribe": lambda copy, params: {},
        "completion/complete": lambda copy, params: {"completion": {"values": ["v"]}},
    }
    return program


def six(first: str = "t") -> ScriptedServer:
    return ScriptedServer(*(tool(f"{first}{number}", description=f"Does {number}") for number in range(6)))


def lazy(**programs: ScriptedServer) -> dict[str, Any]:
    """Servers that are lazy, named as their programs; `open` is not."""
    servers = {name: entry(name, lazyLoad=name != "open") for name in programs}
    return {"servers": servers, "programs": programs}


class Follower:
    """A client that notes what it is told of its lists."""

    def __init__(self, parts: HubParts, **options: Any) -> None:
        self.client: Client = parts.client(**options)
        self.client.state.id = f"s{id(self)}"
        self.news: list[str] = []
        self.end: Callable[[], None] = parts.notifications.follow_lists(self.client, self.news.append)

    def take(self) -> list[str]:
        news, self.news[:] = list(self.news), []
        return news


async def ready(parts: HubParts, *names: str) -> None:
    for name in names:
        await parts.servers.start(name)
        await parts.tools.listed(parts.servers.get(name)).wait()
        await parts.offers.listed(parts.servers.get(name)).wait()


@contextlib.asynccontextmanager
async def ready_parts(root: Path, *names: str, **options: Any) -> AsyncIterator[HubParts]:
    """A hub whose servers of these names run and are listed; `s` if none is named."""
    async with hub_parts(root, **options) as parts:
        await ready(parts, *(names or ("s",)))
        yield parts


async def answered(
    parts: HubParts, method: str, client: Client, *, is_modern: bool = False, id: bytes = b"1", **params: Any
) -> dict[str, Any]:
    if is_modern:
        params["_meta"] = MODERN_META
    request = Envelope(id=Raw(id), method=method, params=dump(params))
    return opened(await parts.router.answer(exchange_of(request, client, server=client.state.server)))


async def names_of(parts: HubParts, client: Client) -> list[str]:
    return [each["name"] for each in (await answered(parts, "tools/list", client))["result"]["tools"]]


async def described(parts: HubParts, client: Client, name: str) -> str:
    listed = (await answered(parts, "tools/list", client))["result"]["tools"]
    return str(next(each["description"] for each in listed if each["name"] == name))


async def called(parts: HubParts, client: Client, name: str, /, *, is_modern: bool = False, **arguments: Any) -> dict[str, Any]:
    reply = await answered(parts, "tools/call", client, name=name, arguments=arguments, is_modern=is_modern)
    return dict(reply["result"])


async def activated(parts: HubParts, client: Client, server: str = "serena", name: str = "") -> tuple[str, list[str]]:
    """What the answer to an activation begins with, and the tools in it."""
    text = said(await called(parts, client, name or f"activate_{server}"))
    return text.splitlines()[0], signed(text)


async def found(parts: HubParts, client: Client, query: str, name: str = "find_tools", **arguments: Any) -> list[str]:
    """The tools that a search finds."""
    return signed(said(await called(parts, client, name, query=query, **arguments)))


def signed(text: str) -> list[str]:
    """The names of the tools in a text that has their signatures."""
    return re.findall(r"^([\w.-]+)\(", text, re.MULTILINE)


def said(result: dict[str, Any]) -> str:
    return str(result["content"][0]["text"])
