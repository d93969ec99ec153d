"""Lists servers again before a name counts as unknown: many servers get new tools, prompts or templates and announce nothing. A client that
calls invalid names must not make the hub list in a loop: the same name is looked up again only after a while, a server is listed at most
once a second, and simultaneous lookups share one listing.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import Any

import msgspec

from tooltray.catalogue.offer import OfferKind
from tooltray.catalogue.server_lists import ServerLists
from tooltray.config.naming.name_space import has_prefix
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.tasks import Spawn
from tooltray.servers.transports.transport_table import is_remote
from tooltray.servers.upstream.managed_server import ManagedServer
from tooltray.servers.upstream.mcp_client import McpClient
from tooltray.servers.upstream.server_manager import ServerManager

WITHIN_S = 3.0  # servers list in milliseconds; most unknown names are a model's mistakes, whose answers wait for this
NAME_AGAIN_AFTER_S = 5.0  # a model that gets "unknown" tries again at once, or much later
PAUSE_S = 1.0  # between two lists of one server; an earlier lookup waits for the next one
MOST_NAMES = 1024  # remembered names, some 100 bytes each; beyond this limit, a name may be looked up again too soon


class LookPatience(msgspec.Struct, frozen=True):
    """Limits of second looks, all in seconds.

    Attributes:
        within_s: how long the answer "unknown" waits.
        name_again_after_s: the same name is not looked up again sooner.
        pause_s: a server is not listed again sooner.
    """

    within_s: float = WITHIN_S
    name_again_after_s: float = NAME_AGAIN_AFTER_S
    pause_s: float = PAUSE_S


class SecondLooks:
    """Listings of servers for unknown names. Belongs to the engine's loop."""

    def __init__(self, *, servers: ServerManager, lists: ServerLists[Any], patience: LookPatience, spawn: Spawn) -> None:
        self._servers, self._lists, self._patience, self._spawn = servers, lists, patience, spawn
        self._looking: dict[tuple[ManagedServer, OfferKind], asyncio.Task[None]] = {}
        self._names: dict[int, float] = {}  # the loop time at which each name was looked up, the oldest first

    def is_due(self, kind: OfferKind, name: str, server: str | None = None) -> bool:
        """Reports whether a name was not looked up recently, and records the lookup. `server`: the name is this server's own."""
        now, key = asyncio.get_running_loop().time(), hash((kind.name, name, server))
        if now - self._names.get(key, -self._patience.name_again_after_s) < self._patience.name_again_after_s:
            return False
        self._names.pop(key, None)
        self._names[key] = now
        if len(self._names) > MOST_NAMES:
            del self._names[next(iter(self._names))]
        return True

    def likely(self, kind: OfferKind, name: str, *, is_reached: Callable[[str], bool]) -> Iterator[ManagedServer]:
        """Returns the servers that may have an unknown name.

        The name begins with the server's, changes of its lists may not reach the hub, it is being started again, or it is about to list for
        the first time. For a name that was looked up recently, only servers before their first list are returned.

        Args:
            is_reached: whether the session may use a server, by its name.
        """
        is_due = self.is_due(kind, name)
        for server in self._servers:
            client = server.client
            may_differ = server.status.is_busy if client is None else has_prefix(name, server.name) or not _announces(server, client, kind)
            if ((is_due and may_differ) or self._lists.is_expected(server)) and not server.is_builtin and is_reached(server.name):
                yield server

    async def look(self, kind: OfferKind, servers: Iterable[ManagedServer], is_found: Callable[[], Awaitable[bool]]) -> None:
        """Lists servers again until `is_found` holds. Bounded in time."""
        now = asyncio.get_running_loop().time
        ends_at = now() + self._patience.within_s
        looks = {self._look_at(server, kind) for server in servers}
        while looks and (rest_s := ends_at - now()) > 0:
            done, looks = await asyncio.wait(looks, timeout=rest_s, return_when=asyncio.FIRST_COMPLETED)
            if done and await is_found():
                return

    def _look_at(self, server: ManagedServer, kind: OfferKind) -> "asyncio.Task[None]":
        key = server, kind
        if key not in self._looking:
            self._looking[key] = self._spawn(self._list_again(server, kind), name=f"list '{server.name}' again")
        return self._looking[key]

    async def _list_again(self, server: ManagedServer, kind: OfferKind) -> None:
        try:
            if self._lists.is_expected(server):
                await self._lists.listed(server).wait()
            else:
                client = server.client
                if client:
                    await asyncio.sleep(self._patience.pause_s - self._lists.age_s(server, kind))
                    await self._lists.look(server, (kind,))
                is_lost = client is not None and client.dispatcher.is_closed and not server.refusal
                if (first := server.first) and (first.status.is_busy or is_lost):
                    with contextlib.suppress(TooltrayError):
                        await first.running(timeout_s=self._patience.within_s)
                        await self._lists.look(server, (kind,), max_age_s=self._patience.within_s)
        finally:
            del self._looking[server, kind]


async def never() -> bool:
    """Ends no look: each of its servers is listed. For looks that are about no name."""
    return False


def _announces(server: ManagedServer, client: McpClient, kind: OfferKind) -> bool:
    """Reports whether a server has promised to announce changes of such a list, over a connection that loses no announcement.

    A remote server may have been restarted since: with other tools, and without a message to its earlier sessions.
    """
    if is_remote(server.config.transport):
        return False
    declared = kind.declared(client.greeting.capabilities)
    return isinstance(declared, dict) and declared.get("listChanged") is True
