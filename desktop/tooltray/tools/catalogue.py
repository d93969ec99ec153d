"""The last known list of tools of each server, on disk, so that an AI client's first `tools/list` is complete at once.

Above it: ToolManager. Below it: config.atomic_file. Knows nothing of what is in a definition.

One file per server. Its first line is JSON that says whose it is and how long each definition is; the definitions follow, verbatim, one per
line. Nothing has to be parsed to find them, so they may be nested to any depth. A file that is not exactly right is a miss.
"""

import hashlib
import logging
import re
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec
from msgspec import Raw

from tooltray.config.atomic_file import write_atomically

logger = logging.getLogger(__name__)

FORMAT = "tooltray catalogue 1"
READABLE_LENGTH = 40  # of a server's name in its file's name; the hash behind it tells servers apart

_UNSAFE_RUN = re.compile(r"[^a-z0-9_-]+", re.ASCII)


@dataclass(frozen=True)
class Catalogue:
    """What a server listed.

    Attributes:
        tools: raw definitions, as the server wrote them, in its order.
        saved_at: unix seconds.
    """

    server: str
    config_hash: str
    tools: tuple[Raw, ...]
    saved_at: float


class _Head(msgspec.Struct, rename="camel"):
    format: str
    server: str
    config_hash: str
    saved_at: float
    sizes: list[int]  # of the definitions, in bytes
    digest: str  # of all that follows this line


class CatalogueStore:
    """The folder of catalogues. Blocks on the disk; every method may be called from any thread."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()  # a `forget` after a `save` stays forgotten

    def load(self, server: str, config_hash: str) -> Catalogue | None:
        """The last list saved for a server in this configuration; None if there is none that can be trusted. A damaged file is removed."""
        path = self._path(server)
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            logger.warning("the saved tools of %r cannot be read: %s", server, error)
            return None
        first_line, _, body = content.partition(b"\n")
        try:
            head = msgspec.json.decode(first_line, type=_Head)
            if head.format != FORMAT or head.server != server or head.digest != _digest(body):
                raise ValueError("another format, another server, or damaged")
            tools = tuple(_pieces(body, head.sizes))
        except (ValueError, RecursionError) as error:
            logger.info("the saved tools of %r are removed: %s", server, error)
            self.forget(server)
            return None
        if head.config_hash != config_hash:
            return None  # what another command or URL listed; the next save replaces it
        return Catalogue(server, config_hash, tools, head.saved_at)

    def save(self, server: str, config_hash: str, tools: Sequence[bytes]) -> None:
        """Keeps a server's list. If the disk refuses, that is logged: the list is then asked for again at the next start.

        Args:
            tools: raw definitions; bytes or `Raw`.
        """
        body = b"\n".join([*tools, b""])
        sizes = [len(tool) for tool in tools]
        head = _Head(FORMAT, server, config_hash, time.time(), sizes, _digest(body))
        with self._lock:
            try:
                self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                write_atomically(self._path(server), msgspec.json.encode(head) + b"\n" + body)
            except OSError as error:
                logger.warning("the tools of %r cannot be saved for the next start: %s", server, error)

    def forget(self, server: str) -> None:
        """Removes what is saved for a server."""
        with self._lock, suppress(OSError):
            self._path(server).unlink()

    def _path(self, server: str) -> Path:
        """A name that every file system takes, also one that ignores case: servers may be called `CON`, `..` or `工具`."""
        readable = _UNSAFE_RUN.sub("-", server.lower())[:READABLE_LENGTH].strip("-")
        return self._folder / f"{readable or 'server'}.{hashlib.sha256(server.encode()).hexdigest()[:16]}.jsonl"


def _pieces(body: bytes, sizes: Sequence[int]) -> Iterator[Raw]:
    """
    Raises:
        ValueError: the sizes are not those of the lines in `body`.
    """
    if sum(sizes) + len(sizes) != len(body) or any(size < 0 for size in sizes):
        raise ValueError("its parts have other sizes")
    start = 0
    for size in sizes:
        yield Raw(body[start : start + size])
        start += size + 1


def _digest(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()
