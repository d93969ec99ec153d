"""Reads files that are followed, in threads, one reading of each at a time; a second look where the first finds half a file.

Above it: ServerFiles. Below it: the readers of files. Decides nothing about what a file says.
"""

import asyncio
import contextlib
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from tooltray.settings.file_server import FileReading
from tooltray.tasks import Spawn

SECOND_LOOK_S = 0.5  # an editor that writes in the place of the old file, or removes it and puts a new one there, needs less


class Followed(Protocol):
    """A file, as far as this is about it."""

    path: str
    latest: FileReading | None


F = TypeVar("F", bound=Followed)


class FileReadings(Generic[F]):
    """Belongs to the engine's loop."""

    def __init__(
        self,
        *,
        read: Callable[[F], FileReading],
        spawn: Spawn,
        on_read: Callable[[F, FileReading, bool], None],
        second_look_s: float = SECOND_LOOK_S,
    ) -> None:
        """
        Args:
            read: reads a file; blocks, and is called in a thread.
            on_read: called with a file, what it says, and whether that is to be believed: half a file, or none, may be whole in a moment.
            second_look_s: after so long that is looked at again.
        """
        self._second_look_s = second_look_s
        self._read, self._spawn, self._on_read = read, spawn, on_read
        self._under_way: dict[str, asyncio.Task[None]] = {}  # by path
        self._again: dict[str, F] = {}  # that have changed since their reading began, or are followed anew
        self._unread: dict[str, asyncio.Event] = {}  # that were never read, until they are

    def begin(self, file: F) -> None:
        """A file is new, or has changed; does not wait."""
        if file.latest is None:
            self._unread.setdefault(file.path, asyncio.Event())
        if file.path in self._under_way:
            self._again[file.path] = file
        else:
            self._under_way[file.path] = self._spawn(self._run(file), name=f"read {file.path}")

    async def first(self, path: str, *, within_s: float) -> None:
        """Waits until a file that was never read has been read once."""
        if unread := self._unread.get(path):
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(within_s):
                    await unread.wait()

    async def now(self, file: F) -> FileReading:
        """What it says in this moment."""
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
            self._on_read(file, reading, is_certain)
            self._is_read(file)
        if is_certain:
            return
        await asyncio.sleep(self._second_look_s)
        self._on_read(file, await self.now(file), True)

    def _is_read(self, file: F) -> None:
        if unread := self._unread.pop(file.path, None):
            unread.set()


def is_sure(reading: FileReading, before: FileReading | None) -> bool:
    """Whether what was read is to be believed at once: half a file, or none, may be whole in a moment."""
    is_gone = not reading.digest and reading.is_understood and before is not None and bool(before.digest)
    return reading.is_understood and not is_gone
