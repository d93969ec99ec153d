"""Applies changed settings at once, whether a verb changed them or a user edited the file: pauses, starts, secrets' place, tool names.

Most parts read the settings each time, or subscribe to changes. This module does the rest. The end of a pause is in the settings, so a
pause outlives the hub; a clock that jumps does not make it longer.
"""

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Protocol

from tooltray.config.naming.published_names import PublishedNames
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.config.settings.server_config import MCPServerConfig, config_hash
from tooltray.config.settings.settings import UpdateSettings
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.events import ConfigChanged, EventBus, ProblemReported, ReleaseNewsChanged
from tooltray.foundation.moments import Moment
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.hub import ReleaseNews
from tooltray.foundation.tasks import Spawn, finish_in_thread
from tooltray.servers.upstream.managed_server import ServersConfigured
from tooltray.sources.entries.server_entries import ServerStarts

MOST_PAUSE_S = 7 * 86400.0  # a user who wants the hub off for longer pauses without an end
CHECK_EVERY_S = 30.0  # timers stop while a computer sleeps; after it wakes, a pause ends at most this late
RELEASES_EVERY_S = 60.0  # whether it is time to look for a newer release, and no AI client waits


class Pauses:
    """The pause of the hub. Belongs to the engine's loop."""

    def __init__(self, *, config: McpConfHelper, spawn: Spawn, bus: EventBus, check_every_s: float = CHECK_EVERY_S) -> None:
        self._config, self._spawn, self._bus, self._check_every_s = config, spawn, bus, check_every_s
        self._written = 0.0  # the end that the settings name
        self._end: Moment | None = None

    def start(self) -> None:
        """Continues a pause of an earlier hub, and applies the settings from now on."""
        self._bus.subscribe(ConfigChanged, self._on_config_changed)
        self._follow()

    @property
    def until(self) -> float:
        """When the pause ends automatically, in unix seconds; 0 if it does not, or if the hub is not paused."""
        return self._end.unix if self._end is not None else 0.0

    async def set_enabled(self, enabled: bool, for_s: float | None) -> None:
        """Pauses, or resumes.

        Args:
            for_s: seconds after which a pause ends; None: when the user resumes.

        Raises:
            TooltrayError: a pause cannot be so long, or the settings cannot be written.
        """
        if for_s is not None and (enabled or not 0 < for_s <= MOST_PAUSE_S):
            days = int(MOST_PAUSE_S / 86400)
            raise TooltrayError(
                Phrase("Invalid length of a pause"),
                Phrase("a pause lasts more than 0 s and at most {days} days, or until you resume", days=days),
            )
        await self._config.set_enabled(enabled, paused_until=round(time.time() + for_s) if for_s is not None else 0.0)

    def _on_config_changed(self, _event: ConfigChanged) -> None:
        self._follow()

    def _follow(self) -> None:
        settings = self._config.settings
        written = 0.0 if settings.mcp_enabled else settings.paused_until
        if written == self._written:
            return
        self._written = written
        end = self._end = Moment(min(written, time.time() + MOST_PAUSE_S)) if written else None
        if end is not None:
            self._spawn(self._resume_at(end), name="end a pause")

    async def _resume_at(self, end: Moment) -> None:
        is_told = False
        while self._end is end:
            if end.left_s > 0:
                await asyncio.sleep(min(end.left_s, self._check_every_s))
                continue
            try:
                await self._config.set_enabled(True)
            except TooltrayError as error:
                if not is_told:
                    self._bus.publish(ProblemReported(error.problem))
                is_told = True
                await asyncio.sleep(self._check_every_s)


class KnownReleases(Protocol):
    """The releases that are known, read when they are needed."""

    async def load(self) -> None: ...
    async def check_if_due(self) -> None: ...


class ReleaseWatch:
    """Has newer releases looked for while the settings allow it and no AI client waits. Belongs to the engine's loop."""

    def __init__(
        self,
        *,
        config: McpConfHelper,
        releases: Callable[[], KnownReleases],
        is_busy: Callable[[], bool],
        spawn: Spawn,
        bus: EventBus,
        check_every_s: float = RELEASES_EVERY_S,
    ) -> None:
        """
        Args:
            releases: makes the part, whose modules a hub that does not look has not imported.
            is_busy: whether an AI client waits for something.
        """
        self._config, self._releases, self._is_busy = config, releases, is_busy
        self._spawn, self._bus, self._check_every_s = spawn, bus, check_every_s
        self._known = UpdateSettings(address="")

    def start(self) -> None:
        """Applies the settings from now on."""
        self._bus.subscribe(ConfigChanged, lambda event: self._follow())
        self._follow()

    def _follow(self) -> None:
        updates = self._config.settings.updates
        if updates == self._known:
            return
        self._known = updates
        if updates.is_on:
            self._spawn(self._look(updates), name="look for newer releases")
        else:
            self._bus.publish(ReleaseNewsChanged(ReleaseNews(updates.address, updates.check)))

    async def _look(self, updates: UpdateSettings) -> None:
        releases = self._releases()
        await releases.load()
        while self._known is updates:
            await asyncio.sleep(self._check_every_s)
            if self._known is updates and not self._is_busy():
                await releases.check_if_due()


class LiveSettings:
    """A subscriber to changed settings. Belongs to the engine's loop."""

    def __init__(self, *, config: McpConfHelper, names: PublishedNames, starts: ServerStarts, spawn: Spawn, bus: EventBus) -> None:
        self._config, self._names, self._starts, self._spawn, self._bus = config, names, starts, spawn, bus
        self._known = config.settings
        self._written = self._names_written()

    def start(self) -> None:
        """Applies changes from now on; the servers that start with the hub must have been started."""
        self._known, self._written = self._config.settings, self._names_written()
        self._bus.subscribe(ServersConfigured, self._on_servers_configured)

    def _on_servers_configured(self, event: ServersConfigured) -> None:
        before, self._known = self._known, self._config.settings
        now = self._known
        self._names.naming = now.publish.naming
        self._follow_names()
        if now.secrets.backend != before.secrets.backend:
            self._starts.use_secret_backend()
        if now.mcp_enabled and not before.mcp_enabled:
            self._spawn(self._starts.start_all(), name="start servers again")
        elif now.mcp_enabled and (others := dict(_others(before.mcp_servers, now.mcp_servers))):
            self._starts.start_new([name for name, is_new in others.items() if is_new])

    def _follow_names(self) -> None:
        """Retires the published names of servers that left the settings, which frees them after a while; projects' servers come and go."""
        before, self._written = self._written, self._names_written()
        here = self._config.settings.mcp_servers
        if gone := [name for name in before - self._written if name not in here]:
            self._spawn(finish_in_thread(self._names.retire, gone), name="retire names")
        if back := [name for name in here if self._names.is_retired(name)]:
            self._spawn(finish_in_thread(self._names.keep, back), name="keep names")

    def _names_written(self) -> frozenset[str]:
        """Returns the names of all entries in the settings, including unusable ones, so that a typing error removes no server."""
        written = self._config.document.get("mcpServers")
        return frozenset(written if isinstance(written, dict) else ())


def _others(before: Mapping[str, MCPServerConfig], now: Mapping[str, MCPServerConfig]) -> Iterator[tuple[str, bool]]:
    """Yields the servers that are new or changed, and whether each is new, or enabled again."""
    for name, config in now.items():
        known = before.get(name)
        is_new = known is None or known.disable
        if not config.disable and (known is None or is_new or config_hash(known) != config_hash(config)):
            yield name, is_new
