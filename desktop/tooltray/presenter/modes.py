"""How tools are shown to each AI client, and why: everything, lazily, or by search alone.

Above it: Views, which lists by it, and McpPresenter. Below it: the settings, the data file of client profiles, SessionStates.
"""

from tooltray.config.mcp_conf_helper import McpConfHelper
from tooltray.events import ClientModeSnapshot, SessionSnapshot
from tooltray.presenter.session_state import SessionStates


class Modes:
    """Belongs to the engine's loop."""

    def __init__(self, *, config: McpConfHelper, states: SessionStates) -> None:
        self._config, self._states = config, states

    def sessions(self) -> list[SessionSnapshot]:
        """See ViewVerbs.get_sessions."""
        return []

    def clients(self) -> list[ClientModeSnapshot]:
        """See ViewVerbs.get_client_modes."""
        return []

    async def set_mode(self, client: str, mode: str) -> None:
        """See ViewVerbs.set_client_mode."""

    async def set_profile(self, client: str, profile: str) -> None:
        """See ViewVerbs.set_client_profile."""

    async def set_auto_approve(self, client: str, rules: list[str] | None) -> None:
        """See ViewVerbs.set_client_auto_approve."""

    async def set_lazy_load(self, enabled: bool | None, server: str | None) -> None:
        """See ViewVerbs.set_lazy_load."""
