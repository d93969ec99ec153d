"""Texts of the Settings page and its sheets. Pure functions of the engine's snapshots."""

from collections.abc import Sequence

from tooltray.foundation.snapshots.setup import SetupChange
from tooltray.ui.i18n import tr
from tooltray.ui.state_language import Look


def change_look(change: SetupChange) -> Look:
    """Returns the look of a change: shape, colour and word."""
    match change.kind:
        case "add" if change.subject == "secret":
            return Look("state-waiting", "warning", tr("To be given"))
        case "add" | "remove" if change.subject == "default":
            return Look("state-waiting", "warning", tr("Is changed"))
        case "add":
            return Look("state-connected", "success", tr("Is added"))
        case "replace":
            return Look("state-waiting", "warning", tr("Is replaced"))
        case "remove":
            return Look("state-error", "error", tr("Is removed"))
        case _:
            return Look("state-off", "neutral", tr("Stays"))


def subject(change: SetupChange) -> str:
    match change.subject:
        case "server":
            return tr("Server")
        case "default":
            return tr("Start")
        case "secret":
            return tr("Secret")
        case _:
            return tr("Setting")


def does_something(changes: Sequence[SetupChange]) -> bool:
    """Returns whether an import would change anything; secrets to enter do not count."""
    return any(change.kind != "keep" and change.subject != "secret" for change in changes)
