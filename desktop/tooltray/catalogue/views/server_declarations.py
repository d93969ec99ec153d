"""The declarations of each server beyond what the hub does itself (`extensions`, `experimental`, `tasks`), saved over restarts of the hub,
and the joined declarations of several servers. On disk they are one more kind of the catalogue, so they are known of servers that do not
run.
"""

import asyncio
import logging
from collections.abc import Iterable
from functools import partial
from weakref import WeakKeyDictionary

import msgspec

from tooltray.catalogue.catalogue import CatalogueStore
from tooltray.foundation.events import EventBus
from tooltray.foundation.tasks import Spawn, finish_in_thread
from tooltray.protocol import declarations
from tooltray.protocol.declarations import BEYOND, JOINED_BYTES, TASKS, Declarations
from tooltray.protocol.envelope import dump
from tooltray.protocol.eras import Era
from tooltray.protocol.sessions.caller import Session
from tooltray.servers.upstream.managed_server import InstanceOpened, ManagedServer, ServersConfigured
from tooltray.servers.upstream.mcp_client import McpClient
from tooltray.servers.upstream.server_manager import ServerManager

logger = logging.getLogger(__name__)
KIND = "capabilities"  # of the catalogue
MOST_REMARKS = 256  # about settings that cannot be joined; each is logged once


class ServerDeclarations:
    """The declarations of all servers. Belongs to the engine's loop."""

    def __init__(self, *, servers: ServerManager, catalogues: CatalogueStore, bus: EventBus, spawn: Spawn) -> None:
        self._servers, self._catalogues, self._bus, self._spawn = servers, catalogues, bus, spawn
        self._kept: dict[str, tuple[str, dict[str, Declarations]]] = {}  # by server: its configuration, and what it declared by era
        self._of_clients: WeakKeyDictionary[McpClient, Declarations] = WeakKeyDictionary()
        self._saving = asyncio.Lock()
        self._remarks: set[tuple[str, str]] = set()

    async def load(self) -> None:
        """Loads the last known declarations from the disk, and watches the servers."""
        for server in self._servers:
            catalogue = await asyncio.to_thread(self._catalogues.load, server.name, server.config_hash, kind=KIND)
            if catalogue and catalogue.definitions:
                said = msgspec.json.decode(catalogue.definitions[0])
                eras = {era.value: _read(said[era.value]) for era in Era if isinstance(said, dict) and era.value in said}
                self._kept[server.name] = server.config_hash, eras
        self._bus.subscribe(InstanceOpened, self._on_instance_opened)
        self._bus.subscribe(ServersConfigured, self._on_servers_configured)

    def of(self, server: ManagedServer, era: Era, session: Session | None = None) -> Declarations:
        """Returns what a server declares to clients of an era: as it runs now, else as it was last known.

        Args:
            session: the session whose instance is meant; None: the shared one.
        """
        if client := server.client_for(era, session):
            return self.of_client(client)
        config_hash, eras = self._kept.get(server.name, ("", {}))
        known = eras if config_hash == server.config_hash else {}
        return known[era.value] if era.value in known else next(iter(known.values()), {})

    def of_client(self, client: McpClient) -> Declarations:
        """Returns what a server has declared on one connection."""
        if client not in self._of_clients:
            self._of_clients[client] = _read(client.greeting.capabilities)
        return self._of_clients[client]

    def joined(self, servers: Iterable[ManagedServer], era: Era, session: Session) -> Declarations:
        """Returns the declarations of several servers together. Of settings that cannot be joined the first server's count, which is
        logged.
        """
        each = {server.name: self.of(server, era, session) for server in servers}
        together = declarations.joined(each.values(), on_conflict=partial(self._remark, each))
        if era is Era.MODERN:
            together.pop(TASKS, None)  # it is an extension there
        return declarations.bounded(together, JOINED_BYTES)

    def _remark(self, declared: dict[str, Declarations], name: str) -> None:
        of = ", ".join(server for server, each in declared.items() if any(name in named for named in each.values()))
        if (name, of) not in self._remarks and len(self._remarks) < MOST_REMARKS:
            self._remarks.add((name, of))
            logger.info("the settings of the extension %r differ in type between servers (%s); those of the first count", name, of)

    def _on_instance_opened(self, event: InstanceOpened) -> None:
        server, client = event.server, event.client
        if client.owner is not None or server.is_builtin:
            return
        era, now = client.era.value, self.of_client(client)
        config_hash, eras = self._kept.get(server.name, ("", {}))
        before = eras if config_hash == server.config_hash else {}
        if before.get(era) == now or not (before or now):
            return
        others = {} if era in before else before  # the program has changed; its other era has to be seen again
        self._kept[server.name] = known = server.config_hash, {**others, era: now}
        self._spawn(self._save(server.name, *known), name=f"keep what '{server.name}' declares")

    async def _save(self, server: str, config_hash: str, eras: dict[str, Declarations]) -> None:
        async with self._saving:  # of two that save, the later one writes last
            await finish_in_thread(self._catalogues.save, server, config_hash, [dump(eras)], kind=KIND)

    def _on_servers_configured(self, event: ServersConfigured) -> None:
        """Drops removed servers; their data on disk are deleted with their lists."""
        for name in [name for name in self._kept if self._servers.find(name) is None]:
            del self._kept[name]


def _read(capabilities: object) -> Declarations:
    read = dict(declarations.read(capabilities, (*BEYOND, TASKS)))
    if tasks := read.pop(TASKS, None):
        read[TASKS] = {name: _objects_alone(value) for name, value in tasks.items()}
    return read


def _objects_alone(value: object) -> dict[str, object]:
    """Keeps only objects: all members of the `tasks` capability are objects, on each level; AI clients refuse a greeting with any other."""
    members = value if isinstance(value, dict) else {}
    return {name: _objects_alone(each) for name, each in members.items() if isinstance(each, dict)}
