"""Which servers start without anybody asking for one: with the hub, when their entry is new, when a secret that they lacked is there.

Above it: the API, and what follows the settings. Below it: ServerManager and the parts whose state decides.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tooltray.config.secrets.secrets import SecretStore
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.foundation.tasks import Spawn

if TYPE_CHECKING:
    from tooltray.catalogue.tool_manager import ToolManager
    from tooltray.servers.npm_mirrors.npm_registries import NpmRegistries
    from tooltray.servers.sign_ins.sign_ins import SignIns
    from tooltray.servers.upstream.managed_server import ManagedServer
    from tooltray.servers.upstream.server_manager import ServerManager


class ServerStarts:
    """Belongs to the engine's loop."""

    def __init__(
        self,
        *,
        config: McpConfHelper,
        secrets: SecretStore,
        servers: "ServerManager",
        tools: "ToolManager",
        registries: "NpmRegistries",
        sign_ins: "SignIns",
        spawn: Spawn,
    ) -> None:
        self._config, self._secrets, self._servers = config, secrets, servers
        self._tools, self._registries, self._sign_ins, self._spawn = tools, registries, sign_ins, spawn

    async def initialize(self) -> None:
        """Measures npm registries and starts what starts with the hub, both in the background; a paused hub starts nothing.

        May be called again: what runs already is left as it is.
        """
        self._registries.start()
        if self._config.settings.mcp_enabled:
            self._servers.start_defaults()
            self._tools.list_unknown_servers()

    def begin_to_start(self, servers: Iterable[str]) -> None:
        """Starts, of servers that are new here, those that start with the hub, and once each that was never listed; does not wait."""
        self._servers.start_defaults(servers)
        self._tools.list_unknown_servers()

    def use_secret_backend(self) -> None:
        """Goes on with the place for secrets that the settings name."""
        self._secrets.use(self._config.settings.secrets.backend)
        self.retry_failed()

    def retry_failed(self) -> None:
        """A secret is there that was missing before: servers that gave up get another chance, also those that are just about to give up."""
        for server in self._servers:
            if server.needs_secrets or self._sign_ins.is_signed_in(server.name):
                if server.state is ServerState.ERROR:
                    server.start()
                elif server.first.is_busy:
                    self._spawn(self._retry_if_it_fails(server), name=f"see whether '{server.name}' had the new secret")

    async def _retry_if_it_fails(self, server: "ManagedServer") -> None:
        await server.first.settled()
        if server.state is ServerState.ERROR and self._servers.find(server.name) is server:
            server.start()
