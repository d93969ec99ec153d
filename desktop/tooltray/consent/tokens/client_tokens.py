"""The tokens with which AI clients connect over HTTP: created here, shown once, stored as hashes.

A token opens only MCP over HTTP. Tooltray writes it into no log, error or file.
"""

import hmac
import secrets
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import msgspec

from tooltray.consent.kept_file import Hex, KeptFile, UnixTime
from tooltray.consent.tokens.api_tokens import MAX_NAME_LENGTH, TOKEN_BYTES, digest_of, is_name, shown
from tooltray.foundation.errors import Conflict, NotFound, TooltrayError
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.clients import ClientTokenSnapshot

PREFIX = "tooltray_"  # lets a person or a secret scanner recognise the token
LARGEST_BYTES = 8 * 2**20  # tens of thousands of clients
UNDO_S = 30.0  # the window offers to undo for 8 s


class _Client(msgspec.Struct, rename="camel"):
    sha256: Hex
    created_at: UnixTime


class _File(msgspec.Struct):
    version: Literal[1] = 1
    clients: dict[str, _Client] = {}


class ClientTokens:
    """The tokens of one home. Methods may be called from any thread; `create` and `remove` block on the disk.

    If the file cannot be read, no token is valid: it is set aside, and `problem` reports it.
    """

    def __init__(self, path: Path, *, clock: Callable[[], float] = time.time) -> None:
        """
        Args:
            clock: unix seconds.
        """
        self._clock = clock
        self._file = KeptFile(
            path,
            _File,
            most_bytes=LARGEST_BYTES,
            unread=Phrase("the tokens of AI clients cannot be read, so none of them opens anything"),
            remedy="Make new ones: tooltray clients token NAME",
            unsaved=Phrase("the clients' tokens cannot be saved"),
        )
        self.problem = self._file.problem
        self._lock = threading.Lock()
        self._used: dict[str, float] = {}  # last uses since this hub started; never saved, so no request waits for the disk
        self._removed: dict[str, tuple[_Client, float]] = {}  # revoked tokens and when, until `restore` is not possible any more

    def list(self) -> list[ClientTokenSnapshot]:
        """Returns the clients that have a token, sorted by name."""
        return [ClientTokenSnapshot(name, client.created_at, self._used.get(name, 0.0)) for name, client in sorted(self._clients.items())]

    def create(self, name: str) -> str:
        """Creates a token for a client; its earlier one becomes invalid.

        Returns:
            The token, which cannot be shown again.

        Raises:
            TooltrayError: the name is invalid, or the file cannot be written.
        """
        _check_name(name)
        token = PREFIX + secrets.token_urlsafe(TOKEN_BYTES)
        with self._lock:
            self._write({**self._clients, name: _Client(digest_of(token), self._clock())})
            self._used.pop(name, None)
        return token

    def remove(self, name: str) -> None:
        """Revokes a client's token.

        Raises:
            TooltrayError: the client is unknown, or the file cannot be written.
        """
        with self._lock:
            if name not in self._clients:
                raise NotFound(
                    Phrase("no client '{name}' has a token", name=shown(name)), hint=Phrase("See which have: tooltray clients list")
                )
            client = self._clients[name]
            self._write({other: client for other, client in self._clients.items() if other != name})
            self._removed[name] = client, self._clock()

    def restore(self, name: str) -> None:
        """Makes a client's token valid again that was revoked less than UNDO_S ago.

        Raises:
            NotFound: too much time has passed.
            Conflict: the client has another token now.
            TooltrayError: the file cannot be written.
        """
        with self._lock:
            client, removed_at = self._removed.get(name, (None, 0.0))
            if client is None or not 0 <= self._clock() - removed_at < UNDO_S:
                raise NotFound(Phrase("This cannot be undone any more"), hint=Phrase("Make a new token."))
            if name in self._clients:
                raise Conflict(Phrase("{client} has another token now", client=shown(name)))
            self._write({**self._clients, name: client})
            del self._removed[name]

    def owner(self, token: str) -> str | None:
        """Returns the client that owns a token, in constant time; None for an invalid one."""
        found, given = None, digest_of(token)
        for name, client in self._clients.items():
            if hmac.compare_digest(client.sha256.encode(), given.encode()):
                found = name
        if found is not None:
            self._used[found] = self._clock()
        return found

    @property
    def _clients(self) -> dict[str, _Client]:
        return self._file.content.clients

    def _write(self, clients: dict[str, _Client]) -> None:
        self._file.write(_File(clients=clients))


def _check_name(name: str) -> None:
    if not is_name(name):
        reason = Phrase("a name has 1 to {max_name_length} letters, digits, signs and inner spaces", max_name_length=MAX_NAME_LENGTH)
        raise TooltrayError(Phrase("'{name}' cannot be the name of a client", name=shown(name)), reason, Phrase("Choose another name."))
