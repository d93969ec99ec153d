"""Stores tokens over restarts: the tokens among the secrets, and in a file an index of the servers that have some. The index contains no
tokens. It lets a card show whether the user is signed in, and no keyring is opened for a server without tokens."""

import asyncio
import contextlib
import json
import logging
from collections.abc import Callable, Collection
from pathlib import Path

from tooltray.config.secrets.secrets import SecretStore
from tooltray.config.secrets.vaults import SecretMissing
from tooltray.foundation.files.atomic_file import write_atomically
from tooltray.foundation.tasks import finish_in_thread
from tooltray.servers.sign_ins.tokens import Tokens

logger = logging.getLogger(__name__)
PREFIX = "oauth/"  # of a secret's name, before the server's name, which has no slash


class TokenStore:
    """The stored tokens. Belongs to one event loop. Tokens are stored with a binding (see `binding_of`) and returned only for the same
    one.

    Attributes:
        kept: the servers with tokens, each with the binding of its tokens.
    """

    def __init__(self, path: Path, secrets: SecretStore) -> None:
        """Reads the index, so it must not be called in the loop's thread.

        Args:
            path: the file of the index.
        """
        self._path, self._secrets = path, secrets
        self._lock = asyncio.Lock()
        self.kept = _read(path)

    def hide(self, server: str, tokens: Tokens) -> None:
        """Masks the secret parts of tokens in logs from now on."""
        self._secrets.hide(PREFIX + server, _parts(tokens))

    async def load(self, server: str, binding: str) -> Tokens | None:
        """Returns a server's tokens; None if there are none with this binding.

        Raises:
            SecretsAbsent, SecretsLocked, SecretsDenied: there are tokens, but the secrets cannot be read.
        """
        if self.kept.get(server) != binding:
            return None
        async with self._lock:
            text = ""
            with contextlib.suppress(SecretMissing):
                text = await self._secrets.get(PREFIX + server)
            if tokens := Tokens.from_json(text):
                self.hide(server, tokens)
                return tokens
            await self._note(server, None)
            return None

    async def save(self, server: str, binding: str, tokens: Tokens, *, is_wanted: Callable[[], bool] = lambda: True) -> None:
        """Stores a server's tokens.

        Args:
            is_wanted: called just before the tokens are stored: the user may have signed out meanwhile.

        Raises:
            SecretsAbsent, SecretsLocked, SecretsDenied: the tokens were not stored.
        """
        async with self._lock:
            if is_wanted():
                await self._secrets.set(PREFIX + server, tokens.to_json(), parts=_parts(tokens))
                await self._note(server, binding)

    async def forget(self, server: str) -> None:
        """Deletes a server's tokens.

        Raises:
            SecretsAbsent, SecretsLocked, SecretsDenied: the tokens were not deleted.
        """
        async with self._lock:
            if server in self.kept:
                with contextlib.suppress(SecretMissing):
                    await self._secrets.remove(PREFIX + server)
                await self._note(server, None)

    async def _note(self, server: str, binding: str | None) -> None:
        """Updates the index. If it cannot be written, a new sign-in is needed after the next start, which is only logged."""
        if self.kept.get(server) == binding:
            return
        others = {name: kept for name, kept in self.kept.items() if name != server}
        self.kept = others | ({server: binding} if binding else {})
        try:
            await finish_in_thread(write_atomically, self._path, json.dumps(self.kept, indent=2).encode())
        except OSError as error:
            logger.warning("%s could not be written: %s", self._path, error.strerror or error)


def _parts(tokens: Tokens) -> Collection[str]:
    parts = (tokens.access_token, tokens.refresh_token, tokens.registration.client_secret)
    return [part for part in parts if part]


def _read(path: Path) -> dict[str, str]:
    try:
        read = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        logger.info("which servers are signed in to cannot be read: %s", error)
        return {}
    return {name: binding for name, binding in read.items() if isinstance(binding, str)} if isinstance(read, dict) else {}
