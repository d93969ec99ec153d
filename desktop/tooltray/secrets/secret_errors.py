"""Errors of secrets: one class for each remedy that a person has.

Above it: SecretStore and the vaults. Below it: errors. No text in here ever holds a secret's value.
"""

import shlex

from tooltray.errors import NotFound, TooltrayError
from tooltray.phrases import Phrase


class SecretsAbsent(TooltrayError):
    """No backend is available: no keyring service, no D-Bus, or a backend that is not on our list."""


class SecretsLocked(TooltrayError):
    """The backend is locked: a locked keyring, an unanswered prompt, a missing or a wrong passphrase."""


class SecretsDenied(TooltrayError):
    """The backend refused: access denied by the system, an unacceptable value, a damaged or read-only file."""


class SecretMissing(NotFound):
    """There is no secret of that name."""


def missing(name: str, where: str = "") -> SecretMissing:
    """The error for a secret that is not there.

    Args:
        name: the secret.
        where: who needs it, for the message; may be empty.
    """
    return SecretMissing(Phrase("There is no secret '{name}'", name=name), where, store_hint(name))


def store_command(name: str) -> str:
    """The command line that asks for a secret's value and stores it."""
    return f"tooltray secrets set {shlex.quote(name)}"


def store_hint(name: str) -> str:
    """The hint for a missing secret: the command that stores it."""
    return Phrase("Store it: {command}", command=store_command(name))
