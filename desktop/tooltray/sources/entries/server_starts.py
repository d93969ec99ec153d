"""Starts servers without a request: with the hub, when their entry is new, and when a secret that they lacked is stored."""

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
    """The automatic starts of servers; belongs to the engine's loop."""

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

    async def start_all(self) -> None:
        """Measures npm registries and starts the servers that start with the hub, both in the background; a paused hub starts none.

        May be called again: servers that run already are left unchanged.
        """
        self._registries.start()
        if self._config.settings.mcp_enabled:
            self._servers.start_defaults()
            self._tools.list_unknown_servers()

    def start_new(self, servers: Iterable[str]) -> None:
        """Starts the new servers that start with the hub, and once every server whose tools were never listed; does not wait."""
        self._servers.start_defaults(servers)
        self._tools.list_unknown_servers()

    def use_secret_backend(self) -> None:
        """Switches to the place for secrets that the settings name, and retries failed servers."""
        self._secrets.use(self._config.settings.secrets.backend)
        self.retry_failed()

    def retry_failed(self) -> None:
        """Retries servers that lacked a secret, which may be stored now: failed servers now, and servers that are about to fail later."""
        for server in self._servers:
            if server.needs_secrets or self._sign_ins.is_signed_in(server.name):
                if server.state is ServerState.ERROR:
                    server.start()
                elif server.status.is_busy:
                    self._spawn(self._retry_if_it_fails(server), name=f"see whether '{server.name}' had the new secret")

    async def _retry_if_it_fails(self, server: "ManagedServer") -> None:
        await server.settled()
        if server.state is ServerState.ERROR and self._servers.find(server.name) is server:
            server.start()
