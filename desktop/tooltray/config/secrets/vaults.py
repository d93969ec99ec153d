"""The backends in which secrets are stored: names, errors (a class for each remedy), the interface of a vault, and
the one in memory. The user chooses between them: `secrets.SecretStore.use`.

No text in here ever holds a secret's value.
"""

import shlex
from typing import Literal, Protocol

from tooltray.foundation.errors import SECRET_MISSING, NotFound, SecretsUnreachable
from tooltray.foundation.phrases import Phrase

SecretBackend = Literal["keyring", "file", "memory"]
PASSPHRASE_VARIABLE = "TOOLTRAY_PASSPHRASE"  # opens the encrypted file without a user to ask; no child may get it


class SecretsAbsent(SecretsUnreachable):
    """No backend is available: no keyring service, no D-Bus, or a backend that is not on our list."""


class SecretsLocked(SecretsUnreachable):
    """The backend is locked: a locked keyring, an unanswered prompt, a missing or a wrong passphrase."""


class SecretsDenied(SecretsUnreachable):
    """The backend refused: access denied by the system, an unacceptable value, a damaged or read-only file."""


class SecretMissing(NotFound):
    """No secret has this name, which is the field `name` of the title."""

    problem_code = SECRET_MISSING


def missing(name: str, where: str = "") -> SecretMissing:
    """Returns the error for a secret that does not exist.

    Args:
        name: the secret.
        where: the place that needs it, for the message; may be empty.
    """
    return SecretMissing(Phrase("Secret '{name}' not found", name=name), where, store_hint(name))


def store_command(name: str) -> str:
    """Returns the command line that asks for a secret's value and stores it."""
    return f"tooltray secrets set {shlex.quote(name)}"


def store_hint(name: str) -> str:
    """Returns the hint for a missing secret: the command that stores it."""
    return Phrase("Store it: {command}", command=store_command(name))


class Vault(Protocol):
    """A backend. Its methods block; call them on one thread only. They raise SecretsAbsent, SecretsLocked or SecretsDenied.

    `remove` returns the old value. `check` fails as `set` would, and stores nothing.
    """

    def check(self) -> None: ...
    def get(self, name: str) -> str | None: ...
    def set(self, name: str, value: str) -> None: ...
    def remove(self, name: str) -> str | None: ...
    def names(self) -> list[str]: ...
    def unlock(self, passphrase: str) -> None: ...


class MemoryVault:
    """Names and values in a dictionary, lost when the hub ends: for a user who has no keyring and wants no file."""

    def __init__(self) -> None:
        self._values: dict[str, str] = {}

    def check(self) -> None:
        """Does nothing: memory takes everything."""

    def get(self, name: str) -> str | None:
        return self._values.get(name)

    def set(self, name: str, value: str) -> None:
        self._values[name] = value

    def remove(self, name: str) -> str | None:
        return self._values.pop(name, None)

    def names(self) -> list[str]:
        return sorted(self._values)

    def unlock(self, passphrase: str) -> None:
        """Does nothing: memory is never locked."""
