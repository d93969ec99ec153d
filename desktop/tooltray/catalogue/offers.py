"""What every server offers besides tools (prompts, resources and resource templates), and the announcements of changes. The module does not
know the names and URIs that AI clients see.
"""

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Raw

from tooltray.catalogue.offer import KINDS, PROMPTS, Offer, OfferKind, read_offers
from tooltray.catalogue.server_lists import ServerLists
from tooltray.foundation.errors import Problem
from tooltray.foundation.events import EventBus, PromptListChanged, ResourceListChanged
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.servers.upstream.managed_server import ManagedServer
from tooltray.servers.upstream.mcp_client import McpClient
from tooltray.servers.upstream.server_manager import ServerManager

Offered = tuple[Offer, ...]
NOTHING_OFFERED: Mapping[OfferKind, Offered] = dict.fromkeys(KINDS, ())


class Offers:
    """What all servers offer besides tools. Belongs to the engine's loop.

    Attributes:
        resource_changes: changes whenever resources or templates have changed; read with every call.
    """

    def __init__(self, *, lists: ServerLists[Offer], servers: ServerManager, bus: EventBus) -> None:
        """
        Args:
            lists: of KINDS; Offers is their only user.
        """
        self._lists, self._servers, self._bus = lists, servers, bus
        self._offered: dict[str, Mapping[OfferKind, Offered]] = {}  # as last published, by server
        self._changes: Counter[OfferKind] = Counter()
        self.resource_changes = 0

    async def load(self) -> None:
        """Loads the last known offers of every server from the disk, so that the first list is complete at once."""
        await self._lists.load(on_changed=self._offer, on_forgotten=self._forget, on_other_copy_changed=self._publish)

    def offered(self, kind: OfferKind) -> dict[str, Offered]:
        """Returns what AI clients may see, by server, in the order of the settings; also servers that offer nothing."""
        return {server.name: self._offered.get(server.name, NOTHING_OFFERED)[kind] for server in self._servers}

    def changes(self, kind: OfferKind) -> int:
        """Returns a number that changes whenever `offered` changes."""
        return self._changes[kind]

    def declaring(self, kind: OfferKind) -> list[ManagedServer]:
        """Returns the servers that have such lists and may be asked; running ones come first."""
        able = [server for server in self._servers if self._lists.is_declared(server, kind)]
        return sorted(able, key=lambda server: server.state is not ServerState.RUNNING)

    def is_declared(self, server: str, kind: OfferKind) -> bool:
        """Reports whether a server has such a list and may be asked for its contents."""
        managed = self._servers.find(server)
        return managed is not None and self._lists.is_declared(managed, kind)

    def listed(self, server: ManagedServer) -> asyncio.Event:
        """Returns an event that is set while no client need wait for a server's lists: they were read once, or cannot be."""
        return self._lists.listed(server)

    def problem(self, server: str) -> Problem | None:
        """Returns why not everything that a server lists is offered."""
        return self._lists.problem(server)

    def flaws(self, server: str) -> tuple[str, ...]:
        """Returns which of a server's definitions are mended or left out, and why."""
        return self._lists.flaws(server)

    def flaw_counts(self, server: str) -> Counter[str]:
        """Returns how many definitions of a server are mended or left out, by the code of their flaw."""
        return self._lists.flaw_counts(server)

    async def wait_for_first_listings(self) -> None:
        """Waits a bounded time for servers that are on their way and were never listed."""
        await self._lists.wait_for_first_listings()

    # announcements
    def _offer(self, server: ManagedServer) -> None:
        """Publishes an event if the offers of a server that AI clients may see have changed."""
        before, offered = self._offered.get(server.name, NOTHING_OFFERED), {kind: self._lists.offered(server, kind) for kind in KINDS}
        self._offered[server.name] = offered
        self._tell(server.name, [kind for kind in KINDS if offered[kind] != before[kind]])

    def _forget(self, server: str) -> None:
        offered = self._offered.pop(server, NOTHING_OFFERED)
        self._tell(server, [kind for kind in KINDS if offered[kind]])

    def _tell(self, server: str, kinds: list[OfferKind]) -> None:
        self._changes.update(kinds)
        self.resource_changes += any(kind is not PROMPTS for kind in kinds)
        self._publish(server, kinds)

    def _publish(self, server: str, kinds: Sequence[OfferKind]) -> None:
        if PROMPTS in kinds:
            self._bus.publish(PromptListChanged(server))
        if any(kind is not PROMPTS for kind in kinds):
            self._bus.publish(ResourceListChanged(server))


def read_offered(kind: OfferKind, raws: Iterable[Raw], server: ManagedServer, client: McpClient | None) -> tuple[Offered, list[str]]:
    """Returns the usable definitions of a server's list, and remarks on the rest, for ServerLists."""
    return read_offers(kind, raws)
