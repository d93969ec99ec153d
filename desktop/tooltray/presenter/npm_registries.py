"""Where servers' npm packages come from: measured, chosen, remembered.

Above it: McpPresenter and ServerManager. Below it: the settings and the measuring of single registries (servers/npm_registry).
"""

from collections.abc import Mapping

from tooltray.config.settings import MCPServerConfig
from tooltray.events import NpmRegistryStatus, RegistryMeasurement


class NpmRegistries:
    """Belongs to the engine's loop."""

    def start(self) -> None:
        """Begins to measure in the background what is not known yet or too old."""

    @property
    def status(self) -> NpmRegistryStatus:
        return NpmRegistryStatus()

    async def refresh(self) -> NpmRegistryStatus:
        return self.status

    async def test(self, url: str) -> RegistryMeasurement:
        return RegistryMeasurement(url, url, "custom")

    async def set_custom(self, url: str) -> NpmRegistryStatus:
        return self.status

    async def set_auto_detect(self, enabled: bool) -> NpmRegistryStatus:
        return self.status

    async def clear_cache(self) -> None:
        """Forgets what was measured."""

    async def variables(self, config: MCPServerConfig, environ: Mapping[str, str]) -> Mapping[str, str]:
        """What a server's process gets in its environment, so that npm, uv and pip use the registry that was chosen."""
        return {}
