"""Remembers which one-time notices were shown, e.g. that Tooltray keeps running when its window is closed.

If the file cannot be read or written, a notice is shown again.
"""

import json
import logging
from pathlib import Path

from tooltray.foundation.files.atomic_file import write_atomically
from tooltray.foundation.regular_file import read_regular

logger = logging.getLogger(__name__)


class OneTimeNotices:
    """The notices that the user has seen.

    Args:
        path: the file with the keys of shown notices, a JSON list.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._shown: set[str] | None = None  # read at the first use

    def is_first(self, key: str) -> bool:
        """Returns whether a notice was not shown before, and counts it as shown from now on. Blocks for as long as writing a small file
        takes.
        """
        shown = self._shown = self._read() if self._shown is None else self._shown
        if key in shown:
            return False
        shown.add(key)
        try:
            write_atomically(self._path, json.dumps(sorted(shown)).encode())
        except OSError as error:
            logger.info("%s could not be written: %s", self._path, error.strerror or error)
        return True

    def _read(self) -> set[str]:
        try:
            found = json.loads(read_regular(self._path))
        except (OSError, ValueError, RecursionError):
            return set()
        return {key for key in found if isinstance(key, str)} if isinstance(found, list) else set()
