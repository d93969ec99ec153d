"""What the settings say counts at once, also where somebody has edited the file: as if each change had been made by its own verb.

Above it: the engine. Below it: McpConfHelper, which says that something has changed, and the parts that have to be told of it. Most parts
ask the settings each time, or follow them by themselves; here is what is left: what starts, where secrets are, how tools are named.
"""

from collections.abc import Iterable
from typing import Protocol

from tooltray.config.mcp_conf_helper import McpConfHelper
from tooltray.config.settings import Settings
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
        elif now.mcp_enabled and (new := _new(before, now)):
            self._hub.begin_to_start(new)


def _new(before: Settings, now: Settings) -> list[str]:
    """What is there for the first time, or switched on again."""
    were_on = {name for name, config in before.mcp_servers.items() if not config.disable}
    return [name for name, config in now.mcp_servers.items() if not config.disable and name not in were_on]
