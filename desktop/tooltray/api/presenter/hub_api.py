"""The API about the hub as a whole: how it is, whether it is paused, what the doctor finds."""

from typing import TYPE_CHECKING

from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.snapshots.hub import EnvironmentSnapshot, HubSnapshot
from tooltray.sources.doctor.diagnosis import Diagnosis

if TYPE_CHECKING:
    from tooltray.api.presenter.hub_snapshots import HubSnapshots
    from tooltray.api.presenter.pauses import Pauses
    from tooltray.servers.launch.variable_sources import ServerEnvironment
    from tooltray.sources.doctor.doctor import CheckUp
    from tooltray.sources.entries.server_starts import ServerStarts


class HubApi:
    def __init__(
        self,
        *,
        config: McpConfHelper,
        starts: "ServerStarts",
        snapshots: "HubSnapshots",
        check_up: "CheckUp",
        environment: "ServerEnvironment",
        pauses: "Pauses",
    ) -> None:
        self._config, self._starts, self._snapshots, self._check_up = config, starts, snapshots, check_up
        self._environment, self._pauses = environment, pauses

    async def initialize(self) -> None:
        """Measures npm registries and starts what starts with the hub, both in the background; a paused hub starts nothing.

        May be called again: what runs already is left as it is.
        """
        await self._starts.initialize()

    async def get_snapshot(self) -> HubSnapshot:
        return self._snapshots.now()

    async def get_mcp_enabled(self) -> bool:
        return self._config.settings.mcp_enabled

    async def set_mcp_enabled(self, enabled: bool, for_s: float | None = None) -> None:
        """Off is a pause: lists stay, calls are refused, nothing new starts.

        Args:
            for_s: seconds after which the pause ends by itself, a week at most; None: it ends when somebody resumes.

        Raises:
            TooltrayError: a pause cannot be so long, or the settings cannot be written.
        """
        await self._pauses.set_enabled(enabled, for_s)
        if enabled:
            await self.initialize()

    async def diagnose(self, server: str | None = None, wait_s: float = 0.0) -> list[Diagnosis]:
        """What the doctor finds.

        Args:
            wait_s: how long it waits, at most, for servers that are on their way to running: of a hub that has just been started all are.

        Raises:
            NotFound: there is no such server.
        """
        return await self._check_up.diagnose(server, wait_s)

    async def get_environment(self) -> EnvironmentSnapshot:
        """Which certificates, proxies and package indexes servers get, from where, and what was another when a server last worked."""
        return await self._environment.snapshot()

    async def forget_environment(self) -> None:
        """Forgets the certificates, proxies and package indexes that are remembered of a person's terminal.

        Raises:
            TooltrayError: their file cannot be removed.
        """
        await self._environment.forget()
