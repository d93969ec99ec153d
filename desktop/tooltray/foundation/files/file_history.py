"""Stores the content of a file before each change by Tooltray, so that the user can recover it.

A version that cannot be stored is logged and dropped, and the change continues. Versions are plain files in the home, `<file>.<hash of its
path>.<time>`; the caller passes the function that removes secrets from them.
"""

import hashlib
import logging
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from tooltray.foundation.files.atomic_file import write_atomically
from tooltray.foundation.regular_file import read_regular

logger = logging.getLogger(__name__)
VERSIONS = 10  # of each file
MOST_FILES = 300  # of all files together: thirty projects
MOST_BYTES = 1024 * 1024  # of one version; settings of hundreds of servers have a tenth of it
_HASH_CHARACTERS = 8


class FileHistory:
    """The stored versions of all edited files.

    Args:
        folder: where versions are stored; created with the first one.
        clean: returns the content without its secrets, or None if it cannot find them; then no version is stored.
        clock: unix nanoseconds.
    """

    def __init__(self, folder: Path, clean: Callable[[bytes], bytes | None], *, clock: Callable[[], int] = time.time_ns) -> None:
        self._folder, self._clean, self._clock = folder, clean, clock

    def keep(self, path: Path, content: bytes) -> None:
        """Adds a version, unless it equals the last one.

        Args:
            path: the file, absolute.
            content: its content before the change.
        """
        if len(content) > MOST_BYTES or (kept := self._clean(content)) is None:
            return
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            others = self.versions(path)
            if not others or read_regular(others[-1]) != kept:
                write_atomically(self._folder / f"{self._prefix(path)}{_in_order(self._clock())}", kept)
                self._prune(path)
        except OSError as error:
            logger.info("what was in %s is not kept: %s", path, error.strerror or error)

    def versions(self, path: Path) -> list[Path]:
        """Returns the versions of one file, oldest first."""
        with suppress(FileNotFoundError):
            return sorted(each for each in self._folder.iterdir() if each.name.startswith(self._prefix(path)))
        return []

    def _prefix(self, path: Path) -> str:
        return f"{path.name}.{hashlib.sha256(str(path).encode('utf-8', 'surrogateescape')).hexdigest()[:_HASH_CHARACTERS]}."

    def _prune(self, path: Path) -> None:
        for each in self.versions(path)[:-VERSIONS]:
            each.unlink()
        everything = sorted(self._folder.iterdir(), key=lambda each: each.name.rpartition(".")[2])
        for each in everything[:-MOST_FILES]:
            each.unlink()


def _in_order(now: int) -> str:
    """Formats a time to the nanosecond, so that names sort by it and two versions within a second are two files."""
    return time.strftime("%Y%m%dT%H%M%S", time.gmtime(now // 10**9)) + f"-{now % 10**9:09}"
