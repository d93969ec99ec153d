"""Looks at the AI clients of this computer for a hub: in a thread, with the person's variables and the projects that the hub knows.

Above it: the API, and whatever connects clients or imports from them. Below it: client_scanner. What reads the files is loaded with the
first look, since most starts of a hub need none.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

import msgspec

from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.home.home import Home
from tooltray.foundation.installs.bridge_entry import bridge_entry
from tooltray.foundation.snapshots.ai_clients import ClientScan

if TYPE_CHECKING:
    from tooltray.sources.clients.client_connection import OwnEntry
    from tooltray.sources.clients.client_look import ClientLook
    from tooltray.sources.clients.client_scanner import ClientScanner


class Surroundings(msgspec.Struct, frozen=True):
    """What a look needs to know.

    Attributes:
        own: what stands for Tooltray in a client's file.
        environ: the person's variables.
        projects: absolute folders.
    """

    own: "OwnEntry"
    environ: Mapping[str, str]
    projects: tuple[str, ...] = ()


class ClientScans:
    """Belongs to the engine's loop."""

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
            environ: the person's variables; the first call may take as long as their login shell.
            own_url: where the hub listens, `http://host:port`; None: nowhere.
            known_projects: folders that the person has allowed, and those that sessions work on.
        """
        self._home, self._config, self._environ, self._own_url, self._known_projects = home, config, environ, own_url, known_projects

    async def scan(self, projects: Iterable[str] = ()) -> ClientScan:
        """Looks at everything.

        Args:
            projects: absolute folders besides those that are known.
        """
        around = await self.surroundings(projects)
        return await asyncio.to_thread(lambda: self._scanner.scan(own=around.own, environ=around.environ, projects=around.projects))

    async def look(self, projects: Iterable[str] = ()) -> "ClientLook":
        """The files themselves; they are read as they are asked for, which blocks: ask in a thread."""
        around = await self.surroundings(projects)
        return await asyncio.to_thread(lambda: self._scanner.look(own=around.own, environ=around.environ, projects=around.projects))

    async def surroundings(self, projects: Iterable[str] = ()) -> Surroundings:
        environ = await self._environ()
        own = await asyncio.to_thread(self._own_entry)
        return Surroundings(own, environ, tuple(dict.fromkeys((*projects, *self._known_projects()))))

    def _own_entry(self) -> "OwnEntry":
        from tooltray.sources.clients.client_connection import OwnEntry

        entry, http, address = bridge_entry(self._home)["mcpServers"]["tooltray"], self._config.settings.publish.http, self._own_url()
        words = (entry["command"], *entry["args"])
        return OwnEntry(words, address or f"http://{http.host}:{http.port}", has_http=address is not None)

    @cached_property
    def _scanner(self) -> "ClientScanner":
        from tooltray.sources.clients.client_scanner import ClientScanner

        return ClientScanner()
