"""What each server said of itself when it was last opened (its `instructions`), kept over restarts of the hub.

Above it: Introduction. Below it: ServerManager, and the catalogue on disk, where the text is one more kind of what a server was last known
to have. So a hub that has just started knows it of servers that do not run yet.
"""

import asyncio
from collections.abc import Callable
from functools import partial

from tooltray.catalogue.catalogue import CatalogueStore
from tooltray.catalogue.instructions import OWN_WORDS_BYTES, shortened
from tooltray.events import EventBus
from tooltray.protocol.envelope import dump, load
from tooltray.tasks import Spawn, finish_in_thread
from tooltray.upstream.managed_server import ManagedServer
from tooltray.upstream.server_events import InstanceOpened, ServersConfigured
from tooltray.upstream.server_manager import ServerManager

KIND = "instructions"  # of the catalogue
KEPT_BYTES = 2 * OWN_WORDS_BYTES  # a secret that is cut in two here is beyond what is ever shown
READ_CHARACTERS = 65_536  # of a text without measure; secrets are looked for in these


class ServerInstructions:
    """Belongs to the engine's loop."""

    def __init__(
        self, *, servers: ServerManager, catalogues: CatalogueStore, mask: Callable[[str], str], bus: EventBus, spawn: Spawn
    ) -> None:
        """
        Args:
            mask: takes secrets out of what a server says, before it is kept and again before it is shown: more may be known by then.
        """
        self._servers, self._catalogues, self._mask, self._bus, self._spawn = servers, catalogues, mask, bus, spawn
        self._said: dict[str, tuple[str, str]] = {}  # by server: under which configuration it said what

    async def load(self) -> None:
        """Takes what was last known from the disk, and follows the servers."""
        for server in self._servers:
            catalogue = await asyncio.to_thread(self._catalogues.load, server.name, server.config_hash, kind=KIND)
            if catalogue and catalogue.definitions and isinstance(text := load(catalogue.definitions[0]), str):
                self._said[server.name] = server.config_hash, text
        self._bus.subscribe(InstanceOpened, self._on_instance_opened)
        self._bus.subscribe(ServersConfigured, self._on_servers_configured)

    def of(self, server: ManagedServer) -> str:
        """What a server says of itself, as far as it is known of its present configuration; empty if it says nothing."""
        config_hash, text = self._said.get(server.name, ("", ""))
        return self._mask(text) if config_hash == server.config_hash else ""

    def _on_instance_opened(self, event: InstanceOpened) -> None:
        server, client = event.server, event.client
        if client is not server.first.client:
            return  # of one session, or for the other era
        said = self._mask((client.greeting.instructions or "")[:READ_CHARACTERS])
        text = shortened(said.strip(), KEPT_BYTES)
        if self._said.get(server.name, (server.config_hash, "")) != (server.config_hash, text):
            save = partial(self._catalogues.save, server.name, server.config_hash, [dump(text)], kind=KIND)
            self._spawn(finish_in_thread(save), name=f"keep what '{server.name}' says of itself")
        self._said[server.name] = server.config_hash, text

    def _on_servers_configured(self, event: ServersConfigured) -> None:
        """What is on the disk of a server that was removed goes with its lists."""
        for name in [name for name in self._said if self._servers.find(name) is None]:
            del self._said[name]
