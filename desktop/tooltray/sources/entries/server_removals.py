"""Removes a server from its file: its entry, a proposed change of the entry, its published names, its secrets."""

from collections.abc import Awaitable, Callable

from tooltray.catalogue.tool_manager import ToolManager
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.snapshots.setup import ServerRemoval
from tooltray.sources.entries.entry_widenings import EntryWidenings
from tooltray.sources.entries.proposals import Proposals
from tooltray.sources.entries.server_secrets import ServerSecrets
from tooltray.sources.project_files.project_servers import ProjectServers


class ServerRemovals:
    """The removal of servers with all that only they used; belongs to the engine's loop."""

    def __init__(
        self,
        *,
        config: McpConfHelper,
        project_servers: ProjectServers,
        proposals: Proposals,
        server_secrets: ServerSecrets,
        widenings: EntryWidenings,
        tools: ToolManager,
        on_removed: Callable[[str], Awaitable[None]],
    ) -> None:
        """
        Args:
            on_removed: called with a server's name when it was removed for good; deletes what only this server used.
        """
        self._config, self._project_servers, self._proposals = config, project_servers, proposals
        self._server_secrets, self._widenings, self._tools, self._on_removed = server_secrets, widenings, tools, on_removed

    async def remove(self, name: str, revision: str, *, keep_secrets: bool) -> ServerRemoval:
        """Implements ServersApi.remove_mcp_server."""
        removal, before = await self._server_secrets.of(name), self._config.settings.mcp_servers.get(name)
        if name not in self._config.own_settings.mcp_servers and self._project_servers.keeps(name):
            await self._project_servers.remove(name, revision)
        else:
            await self._config.remove_server(name, revision=revision)
        self._widenings.note_removed(name, before)
        await self._proposals.removed(name)
        if keep_secrets:
            return removal
        await self._tools.free_names(name)
        await self._on_removed(name)
        return await self._server_secrets.forget(removal)
