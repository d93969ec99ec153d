"""The copy of a registry on this disk: updated in the background, and searched without waiting for the network.

The registry is first read when the user searches for a server, and then once an hour; without any search it is never read.
"""

import asyncio
import contextlib
import importlib
import logging
import sqlite3
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec, TypeVar

import msgspec
from msgspec.structs import replace

from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.errors import NotFound, Problem, TooltrayError
from tooltray.foundation.files.atomic_file import all_set_aside, set_aside
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.discovery import RegistryStatus
from tooltray.foundation.tasks import Spawn, finish_in_thread
from tooltray.sources.discovery.registry_index import DamagedIndex, Facts, Found, IndexWriter, RegistryIndex, read_item
from tooltray.sources.discovery.registry_json import Described
from tooltray.sources.discovery.server_forms import is_address

if TYPE_CHECKING:
    from tooltray.sources.discovery.registry_client import Page, RegistryClient

logger = logging.getLogger(__name__)
P = ParamSpec("P")
T = TypeVar("T")

ASKED_EVERY_S = 3600.0  # the registry permits one read an hour
LOOKS_EVERY_S = 600.0  # checks whether it is time to read; a computer that sleeps stops longer clocks
FILLED_EVERY_S = 30 * 86400.0  # everything is read again: a deletion may have been missed
ALL_LIMIT_S = 900.0  # for all pages; 20,000 entries are 200 of them
_TITLE = Phrase("The registry of servers cannot be read")


