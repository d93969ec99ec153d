"""Applies changed settings at once, whether a verb changed them or a user edited the file.

Most parts read the settings each time, or subscribe to changes. This module does the rest: starts, the place of secrets, tool names.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol

from tooltray.config.naming.published_names import PublishedNames
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.config.settings.server_config import MCPServerConfig, config_hash
from tooltray.foundation.events import EventBus
from tooltray.foundation.tasks import Spawn, finish_in_thread
from tooltray.servers.upstream.managed_server import ServersConfigured


class Hub(Protocol):
    """The part that starts servers, now or again: ServerStarts."""

    async def start_all(self) -> None: ...
    def start_new(self, servers: Iterable[str]) -> None: ...
    def use_secret_backend(self) -> None: ...


class LiveSettings:
    """A subscriber to changed settings. Belongs to the engine's loop."""

    def __init__(self, *, config: McpConfHelper, names: PublishedNames, hub: Hub, spawn: Spawn, bus: EventBus) -> None:
        self._config, self._names, self._hub, self._spawn, self._bus = config, names, hub, spawn, bus
        self._known = config.settings
        self._written = self._names_written()

    def start(self) -> None:
        """Applies changes from now on; the servers that start with the hub must have been started."""
        self._known, self._written = self._config.settings, self._names_written()
        self._bus.subscribe(ServersConfigured, self._on_servers_configured)

    def _on_servers_configured(self, event: ServersConfigured) -> None:
        before, self._known = self._known, self._config.settings
        now = self._known
        self._names.naming = now.publish.naming
        self._follow_names()
        if now.secrets.backend != before.secrets.backend:
            self._hub.use_secret_backend()
        if now.mcp_enabled and not before.mcp_enabled:
            self._spawn(self._hub.start_all(), name="start servers again")
        elif now.mcp_enabled and (others := dict(_others(before.mcp_servers, now.mcp_servers))):
            self._hub.start_new([name for name, is_new in others.items() if is_new])

    def _follow_names(self) -> None:
        """Retires the published names of servers that left the settings, which frees them after a while; projects' servers come and go."""
        before, self._written = self._written, self._names_written()
        here = self._config.settings.mcp_servers
        if gone := [name for name in before - self._written if name not in here]:
            self._spawn(finish_in_thread(self._names.retire, gone), name="retire names")
        if back := [name for name in here if self._names.is_retired(name)]:
            self._spawn(finish_in_thread(self._names.keep, back), name="keep names")

    def _names_written(self) -> frozenset[str]:
        """Returns the names of all entries in the settings, including unusable ones, so that a typing error removes no server."""
        written = self._config.document.get("mcpServers")
        return frozenset(written if isinstance(written, dict) else ())


def _others(before: Mapping[str, MCPServerConfig], now: Mapping[str, MCPServerConfig]) -> Iterator[tuple[str, bool]]:
    """Yields the servers that are new or changed, and whether each is new, or enabled again."""
    for name, config in now.items():
        known = before.get(name)
        is_new = known is None or known.disable
        if not config.disable and (known is None or is_new or config_hash(known) != config_hash(config)):
            yield name, is_new
