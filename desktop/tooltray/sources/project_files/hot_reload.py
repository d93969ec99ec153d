"""Hot reload: watches settings.json and reloads it when it changes; reports changes of other files. Does nothing if `hotReload` is off.

Above it: the engine; ServerFiles, which names the other files and reads them. Below it: FileWatcher, McpConfHelper.
"""

import asyncio
import contextlib
from collections.abc import Callable, Iterable
from typing import Protocol

from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.events import ConfigChanged, Event, EventBus
from tooltray.foundation.tasks import Spawn
from tooltray.sources.project_files.file_readings import SECOND_LOOK_S


class Watcher(Protocol):
    """The interface of FileWatcher."""

    def follow(self, paths: Iterable[str]) -> None: ...
    def close(self) -> None: ...


class WatchedFileChanged(Event, frozen=True):
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
            make_watcher: the constructor of FileWatcher.
        """
        self._config, self._spawn, self._bus = config, spawn, bus
        self._settings = str(config.path)
        self._watcher = make_watcher(spawn, self._on_changed)
        self._others: frozenset[str] = frozenset()
        self._is_started = self._is_due = False
        self._reading: asyncio.Task[None] | None = None
        bus.subscribe(ConfigChanged, lambda event: self._follow())

    def follow(self, paths: Iterable[str]) -> None:
        """Sets the files to watch besides the settings.

        Args:
            paths: absolute paths; the files need not exist.
        """
        self._others = frozenset(paths) - {self._settings}
        self._follow()

    def start(self) -> None:
        """Begins to watch; before, `follow` only stores the paths."""
        self._is_started = True
        self._follow()

    def close(self) -> None:
        """Ends watching for good; a running reload is completed."""
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
        """Reloads the settings until they do not change during the reload."""
        try:
            while self._is_due:
                self._is_due = False
                await self._look_twice()
        finally:
            self._reading = None

    async def _look_twice(self) -> None:
        try:
            await self._config.reload(is_last_look=False)
        except TooltrayError:  # the file may be half written
            await asyncio.sleep(SECOND_LOOK_S)
            self._is_due = False  # this reload includes all changes so far
            with contextlib.suppress(TooltrayError):  # `reload` has reported it
                await self._config.reload()
