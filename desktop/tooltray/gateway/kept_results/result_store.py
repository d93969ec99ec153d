"""Results on the disk: two files for each, what it is and what is in it; for a day, and no more than so many megabytes of all of them.

Above it: ResultFitting, which keeps, and ResultReading. Below it: the disk. Knows no session: whose a result is stands in it as text.
A result is there when the file that describes it is; so one that was being written when the hub was killed is forgotten at the next start.
"""

import asyncio
import errno
import logging
import os
import secrets
import threading
import time
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import BinaryIO

import msgspec
from msgspec.structs import replace

from tooltray.foundation.files.atomic_file import read_own
from tooltray.foundation.tasks import Spawn, finish_in_thread

KEPT_FOR_S = 24 * 3600.0  # a conversation that comes back later calls again
HANDLE_BYTES = 16  # of chance: nobody guesses one
LARGEST_DESCRIPTION_BYTES = 4 * 2**20  # of ten thousand parts
DATA, DESCRIPTION = ".data", ".json"
logger = logging.getLogger(__name__)
LOOKED_EVERY_S = 3600.0


class KeptPart(msgspec.Struct, frozen=True):
    """
    Attributes:
        kind, title: see ResultPart.
        at, size: where it is in the data, in bytes.
    """

    kind: str
    title: str
    at: int = 0
    size: int = 0


class KeptResult(msgspec.Struct, frozen=True):
    """
    Attributes:
        handle: by which clients name it.
        owner: whose it is, see SessionState; empty: of whoever knows its handle, and is nobody in particular.
        project: the folder that its session worked on; empty: none.
        server, tool: where it comes from, by the server's own name.
        tokens: how many a page may have.
        kept_at: unix seconds.
    """

    handle: str
    owner: str
    project: str
    server: str
    tool: str
    tokens: int
    kept_at: float
    parts: tuple[KeptPart, ...]

    @property
    def size(self) -> int:
        """In bytes."""
        return sum(part.size for part in self.parts)


class NoRoom(OSError):
    """A result is larger than everything that may be kept."""


class ResultStore:
    """That of one home. Everything blocks on the disk; any thread may call it."""

    def __init__(self, folder: Path, *, most_bytes: Callable[[], int], now: Callable[[], float] = time.time) -> None:
        """Finds what is there, and removes what is too old or was never finished.

        Args:
            most_bytes: how much may be kept, as the settings are now.
            now: unix seconds.
        """
        self._folder, self._most_bytes, self._now = folder, most_bytes, now
        self._changing = threading.Lock()
        self._kept: dict[str, KeptResult] = {}  # the oldest first
        self._load()
        self.sweep()

    def keep(self, result: KeptResult, parts: Iterable[Iterable[bytes]]) -> KeptResult:
        """Writes a result; the oldest ones make room for it.

        Args:
            result: where its parts are is found out as they are written.
            parts: the data of each, in pieces.

        Raises:
            OSError: the disk is full, ...; nothing of it is left then.
        """
        data = self._path(result.handle, DATA)
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            with open(data, "xb", opener=_private) as file:
                sizes = [self._written(file, pieces) for pieces in parts]
            result = replace(result, parts=_placed(result.parts, sizes))
            self._take(result)
            with open(self._path(result.handle, DESCRIPTION), "xb", opener=_private) as file:
                file.write(msgspec.json.encode(result))  # not synced to the disk, which takes seconds: half of one is forgotten
        except BaseException:
            with self._changing:
                self._kept.pop(result.handle, None)
            self._remove(result.handle)
            raise
        return result

    def _take(self, result: KeptResult) -> None:
        """Counts one from now on: another that is written at the same moment has to leave room for it."""
        with self._changing:
            self._make_room(result.size)
            self._kept[result.handle] = result

    def _written(self, file: BinaryIO, pieces: Iterable[bytes]) -> int:
        """How much it was.

        Raises:
            NoRoom: there is more than may be kept.
        """
        before = file.tell()
        for piece in pieces:
            file.write(piece)
            if file.tell() > self._most_bytes():
                raise NoRoom(errno.EFBIG, "it is larger than all results that may be kept")
        return file.tell() - before

    def find(self, handle: str) -> KeptResult | None:
        """The one of this handle, if it is still kept."""
        found = self._kept.get(handle)
        return found if found and not self._is_old(found) else None

    def data(self, result: KeptResult) -> Path:
        """The file with its parts."""
        return self._path(result.handle, DATA)

    def sweep(self) -> None:
        """Removes what is too old, and the oldest ones where they are more than may be kept."""
        with self._changing:
            self._make_room(0)

    def _make_room(self, size: int) -> None:
        """Removes what is too old, and the oldest ones until so many bytes more may be kept."""
        total = sum(each.size for each in self._kept.values()) + size
        for each in list(self._kept.values()):
            if self._is_old(each) or total > self._most_bytes():
                total -= each.size
                del self._kept[each.handle]
                self._remove(each.handle)

    def _is_old(self, result: KeptResult) -> bool:
        return not 0 <= self._now() - result.kept_at < KEPT_FOR_S  # the clock may have been set back

    def _load(self) -> None:
        names = {path.stem for path in self._folder.iterdir()} if self._folder.is_dir() else set[str]()
        found = filter(None, map(self._read, names))
        self._kept = {each.handle: each for each in sorted(found, key=lambda each: each.kept_at)}
        for name in names - self._kept.keys():
            self._remove(name)

    def _read(self, handle: str) -> KeptResult | None:
        try:
            result = msgspec.json.decode(read_own(self._path(handle, DESCRIPTION), LARGEST_DESCRIPTION_BYTES), type=KeptResult)
            is_whole = self._path(handle, DATA).stat().st_size == result.size
        except (OSError, ValueError):
            return None
        return result if is_whole and result.handle == handle else None

    def _remove(self, handle: str) -> None:
        for suffix in (DESCRIPTION, DATA):
            try:
                self._path(handle, suffix).unlink(missing_ok=True)
            except OSError as error:
                logger.info("a kept result could not be removed: %s", error)

    def _path(self, handle: str, suffix: str) -> Path:
        return self._folder / f"{handle}{suffix}"


def _placed(parts: Iterable[KeptPart], sizes: Iterable[int]) -> tuple[KeptPart, ...]:
    placed, at = list[KeptPart](), 0
    for part, size in zip(parts, sizes, strict=True):
        placed.append(replace(part, at=at, size=size))
        at += size
    return tuple(placed)


def new_handle() -> str:
    return f"r{secrets.token_hex(HANDLE_BYTES)}"


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


class ResultEnds:
    """Belongs to the engine's loop."""

    def __init__(self, *, store: ResultStore, spawn: Spawn, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        self._store, self._spawn, self._sleep = store, spawn, sleep

    def start(self) -> None:
        """Looks every hour."""
        self._spawn(self._look(), name="kept results that have ended")

    async def _look(self) -> None:
        while True:
            await self._sleep(LOOKED_EVERY_S)
            await finish_in_thread(self._store.sweep)
