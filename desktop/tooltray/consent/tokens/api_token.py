"""The default token of the REST interface, for other programs: created on first use, valid until the user rotates or removes it.

It opens only the REST interface, which in turn does not accept the tokens of AI clients. Unlike those it can be shown again, so it is
stored in plain text, in a file that only the user can read.
"""

import hashlib
import hmac
import os
import re
import secrets
import stat
import sys
import threading
from pathlib import Path

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.files.atomic_file import write_atomically
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.regular_file import open_regular

TOKEN_BYTES = 32  # 256 bits cannot be guessed
MAX_NAME_LENGTH = 64
PREFIX = "tooltray_api_"  # lets a person or a secret scanner recognise the token
MOST_READ_BYTES = 1024  # a token has 56; a larger file is not ours
OF_OTHERS = stat.S_IRWXG | stat.S_IRWXO

_TOKEN = re.compile(rf"{PREFIX}[A-Za-z0-9_-]{{43}}")


class ApiToken:
    """The token of one home. Methods may be called from any thread; the constructor, `value`, `rotate` and `remove` block on the disk.

    A token that other users could have read is not accepted: `problem` reports it, and `value` makes a new one.

    Attributes:
        problem: the problem with the stored token, if there is one.
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
        """The token, which must be masked in logs; empty if there is none."""
        return frozenset({self._token} - {""})

    def value(self) -> str:
        """Returns the token; makes one if there is none.

        Raises:
            TooltrayError: it cannot be stored.
        """
        with self._lock:
            return self._token or self._make()

    def rotate(self) -> str:
        """Replaces the token; the old one is invalid from then on.

        Raises:
            TooltrayError: the new one cannot be stored; the old one stays valid.
        """
        with self._lock:
            return self._make()

    def remove(self) -> None:
        """Deletes the token; `value` makes a new one afterwards.

        Raises:
            TooltrayError: its file cannot be deleted; the token stays valid.
        """
        with self._lock:
            try:
                self._path.unlink(missing_ok=True)
            except OSError as error:
                message = f"{self._path}: {error.strerror or error}"
                raise TooltrayError(
                    Phrase("the token of the REST interface cannot be taken back"), message, Phrase("Nothing has changed.")
                ) from None
            self._token = ""

    def is_right(self, token: str) -> bool:
        """Returns whether a text is the token, in constant time; never blocks."""
        return hmac.compare_digest(digest_of(token), digest_of(self._token)) and bool(self._token)

    def _make(self) -> str:
        token = PREFIX + secrets.token_urlsafe(TOKEN_BYTES)
        try:
            write_atomically(self._path, f"{token}\n".encode())
        except OSError as error:
            message = f"{self._path}: {error.strerror or error}"
            raise TooltrayError(Phrase("the token of the REST interface cannot be kept"), message, Phrase("Nothing has changed.")) from None
        self._token, self.problem = token, None
        return token


def _read(path: Path) -> str:
    """Reads the token from its file.

    Raises:
        OSError: the file cannot be read or does not exist.
        ValueError: the token must not be used; the text says why.
    """
    with open(path, "rb", opener=open_regular) as file:
        status = os.fstat(file.fileno())
        text = file.read(MOST_READ_BYTES).decode("ascii", "replace").strip()
    if sys.platform != "win32" and (status.st_mode & OF_OTHERS or status.st_uid != os.getuid()):
        raise ValueError("other users of this machine could read it")
    if not _TOKEN.fullmatch(text):
        raise ValueError("what is in it is no token")
    return text


def _unusable(message: str) -> Problem:
    title = Phrase("the token of the REST interface is not used, so nothing opens it")
    return Problem(title, message, Phrase("Make another one, and give it to your programs: tooltray http api token"))


def digest_of(token: str) -> str:
    """Returns the hash of a token, by which it is recognised without being stored; with 256 random bits a plain one is enough."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def is_name(text: str) -> bool:
    """Returns whether a text can be the name of the owner of a token."""
    return 0 < len(text) <= MAX_NAME_LENGTH and text.isprintable() and text == text.strip()


def shown(name: str) -> str:
    """Returns a given name, harmless and bounded, for an error."""
    return "".join(character if character.isprintable() else "?" for character in name[:MAX_NAME_LENGTH])
