"""What the window remembers of its use: cards or a table, the sorting, the last entries of the palette. Nothing in it matters to the hub;
if the file cannot be read or written, only these choices are lost."""

import json
import logging
from collections.abc import Callable
from pathlib import Path

import msgspec

from tooltray.foundation.regular_file import open_regular
from tooltray.foundation.tasks import TaskKeeper, finish_in_thread

logger = logging.getLogger(__name__)

MOST_BYTES = 64 * 1024  # it has some hundred bytes; what is larger was not written by a window
MODE = 0o600

SaveFile = Callable[[Path, bytes, int], None]
"""Writes a file, whole or not at all, with these permission bits; blocks, and raises OSError."""


class WindowMemory:
    """Texts and lists of texts, by their names. Belongs to the GUI thread."""

    def __init__(self, path: Path | None = None, *, save: SaveFile | None = None, tasks: TaskKeeper | None = None) -> None:
        """Args:
        path: the file; None: everything is forgotten with the window.
        save: writes it; blocks, and raises OSError.
        """
        self._path, self._save, self._tasks = path, save, tasks
        self._kept = _read(path) if path is not None else {}
        self._is_writing = self._has_to_write = False

    def text(self, name: str) -> str:
        """Returns the text that was saved under a name; empty without one."""
        kept = self._kept.get(name, "")
        return kept if isinstance(kept, str) else ""

    def texts(self, name: str) -> list[str]:
        kept = self._kept.get(name, [])
        return [each for each in kept if isinstance(each, str)] if isinstance(kept, list) else []

    def remember(self, name: str, value: str | list[str]) -> None:
        """Stores a value; the file is written a little later."""
        if self._kept.get(name) == value:
            return
        self._kept[name] = value
        self._has_to_write = True
        if self._path is not None and self._tasks is not None and not self._is_writing:
            self._is_writing = True
            self._tasks.spawn(self._write(self._path), name="window memory")

    async def _write(self, path: Path) -> None:
        try:
            while self._has_to_write and self._save is not None:
                self._has_to_write = False
                await finish_in_thread(self._save, path, json.dumps(self._kept, ensure_ascii=False).encode(), MODE)
        except OSError as error:
            logger.info("%s could not be written: %s", path, error.strerror or error)
        finally:
            self._is_writing = False


def _read(path: Path) -> dict[str, object]:
    """Reads a small file; blocks."""
    try:
        with open(path, "rb", opener=open_regular) as file:
            return msgspec.json.decode(file.read(MOST_BYTES), type=dict[str, object])
    except (OSError, msgspec.DecodeError, RecursionError):
        return {}
