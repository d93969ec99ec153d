"""The user's consent to servers that run inside Tooltray: for exactly what is run, and requested again when that changes.

Such servers are only in the settings. Any program may have edited these, so an entry does not count as consent.
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

NO_PROJECT = ""  # the key of these servers in the store's table by projects


class InMemoryTrust:
    """The consents to servers inside Tooltray; belongs to one event loop, and makes one change at a time."""

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
            store: a store for only these servers.
            home: the user's home folder, in which Tooltray runs.
            start, stop: called for a server that was just allowed, or revoked.
        """
        self._config, self._store, self._home = config, store, home
        self._bus, self._start, self._stop = bus, start, stop
        self._lock = asyncio.Lock()

    @property
    def problem(self) -> Problem | None:
        """The problem with the file of consents, if there is one."""
        return self._store.problem

    def allows(self, name: str, config: MCPServerConfig) -> bool:
        """Returns whether a server may be started with this entry: it does not run inside Tooltray, or the user consented to exactly it."""
        kept = self._kept.get(name)
        return config.transport != "inmemory" or (kept is not None and kept.digest == _digest(config))

    def waits(self, name: str) -> bool:
        """Returns whether a server of the settings waits for this consent."""
        config = self._config.own_settings.mcp_servers.get(name)
        return config is not None and not self.allows(name, config)

    def knows(self, name: str) -> bool:
        """Returns whether a decision about a name is about such a server."""
        return self.waits(name) or name in self._kept

    async def requests(self) -> list[TrustRequest]:
        """Returns the requests for consent."""
        waiting = {name: config for name, config in self._config.own_settings.mcp_servers.items() if not self.allows(name, config)}
        return await asyncio.to_thread(lambda: [self._request(name, config) for name, config in waiting.items()])

    async def trust(self, digests: Mapping[str, str]) -> list[str]:
        """Allows servers and starts those that were to run; returns their names.

        Raises:
            Denied: the caller is a program, not the user.
            NotFound: a server does not exist.
            Conflict: one of them has changed since; none was allowed.
            TooltrayError: the consent cannot be stored.
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
        """Revokes a consent; the server is stopped.

        Raises:
            TooltrayError: this cannot be stored.
        """
        async with self._lock:
            await self._write({other: kept for other, kept in self._kept.items() if other != name})
        await self._stop(name)

    @property
    def _kept(self) -> Mapping[str, KeptEntry]:
        return self._store.kept.get(NO_PROJECT, {})

    async def _write(self, kept: dict[str, KeptEntry]) -> None:
        """Stores the consents, without those to servers that are gone."""
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
    """Returns a digest that is equal exactly for entries that run in the same way."""
    return digest_of([config.command, list(config.arguments)])
