"""Texts of the Secrets tab. Pure functions of the engine's snapshots."""

from collections.abc import Iterable, Sequence
from pathlib import PurePath

from tooltray.foundation.snapshots.setup import SecretSnapshot, StoredSecrets
from tooltray.ui.i18n import tr
from tooltray.ui.state_language import Look


def places() -> list[tuple[str, str]]:
    """Returns the possible places of secrets, with their names."""
    return [("keyring", tr("The system's keyring")), ("file", tr("An encrypted file")), ("memory", tr("Memory, until Tooltray ends"))]


def place_look(secrets: StoredSecrets) -> Look:
    """Returns whether the place of the secrets can be used, as far as that is known."""
    if secrets.problem is not None:
        return Look("state-error", "error", tr("Cannot be used"))
    if secrets.is_proven:
        return Look("state-connected", "success", tr("Can be used"))
    return Look("state-off", "neutral", tr("Not tried yet"))


def is_missing(secret: SecretSnapshot) -> bool:
    """Returns whether a secret that is in use is known to be missing."""
    return secret.is_stored is False and secret.kind == "value"


def is_unused(secret: SecretSnapshot) -> bool:
    """Returns whether a stored secret is known to be unused."""
    return bool(secret.is_stored) and secret.kind == "value" and not (secret.used_by or secret.perhaps_used_by)


def state(secret: SecretSnapshot) -> tuple[str, str]:
    """Returns a chip for an unusual state: word and tone."""
    if secret.is_stored is None:
        return tr("Not known"), "warning"
    if secret.kind == "own":
        return tr("Tooltray's own"), ""
    if secret.kind == "sign-in":
        return tr("Sign-in"), ""
    return (tr("Unused"), "neutral") if is_unused(secret) else ("", "")


def about(stored: Sequence[SecretSnapshot]) -> str:
    """Returns what is to be known of all that are listed."""
    if any(each.is_stored is None and each.kind == "value" for each in stored):
        return tr("Servers use these. Which of them are stored is not known.")
    return tr("Settings refer to them by name. Only servers get the values, which are never shown.")


def used_by(secret: SecretSnapshot) -> str:
    """Returns which servers and files use a secret, in one line."""
    if secret.used_by:
        return ", ".join(user_name(user) for user in secret.used_by)
    if secret.perhaps_used_by:
        return tr("Not known: {files} cannot be read", files=", ".join(user_name(user) for user in secret.perhaps_used_by))
    return "" if secret.kind == "own" else tr("Nothing")


def user_name(user: str) -> str:
    """Returns the name of a secret's user: a server's name, or the last parts of a file's path."""
    path = PurePath(user)
    return str(PurePath(*path.parts[-2:])) if path.is_absolute() else user


def removed_words(names: Sequence[str]) -> str:
    return tr("{name} is removed", name=names[0]) if len(names) == 1 else tr("{count} secrets are removed", count=len(names))


def found(secrets: Iterable[SecretSnapshot], text: str) -> list[SecretSnapshot]:
    """Returns the secrets in whose name or users a text is found."""
    wanted = text.casefold().split()
    return [each for each in secrets if all(word in " ".join((each.name, *each.used_by)).casefold() for word in wanted)]
