"""Reads the settings again when somebody has changed their file, and says which of the other files have changed; unless `hotReload` is off.

Above it: the engine; ServerFiles, which says which other files there are, and reads them. Below it: FileWatcher, McpConfHelper.
"""

import asyncio
import contextlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

from tooltray.errors import TooltrayError
from tooltray.events import ConfigChanged, Event, EventBus
from tooltray.server_files.file_readings import SECOND_LOOK_S
from tooltray.settings.mcp_conf_helper import McpConfHelper
from tooltray.tasks import Spawn


class Watcher(Protocol):
    """As FileWatcher."""

    def follow(self, paths: Iterable[str]) -> None: ...
    def close(self) -> None: ...


@dataclass(frozen=True)
class WatchedFileChanged(Event):
    """A file that is followed, besides the settings, has changed, appeared or gone; also once when it is first followed.

    Where `hotReload` was off, it is published for each when it is on again: nobody knows what happened meanwhile.
    """

    path: str


class HotReload:
    """Belongs to the engine's loop."""

    def __init__(
        self, *, config: McpConfHelper, make_watcher: Callable[[Spawn, Callable[[str], None]], Watcher], spawn: Spawn, bus: EventBus
    ) -> None:
        """
        Args:
            make_watcher: FileWatcher.
        """
        self._config, self._spawn, self._bus = config, spawn, bus
        self._settings = str(config.path)
        self._watcher = make_watcher(spawn, self._on_changed)
        self._others: frozenset[str] = frozenset()
        self._is_started = self._is_due = False
        self._reading: asyncio.Task[None] | None = None
        bus.subscribe(ConfigChanged, lambda event: self._follow())

    def follow(self, paths: Iterable[str]) -> None:
        """These other files are in use from now on, and no others.

        Args:
            paths: absolute; there need be no such files.
        """
        self._others = frozenset(paths) - {self._settings}
        self._follow()

    def start(self) -> None:
        """From now on; until then what is followed is only remembered."""
        self._is_started = True
        self._follow()

    def close(self) -> None:
        """Ends it for good. What is just being read is read to its end."""
        self._is_started = False
        self._watcher.close()

    def _follow(self) -> None:
        if self._is_started and self._config.own_settings.hot_reload:
            self._watcher.follow({self._settings, *self._others})
        else:
            self._watcher.close()

    def _on_changed(self, path: str) -> None:
        if path == self._settings:
            self._is_due = True
            self._reading = self._reading or self._spawn(self._read_settings(), name="read the settings again")
            return
        self._bus.publish(WatchedFileChanged(path))

    async def _read_settings(self) -> None:
        """Until nothing has changed while they were read."""
        try:
            while self._is_due:
                self._is_due = False
                await self._look_twice()
        finally:
            self._reading = None

    async def _look_twice(self) -> None:
        try:
            await self._config.reload(is_last_look=False)
        except TooltrayError:  # perhaps half of it is written
            await asyncio.sleep(SECOND_LOOK_S)
            self._is_due = False  # what changed meanwhile is seen now
            with contextlib.suppress(TooltrayError):  # it has been told
                await self._config.reload()
