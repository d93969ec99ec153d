"""The sources of bundles: a file, or an address. A copy of each bundle that was read is kept, so that exactly this copy is installed."""

import asyncio
import hashlib
import importlib
import os
import stat
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import mkstemp
from typing import IO, Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

import msgspec

from tooltray.foundation.errors import Conflict, TooltrayError
from tooltray.foundation.home.home import hint_for
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.tasks import finish_in_thread

MAX_BYTES = 2**30  # of a bundle; one with a browser in it has 300 MB
MOST_KEPT = 3  # between reading and installing; if more bundles are read, the first ones can no longer be installed
READING = ".reading-"  # prefix of copies; the next start removes files with it
_CHUNK_BYTES = 2**20


class BundleFile(msgspec.Struct, frozen=True):
    """A bundle that was read.

    Attributes:
        path: of Tooltray's own copy.
        sha256: of the whole file, in hexadecimal.
    """

    path: Path
    sha256: str
    size_bytes: int


Download = Callable[..., Awaitable[None]]
"""Fetches an address into a file, as `download.download`."""


async def download(url: str, into: Callable[[bytes], None], **limits: Any) -> None:
    """Calls `download.download`, which is imported in a thread on first use, since the HTTP library is large."""
    module = await asyncio.to_thread(importlib.import_module, "tooltray.sources.bundles.download")
    await module.download(url, into, **limits)


class BundleSources:
    """Copies of the bundles that were read last. Belongs to one event loop."""

    def __init__(self, *, folder: Path, environ: Callable[[], Awaitable[Mapping[str, str]]], fetch: Download = download) -> None:
        """
        Args:
            folder: where copies are kept for a while.
            environ: gives the user's environment, for proxies and certificate authorities.
        """
        self._folder, self._environ, self._fetch = folder, environ, fetch
        self._kept: dict[tuple[str, str], BundleFile] = {}

    async def read(self, source: str) -> BundleFile:
        """Copies a bundle.

        Args:
            source: an absolute path, or an address that begins with `file:`, `https:` or, on this computer, `http:`.

        Raises:
            TooltrayError: it cannot be read; the error has the reason.
        """
        file = await self._copied(source)
        for key, kept in list(self._kept.items()):
            if key == (source, file.sha256) or len(self._kept) >= MOST_KEPT:
                del self._kept[key]
                await finish_in_thread(_remove, kept.path)
        self._kept[source, file.sha256] = file
        return file

    async def again(self, source: str, sha256: str) -> BundleFile:
        """Returns a bundle that was read before, or reads it again.

        Raises:
            Conflict: the source has another bundle now.
            TooltrayError: as `read`.
        """
        kept = self._kept.get((source, sha256))
        if kept and await finish_in_thread(_digest, kept.path) == sha256:
            return kept
        found = await self.read(source)
        if found.sha256 != sha256:
            hint = Phrase("Look at it again, and decide anew.")
            raise Conflict(Phrase("This is another bundle by now"), Phrase("its SHA-256 is {sum}", sum=found.sha256), hint)
        return found

    async def close(self) -> None:
        """Deletes all copies."""
        for source, sha256 in list(self._kept):
            await self.forget(source, sha256)

    async def forget(self, source: str, sha256: str) -> None:
        """Deletes the copy of a bundle."""
        if kept := self._kept.pop((source, sha256), None):
            await finish_in_thread(_remove, kept.path)

    async def _copied(self, source: str) -> BundleFile:
        try:
            with await finish_in_thread(_Copy, self._folder) as copy:
                if source.lower().startswith(("http:", "https:")):
                    await self._fetch(source, copy.add, environ=await self._environ(), most_bytes=MAX_BYTES)
                else:
                    await finish_in_thread(_copy_file, _path_of(source), copy)
                return copy.finished()
        except OSError as error:
            hint = hint_for(error, Phrase("Check the path, and that you may read the file."))
            raise TooltrayError(Phrase("This bundle cannot be read"), f"{error.filename or source}: {error.strerror}", hint) from error


class _Copy:
    """A copy that is being written; deleted unless it is finished."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor, name = mkstemp(dir=folder, prefix=f"{READING}{os.getpid()}-")
        self._path, self._file = Path(name), os.fdopen(descriptor, "wb")
        self._sum, self._size, self._is_finished = hashlib.sha256(), 0, False

    def add(self, data: bytes) -> None:
        """Appends data.

        Raises:
            TooltrayError: the bundle is too large.
            OSError: the disk is full.
        """
        self._size += len(data)
        if self._size > MAX_BYTES:
            raise TooltrayError(Phrase("This bundle is too large"), Phrase("it has more than {most} GiB", most=MAX_BYTES // 2**30))
        self._sum.update(data)
        self._file.write(data)

    def finished(self) -> BundleFile:
        self._file.close()
        self._is_finished = True
        return BundleFile(self._path, self._sum.hexdigest(), self._size)

    def __enter__(self) -> "_Copy":
        return self

    def __exit__(self, *error: object) -> None:
        if not self._is_finished:
            with suppress(OSError):  # the rest does not fit on the disk
                self._file.close()
            _remove(self._path)


def _path_of(source: str) -> Path:
    """Returns the path of a file.

    Raises:
        TooltrayError: the source is neither an absolute path nor an address of a file.
    """
    if source.lower().startswith("file:"):
        parts = urlsplit(source)
        if parts.netloc not in ("", "localhost"):
            raise TooltrayError(Phrase("This bundle cannot be read"), Phrase("its address names another computer"))
        source = url2pathname(parts.path)
    if not os.path.isabs(source) or "\0" in source:
        raise TooltrayError(Phrase("This bundle cannot be read"), Phrase("it needs a whole path, or an address that begins with https://"))
    return Path(source)


def _copy_file(path: Path, copy: _Copy) -> None:
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)  # a pipe would block
    with open(os.open(path, flags), "rb") as file:
        _check_is_file(file, path)
        while data := file.read(_CHUNK_BYTES):
            copy.add(data)


def _check_is_file(file: IO[bytes], path: Path) -> None:
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        raise TooltrayError(Phrase("This bundle cannot be read"), Phrase("{path} is no file", path=path))


def _digest(path: Path) -> str:
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink()
