"""Which eras each server speaks, remembered over restarts, so that a server known to be legacy is not probed again."""

import logging
import time
from pathlib import Path

import msgspec

from tooltray.foundation.files.atomic_file import write_atomically
from tooltray.foundation.regular_file import read_regular

logger = logging.getLogger(__name__)
ERAS_KEPT_FOR_S = 7 * 86400.0  # then the server is probed again


class _Known(msgspec.Struct):
    eras: list[str]
    at: float


class EraMemory:
    """The eras that each server speaks, by the hash of its settings. Entries expire, because an unpinned package learns new things."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[str, _Known] = {}
        try:
            self._known = msgspec.json.decode(read_regular(path), type=dict[str, _Known])
        except FileNotFoundError:
            pass
        except (OSError, ValueError) as error:
            logger.info("what was known of the servers' eras cannot be read and is asked again: %s", error)

    def eras(self, config_hash: str) -> frozenset[str]:
        """Returns `legacy`, `modern`, or both; empty if nothing is known."""
        known = self._known.get(config_hash)
        return frozenset(known.eras) if known and 0 <= time.time() - known.at < ERAS_KEPT_FOR_S else frozenset()

    def remember(self, config_hash: str, eras: frozenset[str]) -> bool:
        """Records the eras of a server. Returns whether that was new, and is to be saved."""
        if self.eras(config_hash) == eras:
            return False
        self._known[config_hash] = _Known(sorted(eras), time.time())
        return True

    def save(self) -> None:
        """Writes the file; not for the loop's thread. A file that cannot be written costs a probe at the next start."""
        try:
            write_atomically(self._path, msgspec.json.encode(self._known))
        except OSError as error:
            logger.info("the servers' eras could not be saved: %s", error)
