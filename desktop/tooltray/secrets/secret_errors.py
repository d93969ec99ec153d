"""What can be wrong with secrets, told apart, because a person has to do something else about each.

Above it: SecretStore and the vaults. Below it: errors. No text in here ever holds a secret's value.
"""

import shlex

from tooltray.errors import NotFound, TooltrayError
from tooltray.phrases import Phrase


class SecretsAbsent(TooltrayError):
    """There is no place to keep secrets: no keyring service, no D-Bus, a backend that is not on our list."""


class SecretsLocked(TooltrayError):
    """The place is there, and somebody has to open it: a locked keyring, a prompt nobody answered, no passphrase or a wrong one."""


class SecretsDenied(TooltrayError):
    """The place is open and refused: access denied by the system, a value it does not take, a file that is damaged or cannot be written."""


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
    """What to do about a secret that is missing."""
    return Phrase("Store it: {command}", command=store_command(name))
