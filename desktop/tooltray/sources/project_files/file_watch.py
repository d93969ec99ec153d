"""Watches settings.json and other files with servers, and reads those that change."""

import asyncio
import contextlib
from collections.abc import Callable, Iterable
from typing import Generic, Protocol, TypeVar

from tooltray.config.settings.file_server import FileReading
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.events import ConfigChanged, Event, EventBus
from tooltray.foundation.tasks import Spawn


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


SECOND_LOOK_S = 0.5  # an editor that rewrites a file in place, or removes and recreates it, needs less


class Followed(Protocol):
    """What FileReadings needs of a watched file."""

    path: str
    latest: FileReading | None


F = TypeVar("F", bound=Followed)


class FileReadings(Generic[F]):
    """Belongs to the engine's loop.

    Attributes:
        on_read: called with a file, its reading, and whether the reading is reliable: a half-written or missing file is not.
    """

    def __init__(
        self,
        *,
        read: Callable[[F], FileReading],
        spawn: Spawn,
        second_look_s: float = SECOND_LOOK_S,
    ) -> None:
        """
        Args:
            read: reads a file; it blocks, so it is called in a thread.
            second_look_s: seconds until an unreliable reading is repeated.
        """
        self._second_look_s = second_look_s
        self._read, self._spawn = read, spawn
        self.on_read: Callable[[F, FileReading, bool], None] = lambda file, reading, is_sure: None
        self._under_way: dict[str, asyncio.Task[None]] = {}  # by path
        self._again: dict[str, F] = {}  # changed, or watched anew, while they were being read
        self._unread: dict[str, asyncio.Event] = {}  # not read yet

    def begin(self, file: F) -> None:
        """Begins to read a file that is new or has changed; does not wait."""
        if file.latest is None:
            self._unread.setdefault(file.path, asyncio.Event())
        if file.path in self._under_way:
            self._again[file.path] = file
        else:
            self._under_way[file.path] = self._spawn(self._run(file), name=f"read {file.path}")

    async def first(self, path: str, *, within_s: float) -> None:
        """Waits until a file has been read for the first time, at most `within_s` seconds."""
        if unread := self._unread.get(path):
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(within_s):
                    await unread.wait()

    async def now(self, file: F) -> FileReading:
        """Reads a file at once."""
        return await asyncio.to_thread(self._read, file)

    async def _run(self, file: F) -> None:
        try:
            await self._look(file)
            while again := self._again.pop(file.path, None):
                await self._look(again)
        finally:
            self._again.pop(file.path, None)
            del self._under_way[file.path]
            self._is_read(file)

    async def _look(self, file: F) -> None:
        reading = await self.now(file)
        is_certain = is_sure(reading, file.latest)
        if is_certain or file.latest is None:
            self.on_read(file, reading, is_certain)
            self._is_read(file)
        if is_certain:
            return
        await asyncio.sleep(self._second_look_s)
        self.on_read(file, await self.now(file), True)

    def _is_read(self, file: F) -> None:
        if unread := self._unread.pop(file.path, None):
            unread.set()


def is_sure(reading: FileReading, before: FileReading | None) -> bool:
    """Returns whether a reading is reliable: a file that is malformed, or was there before and is missing, may be half written."""
    is_gone = not reading.digest and reading.is_understood and before is not None and bool(before.digest)
    return reading.is_understood and not is_gone
