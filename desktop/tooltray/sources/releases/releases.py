"""What is known about newer releases: read at most once a day, kept over restarts, and published when it changes.

Nothing is downloaded here but the list: the user, or the system's package manager, gets the release itself.
"""

import asyncio
import importlib
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from urllib.parse import urljoin

import msgspec

from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.events import EventBus, ReleaseNewsChanged
from tooltray.foundation.files.atomic_file import write_atomically
from tooltray.foundation.installs.installation import Installation, file_of, how_to_update, this_installation
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.regular_file import read_regular
from tooltray.foundation.snapshots.hub import ReleaseNews
from tooltray.foundation.tasks import finish_in_thread
from tooltray.sources.releases.release_list import Release, newer_release, read_releases, reason_withdrawn, unreadable

logger = logging.getLogger(__name__)
CHECKED_EVERY_S = 86400.0
ANSWER_WITHIN_S = 30.0


class Kept(msgspec.Struct, frozen=True):
    """The list of releases on this disk.

    Attributes:
        address: where it was read.
        tried_at: unix seconds of the last attempt.
    """

    address: str = ""
    tried_at: float = 0.0
    releases: tuple[Release, ...] = ()


class Releases:
    """The known releases; belongs to the engine's loop."""

    def __init__(
        self,
        *,
        config: McpConfHelper,
        releases_file: Path,
        environ: Callable[[], Awaitable[Mapping[str, str]]],
        bus: EventBus,
        installation: Callable[[], Installation] = this_installation,
        clock: Callable[[], float] = time.time,
        answer_within_s: float = ANSWER_WITHIN_S,
    ) -> None:
        """
        Args:
            releases_file: where the list is kept.
            environ: returns the user's login-shell environment, for proxies and certificates.
            installation: returns the running installation; blocks on the disk.
            clock: unix seconds.
        """
        self._config, self._file, self._environ, self._bus = config, releases_file, environ, bus
        self._installation, self._clock, self._answer_within_s = installation, clock, answer_within_s
        self._kept = Kept()
        self._problem: Problem | None = None
        self._lock = asyncio.Lock()

    async def load(self) -> None:
        """Reads the kept list, and publishes what is known."""
        async with self._lock:
            self._kept = await asyncio.to_thread(_read_kept, self._file)
        await self._publish()

    async def check_if_due(self) -> None:
        """Reads the list if that was not tried for a day. A clock that was set back makes it due."""
        is_another = self._kept.address != self._config.settings.updates.address
        if is_another or not 0 <= self._clock() - self._kept.tried_at < CHECKED_EVERY_S:
            await self.check()

    async def check(self) -> ReleaseNews:
        """Reads the list now, and returns what is known; a failure is in `problem`, and the list of before stays."""
        async with self._lock:
            address = self._config.settings.updates.address
            self._problem = None
            releases = self._kept.releases if self._kept.address == address else ()
            try:
                releases = read_releases(await self._fetch(address))
            except TooltrayError as error:
                self._problem = error.problem
            self._kept = Kept(address, self._clock(), releases)
            await finish_in_thread(_save, self._file, self._kept)
        return await self._publish()

    async def _fetch(self, address: str) -> bytes:
        if not address:
            raise unreadable(Phrase("`updates.address` in the settings is empty"))
        for module in ("tooltray.sources.releases.release_client", "tooltray.servers.transports.http.certificate_trust"):
            await asyncio.to_thread(importlib.import_module, module)
        from tooltray.servers.transports.http.certificate_trust import tls_context
        from tooltray.sources.releases.release_client import fetch_releases

        environ = await self._environ()
        trust = await asyncio.to_thread(tls_context, environ)
        return await fetch_releases(address, environ=environ, trust=trust, within_s=self._answer_within_s)

    async def _publish(self) -> ReleaseNews:
        own = await asyncio.to_thread(self._installation)
        updates = self._config.settings.updates
        kept = self._kept if self._kept.address == updates.address else Kept()
        before = ReleaseNews(updates.address, updates.check, kept.tried_at, self._problem)
        news = _news(own, kept, before)
        self._bus.publish(ReleaseNewsChanged(news))
        return news


def _news(own: Installation, kept: Kept, before: ReleaseNews) -> ReleaseNews:
    """Returns `before` with what the kept list has for an installation."""
    news = msgspec.structs.replace(before, withdrawn=reason_withdrawn(kept.releases, own.version))
    newer = newer_release(kept.releases, own.version)
    if newer is None:
        return news
    file, update = file_of(own, newer.version), how_to_update(own, newer.version)
    return msgspec.structs.replace(
        news,
        version=newer.version,
        changes=newer.changes,
        update=update,
        command=str(update.fields.get("command", "")),
        download=urljoin(kept.address, file) if newer.has_file(file) else "",
    )


def _read_kept(file: Path) -> Kept:
    try:
        return msgspec.json.decode(read_regular(file), type=Kept)
    except FileNotFoundError:
        pass
    except (OSError, ValueError, RecursionError) as error:
        logger.info("the kept list of releases cannot be used and is read again: %s", error)
    return Kept()


def _save(file: Path, kept: Kept) -> None:
    try:
        write_atomically(file, msgspec.json.encode(kept))
    except OSError as error:
        logger.info("the list of releases could not be saved: %s", error)
