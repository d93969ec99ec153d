"""The entries of servers, wherever each is: in the settings, in a project's own file, or among what waits for a person's yes.

Above it: ServersApi. Below it: the settings, ProjectServers, Proposals, EntryWidenings and ServerRemovals. Starts and stops nothing: who
runs servers follows what the files say.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tooltray.confirmation import must_wait
from tooltray.errors import TooltrayError
from tooltray.phrases import Phrase
from tooltray.settings.mcp_conf_helper import McpConfHelper
from tooltray.settings.server_edits import name_is_taken
from tooltray.snapshots.edited_entries import ServerUpdatePreview
from tooltray.snapshots.servers import ServerEntry
from tooltray.snapshots.setup import ServerRemoval

if TYPE_CHECKING:
    from tooltray.entries.entry_edits import EntryEdits
    from tooltray.entries.entry_widenings import EntryWidenings
    from tooltray.entries.proposals import Proposals
    from tooltray.entries.server_removals import ServerRemovals
    from tooltray.server_files.project_servers import ProjectServers
    from tooltray.settings.server_config import MCPServerConfig
    from tooltray.upstream.server_manager import ServerManager


class ServerEntries:
    """Belongs to the engine's loop."""

    def __init__(
        self,
        *,
        config: McpConfHelper,
        project_servers: "ProjectServers",
        proposals: "Proposals",
        entry_edits: "EntryEdits",
        widenings: "EntryWidenings",
        server_removals: "ServerRemovals",
        servers: "ServerManager",
    ) -> None:
        self._config, self._project_servers, self._proposals = config, project_servers, proposals
        self._edits, self._widenings, self._removals, self._servers = entry_edits, widenings, server_removals, servers

    def entry(self, name: str) -> ServerEntry:
        """See ServersApi.get_server_entry."""
        if self._proposals.is_new(name):
            return self._proposals.entry(name)
        check_is_in_settings(self._servers, name)
        return self._config.server_entry(name)

    def preview(self, name: str, entry: Mapping[str, Any]) -> ServerUpdatePreview:
        """See ServersApi.preview_server_update."""
        if self._proposals.is_new(name):
            return self._proposals.preview(name, entry)
        check_is_in_settings(self._servers, name)
        return self._edits.preview(name, entry)

    def check_may_run(self, name: str) -> None:
        """Checks that a server is not only a proposal.

        Raises:
            Denied: nobody has consented to the server yet.
        """
        self._proposals.check_may_run(name)

    async def add(
        self, name: str, entry: Mapping[str, Any], *, is_default: bool = True, project: str = "", like: "MCPServerConfig | None" = None
    ) -> str:
        """See ServersApi.add_mcp_server.

        Args:
            like: the server of which it is a copy.
        """
        if await must_wait():
            return await self._proposals.add(name, entry, is_default=is_default, project=project)
        if not project and name in self._config.settings.mcp_servers:
            raise name_is_taken(name)
        given = {"autoApprove": ["all"], **entry}
        await self._widenings.confirm_new(name, given, like=like)
        if project:
            return await self._project_servers.add(project, name, entry)
        await self._config.set_server(name, given, is_default=is_default, is_new=True)
        return name

    async def change(self, name: str, entry: Mapping[str, Any], revision: str) -> None:
        """See ServersApi.update_mcp_server."""
        if self._proposals.is_new(name):
            return await self._replace_proposal(name, entry, revision)
        check_is_in_settings(self._servers, name)
        if await must_wait():
            return await self._proposals.change(name, entry, revision)
        revision = await self._widenings.confirm(name, entry, revision)
        if self._config.file_server(name):
            return await self._project_servers.change(name, entry, revision)
        return await self._config.set_server(name, entry, revision=revision)

    async def _replace_proposal(self, name: str, entry: Mapping[str, Any], revision: str) -> None:
        """What waits is another one; a person, or a program that is trusted, says yes to it thereby."""
        project = self._proposals.project(name)
        if await must_wait():
            await self._proposals.add(name, entry, is_default=True, project=project, revision=revision)
        else:
            await self.add(name, entry, project=project)
            await self._proposals.removed(name)

    async def remove(self, name: str, revision: str, *, keep_secrets: bool) -> ServerRemoval:
        """See ServersApi.remove_mcp_server."""
        if self._proposals.is_new(name):
            return ServerRemoval(name, tuple(await self._proposals.withdraw(name)))
        check_is_not_builtin(self._servers, name)
        return await self._removals.remove(name, revision, keep_secrets=keep_secrets)


def check_exists(servers: "ServerManager", name: str | None) -> None:
    """None stands for all servers, and is always there.

    Raises:
        NotFound: there is no such server.
    """
    if name is not None:
        servers.get(name)


def check_is_in_settings(servers: "ServerManager", name: str) -> None:
    """
    Raises:
        NotFound: there is no such server.
        TooltrayError: it comes with Tooltray, and has no entry in the settings that could be changed.
    """
    servers.get(name)
    check_is_not_builtin(servers, name)


def check_is_not_builtin(servers: "ServerManager", name: str) -> None:
    """
    Raises:
        TooltrayError: the server comes with Tooltray.
    """
    server = servers.find(name)
    if server and server.is_builtin:
        raise TooltrayError(
            Phrase("'{name}' comes with Tooltray", name=name), Phrase("it has no entry in the settings that could be changed")
        )
