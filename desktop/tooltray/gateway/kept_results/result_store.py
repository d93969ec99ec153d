"""Results on the disk: two files for each, its description and its data; kept for a day, within a limit for all results together.

The description is written last: a result that was being written when the hub was killed is deleted at the next start.
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
from tooltray.foundation.tasks import finish_in_thread

KEPT_FOR_S = 24 * 3600.0  # seconds; a conversation that is resumed later has to call the tool again
HANDLE_BYTES = 16  # random bytes, so that a handle cannot be guessed
LARGEST_DESCRIPTION_BYTES = 4 * 2**20  # of ten thousand parts
DATA, DESCRIPTION = ".data", ".json"
logger = logging.getLogger(__name__)
SWEPT_EVERY_S = 3600.0


class KeptPart(msgspec.Struct, frozen=True):
    """One part of a result.

    Attributes:
        kind, title: see ResultPart.
        at, size: where it is in the data, in bytes.
    """

    kind: str
    title: str
    at: int = 0
    size: int = 0


class KeptResult(msgspec.Struct, frozen=True):
    """The description of a result.

    Attributes:
        handle: its name for clients.
        owner: see SessionState; empty for a client without an identity, which needs only the handle.
        project: the folder that its session worked on; empty: none.
        server, tool: the tool that returned it, by the server's own name.
        others: further servers and tools whose results are in it.
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
    others: tuple[tuple[str, str], ...] = ()

    @property
    def tools(self) -> tuple[tuple[str, str], ...]:
        """The servers and tools whose results it has."""
        return (self.server, self.tool), *self.others

    @property
    def size(self) -> int:
        """The size in bytes."""
        return sum(part.size for part in self.parts)


class NoRoom(OSError):
    """An error: a result is larger than all results together may be."""


class ResultStore:
    """The results of one home. All methods block on the disk, and any thread may call them."""

    def __init__(self, folder: Path, *, most_bytes: Callable[[], int], now: Callable[[], float] = time.time) -> None:
        """Loads the descriptions, and deletes results that are too old or incomplete.

        Args:
            most_bytes: how large all results together may be, by the settings as they are now.
            now: unix seconds.
        """
        self._folder, self._most_bytes, self._now = folder, most_bytes, now
        self._changing = threading.Lock()
        self._kept: dict[str, KeptResult] = {}  # the oldest first
        self._load()
        self.sweep()

    def save(self, result: KeptResult, parts: Iterable[Iterable[bytes]]) -> KeptResult:
        """Writes a result, and deletes the oldest ones if it needs their room. Returns it with the places of its parts.

        Args:
            result: the places of its parts are not read.
            parts: the data of each, in pieces.

        Raises:
            OSError: the disk is full, ...; nothing is left on it then.
        """
        data = self._path(result.handle, DATA)
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            with open(data, "xb", opener=_private) as file:
                sizes = [self._written(file, pieces) for pieces in parts]
            result = replace(result, parts=_placed(result.parts, sizes))
            self._take(result)
            with open(self._path(result.handle, DESCRIPTION), "xb", opener=_private) as file:
                file.write(
                    msgspec.json.encode(result)
                )  # not synced to the disk, which takes seconds: an incomplete one is deleted at the start
        except BaseException:
            with self._changing:
                self._kept.pop(result.handle, None)
            self._remove(result.handle)
            raise
        return result

    def _take(self, result: KeptResult) -> None:
        """Reserves room for the result, so that another result written at the same moment does not use it."""
        with self._changing:
            self._make_room(result.size)
            self._kept[result.handle] = result

    def _written(self, file: BinaryIO, pieces: Iterable[bytes]) -> int:
        """Writes one part and returns its size.

        Raises:
            NoRoom: the result is larger than all may be.
        """
        before = file.tell()
        for piece in pieces:
            file.write(piece)
            if file.tell() > self._most_bytes():
                raise NoRoom(errno.EFBIG, "it exceeds the space for all stored results")
        return file.tell() - before

    def find(self, handle: str) -> KeptResult | None:
        """Returns the result of a handle; None for an unknown or expired handle."""
        found = self._kept.get(handle)
        return found if found and not self._is_old(found) else None

    def data(self, result: KeptResult) -> Path:
        """Returns the file with the parts of a result."""
        return self._path(result.handle, DATA)

    def sweep(self) -> None:
        """Deletes results that are too old, and the oldest if all together are too large."""
        with self._changing:
            self._make_room(0)

    def _make_room(self, size: int) -> None:
        """Deletes results that are too old, and the oldest until there is room for `size` more bytes."""
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
                logger.info("a stored result could not be deleted: %s", error)

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


async def sweep_hourly(store: ResultStore, *, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
    """Deletes expired results every hour, also while no result is saved. Never returns."""
    while True:
        await sleep(SWEPT_EVERY_S)
        await finish_in_thread(store.sweep)
