"""Which project each session works on, which folders may be one, and the servers that start for them.

Above it: McpPresenter, and the tool by which models report. Below it: ServerManager, SessionStates, the settings.
"""

from tooltray.config.mcp_conf_helper import McpConfHelper
from tooltray.presenter.server_manager import ServerManager
from tooltray.presenter.session_state import SessionStates


class Projects:
    """Belongs to the engine's loop."""

    def __init__(self, *, config: McpConfHelper, servers: ServerManager, states: SessionStates) -> None:
        self._config, self._servers, self._states = config, servers, states

    def allowed(self) -> list[str]:
        """See ProjectVerbs.get_allowed_folders."""
        return []

    async def allow(self, path: str) -> str:
        """See ProjectVerbs.allow_folder."""
        return path

    async def disallow(self, path: str) -> None:
        """See ProjectVerbs.disallow_folder."""

    async def start(self, server: str, path: str | None) -> None:
        """See ProjectVerbs.start_for_project; None: start_without_project."""

    async def choose(self, session: str, path: str) -> None:
        """See ProjectVerbs.set_session_project."""

    async def reset(self) -> None:
        """See ProjectVerbs.reset_deferred_state."""

    async def set_deferred(self, server: str, deferred: bool, template: list[str] | None) -> None:
        """See ProjectVerbs.set_deferred."""
