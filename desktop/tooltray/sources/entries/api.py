"""The API about servers: their entries, which of them run, and which start with Tooltray."""

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING

from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.confirm_widening import confirm_widening
from tooltray.foundation.home.home import Home
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.programs import is_frozen
from tooltray.foundation.snapshots.entries import ServerTest, ServerUpdatePreview
from tooltray.foundation.snapshots.servers import AccessChoice, InMemoryServer, McpClientSnapshot, ServerEntry, ServerState
from tooltray.foundation.snapshots.setup import ServerRemoval
from tooltray.foundation.tasks import finish_in_thread
from tooltray.foundation.verbs import JsonMapping, JsonObject, always, verb
from tooltray.servers.transports.inmemory.sdk_transport import listed
from tooltray.sources.entries.links import client_links
from tooltray.sources.entries.server_entries import check_is_in_settings

if TYPE_CHECKING:
    from tooltray.catalogue.connections import Connections
    from tooltray.servers.upstream.server_manager import ServerManager
    from tooltray.sources.doctor.server_tests import ServerTests
    from tooltray.sources.entries.server_entries import ServerEntries
    from tooltray.sources.entries.server_renames import ServerRenames


class ServersApi:
    def __init__(
        self,
        *,
        config: McpConfHelper,
        server_entries: "ServerEntries",
        server_renames: "ServerRenames",
        server_tests: "ServerTests",
        servers: "ServerManager",
        connections: "Connections",
        home: Home,
    ) -> None:
        self._config, self._entries, self._tests, self._servers = config, server_entries, server_tests, servers
        self._renames, self._connections, self._home = server_renames, connections, home

    # entries

    @verb("person")
    async def get_mcp_servers(self) -> dict[str, JsonObject]:
        """Returns the entries of the settings, in the spelling of the file."""
        return self._config.entries

    async def get_server_entry(self, name: str) -> ServerEntry:
        """Returns a server's entry, from whichever file has it.

        Raises:
            NotFound: the server does not exist.
            TooltrayError: it comes with Tooltray, and is in no file.
        """
        return self._entries.entry(name)

    async def get_client_links(self, server: str = "") -> dict[str, str]:
        """Returns links that add a server to those AI clients that support them. The links never contain a secret's value.

        Args:
            server: its name; empty: Tooltray, through which the client has all servers.

        Returns:
            Links by the client's name: Cursor, VS Code, VS Code Insiders, LM Studio, Kiro, Goose.

        Raises:
            NotFound: the server does not exist.
            TooltrayError: another program cannot run the server.
        """
        if not server:
            from tooltray.foundation.installs.installations import bridge_entry

            [(name, entry)] = (await finish_in_thread(bridge_entry, self._home))["mcpServers"].items()
            return client_links(name, entry)
        return client_links(server, (await self.get_server_entry(server)).counts)

    async def add_mcp_server(
        self,
        name: str,
        config: JsonMapping,
        is_default: bool = True,
        project: str = "",
        secrets: Mapping[str, str] = {},
        access: AccessChoice | None = None,
    ) -> str:
        """Adds a server and its secrets, both or neither, and begins to start it. What it may do is written into the entry where the
        entry does not say it in `autoApprove` and `confinement`, as the setting `newServers` has it. A server that a program adds waits
        for a person's consent, unless the program's token is trusted. For a server that a command adds, a person confirms whatever
        exceeds the last server of this name, or else that setting: wider rules, rules on arguments, a wider sandbox, secrets of others.

        Args:
            project: a folder, into whose own file the entry goes; empty: into the settings.
            secrets: values to store by the names of secrets, which the entry has as `${secret:NAME}`.
            access: what it may do, in place of what its entry says; None: as the entry says, or else the setting. "careful": sandboxed,
                and changes ask; "trusted": changes ask; "free": not sandboxed, and nothing asks.

        Returns:
            Its name here; one of a project may have another one there.

        Raises:
            Conflict: the name is taken.
            Denied: a person did not confirm what the server may do beyond that.
            TooltrayError: the entry is not valid or cannot have this access, the folder cannot be a project, or the secrets or the file
                cannot be written.
        """
        return await self._entries.add(name, config, secrets, is_default=is_default, project=project, access=access)

    async def update_mcp_server(self, name: str, config: JsonMapping, revision: str = "", secrets: Mapping[str, str] = {}) -> None:
        """Replaces a server's entry and secrets, both or neither, in the file where the entry is; a running server is restarted if the
        change concerns what runs. If a program without a trusted token widens something, the change waits for a person's consent, and the
        server keeps running unchanged.

        Args:
            revision: of the entry to replace, as its snapshot has it; empty: any.
            secrets: as of `add_mcp_server`.

        Raises:
            NotFound: the server does not exist.
            Conflict: its entry has changed.
            TooltrayError: the entry is not valid, or the secrets or the file cannot be written.
        """
        await self._entries.change(name, config, revision, secrets)

    async def remove_mcp_server(self, name: str, revision: str = "", keep_secrets: bool = False) -> ServerRemoval:
        """Removes a server's entry from its file, stops the server, and deletes the secrets that only this server uses.

        Args:
            revision: as of `update_mcp_server`.
            keep_secrets: deletes no secrets (yet), since the server may be restored.

        Returns:
            What was deleted with it, or would have been. A secret that cannot be deleted does not keep the server from being removed.

        Raises:
            NotFound: the server does not exist.
            Conflict: its entry has changed.
            TooltrayError: the file cannot be written.
        """
        return await self._entries.remove(name, revision, keep_secrets=keep_secrets)

    async def get_inmemory_servers(self) -> list[InMemoryServer]:
        """Lists the servers in installed packages that can run inside Tooltray, without importing any of them."""
        return await asyncio.to_thread(listed, self._home.python if is_frozen() else None)  # a frozen Tooltray has no Python for packages

    @verb("manage")
    async def preview_server_update(self, name: str, config: JsonMapping) -> ServerUpdatePreview:
        """Returns the changes that `update_mcp_server` would make, the file, and problems of the new entry; writes nothing.

        Raises:
            NotFound: the server does not exist.
            TooltrayError: it comes with Tooltray, and is in no file.
        """
        return self._entries.preview(name, config)

    async def duplicate_mcp_server(self, name: str, new_name: str) -> str:
        """Adds a copy of a server to the settings, with the same rules and the same secrets, and returns its name. The copy does not start
        with Tooltray until the user has given it its own account.

        Raises:
            NotFound: the server does not exist.
            Conflict: the new name is taken.
            TooltrayError: it comes with Tooltray, or the settings cannot be written.
        """
        check_is_in_settings(self._servers, name)
        source, entry = self._servers.get(name).config, (await self.get_server_entry(name)).counts
        return await self._entries.add(new_name, {**entry, "autoApprove": list(source.auto_approve)}, is_default=False, like=source)

    @verb(trusted=always)
    async def rename_mcp_server(self, name: str, new_name: str) -> None:
        """Gives a server of the settings another name. A running server is restarted. Its place, its rules and secrets, its sign-in, its
        tools in profiles, what was approved of them and whether it starts with Tooltray stay as they are. So do the names of its tools,
        except those that the server's old name was put before.

        The history of its calls, its statistics and its log stay under the old name; so do clients' own files that name the server. Large
        results and tasks from before cannot be read through the new name.

        Raises:
            NotFound: the server does not exist.
            Conflict: the new name is taken.
            TooltrayError: the name is not valid, the server comes with Tooltray or is in another file, its sign-in cannot be stored under
                the new name, or the settings cannot be written.
        """
        check_is_in_settings(self._servers, name)
        await self._renames.rename(name, new_name)

    async def test_server(self, test: str, name: str, config: JsonMapping | None = None) -> ServerTest:
        """Connects once to a server, lists its tools and ends it; nothing is saved. The server's stderr is published as events
        `ServerTestOutput`. A program may test an existing server, but no other entry.

        Args:
            test: names this test; any text that no other test has.
            name: of the server, which need not exist if an entry is given.
            config: the entry to try; None: the server's current entry.

        Returns:
            Its tools, or why it does not work and how to fix it.

        Raises:
            NotFound: the server does not exist.
            Denied: a person did not confirm that this entry may run.
            TooltrayError: the entry is not valid, or too many tests run already.
        """
        if config is not None:
            await confirm_widening(Phrase("Running a server to test it"), server=name)
        else:
            self._entries.check_may_run(name)
            check_is_in_settings(self._servers, name)
        return await self._tests.run(test, name, config)

    async def cancel_server_test(self, test: str) -> None:
        """Ends a running test of a server, and the test's process; does nothing for a test that has ended."""
        self._tests.cancel(test)

    # running servers

    async def start_server(self, name: str) -> None:
        """Starts a server and waits until it runs.

        Raises:
            NotFound: the server does not exist.
            TooltrayError: it does not run; the error has the reason.
        """
        self._entries.check_may_run(name)
        await self._servers.start(name)

    async def stop_server(self, name: str) -> None:
        """Stops a server. The server stays stopped, even when Tooltray restarts, until the user starts it.

        Raises:
            NotFound: the server does not exist.
            TooltrayError: it has stopped, but that cannot be saved.
        """
        await self._servers.stop(name)

    async def restart_server(self, name: str) -> None:
        """Stops a server if it runs, starts it, and waits until it runs.

        Raises:
            NotFound: the server does not exist.
            TooltrayError: it does not run again; the error has the reason.
        """
        self._entries.check_may_run(name)
        await self._servers.restart(name)

    async def is_server_running(self, name: str) -> bool:
        """Reports whether a server runs now.

        Raises:
            NotFound: the server does not exist.
        """
        return self._servers.get(name).state is ServerState.RUNNING

    async def get_mcp_clients(self) -> list[McpClientSnapshot]:
        """Returns every connection to a running server, with the server's description of itself."""
        return self._connections.snapshots()

    async def get_server_log(self, name: str, lines: int = 200) -> list[str]:
        """Returns the last lines of a server's stderr, known secrets masked.

        Args:
            lines: how many at most.

        Raises:
            NotFound: the server does not exist.
        """
        return list(self._servers.get(name).log)[-lines:] if lines > 0 else []

    # servers that start with Tooltray

    async def get_mcp_default_servers(self) -> list[str]:
        """Returns the names of the servers that start with Tooltray."""
        return list(self._config.settings.default_servers)

    async def add_mcp_default_server(self, name: str) -> None:
        """Lets a server start with Tooltray.

        Raises:
            NotFound: the server does not exist.
            TooltrayError: it comes with Tooltray, or the settings cannot be written.
        """
        check_is_in_settings(self._servers, name)
        await self._config.set_default(name, True)

    async def remove_mcp_default_server(self, name: str) -> None:
        """Lets a server start when it is used, no longer with Tooltray.

        Raises: as `add_mcp_default_server`.
        """
        check_is_in_settings(self._servers, name)
        await self._config.set_default(name, False)

    async def toggle_mcp_default_server(self, name: str) -> bool:
        """Changes whether a server starts with Tooltray, and returns whether it does now.

        Raises: as `add_mcp_default_server`.
        """
        check_is_in_settings(self._servers, name)
        is_default = name not in self._config.settings.default_servers
        await self._config.set_default(name, is_default)
        return is_default
