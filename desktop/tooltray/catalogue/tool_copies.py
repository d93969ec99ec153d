"""The tools of instances for one session or for another era, which may differ from the first instance's tools. These instances are asked
when a client that has them lists, and before a call that must not rely on an old list.
"""

import asyncio
import math
from collections.abc import Iterable, Mapping
from weakref import WeakKeyDictionary

import msgspec
from msgspec import Raw

from tooltray.catalogue.definition import ToolDefinition, read_definitions
from tooltray.catalogue.list_pages import list_all
from tooltray.catalogue.offer import TOOLS, OfferKind
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.events import EventBus
from tooltray.protocol.eras import Era
from tooltray.servers.upstream.managed_server import ManagedServer, ServerNotified
from tooltray.servers.upstream.mcp_client import McpClient
from tooltray.servers.upstream.server_manager import ServerManager


class _Copy(msgspec.Struct):
    """The listed tools of one instance.

    Attributes:
        tools: by name; None while it was never listed.
        is_current: the instance has not announced changed tools since it was listed.
        asked_at: the loop time at which it was last asked.
    """

    tools: Mapping[str, ToolDefinition] | None = None
    is_current: bool = False
    asked_at: float = -math.inf
    lock: asyncio.Lock = msgspec.field(default_factory=asyncio.Lock)


class ToolCopies:
    """The tools of instances for a session or an era. Belongs to the engine's loop."""

    def __init__(self, *, servers: ServerManager, bus: EventBus) -> None:
        self._servers = servers
        self._copies: WeakKeyDictionary[McpClient, _Copy] = WeakKeyDictionary()
        self.are_any = False  # whether such an instance was ever asked; in most hubs none was, so calls skip the rest
        bus.subscribe(ServerNotified, self._on_server_notified)

    def tool(self, client: McpClient, name: str) -> ToolDefinition | None:
        """Returns a tool as an instance last listed it."""
        copy = self._copies.get(client)
        return (copy.tools or {}).get(name) if copy else None

    def tool_of_any(self, server: str, name: str) -> ToolDefinition | None:
        """Returns a tool as some instance of a server last listed it."""
        found = (self.tool(client, name) for client in self._copies if client.name == server)
        return next((definition for definition in found if definition), None)

    def is_outdated(self, client: McpClient) -> bool:
        """Reports whether an instance has announced changed tools since it was listed."""
        copy = self._copies.get(client)
        return copy is not None and copy.tools is not None and not copy.is_current

    def _on_server_notified(self, event: ServerNotified) -> None:
        if event.method == TOOLS.changed and (copy := self._copies.get(event.client)):
            copy.is_current = False

    async def look(self, client: McpClient, *, max_age_s: float) -> None:
        """Asks an instance for its tools, unless it was asked less than `max_age_s` ago and has announced nothing since; simultaneous
        callers share the answer.
        """
        copy = self._copy_of(client)
        async with copy.lock:
            if not copy.is_current or asyncio.get_running_loop().time() - copy.asked_at >= max_age_s:
                await self._ask(client, copy)

    def _copy_of(self, client: McpClient) -> _Copy:
        self.are_any = True
        return self._copies.setdefault(client, _Copy())

    async def of_shared(self, client: McpClient) -> Mapping[str, ToolDefinition] | None:
        """Returns the tools of an instance that serves the clients of another era; it is asked once, and again after it announces a change.
        None if it fails to list.
        """
        await self.look(client, max_age_s=math.inf)
        return self._copy_of(client).tools

    async def listed(self, client: McpClient) -> list[ToolDefinition] | None:
        """Returns the tools that an instance offers now; None if it fails to list."""
        return await self._ask(client, self._copy_of(client))

    async def _ask(self, client: McpClient, copy: _Copy) -> list[ToolDefinition] | None:
        copy.is_current, copy.asked_at = True, asyncio.get_running_loop().time()
        try:
            server = self._servers.get(client.name)
            definitions, _ = read_tools(TOOLS, await list_all(client, TOOLS.method, TOOLS.member), server, client)
        except TooltrayError:
            copy.is_current = False
            return None
        copy.tools = {definition.name: definition for definition in definitions}
        return list(definitions)


def read_tools(
    kind: OfferKind, raws: Iterable[Raw], server: ManagedServer, client: McpClient | None
) -> tuple[tuple[ToolDefinition, ...], tuple[str, ...]]:
    """Returns the usable tools of a server's list, and remarks on the rest, for ServerLists."""
    is_modern = client is not None and client.era is Era.MODERN
    needs_headers = is_modern and server.config.transport == "http"  # calls repeat arguments in them
    found = read_definitions(raws, needs_headers=needs_headers, is_modern=is_modern)
    return found.tools, found.remarks
