"""Watches settings.json and other files with servers, and reads those that change.

With `hotReload` off nothing is watched, but files that come into use are still read.
"""

import asyncio
import contextlib
import os
from collections.abc import Callable, Iterable
from pathlib import Path

from tooltray.config.settings.file_server import FILE_NAME, FileReading, Kind
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.errors import Denied, TooltrayError
from tooltray.foundation.events import ConfigChanged, Event, EventBus
from tooltray.foundation.files.watcher import FileWatcher
from tooltray.foundation.snapshots.setup import FileProblem
from tooltray.foundation.tasks import Spawn
from tooltray.sources.project_files.followed_files import FollowedFile, check_stays_inside

SECOND_LOOK_S = 0.5  # an editor that rewrites a file in place, or removes and recreates it, needs less

ReadFile = Callable[[Path, Kind], FileReading]
"""Reads a file with servers; blocks on the disk."""


MakeWatcher = Callable[[Spawn, Callable[[str], None]], FileWatcher]
"""The constructor of FileWatcher."""


class FileRead(Event, frozen=True):
    """An event: a followed file was read. For other packages of the engine.

    Attributes:
        is_sure: whether the reading is reliable; the first one of a half-written file is not.
    """

    file: FollowedFile
    reading: FileReading
    is_sure: bool


class FileWatch:
    """A watch that publishes `FileRead` for each file that comes into use or changes, and reloads the settings.

    One read of each file at a time runs in a thread; it is repeated after a pause if the file may be half written. Belongs to the engine's
    loop.
    """

    def __init__(
        self,
        *,
        config: McpConfHelper,
        make_watcher: MakeWatcher,
        read_file: ReadFile,
        spawn: Spawn,
        bus: EventBus,
        second_look_s: float = SECOND_LOOK_S,
    ) -> None:
        """
        Args:
            second_look_s: seconds until an unreliable reading is repeated.
        """
        self._config, self._read_file = config, read_file
        self._spawn, self._bus = spawn, bus
        self._second_look_s = second_look_s
        self._settings = str(config.path)
        self._watcher = make_watcher(spawn, self._on_changed)
        self._files: dict[str, FollowedFile] = {}  # by path
        self._is_started = self._is_due = False
        self._reloading: asyncio.Task[None] | None = None
        self._reading: dict[str, asyncio.Task[None]] = {}  # by path
        self._again: dict[str, FollowedFile] = {}  # files that changed, or came into use again, while they were being read
        self._unread: dict[str, asyncio.Event] = {}  # files that were never read
        bus.subscribe(ConfigChanged, lambda event: self._watch())

    def start(self) -> None:
        """Begins to watch; before, `follow` only stores the files."""
        self._is_started = True
        self._watch()

    def close(self) -> None:
        """Ends watching for good; a running reload is completed."""
        self._is_started = False
        self._watcher.close()

    def follow(self, files: Iterable[FollowedFile]) -> None:
        """Sets the files to watch besides the settings; they need not exist."""
        self._files = {file.path: file for file in files if file.path != self._settings}
        self._watch()

    def start_reading(self, file: FollowedFile) -> None:
        """Begins to read a file that is new or has changed; does not wait."""
        if file.latest is None:
            self._unread.setdefault(file.path, asyncio.Event())
        if file.path in self._reading:
            self._again[file.path] = file
        else:
            self._reading[file.path] = self._spawn(self._read_until_unchanged(file), name=f"read {file.path}")

    async def wait_for_first(self, path: str, *, within_s: float) -> None:
        """Waits until a file has been read for the first time, at most `within_s` seconds."""
        if unread := self._unread.get(path):
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(within_s):
                    await unread.wait()

    async def read(self, file: FollowedFile) -> FileReading:
        """Reads a file at once; publishes nothing."""
        if file.project:
            return await asyncio.to_thread(read_project_file, self._read_file, file.project)
        return await asyncio.to_thread(self._read_file, Path(file.path), file.kind)

    def _watch(self) -> None:
        if self._is_started and self._config.own_settings.hot_reload:
            self._watcher.follow({self._settings, *self._files})
        else:
            self._watcher.close()

    def _on_changed(self, path: str) -> None:
        if path == self._settings:
            self._is_due = True
            self._reloading = self._reloading or self._spawn(self._reload_settings(), name="read the settings again")
        elif file := self._files.get(path):
            self.start_reading(file)

    async def _reload_settings(self) -> None:
        """Reloads the settings until they do not change during the reload."""
        try:
            while self._is_due:
                self._is_due = False
                await self._reload_twice()
        finally:
            self._reloading = None

    async def _reload_twice(self) -> None:
        try:
            await self._config.reload(is_last_look=False)
        except TooltrayError:  # the file may be half written
            await asyncio.sleep(self._second_look_s)
            self._is_due = False  # this reload includes all changes so far
            with contextlib.suppress(TooltrayError):  # `reload` has reported it
                await self._config.reload()

    async def _read_until_unchanged(self, file: FollowedFile) -> None:
        try:
            await self._read_twice(file)
            while again := self._again.pop(file.path, None):
                await self._read_twice(again)
        finally:
            self._again.pop(file.path, None)
            del self._reading[file.path]
            self._note_read(file)

    async def _read_twice(self, file: FollowedFile) -> None:
        reading = await self.read(file)
        is_certain = is_sure(reading, file.latest)
        if is_certain or file.latest is None:
            self._bus.publish(FileRead(file, reading, is_certain))
            self._note_read(file)
        if is_certain:
            return
        await asyncio.sleep(self._second_look_s)
        self._bus.publish(FileRead(file, await self.read(file), True))

    def _note_read(self, file: FollowedFile) -> None:
        if unread := self._unread.pop(file.path, None):
            unread.set()


def is_sure(reading: FileReading, before: FileReading | None) -> bool:
    """Returns whether a reading is reliable: a file that is malformed, or was there before and is missing, may be half written."""
    is_gone = not reading.digest and reading.is_understood and before is not None and bool(before.digest)
    return reading.is_understood and not is_gone


def read_project_file(read: ReadFile, folder: str) -> FileReading:
    """Reads the file of a project; a link out of the project gives a reading with that problem. Blocks on the disk."""
    path = os.path.join(folder, FILE_NAME)
    try:
        check_stays_inside(folder)
    except Denied as error:
        return FileReading(path, "mcp.json", is_understood=False, problems=(FileProblem(error.problem),))
    return read(Path(path), "mcp.json")
