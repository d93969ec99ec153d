"""Secrets that are kept elsewhere, and the commands that print some of them, for the Secrets tab. Pure."""

from collections.abc import Mapping, Sequence

from tooltray.foundation.shell_words import joined
from tooltray.foundation.snapshots.setup import SecretSnapshot
from tooltray.ui.i18n import say, tr

Commands = Mapping[str, Sequence[str]]
"""Programs with their arguments, by the names that settings have for them."""

PREFIX = "command:"  # of a secret that a command prints
SETTING = "secretCommands"  # where the settings have the commands


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
