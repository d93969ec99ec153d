"""Remembers variables of the user's terminal or desktop, for a hub that is started without them; and the variables with which each server
worked.

They are kept in one file of the home, mode 0600. network_variables decides which values may be written: no password, no key, no socket. If
the file cannot be read, no variables are remembered; if it cannot be written, the log reports that.
"""

import json
import logging
import os
import threading
import time
from collections.abc import Mapping
from pathlib import Path

import msgspec

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.files.atomic_file import read_own, write_atomically
from tooltray.servers.launch.network_variables import VARIABLES, in_environ, meaning

logger = logging.getLogger(__name__)
DIRENV = "DIRENV_DIR"  # set if the environment belongs to a folder, not to the user
MAX_FILE_BYTES = 1024 * 1024  # a thousandth is usual
MOST_SERVERS = 200  # whose variables are kept; the latest ones


class Remembered(msgspec.Struct, frozen=True):
    value: str
    since: str  # a day, as 2026-01-31


class RememberedVariables:
    """The file of remembered variables. May be used from any thread; methods that change something wait for the disk."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._variables: dict[str, Remembered] = {}
        self._worked: dict[str, dict[str, str | None]] = {}

    def load(self) -> None:
        try:
            document = json.loads(read_own(self._path, MAX_FILE_BYTES))
            variables = {name: Remembered(str(each["value"]), str(each["since"])) for name, each in document["variables"].items()}
            worked = {server: _checked(had) for server, had in document["worked"].items()}
        except FileNotFoundError:
            return
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            logger.info("%s is not understood, nothing is remembered: %s", self._path, error)
            return
        with self._lock:
            self._variables = {name: each for name, each in variables.items() if name in VARIABLES}
            self._worked = worked

    @property
    def variables(self) -> Mapping[str, Remembered]:
        """Returns all remembered variables, usable now or not."""
        with self._lock:
            return dict(self._variables)

    @property
    def worked(self) -> Mapping[str, Mapping[str, str | None]]:
        """Returns the variables that were set when each server last worked; None for a value that may not be stored."""
        with self._lock:
            return dict(self._worked)

    def remember(self, environ: Mapping[str, str], *, is_all: bool) -> None:
        """Records the variables of an environment that may be stored.

        Args:
            environ: of a process that the user has started.
            is_all: it is a terminal's, which is complete: variables that it lacks are deleted.
        """
        if environ.get(DIRENV):
            return
        given = {name: value for name, value in in_environ(environ).items() if value}
        safe = {name: value for name, value in given.items() if VARIABLES[name].can_be_remembered(value)}
        decided = {meaning(name) for name in in_environ(environ)}  # also by a value that is not kept, or an empty one
        with self._lock:
            before = dict(self._variables)
            kept = {name: each for name, each in before.items() if not is_all and meaning(name) not in decided}
            for name, value in safe.items():
                known = before.get(name)
                kept[name] = known if known and known.value == value else Remembered(value, time.strftime("%Y-%m-%d"))
            if kept != before:
                self._variables = kept
                self._save()

    def note_worked(self, server: str, environ: Mapping[str, str]) -> None:
        """Records that a server runs with this environment."""
        had = {name: value if VARIABLES[name].can_be_remembered(value) else None for name, value in in_environ(environ).items() if value}
        with self._lock:
            if self._worked.get(server) != had:
                self._worked.pop(server, None)
                self._worked = dict([*self._worked.items(), (server, had)][-MOST_SERVERS:])
                self._save()

    def forget(self) -> None:
        """Deletes the file and all remembered variables.

        Raises:
            TooltrayError: the file cannot be removed.
        """
        with self._lock:
            try:
                self._path.unlink(missing_ok=True)
            except OSError as error:
                raise TooltrayError("The environment is not forgotten", f"{self._path}: {error.strerror}", "Remove that file.") from None
            self._variables, self._worked = {}, {}

    def _save(self) -> None:
        variables = {name: {"value": each.value, "since": each.since} for name, each in sorted(self._variables.items())}
        try:
            write_atomically(self._path, json.dumps({"variables": variables, "worked": self._worked}, indent=2).encode())
        except OSError as error:
            logger.warning("%s could not be written: %s", self._path, error.strerror or error)


def is_started_in_terminal() -> bool:
    """Reports whether this process was started in a terminal, so that its environment is complete, even if its output goes elsewhere."""
    return any(os.isatty(number) for number in (0, 1, 2))


def _checked(had: Mapping[str, object]) -> dict[str, str | None]:
    return {name: value if isinstance(value, str) else None for name, value in had.items() if name in VARIABLES}
