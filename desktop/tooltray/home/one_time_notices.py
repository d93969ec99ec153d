"""What a person is told once and never again, e.g. where the window goes when it is closed.

Above it: the desktop's composition root. Below it: atomic_file. A file that cannot be read or written costs that it is said again.
"""

import json
import logging
from pathlib import Path

from tooltray.files.atomic_file import write_atomically

logger = logging.getLogger(__name__)


class SaidOnce:
    """
    Args:
        path: where it is kept, as a JSON list of keys.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._said: set[str] | None = None  # read when it is needed first

    def is_first(self, key: str) -> bool:
        """Whether this was not said before; from now on it was. Blocks for as long as a small file takes."""
        said = self._said = self._read() if self._said is None else self._said
        if key in said:
            return False
        said.add(key)
        try:
            write_atomically(self._path, json.dumps(sorted(said)).encode())
        except OSError as error:
            logger.info("%s could not be written: %s", self._path, error.strerror or error)
        return True

    def _read(self) -> set[str]:
        try:
            found = json.loads(self._path.read_bytes())
        except (OSError, ValueError, RecursionError):
            return set()
        return {key for key in found if isinstance(key, str)} if isinstance(found, list) else set()
