"""The place of the one hub of a home: acquired with its lock, published in `hub.json`, and released without leaving files."""

import contextlib
import json
import logging
import os
import socket
import sys

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.files.atomic_file import write_atomically
from tooltray.foundation.home.home import ANOTHER_HOME, Home, hint_for
from tooltray.foundation.home.hub_lock import HubLock
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.regular_file import read_regular

logger = logging.getLogger(__name__)

CUT_OFF = Phrase("Its folder `run` was removed, so commands do not reach it. End its process, and start Tooltray again")
STOP_THERE = f"Stop it there. {ANOTHER_HOME}"


class HubRunning(TooltrayError):
    """A refusal, because another hub holds the lock of this home.

    Attributes:
        pid: its process; 0 if unknown.
        machine: the host name of another machine where it runs, which has the same home on a network disk; empty: it runs here.
    """

    def __init__(self, pid: int, machine: str = "", *, is_cut_off: bool = False) -> None:
        """
        Args:
            is_cut_off: its folder `run` was removed, so no command reaches it.
        """
        where = f"on {machine}" if machine else f"pid {pid}" if pid else ""
        hint = CUT_OFF if is_cut_off else STOP_THERE if machine else "Stop it with `tooltray stop`."
        super().__init__("another hub of this home is running", where, hint)
        self.pid, self.machine = pid, machine


class HubPlace:
    """The place of a home's hub, held from `take` to `give_back`. All methods but `take` block on the disk."""

    def __init__(self, home: Home) -> None:
        self._home, self._lock = home, HubLock(home.lock, home.root)

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
            raise TooltrayError(Phrase("the hub's lock cannot be taken"), message, hint_for(error, "Make the folder writable.")) from None
        raise running_elsewhere(self._home)

    def tell(self, **about: object) -> None:
        """Publishes in `hub.json` which process the hub is, and where it listens.

        Args:
            about: further fields of the file.
        """
        content = {
            "pid": os.getpid(),
            "host": socket.gethostname(),
            "socket": str(self._home.socket),
            "control": str(self._home.control_socket),
            **about,
        }
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


def running_elsewhere(home: Home) -> HubRunning:
    """Returns the error that names the holder of the home's lock, as far as `hub.json` does; versions before 0.2 write no host name."""
    try:
        about = json.loads(read_regular(home.hub_json))
        pid, host = about["pid"], about.get("host", "")
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return HubRunning(0, is_cut_off=sys.platform != "win32" and not home.control_socket.exists())
    is_elsewhere = isinstance(host, str) and host != socket.gethostname()
    return HubRunning(pid if isinstance(pid, int) else 0, host if is_elsewhere else "")
