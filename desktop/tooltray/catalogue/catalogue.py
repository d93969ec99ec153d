"""The last known lists of each server (tools, prompts, ...), on disk, so that an AI client's first list is complete at once.

One file per server and kind. Its first line is JSON with the server, the configuration and each definition's length; the definitions
follow, verbatim, one per line. They are found without parsing, so they may be nested to any depth. A file that is not exactly right is a
miss.
"""

import hashlib
import logging
import re
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec import Raw

from tooltray.foundation.files.atomic_file import write_atomically
from tooltray.foundation.lazy_patterns import lazy_pattern
from tooltray.foundation.regular_file import read_regular

logger = logging.getLogger(__name__)

FORMAT = "tooltray catalogue 1"
TOOLS = "tools"
READABLE_LENGTH = 40  # characters of a server's name in its file's name; the hash after these distinguishes servers

_UNSAFE_RUN = lazy_pattern(r"[^a-z0-9_-]+", re.ASCII)
_DEVICE = lazy_pattern(r"con|prn|aux|nul|(?:com|lpt)\d")


class Catalogue(msgspec.Struct, frozen=True):
    """One saved list of a server.

    Attributes:
        definitions: raw, as the server wrote them, in its order.
        saved_at: unix seconds.
        is_declared: the server's greeting declared this kind; a server that did not declare it was not asked for a list.
    """

    server: str
    config_hash: str
    definitions: tuple[Raw, ...]
    saved_at: float
    is_declared: bool = True


class _Head(msgspec.Struct, rename="camel", omit_defaults=True):
    format: str
    server: str
    config_hash: str
    saved_at: float
    sizes: list[int]  # of the definitions, in bytes
    digest: str  # of everything after this line
    kind: str = TOOLS
    is_declared: bool = True


class CatalogueStore:
    """The folder of catalogues. Blocks on the disk; every method may be called from any thread."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()  # a `forget` after a `save` wins

    def load(self, server: str, config_hash: str, *, kind: str = TOOLS) -> Catalogue | None:
        """Returns the last list saved for a server in this configuration; None if no trustworthy one exists. A damaged file is deleted.

        Args:
            kind: the kind of the list, a word for a file's name: "tools", "prompts", ...
        """
        path = self._path(server, kind)
        try:
            content = read_regular(path)
        except FileNotFoundError:
            return None
        except OSError as error:
            logger.warning("the saved %s of %r cannot be read: %s", kind, server, error)
            return None
        first_line, _, body = content.partition(b"\n")
        try:
            head = msgspec.json.decode(first_line, type=_Head)
            if (head.format, head.server, head.kind, head.digest) != (FORMAT, server, kind, _digest(body)):
                raise ValueError("another format, another server, or damaged")
            definitions = tuple(_pieces(body, head.sizes))
        except (ValueError, RecursionError) as error:
            logger.info("the saved %s of %r are removed: %s", kind, server, error)
            self._remove(path)
            return None
        if head.config_hash != config_hash:
            return None  # the list is of another command or URL; the next save replaces it
        return Catalogue(server, config_hash, definitions, head.saved_at, head.is_declared)

    def save(self, server: str, config_hash: str, definitions: Sequence[bytes], *, kind: str = TOOLS, is_declared: bool = True) -> None:
        """Saves a server's list. A failing disk is only logged: the server is then asked for its list again at the next start.

        Args:
            definitions: raw; bytes or `Raw`.
            kind: see `load`.
            is_declared: see Catalogue.
        """
        body = b"\n".join([*definitions, b""])
        sizes = [len(definition) for definition in definitions]
        head = _Head(FORMAT, server, config_hash, time.time(), sizes, _digest(body), kind, is_declared)
        with self._lock:
            try:
                self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                write_atomically(self._path(server, kind), msgspec.json.encode(head) + b"\n" + body)
            except OSError as error:
                logger.warning("the %s of %r cannot be saved for the next start: %s", kind, server, error)

    def forget(self, server: str) -> None:
        """Deletes everything that is saved for a server, of all kinds."""
        for path in (self._path(server, TOOLS), *self._folder.glob(f"{_stem(server)}.*.jsonl")):
            self._remove(path)

    def rename(self, before: str, after: str) -> None:
        """Saves everything that is saved for a server under its new name instead."""
        for path in (self._path(before, TOOLS), *self._folder.glob(f"{_stem(before)}.*.jsonl")):
            with suppress(OSError, ValueError, RecursionError):
                first_line, _, body = read_regular(path).partition(b"\n")
                head = msgspec.structs.replace(msgspec.json.decode(first_line, type=_Head), server=after)
                with self._lock:
                    write_atomically(self._path(after, head.kind), msgspec.json.encode(head) + b"\n" + body)
            self._remove(path)

    def _remove(self, path: Path) -> None:
        with self._lock, suppress(OSError):
            path.unlink()

    def _path(self, server: str, kind: str) -> Path:
        return self._folder / f"{_stem(server)}{'' if kind == TOOLS else f'.{kind}'}.jsonl"


def _stem(server: str) -> str:
    """Returns a file name that every file system accepts, also one that ignores case: servers may be called `CON`, `..` or `工具`."""
    readable = _UNSAFE_RUN.sub("-", server.lower())[:READABLE_LENGTH].strip("-")
    if _DEVICE.fullmatch(readable):  # Windows takes these names for devices, with any ending
        readable = f"server-{readable}"
    return f"{readable or 'server'}.{hashlib.sha256(server.encode()).hexdigest()[:16]}"


def _pieces(body: bytes, sizes: Sequence[int]) -> Iterator[Raw]:
    """Cuts a body into its definitions.

    Raises:
        ValueError: the sizes do not fit the lines in `body`.
    """
    if sum(sizes) + len(sizes) != len(body) or any(size < 0 for size in sizes):
        raise ValueError("the sizes of its parts do not match")
    start = 0
    for size in sizes:
        yield Raw(body[start : start + size])
        start += size + 1


def _digest(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()
