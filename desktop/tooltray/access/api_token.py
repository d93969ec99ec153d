"""The token with which other programs use the REST interface: made when it is first wanted, and the same until a person wants another.

Above it: the presenter's HTTP access, the REST interface, the command line where no hub runs. Below it: atomic_file. It opens the REST
interface and nothing else; a client's token does not open that. Unlike a client's it can be shown again, so it is kept as it is, in a file
that is the person's alone.
"""

import hashlib
import hmac
import os
import re
import secrets
import stat
import threading
from pathlib import Path

from tooltray.errors import Problem, TooltrayError
from tooltray.files.atomic_file import write_atomically

TOKEN_BYTES = 32  # nobody guesses 256 bits
PREFIX = "tooltray_api_"  # by which a person, or a scanner of leaked secrets, knows what it is
MOST_READ_BYTES = 1024  # a token has 56; more is some other file
OF_OTHERS = stat.S_IRWXG | stat.S_IRWXO

_TOKEN = re.compile(rf"{PREFIX}[A-Za-z0-9_-]{{43}}")
_NO_WAITING = getattr(os, "O_NONBLOCK", 0)  # for a writer of a named pipe


class ApiToken:
    """That of one home. Methods may be called from any thread; making one, `value` and `rotate` block on the disk.

    A token that others could have read opens nothing: `problem` says so, and whoever asks for the token gets another one.

    Attributes:
        problem: what a person should know of it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._token = ""
        self.problem: Problem | None = None
        try:
            self._token = _read(path)
        except FileNotFoundError:
            pass
        except ValueError as error:
            self.problem = _unusable(f"{path}: {error}")
        except OSError as error:
            self.problem = _unusable(f"{path}: {error.strerror or error}")

    @property
    def known(self) -> frozenset[str]:
        """What must stand in no log."""
        return frozenset({self._token} - {""})

    def value(self) -> str:
        """The token; made now if there is none.

        Raises:
            TooltrayError: it cannot be kept.
        """
        with self._lock:
            return self._token or self._make()

    def rotate(self) -> str:
        """Makes another one; that of before opens nothing from then on.

        Raises:
            TooltrayError: it cannot be kept; then that of before goes on.
        """
        with self._lock:
            return self._make()

    def remove(self) -> None:
        """It opens nothing from then on; the next that is asked for is another one.

        Raises:
            TooltrayError: its file cannot be deleted; then it goes on.
        """
        with self._lock:
            try:
                self._path.unlink(missing_ok=True)
            except OSError as error:
                message = f"{self._path}: {error.strerror or error}"
                raise TooltrayError("the token of the REST interface cannot be taken back", message, "Nothing has changed.") from None
            self._token = ""

    def is_right(self, token: str) -> bool:
        """Whether that is the token. Takes as long for a right one as for a wrong one; never blocks."""
        return hmac.compare_digest(_hash(token), _hash(self._token)) and bool(self._token)

    def _make(self) -> str:
        token = PREFIX + secrets.token_urlsafe(TOKEN_BYTES)
        try:
            write_atomically(self._path, f"{token}\n".encode())
        except OSError as error:
            message = f"{self._path}: {error.strerror or error}"
            raise TooltrayError("the token of the REST interface cannot be kept", message, "Nothing has changed.") from None
        self._token, self.problem = token, None
        return token


def _read(path: Path) -> str:
    """The token that a file holds.

    Raises:
        OSError: it cannot be read, or there is none.
        ValueError: it is not to be used; says why.
    """
    with open(path, "rb", opener=_opened) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise ValueError("this is not a regular file")
        text = file.read(MOST_READ_BYTES).decode("ascii", "replace").strip()
    if os.name == "posix" and (status.st_mode & OF_OTHERS or status.st_uid != os.getuid()):
        raise ValueError("other users of this machine could read it")
    if not _TOKEN.fullmatch(text):
        raise ValueError("what is in it is no token")
    return text


def _opened(path: str, flags: int) -> int:
    return os.open(path, flags | _NO_WAITING)


def _unusable(message: str) -> Problem:
    title = "the token of the REST interface is not used, so nothing opens it"
    return Problem(title, message, "Make another one, and give it to your programs: tooltray http api token")


def _hash(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
