"""The place of the one hub of a home: taken with its lock, published in `hub.json`, and given back without leaving files.

Above it: the engine. Below it: the lock and the files of the home. Knows nothing of what a hub does.
"""

import contextlib
import json
import logging
import os
from pathlib import Path

from tooltray.errors import TooltrayError
from tooltray.files.atomic_file import write_atomically
from tooltray.home.home import Home
from tooltray.home.hub_lock import HubLock

logger = logging.getLogger(__name__)


class HubRunning(TooltrayError):
    """Another hub holds the lock of this home."""

    def __init__(self, pid: int) -> None:
        super().__init__("another hub of this home is running", f"pid {pid}" if pid else "", "Stop it with `tooltray stop`.")
        self.pid = pid


class HubPlace:
    """Held from `take` to `give_back`. All methods but `take` block on the disk."""

    def __init__(self, home: Home) -> None:
        self._home, self._lock = home, HubLock(home.lock)

    def take(self) -> None:
        """Takes the lock of the home.

        Raises:
            HubRunning: another hub holds it.
            TooltrayError: the home cannot be used.
        """
        try:
            if self._lock.try_take():
                return
        except OSError as error:
            message = f"{self._home.lock}: {error.strerror or error}"
            raise TooltrayError("the hub's lock cannot be taken", message, "Free space on the disk, or make the folder writable.") from None
        raise HubRunning(_pid_in(self._home.hub_json))

    def tell(self, **about: object) -> None:
        """Says in `hub.json` who is here and where it listens.

        Args:
            about: what else others should know.
        """
        content = {"pid": os.getpid(), "socket": str(self._home.socket), "control": str(self._home.control_socket), **about}
        try:
            write_atomically(self._home.hub_json, json.dumps(content).encode())
        except OSError as error:  # a full disk; the hub serves all the same, only others cannot tell its pid
            logger.warning("%s could not be written: %s", self._home.hub_json, error.strerror or error)
        self._home.tell_old_versions()

    def give_back(self) -> None:
        """Removes the files and releases the lock; does no harm if the place was not taken."""
        self._remove_files()
        self._lock.release()

    def _remove_files(self) -> None:
        with contextlib.suppress(OSError):
            self._home.hub_json.unlink()
        self._home.remove_sockets()


def _pid_in(hub_json: Path) -> int:
    try:
        pid = json.loads(hub_json.read_bytes())["pid"]
    except (OSError, ValueError, KeyError, TypeError):
        return 0
    return pid if isinstance(pid, int) else 0
