"""A person's yes to servers that run inside Tooltray: kept by what is run, asked for again when that is another thing.

Above it: the API; the transports, which start nothing without that yes. Below it: the settings, where alone such servers stand, and a
TrustStore of their own. The file may have been edited by any program, so that an entry in it is no yes.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from msgspec.structs import replace

from tooltray.config.settings.file_server import FileEntry
from tooltray.config.settings.given_entries import read_entry
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.config.settings.server_config import MCPServerConfig
from tooltray.foundation.confirmation import asker_name
from tooltray.foundation.errors import Conflict, Denied, NotFound, Problem
from tooltray.foundation.events import EventBus, ServerFilesChanged
from tooltray.foundation.files.json_text import digest_of
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.trust import TrustRequest
from tooltray.foundation.tasks import finish_in_thread
from tooltray.sources.project_files.trust import KeptEntry, TrustStore
from tooltray.sources.project_files.trust_requests import Place, trust_request

NO_PROJECT = ""  # where these stand in the store's table by projects


class InMemoryTrust:
    """Belongs to one event loop; makes one change at a time."""

    def __init__(
        self,
        *,
        config: McpConfHelper,
        store: TrustStore,
        home: Path,
        bus: EventBus,
        start: Callable[[str], Awaitable[None]],
        stop: Callable[[str], Awaitable[None]],
    ) -> None:
        """
        Args:
            store: of such servers alone.
            home: the person's folder, in which Tooltray runs.
            start, stop: a server to which a person has just said yes, or no.
        """
        self._config, self._store, self._home, self._bus, self._start, self._stop = config, store, home, bus, start, stop
        self._lock = asyncio.Lock()

    @property
    def problem(self) -> Problem | None:
        """What is wrong with the file of what was allowed."""
        return self._store.problem

    def allows(self, name: str, config: MCPServerConfig) -> bool:
        """Whether a server may be started with this entry: it is none that runs inside, or a person said yes to exactly that."""
        kept = self._kept.get(name)
        return config.transport != "inmemory" or (kept is not None and kept.digest == _digest(config))

    def waits(self, name: str) -> bool:
        """Whether a server of the settings waits for a yes of this kind."""
        config = self._config.own_settings.mcp_servers.get(name)
        return config is not None and not self.allows(name, config)

    def knows(self, name: str) -> bool:
        """Whether a yes or no to a name is about such a server."""
        return self.waits(name) or name in self._kept

    async def requests(self) -> list[TrustRequest]:
        """What waits for a person's yes."""
        waiting = {name: config for name, config in self._config.own_settings.mcp_servers.items() if not self.allows(name, config)}
        return await asyncio.to_thread(lambda: [self._request(name, config) for name, config in waiting.items()])

    async def trust(self, digests: Mapping[str, str]) -> list[str]:
        """A person says yes; what was to run starts. Returns the servers' names.

        Raises:
            Denied: it is a program that says so.
            NotFound: there is no such server.
            Conflict: one of them is another one by now; none was allowed.
            TooltrayError: the yes cannot be kept.
        """
        if asker_name():
            title = Phrase("only a person can say yes to a server inside Tooltray")
            raise Denied(title, "", Phrase("Look at it in the window, or with: tooltray trust"))
        async with self._lock:
            for name, digest in digests.items():
                self._check(name, digest)
            now = time.time()
            await self._write({**self._kept, **{name: KeptEntry(name, digest, now) for name, digest in digests.items()}})
        for name in digests:
            await self._start(name)
        return list(digests)

    async def distrust(self, name: str) -> None:
        """Takes a yes back; what runs by it is stopped.

        Raises:
            TooltrayError: that cannot be kept.
        """
        async with self._lock:
            await self._write({other: kept for other, kept in self._kept.items() if other != name})
        await self._stop(name)

    @property
    def _kept(self) -> Mapping[str, KeptEntry]:
        return self._store.kept.get(NO_PROJECT, {})

    async def _write(self, kept: dict[str, KeptEntry]) -> None:
        """What is kept of servers that are gone goes, too."""
        there = self._config.own_settings.mcp_servers
        after = {NO_PROJECT: {name: each for name, each in kept.items() if name in there}}
        await finish_in_thread(self._store.write, after)
        self._store.kept = after
        self._bus.publish(ServerFilesChanged())

    def _check(self, name: str, digest: str) -> None:
        config = self._config.own_settings.mcp_servers.get(name)
        if config is None or config.transport != "inmemory":
            raise NotFound(Phrase("'{name}' does not wait for a yes", name=name), hint=Phrase("See what does: tooltray trust"))
        if _digest(config) != digest:
            reason = Phrase("somebody has changed it since you looked at it, and nothing was trusted")
            raise Conflict(Phrase("'{name}' is another one by now", name=name), reason, Phrase("Look again, and decide anew."))

    def _request(self, name: str, config: MCPServerConfig) -> TrustRequest:
        """Blocks for a few file system calls."""
        before = self._kept.get(name)
        request = trust_request(
            FileEntry(name, read_entry(name, config.to_entry()), config.to_entry()),
            Place(str(self._home), str(self._config.path), is_of_project=False),
            auto_approve=tuple(config.auto_approve),
            is_change=before is not None,
            before=None,
            environ={},
        )
        return replace(request, project="", digest=_digest(config), is_change=before is not None)


def _digest(config: MCPServerConfig) -> str:
    """The same exactly for what runs in the same way."""
    return digest_of([config.command, list(config.arguments)])
