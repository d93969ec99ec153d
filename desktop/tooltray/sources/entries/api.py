"""The API about servers: their entries, which of them run, and which start with the hub.

Below it: ServerEntries, which knows where each entry is, and ServerManager, which runs what they say.
"""

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.confirmation import confirm_widening
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.edited_entries import ServerTest, ServerUpdatePreview
from tooltray.foundation.snapshots.servers import InMemoryServer, McpClientSnapshot, ServerEntry, ServerState
from tooltray.foundation.snapshots.setup import ServerRemoval
from tooltray.foundation.tasks import finish_in_thread
from tooltray.foundation.verbs import verb
from tooltray.servers.transports.inmemory.packages import listed
from tooltray.sources.entries.outgoing_links import client_links
from tooltray.sources.entries.server_entries import check_is_in_settings

if TYPE_CHECKING:
    from tooltray.catalogue.connections import Connections
    from tooltray.servers.upstream.server_manager import ServerManager
    from tooltray.sources.doctor.server_tests import ServerTests
    from tooltray.sources.entries.server_entries import ServerEntries


class ServersApi:
    def __init__(
        self,
        *,
        config: McpConfHelper,
        server_entries: "ServerEntries",
        server_tests: "ServerTests",
        servers: "ServerManager",
        connections: "Connections",
        packages: Path | None = None,
        bridge_entry: Callable[[], Mapping[str, Any]] = dict,
    ) -> None:
        """
        Args:
            bridge_entry: what AI clients need to use this hub, as `{"mcpServers": {NAME: ENTRY}}`; reads files.
            packages: a folder in which servers inside Tooltray are looked for besides this Python's packages; None: there is none.
        """
        self._config, self._entries, self._tests, self._servers = config, server_entries, server_tests, servers
        self._connections, self._packages, self._bridge_entry = connections, packages, bridge_entry

    # entries

    @verb("person")
    async def get_mcp_servers(self) -> dict[str, dict[str, Any]]:
        """The entries of the settings, in the spelling of the file."""
        return self._config.entries

    async def get_server_entry(self, name: str) -> ServerEntry:
        """How a server is described, in whichever file.

        Raises:
            NotFound: there is no such server.
            TooltrayError: it comes with Tooltray, and is in no file.
        """
        return self._entries.entry(name)

    async def get_client_links(self, server: str = "") -> dict[str, str]:
        """Links that add a server to AI clients which have such links; no secret's value is in them.

        Args:
            server: its name; empty: Tooltray itself, so that the client has all servers through it.

        Returns:
            Links by the client's name: Cursor, VS Code, VS Code Insiders, LM Studio, Kiro, Goose.

        Raises:
            NotFound: there is no such server.
            TooltrayError: it is one that another program cannot run.
        """
        if not server:
            [(name, entry)] = (await finish_in_thread(self._bridge_entry))["mcpServers"].items()
            return client_links(name, entry)
        return client_links(server, (await self.get_server_entry(server)).counts)

    async def add_mcp_server(
        self, name: str, config: Mapping[str, Any], is_default: bool = True, project: str = "", secrets: Mapping[str, str] = {}
    ) -> str:
        """Adds a server with its secrets, or nothing of both, and begins to start it. Its tools ask before they change something, unless
        the entry has an `autoApprove` of its own. What a program adds waits for a person's consent, unless its token is trusted. Of a
        command, a person confirms what goes beyond the last server of this name, or beyond any that is added: wider rules, rules on
        arguments, secrets of other servers.

        Args:
            project: a folder, into whose own file the entry goes; empty: into the settings.
            secrets: values to store by the names of secrets, which the entry has as `${secret:NAME}`.

        Returns:
            Its name here; one of a project may have another one there.

        Raises:
            Conflict: the name is taken.
            Denied: nobody has confirmed what it may do beyond that.
            TooltrayError: the entry is not valid, the folder cannot be a project, or the secrets or the file cannot be written.
        """
        return await self._entries.add(name, config, secrets, is_default=is_default, project=project)

    async def update_mcp_server(self, name: str, config: Mapping[str, Any], revision: str = "", secrets: Mapping[str, str] = {}) -> None:
        """Replaces a server's entry and secrets, or nothing of both, in the file where the entry is; a running server is restarted if that
        changes what runs. Of a program whose token is not trusted, what widens something waits for a person's consent, and what runs goes
        on.

        Args:
            revision: of the entry that is to be replaced, as its snapshot has it; empty: whatever it is.
            secrets: as of `add_mcp_server`.

        Raises:
            NotFound: there is no such server.
            Conflict: its entry is another one by now.
            TooltrayError: the entry is not valid, or the secrets or the file cannot be written.
        """
        await self._entries.change(name, config, revision, secrets)

    async def remove_mcp_server(self, name: str, revision: str = "", keep_secrets: bool = False) -> ServerRemoval:
        """Removes a server's entry from the file where it is, stops it, and removes what is among the secrets for it alone.

        Args:
            revision: as of `update_mcp_server`.
            keep_secrets: nothing is removed among the secrets (yet): it may be brought back.

        Returns:
            What has gone with it, or would have. A secret that cannot be removed holds nothing up.

        Raises:
            NotFound: there is no such server.
            Conflict: its entry is another one by now.
            TooltrayError: the file cannot be written.
        """
        return await self._entries.remove(name, revision, keep_secrets=keep_secrets)

    async def get_inmemory_servers(self) -> list[InMemoryServer]:
        """The servers that installed packages bring and that can run inside Tooltray. None of them is imported for that."""
        return await asyncio.to_thread(listed, self._packages)

    @verb("manage")
    async def preview_server_update(self, name: str, config: Mapping[str, Any]) -> ServerUpdatePreview:
        """What `update_mcp_server` would change, in which file, and what is wrong with the new entry; writes nothing.

        Raises:
            NotFound: there is no such server.
            TooltrayError: it comes with Tooltray, and is in no file.
        """
        return self._entries.preview(name, config)

    async def duplicate_mcp_server(self, name: str, new_name: str) -> str:
        """Adds a copy of a server to the settings, with the same rules and the same secrets, and returns its name. It does not start with
        the hub before a person has given it an account of its own.

        Raises:
            NotFound: there is no such server.
            Conflict: the new name is taken.
            TooltrayError: it comes with Tooltray, or the settings cannot be written.
        """
        check_is_in_settings(self._servers, name)
        source, entry = self._servers.get(name).config, (await self.get_server_entry(name)).counts
        return await self._entries.add(new_name, {**entry, "autoApprove": list(source.auto_approve)}, is_default=False, like=source)

    async def test_server(self, test: str, name: str, config: Mapping[str, Any] | None = None) -> ServerTest:
        """Connects once to a server, lists its tools and ends it again; nothing is saved. What it writes to its stderr meanwhile comes as
        events `ServerTestOutput`. A program may test a server as it stands, but no entry of its own.

        Args:
            test: names this test; any text that no other one has.
            name: of the server, which there need not be if an entry is given.
            config: the entry that is tried; None: as the server stands.

        Returns:
            Its tools, or why it does not work and what can be done.

        Raises:
            NotFound: there is no such server.
            Denied: nobody has confirmed that this entry may run.
            TooltrayError: the entry is not valid, or too many tests run already.
        """
        if config is not None:
            await confirm_widening(Phrase("Running a server to test it"), server=name)
        else:
            self._entries.check_may_run(name)
            check_is_in_settings(self._servers, name)
        return await self._tests.run(test, name, config)

    async def cancel_server_test(self, test: str) -> None:
        """Ends a test of a server that runs, and its process; one that has ended stays so."""
        self._tests.cancel(test)

    # what runs

    async def start_server(self, name: str) -> None:
        """Starts a server and waits until it runs.

        Raises:
            NotFound: there is no such server.
            TooltrayError: it does not run; says why.
        """
        self._entries.check_may_run(name)
        await self._servers.start(name)

    async def stop_server(self, name: str) -> None:
        """Stops a server. It stays stopped, over restarts of the hub too, until a person starts it.

        Raises:
            NotFound: there is no such server.
            TooltrayError: it has stopped, and that cannot be kept.
        """
        await self._servers.stop(name)

    async def restart_server(self, name: str) -> None:
        """Stops a server if it runs, starts it, and waits until it runs.

        Raises:
            NotFound: there is no such server.
            TooltrayError: it does not run again; says why.
        """
        self._entries.check_may_run(name)
        await self._servers.restart(name)

    async def is_server_running(self, name: str) -> bool:
        """Whether a server runs now.

        Raises:
            NotFound: there is no such server.
        """
        return self._servers.get(name).state is ServerState.RUNNING

    async def get_mcp_clients(self) -> list[McpClientSnapshot]:
        """Every connection to a running server, and what the server says of itself."""
        return self._connections.snapshots()

    async def get_server_log(self, name: str, lines: int = 200) -> list[str]:
        """The last lines of a server's stderr, known secrets masked.

        Args:
            lines: how many at most.

        Raises:
            NotFound: there is no such server.
        """
        return list(self._servers.get(name).log)[-lines:] if lines > 0 else []

    # what starts with the hub

    async def get_mcp_default_servers(self) -> list[str]:
        """The names of the servers that start with the hub."""
        return list(self._config.settings.default_servers)

    async def add_mcp_default_server(self, name: str) -> None:
        """Lets a server start with the hub.

        Raises:
            NotFound: there is no such server.
            TooltrayError: it comes with Tooltray, or the settings cannot be written.
        """
        check_is_in_settings(self._servers, name)
        await self._config.set_default(name, True)

    async def remove_mcp_default_server(self, name: str) -> None:
        """Lets a server start when it is used, no longer with the hub.

        Raises: as `add_mcp_default_server`.
        """
        check_is_in_settings(self._servers, name)
        await self._config.set_default(name, False)

    async def toggle_mcp_default_server(self, name: str) -> bool:
        """Lets a server start with the hub if it did not, else no longer; returns whether it does now.

        Raises: as `add_mcp_default_server`.
        """
        check_is_in_settings(self._servers, name)
        is_default = name not in self._config.settings.default_servers
        await self._config.set_default(name, is_default)
        return is_default
