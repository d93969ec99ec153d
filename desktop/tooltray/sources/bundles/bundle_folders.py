"""Which folders of bundles are needed, and the removal of those that are not.

Above it: bundle_installs, the engine (at the start), ServersApi (when a server was removed for good). Below it: bundle_store, the settings.

A folder goes when no entry names it and nothing runs from it. A removal that can still be undone keeps the secrets, and also the folder:
that goes with the next start. Who takes an entry out of the settings by hand has the folder gone with the next start, too.
"""

import asyncio
import json
import logging
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol

from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.config.settings.server_config import MCPServerConfig
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.events import EventBus, ServerRemoved
from tooltray.foundation.tasks import Spawn, finish_in_thread
from tooltray.servers.upstream.managed_server import ServerStateChanged
from tooltray.sources.bundles.bundle_store import BundleStore

logger = logging.getLogger(__name__)


class KnownConfigs(Protocol):
    """The part of ServerManager that is used here."""

    @property
    def configs(self) -> tuple[MCPServerConfig, ...]: ...


class BundleFolders:
    """Belongs to the engine's loop.

    Attributes:
        changing: held by who installs: a folder is there before an entry names it.
    """

    def __init__(
        self,
        *,
        store: BundleStore,
        config: McpConfHelper,
        servers: KnownConfigs,
        proposed: Callable[[], Mapping[str, Any]],
        bus: EventBus,
        spawn: Spawn,
    ) -> None:
        """
        Args:
            proposed: the entries that wait for a person's yes.
        """
        self._store, self._config, self._servers, self._proposed, self._spawn = store, config, servers, proposed, spawn
        self._retired: set[Path] = set()
        self.changing = asyncio.Lock()
        bus.subscribe(ServerRemoved, self._on_news)
        bus.subscribe(ServerStateChanged, self._on_news)

    async def tidy(self) -> None:
        """Removes what interrupted work has left, and all folders that nobody needs; for the start of a hub.

        Where something is wrong with the settings, an entry may be missing that comes back: then no folder goes.
        """
        async with self.changing:
            await finish_in_thread(self._store.tidy)
            if not self._config.problems:
                await self._remove_unneeded(await finish_in_thread(self._store.folders))

    async def forget(self, server: str) -> None:
        """A server was removed for good: its bundle goes as soon as it has ended. Never fails: the next start looks again."""
        records = [each for each in self._store.records if server in each.servers]
        if not records:
            return
        try:
            async with self.changing:
                await finish_in_thread(self._store.forget_server, server)
        except TooltrayError as error:
            logger.warning("%s", error)
        await self.retire(self._store.path(each) for each in records)

    async def retire(self, folders: Iterable[Path]) -> None:
        """These go as soon as nobody needs them."""
        self._retired.update(folders)
        await self._look_again()

    def _on_news(self, event: object) -> None:
        if self._retired:
            self._spawn(self._look_again(), name="remove bundles")

    async def _look_again(self) -> None:
        async with self.changing:
            await self._remove_unneeded(list(self._retired))

    async def _remove_unneeded(self, folders: Iterable[Path]) -> None:
        sums = {self._store.path(each): each.sha256 for each in self._store.records}
        for folder in folders:
            if not self._is_needed(folder, sums.get(folder, "")):
                self._retired.discard(folder)
                await finish_in_thread(self._store.remove, folder)

    def _is_needed(self, folder: Path, sha256: str) -> bool:
        written = self._config.document.get("mcpServers")
        files = [dict(each.entry.written) for each in self._config.file_servers.values()]
        running = [config.to_entry() for config in self._servers.configs]
        text = json.dumps([written, files, running, dict(self._proposed())], default=str)
        return json.dumps(str(folder))[1:-1] in text or bool(sha256 and sha256 in text)
