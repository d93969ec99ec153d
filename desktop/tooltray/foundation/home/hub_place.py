"""The place of the one hub of a home: acquired with its lock, published in `hub.json`, and released without leaving files."""

import contextlib
import json
import os
import socket
import sys
from pathlib import Path

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.files.atomic_file import write_atomically
from tooltray.foundation.home.home import ANOTHER_HOME, Home, hint_for
from tooltray.foundation.lazy_loggers import lazy_logger
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.regular_file import open_regular, read_regular

logger = lazy_logger(__name__)

CUT_OFF = Phrase("Its folder `run` was removed, so commands do not reach it. End its process, and start Tooltray again")
STOP_THERE = f"Stop it there. {ANOTHER_HOME}"

if sys.platform == "win32":  # pragma: no cover - one branch per platform
    import msvcrt

    def _lock(descriptor: int) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
else:
    import fcntl

    def _lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


class HubLock:
    """The lock that decides which process is the hub of a home, held from `try_take` to `release`.

    The operating system releases it with the process, however that ends. The file stays: if it were removed, two processes could each hold
    a lock of that name.
    """

    def __init__(self, path: Path, folder: Path | None = None) -> None:
        """
        Args:
            folder: a folder to lock as well, if the system can: the lock file may be removed while it is locked, with its folder.
        """
        self._path, self._folder = path, folder
        self._descriptors: list[int] = []

    def try_take(self) -> bool:
        """Takes the lock without waiting; returns False if another process holds it.

        Raises:
            OSError: the file cannot be opened.
        """
        descriptor = open_regular(self._path, os.O_RDWR | os.O_CREAT)
        if not _lock(descriptor):
            os.close(descriptor)
            return False
        self._descriptors.append(descriptor)
        if self._folder and not self._lock_folder(self._folder):
            self.release()
            return False
        return True

    def release(self) -> None:
        """Releases the lock, if it is held. May be called twice."""
        while self._descriptors:
            os.close(self._descriptors.pop())

    def _lock_folder(self, folder: Path) -> bool:
        if sys.platform == "win32":  # a system on which an open file cannot be removed
            return True
        descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
        self._descriptors.append(descriptor)
        try:
            return _lock(descriptor)
        except OSError:  # a network disk that locks only files
            return True


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
        super().__init__("another Tooltray with this home is running", where, hint)
        self.pid, self.machine = pid, machine


class HubPlace:
    """The place of a home's hub, held from `take` to `release`. All methods but `take` block on the disk."""

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
            raise TooltrayError(Phrase("Tooltray's lock cannot be taken"), message, hint_for(error, "Make the folder writable.")) from None
        raise running_elsewhere(self._home)

    def publish(self, **about: object) -> None:
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
        self._home.link_for_old_versions()

    def release(self) -> None:
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
