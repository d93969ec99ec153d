"""The measurements of npm registries, kept over restarts. Failures are not kept: a registry that did not answer may answer next time. The
file has addresses as they may be shown, without passwords."""

import logging
from pathlib import Path

import msgspec
from msgspec.structs import replace

from tooltray.foundation.files.atomic_file import write_atomically
from tooltray.foundation.regular_file import open_regular
from tooltray.foundation.snapshots.registries import RegistryMeasurement

logger = logging.getLogger(__name__)
MAX_FILE_BYTES = 2**20  # a round of ten registries has 2 kB
NO_TIME_LATER_S = 2.0**35  # a thousand years from now: a date outside the calendar cannot be shown


class Measured(msgspec.Struct, frozen=True):
    """One round of measuring.

    Attributes:
        at: unix seconds.
        measurements: those that can be used first, fastest first.
        candidates: the addresses to choose from besides npm's own; if they change, it is to be measured again.
        python: the addresses of those whose index for Python packages answers too.
        may_be_mirror: a mirror may be chosen automatically; not where npm's own configuration has decided.
    """

    at: float
    measurements: tuple[RegistryMeasurement, ...]
    candidates: tuple[str, ...] = ()
    python: tuple[str, ...] = ()
    may_be_mirror: bool = True

    @property
    def is_success(self) -> bool:
        """Reports whether any registry can be used."""
        return any(not each.problem for each in self.measurements)


class RegistryCache:
    """The file of measurements.

    Attributes:
        known: what an earlier hub has measured; None if nothing can be read.
    """

    def __init__(self, path: Path) -> None:
        """Reads the file."""
        self._path = path
        self.known: Measured | None = None
        try:
            self.known = _read(path)
        except FileNotFoundError:
            pass
        except (OSError, ValueError, RecursionError) as error:
            logger.info("what was measured of npm registries cannot be read and is measured again: %s", error)

    def save(self, measured: Measured) -> None:
        """Stores the registries that answered. Not for the loop's thread. A file that cannot be written costs a measurement at the next
        start."""
        answered = tuple(each for each in measured.measurements if each.milliseconds is not None)
        try:
            write_atomically(self._path, msgspec.json.encode(replace(measured, measurements=answered)))
        except OSError as error:
            logger.info("what was measured of npm registries could not be saved: %s", error)

    def forget(self) -> None:
        """Deletes the file. Not for the loop's thread."""
        try:
            self._path.unlink(missing_ok=True)
        except OSError as error:
            logger.info("what was measured of npm registries could not be forgotten: %s", error)


def _read(path: Path) -> Measured:
    with open(path, "rb", opener=open_regular) as file:
        measured = msgspec.json.decode(file.read(MAX_FILE_BYTES), type=Measured)
    if not 0 <= measured.at < NO_TIME_LATER_S:
        raise ValueError("it was measured at no time")
    return measured
