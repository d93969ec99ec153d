"""Snapshots of the hub as a whole."""

import os

from tooltray import __version__
from tooltray.api.presenter.notices import Notices
from tooltray.api.presenter.pauses import Pauses
from tooltray.api.presenter.server_snapshots import ServerSnapshots
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.events import EventBus, SessionsChanged
from tooltray.foundation.moments import Moment
from tooltray.foundation.snapshots.hub import HubSnapshot
from tooltray.servers.upstream.server_manager import ServerManager
from tooltray.sources.entries.proposals import Proposals


class HubSnapshots:
    """The maker of hub snapshots. Belongs to the engine's loop."""

    def __init__(
        self,
        *,
        config: McpConfHelper,
        servers: ServerManager,
        snapshots: ServerSnapshots,
        proposals: Proposals,
        notices: Notices,
        pauses: Pauses,
        bus: EventBus,
    ) -> None:
        self._config, self._servers, self._snapshots = config, servers, snapshots
        self._proposals, self._notices, self._pauses = proposals, notices, pauses
        self._started_at = Moment()
        self._session_count = 0
        bus.subscribe(SessionsChanged, self._on_sessions_changed)

    def now(self) -> HubSnapshot:
        return HubSnapshot(
            pid=os.getpid(),
            version=__version__,
            is_paused=not self._config.settings.mcp_enabled,
            session_count=self._session_count,
            started_at=self._started_at.unix,
            servers=(*(self._snapshots.of(server) for server in self._servers), *self._proposals.snapshots()),
            notices=tuple(self._notices),
            paused_until=self._pauses.until,
            secret_backend=self._config.settings.secrets.backend or "keyring",
        )

    def _on_sessions_changed(self, event: SessionsChanged) -> None:
        self._session_count = event.session_count
