"""Reads the files of the AI clients on this computer for a hub, with the user's variables and the projects that the hub knows.

The code that reads the files is imported with the first use, since most starts of a hub do not need it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.home.home import Home
from tooltray.foundation.installs.bridge_entry import bridge_entry
from tooltray.foundation.snapshots.ai_clients import ClientScan

if TYPE_CHECKING:
    from tooltray.sources.clients.bridge_entries import OwnEntry
    from tooltray.sources.clients.client_look import ClientLook


class ClientScans:
    """The scans of AI clients; belongs to the engine's loop."""

    def __init__(
        self,
        *,
        home: Home,
        config: McpConfHelper,
        environ: Callable[[], Awaitable[Mapping[str, str]]],
        own_url: Callable[[], str | None],
        known_projects: Callable[[], Iterable[str]],
    ) -> None:
        """
        Args:
            environ: the user's variables; the first call may take as long as their login shell.
            own_url: where the hub listens, `http://host:port`; None: nowhere.
            known_projects: folders that the user has allowed, and those that sessions work on.
        """
        self._home, self._config, self._environ, self._own_url, self._known_projects = home, config, environ, own_url, known_projects

    async def scan(self, projects: Iterable[str] = ()) -> ClientScan:
        """Describes all clients.

        Args:
            projects: absolute folders whose files are read, besides the known ones.
        """
        from tooltray.sources.clients.client_kinds import read_client_kinds
        from tooltray.sources.clients.client_scanner import scan

        look = await self.look(projects)
        return await asyncio.to_thread(lambda: scan(look, read_client_kinds()))

    async def look(self, projects: Iterable[str] = ()) -> "ClientLook":
        """Returns the files themselves; each is read when it is asked for, which blocks: ask in a thread."""
        from tooltray.sources.clients.client_look import ClientLook
        from tooltray.sources.clients.client_places import ClientPlaces

        environ = await self._environ()
        own = await asyncio.to_thread(self._own_entry)
        return ClientLook(ClientPlaces(environ), own=own, projects=dict.fromkeys((*projects, *self._known_projects())))

    def _own_entry(self) -> "OwnEntry":
        from tooltray.sources.clients.bridge_entries import OwnEntry

        entry, http, address = bridge_entry(self._home)["mcpServers"]["tooltray"], self._config.settings.publish.http, self._own_url()
        words = (entry["command"], *entry["args"])
        return OwnEntry(words, address or f"http://{http.host}:{http.port}", has_http=address is not None)
