"""Tells of each change of a server, with all of it as a card shows it: its state, its tools, its calls, and for whom it runs.

Above it: whoever follows ServerChanged. Below it: ServerManager and the events of others that say something new of a server.
"""

import asyncio

from msgspec import Raw

from tooltray.events import EventBus, ServerChanged, SessionListChanged, ToolCallResult, ToolListChanged
from tooltray.presenter.server_snapshots import ServerSnapshots
from tooltray.upstream.mcp_client import McpClient
from tooltray.upstream.server_manager import ServerManager

STATS_TOLD_AFTER_S = 1.0  # calls change a card's numbers; nobody reads them faster


class ServerNews:
    """Belongs to the engine's loop."""

    def __init__(
        self, *, servers: ServerManager, snapshots: ServerSnapshots, bus: EventBus, stats_told_after_s: float = STATS_TOLD_AFTER_S
    ) -> None:
        """
        Args:
            stats_told_after_s: calls within so many seconds become one change of a server's card.
        """
        self._servers, self._snapshots, self._bus, self._stats_told_after_s = servers, snapshots, bus, stats_told_after_s
        self._changed_stats: set[str] = set()
        servers.listen(on_changed=self._on_server_changed, on_notification=_ignore)
        bus.subscribe(ToolCallResult, self._on_tool_call_result)
        bus.subscribe(ToolListChanged, self._on_tool_list_changed)
        bus.subscribe(SessionListChanged, self._on_session_list_changed)

    def _on_server_changed(self, name: str) -> None:
        if server := self._servers.find(name):
            self._bus.publish(ServerChanged(self._snapshots.of(server)))

    def _on_session_list_changed(self, event: SessionListChanged) -> None:
        for server in self._servers.deferred():
            self._on_server_changed(server.name)  # for whom it runs, and whom it waits for

    def _on_tool_list_changed(self, event: ToolListChanged) -> None:
        self._on_server_changed(event.server)  # its number of tools

    def _on_tool_call_result(self, event: ToolCallResult) -> None:
        if not self._changed_stats:
            asyncio.get_running_loop().call_later(self._stats_told_after_s, self._tell_changed_stats)
        self._changed_stats.add(event.response.server)

    def _tell_changed_stats(self) -> None:
        names, self._changed_stats = self._changed_stats, set()
        for name in names:
            self._on_server_changed(name)


def _ignore(server: str, client: McpClient, method: str, params: Raw) -> None:
    pass
