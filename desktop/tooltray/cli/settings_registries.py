"""The verbs about npm registries that the command line has, where no hub runs: the same NpmRegistries, over the settings of a home.

Above it: settings_hub, which makes one when the first such verb is called. What is measured here is what the next hub finds.
"""

from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from tooltray.events import EventBus
from tooltray.home.home import Home
from tooltray.launch.npm_registry import read_mirrors
from tooltray.launch.variable_sources import make_login_shell
from tooltray.phrases import as_json
from tooltray.registries.npm_registries import NpmRegistries
from tooltray.registries.registry_cache import RegistryCache
from tooltray.resources import resource
from tooltray.settings.mcp_conf_helper import McpConfHelper
from tooltray.snapshots.registries import NpmRegistryStatus
from tooltray.tasks import TaskKeeper


class SettingsRegistries:
    """Belongs to one event loop."""

    def __init__(self, home: Home, config: McpConfHelper, bus: EventBus) -> None:
        self._tasks = TaskKeeper()
        self._registries = NpmRegistries(
            config=config,
            cache=RegistryCache(home.registries),
            environ=make_login_shell(home.environment).environ,
            folder=str(Path.home()),
            bus=bus,
            spawn=self._tasks.spawn,
            mirrors=read_mirrors(resource("npm-registries.json")),
        )
        self.verbs: dict[str, Callable[..., Coroutine[Any, Any, Any]]] = {
            "get_npm_registry_status": self._status,
            "refresh_npm_registry": self._refresh,
            "set_custom_npm_registry": self._set_custom,
            "set_auto_detect_npm_registry": self._set_auto_detect,
        }

    async def close(self) -> None:
        """Ends what a cancelled verb has left."""
        await self._tasks.close()

    async def _status(self) -> dict[str, Any]:
        return _plain(self._registries.status)

    async def _refresh(self) -> dict[str, Any]:
        return _plain(await self._registries.refresh())

    async def _set_custom(self, url: str) -> dict[str, Any]:
        return _plain(await self._registries.set_custom(url))

    async def _set_auto_detect(self, enabled: bool) -> dict[str, Any]:
        return _plain(await self._registries.set_auto_detect(enabled))


def _plain(status: NpmRegistryStatus) -> dict[str, Any]:
    return as_json(status) | {"measurements": [as_json(each) for each in status.measurements]}
