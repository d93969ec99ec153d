"""The entries of servers, wherever each is: in the settings, in a project's own file, or among the proposals that wait for consent.

A server and its secrets are stored together or not at all. Nothing is started or stopped here: the server manager watches the files.
"""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from tooltray.config.settings.given_entries import BUILTIN_NAMES, check_name
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.config.settings.server_config import USUAL_RULES
from tooltray.config.settings.server_edits import name_is_taken
from tooltray.foundation.confirmation import must_wait
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.edited_entries import ServerUpdatePreview
from tooltray.foundation.snapshots.servers import ServerEntry
from tooltray.foundation.snapshots.setup import ServerRemoval
from tooltray.sources.entries.entry_edits import preview_edit

if TYPE_CHECKING:
    from tooltray.config.settings.server_config import MCPServerConfig
    from tooltray.servers.upstream.server_manager import ServerManager
    from tooltray.sources.entries.entry_widenings import EntryWidenings
    from tooltray.sources.entries.proposals import Proposals
    from tooltray.sources.entries.server_removals import ServerRemovals
    from tooltray.sources.entries.server_secrets import ServerSecrets
    from tooltray.sources.project_files.project_servers import ProjectServers


ORIGIN = "origin"
"""Member of an entry: `{"kind": "registry", "name": ..., "version": ...}`; kinds: registry, starter, bundle, link, client, text."""


class ServerEntries:
    """The entries of all files and proposals; belongs to the engine's loop."""

    def __init__(
        self,
        *,
        config: McpConfHelper,
        project_servers: "ProjectServers",
        proposals: "Proposals",
        widenings: "EntryWidenings",
        server_secrets: "ServerSecrets",
        server_removals: "ServerRemovals",
        servers: "ServerManager",
    ) -> None:
        self._config, self._project_servers, self._proposals = config, project_servers, proposals
        self._widenings, self._secrets, self._removals, self._servers = widenings, server_secrets, server_removals, servers

    def entry(self, name: str) -> ServerEntry:
        """Implements ServersApi.get_server_entry."""
        if self._proposals.is_new(name):
            return self._proposals.entry(name)
        check_is_in_settings(self._servers, name)
        return self._config.server_entry(name)

    def preview(self, name: str, entry: Mapping[str, Any]) -> ServerUpdatePreview:
        """Implements ServersApi.preview_server_update."""
        if self._proposals.is_new(name):
            return self._proposals.preview(name, entry)
        check_is_in_settings(self._servers, name)
        return preview_edit(self._config, name, entry)

    def check_may_run(self, name: str) -> None:
        """Checks that a server is not only a proposal.

        Raises:
            Denied: no person has consented to the server yet.
        """
        self._proposals.check_may_run(name)

    async def add(
        self,
        name: str,
        entry: Mapping[str, Any],
        secrets: Mapping[str, str] = {},
        *,
        is_default: bool = True,
        project: str = "",
        like: "MCPServerConfig | None" = None,
    ) -> str:
        """Implements ServersApi.add_mcp_server.

        Args:
            like: the server that the new one copies.
        """
        given = as_added(entry)
        if await must_wait():
            return await self._proposals.add(name, given, secrets, is_default=is_default, project=project)
        check_name(name, BUILTIN_NAMES)
        if not project and name in self._config.settings.mcp_servers:
            raise name_is_taken(name)
        await self._widenings.confirm_new(name, given, like=like)
        async with self._secrets.stored(secrets):
            if project:
                return await self._project_servers.add(project, name, given)
            await self._config.set_server(name, given, is_default=is_default, is_new=True)
        return name

    async def change(self, name: str, entry: Mapping[str, Any], revision: str, secrets: Mapping[str, str] = {}) -> None:
        """Implements ServersApi.update_mcp_server."""
        if self._proposals.is_new(name):
            return await self._replace_proposal(name, entry, revision, secrets)
        check_is_in_settings(self._servers, name)
        if await must_wait():
            return await self._proposals.change(name, entry, revision, secrets)
        revision = await self._widenings.confirm(name, entry, revision)
        async with self._secrets.stored(secrets):
            if self._config.file_server(name):
                return await self._project_servers.change(name, entry, revision)
            return await self._config.set_server(name, entry, revision=revision)

    async def _replace_proposal(self, name: str, entry: Mapping[str, Any], revision: str, secrets: Mapping[str, str]) -> None:
        """Replaces a waiting proposal; if a person or a trusted program replaces it, that is the consent."""
        project = self._proposals.project(name)
        if await must_wait():
            await self._proposals.add(name, entry, secrets, is_default=True, project=project, revision=revision)
        else:
            await self.add(name, entry, secrets, project=project)
            await self._proposals.removed(name)

    async def remove(self, name: str, revision: str, *, keep_secrets: bool) -> ServerRemoval:
        """Implements ServersApi.remove_mcp_server."""
        if self._proposals.is_new(name):
            return ServerRemoval(name, tuple(await self._proposals.withdraw(name)))
        check_is_not_builtin(self._servers, name)
        return await self._removals.remove(name, revision, keep_secrets=keep_secrets)


def as_added(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the entry of a server that is added by any way but an editor: the server asks before it changes something, unless the entry
    has its own rules.

    An entry that is in a file already is not passed through here: what it leaves out keeps the meaning that it has there.
    """
    return dict(entry) if "autoApprove" in entry else {**entry, "autoApprove": list(USUAL_RULES)}


def free_name(wanted: str, taken: Collection[str]) -> str:
    """Returns a name for a new server: the wanted one, or the wanted one with a number behind it.

    Args:
        taken: the names of all servers; names of servers that come with Tooltray are taken in any case.
    """
    taken = {*taken, *BUILTIN_NAMES}
    numbered = (f"{wanted}-{number}" for number in range(2, len(taken) + 3))
    return wanted if wanted not in taken else next(name for name in numbered if name not in taken)


def check_exists(servers: "ServerManager", name: str | None) -> None:
    """Checks that a server exists; the name None means all servers, and always passes.

    Raises:
        NotFound: the server does not exist.
    """
    if name is not None:
        servers.get(name)


def check_is_in_settings(servers: "ServerManager", name: str) -> None:
    """
    Raises:
        NotFound: the server does not exist.
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
