"""Texts of the Secrets tab, and the commands that print secrets which are kept elsewhere. Pure functions of the engine's snapshots."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePath

from tooltray.foundation.shell_words import joined
from tooltray.foundation.snapshots.setup import SecretSnapshot, StoredSecrets
from tooltray.ui.i18n import say, tr
from tooltray.ui.state_language import Look

Commands = Mapping[str, Sequence[str]]
"""Programs with their arguments, by the names that settings have for them."""

PREFIX = "command:"  # of a secret that a command prints
SETTING = "secretCommands"  # where the settings have the commands


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


def commands_in(settings: Mapping[str, object]) -> Commands:
    """Returns the commands of the settings; invalid ones are left out, as in the hub."""
    found = settings.get(SETTING)
    given = found.items() if isinstance(found, Mapping) else ()
    return {name: words for name, words in given if isinstance(words, list) and words and all(isinstance(each, str) for each in words)}


def command_of(secret: SecretSnapshot) -> str | None:
    """Returns the name of the command that prints a secret; None if it comes from somewhere else."""
    return secret.name.removeprefix(PREFIX) if secret.kind == "provided" and secret.name.startswith(PREFIX) else None


def kept_elsewhere(secrets: Sequence[SecretSnapshot], commands: Commands) -> list[SecretSnapshot]:
    """Returns the secrets that are kept elsewhere, and a row for each unused command; by name."""
    used = [each for each in secrets if each.kind == "provided"]
    names = {each.name for each in used}
    unused = [SecretSnapshot(PREFIX + name, None, kind="provided") for name in commands if PREFIX + name not in names]
    return sorted([*used, *unused], key=lambda each: each.name)


def source(secret: SecretSnapshot, commands: Commands) -> str:
    """Returns where a secret comes from: its command in full, or the place; empty if the settings lack the command."""
    if is_not_set_up(secret, commands):
        return ""
    words = commands.get(command_of(secret) or "")
    return joined(words) if words else say(secret.origin)


def is_not_set_up(secret: SecretSnapshot, commands: Commands) -> bool:
    """Returns whether the secret names a command that the settings do not have."""
    name = command_of(secret)
    return name is not None and name not in commands


def note(secret: SecretSnapshot, commands: Commands) -> tuple[str, str]:
    """Returns a chip for an unusual state: word and tone."""
    if is_not_set_up(secret, commands):
        return tr("Not set up"), "warning"
    if secret.problem is not None:
        return tr("Not available"), "warning"
    return ("", "") if secret.used_by else (tr("Unused"), "neutral")


def verb(secret: SecretSnapshot, commands: Commands) -> str:
    """Returns the word on the button of a row."""
    if command_of(secret) is None:
        return tr("Details…")
    return tr("Set up…") if is_not_set_up(secret, commands) else tr("Change…")
