"""Named sets of servers and tools, and how single tools are shown.

Above it: Views, which filters by them, and McpPresenter. Below it: the settings.
"""

from collections.abc import Mapping
from typing import Any

from tooltray.config.mcp_conf_helper import McpConfHelper
from tooltray.events import ProfileSnapshot
from tooltray.presenter.session_state import SessionState


class Profiles:
    """Belongs to the engine's loop."""

    def __init__(self, *, config: McpConfHelper) -> None:
        self._config = config

    def includes(self, state: SessionState, server: str, tool: str | None = None) -> bool:
        """Whether a session's profile has a server in it, or one tool of it by the server's own name."""
        return True

    def snapshots(self) -> list[ProfileSnapshot]:
        """See ViewVerbs.get_profiles."""
        return []

    async def set(self, name: str, profile: Mapping[str, Any]) -> None:
        """See ViewVerbs.set_profile."""

    async def remove(self, name: str) -> None:
        """See ViewVerbs.remove_profile."""

    async def set_override(self, server: str, tool: str, name: str | None, description: str | None) -> None:
        """See ViewVerbs.set_tool_override."""
