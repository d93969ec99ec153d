"""What a server may do, in words: for its tab Access, its overview and the sheets that add one. Pure."""

from tooltray.foundation.snapshots.servers import AccessChoice, ServerSnapshot
from tooltray.ui.confinement_words import in_short
from tooltray.ui.i18n import say, tr


def choice_title(choice: AccessChoice | None) -> str:
    """Returns the name of a choice; None: of settings that make none."""
    return {"careful": tr("Careful"), "trusted": tr("Trusted"), "free": tr("Free"), None: tr("Custom")}[choice]


def choice_text(choice: AccessChoice, *, is_process: bool) -> str:
    """Returns what a choice means.

    Args:
        is_process: the server runs on this computer, so that a sandbox makes a difference.
    """
    if choice == "careful":
        return tr("Sandboxed, changes ask")
    if choice == "trusted":
        return tr("Changes ask, not sandboxed") if is_process else tr("Changes ask")
    return tr("Never asks, not sandboxed") if is_process else tr("Never asks")


def access_words(server: ServerSnapshot) -> str:
    """Returns in one line what a server may do; empty if that cannot be chosen."""
    access, confinement = server.access, server.confinement
    if access is None:
        return ""
    words = {
        "all": tr("Everything runs without asking."),
        "reads": tr("Reads run. Changes ask."),
        "some": tr("Some calls run without asking."),
        "nothing": tr("Every call asks first."),
    }[access.runs]
    if access.has_call_rules and access.runs != "all":
        words = tr("{words} Its rules allow some calls.", words=words)
    if confinement is None:
        return words
    return tr("{words} {sandbox}.", words=words, sandbox=in_short(confinement) or tr("Not sandboxed"))


def differs(server: ServerSnapshot) -> str:
    """Returns what makes a server's settings different from all choices; empty if they make one."""
    return say(server.access.differs) if server.access is not None else ""