class RegistryCopy:
    """The copy of the registry and its updates; belongs to the engine's loop."""

    def __init__(
        self,
        *,
        config: McpConfHelper,
        registry_file: Path,
        default_registry: str,
        environ: Callable[[], Awaitable[Mapping[str, str]]],
        spawn: Spawn,
        clock: Callable[[], float] = time.time,
        looks_every_s: float = LOOKS_EVERY_S,
    ) -> None:
        """
        Args:
            registry_file: where the copy is.
            default_registry: the address if the settings have none.
            environ: returns the user's login-shell environment, for proxies and certificates.
            clock: unix seconds.
            looks_every_s: how often to check whether it is time to read the registry.
        """
        self._looks_every_s = looks_every_s
        self._config, self._default, self._environ, self._spawn, self._clock = config, default_registry, environ, spawn, clock
        self._index = RegistryIndex(registry_file)
        self._facts: Facts | None = None
        self._is_read = False
        self._problem: Problem | None = None
        self._tried_at = -ASKED_EVERY_S
        self._fetching: asyncio.Task[None] | None = None
        self._following: asyncio.Task[None] | None = None

    @property
    def address(self) -> str:
        """The address of the registry; empty: the user has switched it off."""
        chosen = self._config.settings.discovery.registry
        if chosen is None or chosen is True:
            return self._default
        return chosen.strip() if isinstance(chosen, str) else ""

    async def status(self) -> RegistryStatus:
        """Returns the age of the copy, and the problem with it if there is one."""
        facts = await self._current() or Facts()
        return RegistryStatus(facts.servers, facts.updated_at, self._fetching is not None, self._problem)

    async def search(self, text: str, limit: int) -> Found:
        """Searches the copy, which is updated in the background from now on."""
        self._follow()
        return await self._read(self._index.search, text, limit) or Found() if await self._current() else Found()

    async def get(self, name: str, version: str = "") -> Described:
        """Returns a server as DiscoveryApi.get_registry_server does."""
        self._follow()
        found = (await self.get_all([name])).get(name)
        if found and version in ("", found.version):
            return found
        if found is None and not version:
            hint = Phrase("Search for it; if it is new, get the list again: tooltray discover refresh")
            raise NotFound(Phrase("The registry has no server '{name}'", name=name), "", hint)
        return await self._from_registry(name, version)

    async def get_all(self, names: Iterable[str]) -> Mapping[str, Described]:
        """Returns the servers of these names, as far as the copy has them."""
        return await self._read(self._index.get_all, tuple(names)) or {} if await self._current() else {}

    async def refresh(self) -> RegistryStatus:
        """Reads the registry now; an error is in the status."""
        self._follow(is_asked=True)
        await self._fetched()
        return await self.status()

    # the file

    async def _current(self) -> Facts | None:
        """Returns the facts about the copy; None if no copy exists, or if it is of another registry."""
        if not self._is_read:
            self._facts, self._is_read = await self._read(self._index.facts), True
        is_another = self._facts is not None and self.address not in ("", self._facts.source)
        return None if is_another else self._facts

    async def _read(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T | None:
        """Runs a function that reads the file; None if the file cannot be used: then it is set aside, and fetched again."""
        try:
            return await asyncio.to_thread(work, *args, **kwargs)
        except DamagedIndex as error:
            logger.info("the copy of the registry cannot be used and is fetched again: %s", error)
            await self._put_away()
            if self._following:
                self._begin()
            return None

    async def _put_away(self) -> None:
        await finish_in_thread(_put_away, self._index.path)
        self._facts, self._is_read, self._tried_at = None, True, -ASKED_EVERY_S

    # the registry

    def _follow(self, *, is_asked: bool = False) -> None:
        """Keeps the copy up to date from now on."""
        if self._following is None and (self.address or is_asked):
            self._following = self._spawn(self._keep_current(), name="save the copy of the registry")

    async def _keep_current(self) -> None:
        while True:
            if await self._is_due():
                with contextlib.suppress(Exception):  # logged where it happened; costs this round, not the later ones
                    await self._fetched()
            await asyncio.sleep(self._looks_every_s)

    async def _is_due(self) -> bool:
        facts = await self._current()
        answered_at = facts.updated_at if facts else -ASKED_EVERY_S
        now = self._clock()
        return bool(self.address) and all(not 0 <= now - at < ASKED_EVERY_S for at in (self._tried_at, answered_at))

    def _begin(self) -> asyncio.Task[None]:
        if self._fetching is None:
            self._fetching = self._spawn(self._fetch(), name="fetch the registry")
        return self._fetching

    async def _fetched(self) -> None:
        await asyncio.shield(self._begin())

    async def _fetch(self) -> None:
        try:
            self._tried_at = self._clock()
            self._problem = self._why_not()
            if self._problem is None:
                async with asyncio.timeout(ALL_LIMIT_S), await self._client() as client:
                    await self._update(client, self.address)
        except TooltrayError as error:
            self._problem = error.problem
        except TimeoutError:
            self._problem = Problem(_TITLE, Phrase("no whole answer within {seconds} s", seconds=f"{ALL_LIMIT_S:g}"))
        except (OSError, sqlite3.Error) as error:
            if isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError):
                await self._put_away()  # the copy of the copy was damaged
            title = Phrase("The copy of the registry cannot be written")
            self._problem = Problem(title, f"{self._index.path}: {getattr(error, 'strerror', None) or error}")
        finally:
            self._fetching = None

    def _why_not(self) -> Problem | None:
        if not self.address:
            hint = Phrase("Take `discovery.registry` out of the settings")
            return Problem(Phrase("The registry of servers is switched off"), Phrase("What is on the disk can be searched"), hint)
        if is_address(self.address):
            return None
        return Problem(_TITLE, Phrase("`discovery.registry` in the settings is not an address"), Phrase("It begins with https://"))

    async def _client(self) -> "RegistryClient":
        for module in ("tooltray.sources.discovery.registry_client", "tooltray.servers.transports.http.certificate_trust"):
            await asyncio.to_thread(importlib.import_module, module)
        from tooltray.servers.transports.http.certificate_trust import tls_context
        from tooltray.sources.discovery.registry_client import RegistryClient

        environ = await self._environ()
        return RegistryClient(self.address, environ=environ, trust=await asyncio.to_thread(tls_context, environ))

    async def _update(self, client: "RegistryClient", source: str) -> None:
        from tooltray.sources.discovery.registry_client import Page

        facts = await self._current()
        if facts is None or not facts.newest or not 0 <= self._clock() - facts.filled_at < FILLED_EVERY_S:
            facts = Facts(source, filled_at=self._clock())
        before = Page(address=facts.asked, etag=facts.etag, modified=facts.modified)
        pages = client.pages(since=facts.newest, before=before)
        async with contextlib.aclosing(pages):
            first = await anext(pages)
            asked = first.address if facts.newest else ""  # an unchanged first page of everything does not mean that the others are, too
            facts = replace(facts, updated_at=self._clock(), asked=asked, etag=first.etag, modified=first.modified)
            if facts.newest and not first.items:
                await self._read(self._index.write_facts, facts)
            else:
                await self._write(facts, first, pages)
        self._facts, self._is_read = await self._read(self._index.facts), True

    async def _write(self, facts: Facts, first: "Page", pages: "AsyncGenerator[Page, None]") -> None:
        writer = IndexWriter(self._index.path, is_new=not facts.newest)
        await finish_in_thread(writer.__enter__)
        try:
            count = await finish_in_thread(writer.put, first.items)
            async for page in pages:
                count += await finish_in_thread(writer.put, page.items)
            if not facts.newest and not count:
                raise TooltrayError(_TITLE, Phrase("its list has no servers"))
            await finish_in_thread(writer.write_facts, replace(facts, newest=max(facts.newest, writer.newest)))
        except BaseException as error:
            await finish_in_thread(writer.__exit__, type(error), error, None)
            raise
        await finish_in_thread(writer.__exit__, None, None, None)

    async def _from_registry(self, name: str, version: str) -> Described:
        if problem := self._why_not():
            raise TooltrayError(problem.title, problem.message, problem.hint)
        async with await self._client() as client:
            body = await client.version(name, version)
        found = await asyncio.to_thread(read_item, body) if body else None
        if found is None or (found.name, found.version) != (name, version):
            raise NotFound(Phrase("The registry has no version {version} of '{name}'", version=version, name=name))
        return found


def default_registry(path: Path) -> str:
    """Returns the address of the official registry.

    Args:
        path: `mcp-registry.json`.
    """
    return str(msgspec.json.decode(path.read_bytes(), type=dict[str, str])["registry"])


def _put_away(path: Path) -> None:
    """Sets the file aside and deletes files that were set aside earlier: they are large, and one is enough to look into."""
    for each in all_set_aside(path):
        with contextlib.suppress(OSError):
            each.unlink()
    set_aside(path)
