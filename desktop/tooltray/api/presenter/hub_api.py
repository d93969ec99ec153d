"""The API for the hub as a whole: its state, pausing it, and the doctor's findings."""

from typing import TYPE_CHECKING

from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.snapshots.diagnosis import Diagnosis
from tooltray.foundation.snapshots.hub import EnvironmentSnapshot, HubSnapshot

if TYPE_CHECKING:
    from tooltray.api.presenter.live_settings import Pauses
    from tooltray.api.presenter.snapshots import HubSnapshots
    from tooltray.servers.launch.variable_sources import ServerEnvironment
    from tooltray.sources.doctor.doctor import CheckUp
    from tooltray.sources.entries.server_entries import ServerStarts


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
        """Measures npm registries and starts the servers that start with Tooltray, both in the background; while paused it starts nothing.

        May be called again: servers that run already are left as they are.
        """
        await self._starts.start_all()

    async def get_snapshot(self) -> HubSnapshot:
        return self._snapshots.now()

    async def get_mcp_enabled(self) -> bool:
        return self._config.settings.mcp_enabled

    async def set_mcp_enabled(self, enabled: bool, for_s: float | None = None) -> None:
        """Resumes or pauses Tooltray: while paused it keeps its lists, refuses calls and starts nothing new.

        Args:
            for_s: seconds after which the pause ends automatically, a week at most; None: it lasts until the user resumes.

        Raises:
            TooltrayError: a pause cannot be so long, or the settings cannot be written.
        """
        await self._pauses.set_enabled(enabled, for_s)
        if enabled:
            await self.initialize()

    async def diagnose(self, server: str | None = None, wait_s: float = 0.0) -> list[Diagnosis]:
        """Returns the doctor's findings.

        Args:
            wait_s: the longest wait for servers that are still starting, as all servers of a newly started hub are.

        Raises:
            NotFound: the server does not exist.
        """
        return await self._check_up.diagnose(server, wait_s)

    async def get_environment(self) -> EnvironmentSnapshot:
        """Returns the certificates, proxies and package indexes for servers, with their origins, and what changed since a server last
        worked.
        """
        return await self._environment.snapshot()

    async def forget_environment(self) -> None:
        """Deletes the remembered certificates, proxies and package indexes of the user's terminal.

        Raises:
            TooltrayError: their file cannot be removed.
        """
        await self._environment.forget()
