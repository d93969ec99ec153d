"""The variables that decide whether a server reaches the network (certificates, proxies, package indexes, the agent with the user's keys),
in one table; and their values in the user's terminal or desktop, remembered for a hub that is started without them.

They are kept in one file of the home, mode 0600, without passwords, keys and sockets, with the variables with which each server worked. If
the file cannot be read, no variables are remembered; if it cannot be written, the log reports that.
"""

import json
import logging
import os
import re
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.files.atomic_file import read_own, write_atomically
from tooltray.foundation.lazy_patterns import lazy_pattern

_ADDRESS = lazy_pattern(r"(?:[a-z][a-z0-9+.-]*://)?[^\s/@?#]+/?", re.IGNORECASE)  # a proxy's; an "@" follows a user and a password
_HOSTS = lazy_pattern(r"[\w.*:,/ \[\]-]*")
_URL = lazy_pattern(r"(?:[\w.-]+=)?https?://[^\s/@?#]+(?:/[^\s@?#]*)?", re.IGNORECASE)  # uv's indexes may have a name in front
_KEY = lazy_pattern(r"(?=[^/]*\d)(?=[^/]*[A-Za-z])[A-Za-z0-9_-]{24,}")  # some indexes have a user's key in the path
_USER = lazy_pattern(r"[^\s/@]*@")
_FLAGS = ("0", "1", "true", "false")


class Kind(msgspec.Struct, frozen=True):
    """The rules for the values of a variable.

    Attributes:
        can_be_used: whether a value is usable now; a value that names a missing file only does harm.
        can_be_remembered: whether a value may be written into a file.
    """

    can_be_used: Callable[[str], bool]
    can_be_remembered: Callable[[str], bool]


def _exists(value: str) -> bool:
    return bool(value) and all(Path(part).is_absolute() and Path(part).exists() for part in value.split(os.pathsep))


def _always(value: str) -> bool:
    return True


def _never(value: str) -> bool:
    return False


def _is_plain_index(value: str) -> bool:
    return all(_URL.fullmatch(each) and not _KEY.search(each.partition("://")[2].partition("/")[2]) for each in value.split())


PATH = Kind(_exists, _exists)
PROXY = Kind(_always, lambda value: _ADDRESS.fullmatch(value) is not None)
HOSTS = Kind(_always, lambda value: _HOSTS.fullmatch(value) is not None)
INDEX = Kind(_always, _is_plain_index)
FLAG = Kind(_always, lambda value: value.lower() in _FLAGS)
AGENT = Kind(_exists, _never)  # each session has another one

VARIABLES: Mapping[str, Kind] = {
    **dict.fromkeys(("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "PIP_CERT"), PATH),
    **dict.fromkeys(("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"), PROXY),
    **dict.fromkeys(("no_proxy", "NO_PROXY", "UV_INSECURE_HOST", "PIP_TRUSTED_HOST"), HOSTS),
    **dict.fromkeys(("UV_DEFAULT_INDEX", "UV_INDEX", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL", "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL"), INDEX),
    **dict.fromkeys(("UV_NATIVE_TLS", "UV_SYSTEM_CERTS", "NODE_USE_SYSTEM_CA"), FLAG),
    "SSH_AUTH_SOCK": AGENT,
}


def meaning(name: str) -> str:
    """Returns the same name for both spellings of a proxy's variable: if one is set, the other one counts as set, too."""
    return name.lower() if name.lower().endswith("_proxy") else name


def in_environ(environ: Mapping[str, str]) -> dict[str, str]:
    """Returns the variables of this table that an environment has."""
    return {name: environ[name] for name in VARIABLES if name in environ}


def shown(value: str) -> str:
    return _USER.sub("***@", value)


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
            logger.info("%s is malformed, so no environment is restored: %s", self._path, error)
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
                raise TooltrayError("The saved environment remains", f"{self._path}: {error.strerror}", "Delete that file.") from None
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
