"""What the settings say counts at once, whoever has changed them: a verb, or somebody who has edited the file.

Above it: the engine. Below it: McpConfHelper, which says that something has changed, and the parts that have to be told of it. Most parts
ask the settings each time, or follow them by themselves; here is what is left: what starts, where secrets are, how tools are named.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol

from tooltray.config.mcp_conf_helper import McpConfHelper
from tooltray.config.server_config import MCPServerConfig, config_hash
from tooltray.events import ConfigChanged, EventBus
from tooltray.tasks import Spawn
from tooltray.tools.names import PublishedNames


class Hub(Protocol):
    """McpPresenter, as far as this needs it."""

    async def initialize(self) -> None: ...
    def begin_to_start(self, servers: Iterable[str]) -> None: ...
    def use_secret_backend(self) -> None: ...


class LiveSettings:
    """Belongs to the engine's loop. It is started after the ServerManager, and so hears of a change after it."""

    def __init__(self, *, config: McpConfHelper, names: PublishedNames, hub: Hub, spawn: Spawn, bus: EventBus) -> None:
        self._config, self._names, self._hub, self._spawn, self._bus = config, names, hub, spawn, bus
        self._known = config.settings

    def start(self) -> None:
        """From now on; what the hub starts with has been started."""
        self._known = self._config.settings
        self._bus.subscribe(ConfigChanged, self._on_config_changed)

    def _on_config_changed(self, event: ConfigChanged) -> None:
        before, self._known = self._known, self._config.settings
        now = self._known
        self._names.naming = now.publish.naming
        if now.secrets.backend != before.secrets.backend:
            self._hub.use_secret_backend()
        if now.mcp_enabled and not before.mcp_enabled:
            self._spawn(self._hub.initialize(), name="start servers again")
        elif now.mcp_enabled and (others := dict(_others(before.mcp_servers, now.mcp_servers))):
            self._hub.begin_to_start([name for name, is_new in others.items() if is_new])


def _others(before: Mapping[str, MCPServerConfig], now: Mapping[str, MCPServerConfig]) -> Iterator[tuple[str, bool]]:
    """The servers that are others than before, and whether each is there for the first time, or switched on again."""
    for name, config in now.items():
        known = before.get(name)
        is_new = known is None or known.disable
        if not config.disable and (known is None or is_new or config_hash(known) != config_hash(config)):
            yield name, is_new
