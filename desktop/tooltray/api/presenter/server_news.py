"""Publishes the public events about servers, made from the engine's own: what runs (the seed's four events), and each server's card."""

import asyncio

from tooltray.api.presenter.server_snapshots import ServerSnapshots
from tooltray.foundation.events import (
    ClientListUpdated,
    EventBus,
    ServerChanged,
    ServerStarted,
    ServerStatusChanged,
    ServerStopped,
    SessionListChanged,
    ToolCallResult,
    ToolListChanged,
)
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.servers.confinement.refusals import SomethingRefused
from tooltray.servers.upstream.managed_server import ManagedServer, ServerStateChanged
from tooltray.servers.upstream.server_manager import ServerManager

STATS_TOLD_AFTER_S = 1.0  # calls change a card's numbers; users cannot read them faster


class ServerNews:
    """The publisher of public server events. Belongs to the engine's loop."""

    def __init__(
        self, *, servers: ServerManager, snapshots: ServerSnapshots, bus: EventBus, stats_told_after_s: float = STATS_TOLD_AFTER_S
    ) -> None:
        """
        Args:
            stats_told_after_s: calls within so many seconds become one change of a server's card.
        """
        self._servers, self._snapshots, self._bus, self._stats_told_after_s = servers, snapshots, bus, stats_told_after_s
        self._changed_stats: set[str] = set()
        self._running: set[str] = set()
        bus.subscribe(ServerStateChanged, self._on_server_state_changed)
        bus.subscribe(ToolCallResult, self._on_tool_call_result)
        bus.subscribe(ToolListChanged, self._on_tool_list_changed)
        bus.subscribe(SessionListChanged, self._on_session_list_changed)
        bus.subscribe(SomethingRefused, lambda event: self._tell_soon(event.server))

    def _on_server_state_changed(self, event: ServerStateChanged) -> None:
        self._publish_status(event.server)
        self._publish_card(event.server.name)

    def _publish_status(self, server: ManagedServer) -> None:
        """Publishes whether a server runs, if that changed. A server that is being replaced runs until its predecessor has ended."""
        name, is_running = server.name, server.state is ServerState.RUNNING
        if is_running == (name in self._running) or (not is_running and self._servers.is_being_replaced(name)):
            return
        if is_running:
            self._running.add(name)
            self._bus.publish(ServerStarted(name))
        else:
            self._running.discard(name)
            self._bus.publish(ServerStopped(name))
        self._bus.publish(ServerStatusChanged(name, "running" if is_running else "stopped"))
        self._bus.publish(ClientListUpdated())

    def _publish_card(self, name: str) -> None:
        if server := self._servers.find(name):
            self._bus.publish(ServerChanged(self._snapshots.of(server)))

    def _on_session_list_changed(self, event: SessionListChanged) -> None:
        for by_project in self._servers.deferred():
            self._publish_card(by_project.server.name)  # whom the server runs for, and whom it waits for

    def _on_tool_list_changed(self, event: ToolListChanged) -> None:
        self._publish_card(event.server)  # its number of tools

    def _on_tool_call_result(self, event: ToolCallResult) -> None:
        self._tell_soon(event.response.server)

    def _tell_soon(self, server: str) -> None:
        if not self._changed_stats:
            asyncio.get_running_loop().call_later(self._stats_told_after_s, self._tell_changed_stats)
        self._changed_stats.add(server)

    def _tell_changed_stats(self) -> None:
        names, self._changed_stats = self._changed_stats, set()
        for name in names:
            self._publish_card(name)
