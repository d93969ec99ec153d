"""Waits until a server that was imported has listed its tools.

Above it: Imports. Below it: ServerManager, which starts it, and ToolManager, which lists it.
"""

import asyncio
from collections.abc import Coroutine
from typing import TypeVar

from tooltray.catalogue.tool_manager import ToolManager
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.confirmation import with_current_asker
from tooltray.foundation.snapshots.ai_clients import ImportedServer
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.foundation.tasks import Spawn
from tooltray.servers.upstream.managed_server import ManagedServer
from tooltray.servers.upstream.server_manager import STARTED_BY_HAND_WAIT_S, ServerManager

ENDS_WITHIN_S = 1.0  # after a cancel; adding a server takes far less where no prompt is open

T = TypeVar("T")


class ImportWaits:
    """Belongs to the engine's loop; has no state of its own."""

    def __init__(
        self,
        *,
        config: McpConfHelper,
        servers: ServerManager,
        tools: ToolManager,
        spawn: Spawn,
        listed_within_s: float = STARTED_BY_HAND_WAIT_S,
    ) -> None:
        """
        Args:
            listed_within_s: how long the tools of one server are waited for; what takes longer has come in, and stays in its client.
        """
        self._config, self._servers, self._tools, self._spawn, self._listed_within_s = config, servers, tools, spawn, listed_within_s

    async def outcome(self, id: str, name: str, cancelled: asyncio.Event) -> ImportedServer:
        """What has become of a server that was added.

        Args:
            id: of its candidate.
            cancelled: ends the wait.
        """
        server = self._servers.find(name)
        if server is None or not self._will_list(server):
            return ImportedServer(id, name, "added")
        if server.state is ServerState.ERROR:  # it failed before, and is imported again
            server.start()
        self._tools.list_unknown_servers()
        await self._first_of(self._tools.listed(server), cancelled)
        return self._outcome(id, server)

    async def unless_cancelled(self, work: Coroutine[object, None, T], cancelled: asyncio.Event) -> T | None:
        """Does work that may wait for a prompt of the keyring; None: the import was cancelled, and the work undoes itself meanwhile."""
        doing = self._spawn(with_current_asker(work), name="import a server")
        ending = self._spawn(cancelled.wait(), name="end of an import")
        try:
            await asyncio.wait((doing, ending), return_when=asyncio.FIRST_COMPLETED)
            await asyncio.wait((doing,), timeout=ENDS_WITHIN_S)
            return doing.result() if doing.done() else None
        finally:
            ending.cancel()
            doing.cancel()

    def _will_list(self, server: ManagedServer) -> bool:
        """Whether it may start by itself."""
        is_held = server.config.disable or server.config.deferred_startup or server.state is ServerState.STOPPED
        return self._config.settings.mcp_enabled and not is_held

    def _outcome(self, id: str, server: ManagedServer) -> ImportedServer:
        if self._tools.is_listed(server.name) and self._tools.is_offering(server):
            return ImportedServer(id, server.name, "listed", self._tools.tool_count(server.name))
        if server.state is ServerState.ERROR:
            return ImportedServer(id, server.name, "failed", problem=server.problem)
        return ImportedServer(id, server.name, "added")

    async def _first_of(self, *events: asyncio.Event) -> None:
        waiting = [self._spawn(event.wait(), name="wait for an imported server") for event in events]
        try:
            await asyncio.wait(waiting, timeout=self._listed_within_s, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in waiting:
                each.cancel()
