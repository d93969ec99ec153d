"""Texts about AI clients' sessions, about how tools are listed to them, and about what definitions cost. Pure functions of snapshots."""

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.clients import ClientModeSnapshot, ProfileSnapshot, SessionProject, SessionSnapshot
from tooltray.ui.i18n import many, tr
from tooltray.ui.problem_words import whole
from tooltray.ui.state_language import Look

MODES = ("", "everything", "lazy", "search", "automatic")
"""What a person can choose for a kind of client; the first leaves it to the servers' settings."""


def mode_name(mode: str) -> str:
    """Returns the name of a way to list tools."""
    match mode:
        case "everything":
            return tr("Full")
        case "lazy":
            return tr("Compact")
        case "search":
            return tr("Search")
        case "automatic":
            return tr("Automatic")
        case _:
            return tr("Default")


def mode_text(mode: str) -> str:
    """Returns the explanation of a way to list tools, in a sentence."""
    match mode:
        case "everything":
            return tr("The client lists every tool, including those of lazy servers.")
        case "lazy":
            return tr("Clients see one small tool per server; using it loads the rest.")
        case "search":
            return tr("The client lists two tools: one finds tools, the other calls them.")
        case "automatic":
            return tr("All at once if that fits the client, else what it can deal with.")
        case _:
            return tr("Uses the default of all clients; without one, lazy servers show one small tool.")


def reason(of: SessionSnapshot | ClientModeSnapshot) -> str:
    """Returns why tools are listed in this way, as a sentence."""
    return whole(Problem(of.reason))


def client_name(session: SessionSnapshot) -> str:
    """Returns the name of a session's client; its version is a fact beside it."""
    return session.client or tr("A client without a name")


def client_in_full(session: SessionSnapshot) -> str:
    """Returns the name of a session's client with its version, where that is known."""
    name = client_name(session)
    return tr("{name}, version {version}", name=name, version=session.version) if session.version else name


def session_look(session: SessionSnapshot) -> Look:
    if session.is_connected:
        return Look("state-connected", "success", tr("Connected"))
    return Look("state-off", "neutral", tr("Has left"))


def project_name(project: SessionProject | None) -> str:
    return project.name if project is not None else tr("Not known")


def project_source(project: SessionProject) -> str:
    """Returns how the session's project was found."""
    match project.source:
        case "feedback":
            return tr("Reported by the model.")
        case "roots":
            return tr("The client declared it.")
        case "folder":
            return tr("The client was started there.")
        case _:
            return tr("You chose it.")


def activated(session: SessionSnapshot) -> str:
    """Returns which lazy servers a session has activated."""
    return ", ".join(session.activated)


def client_title(client: ClientModeSnapshot) -> str:
    return (client.title or client.client) if client.client else tr("Every other client")


def profile_servers(profile: ProfileSnapshot) -> str:
    """Returns which servers a profile has."""
    if profile.servers is None:
        return tr("All servers")
    return many(len(profile.servers), "1 server", "{count} servers")
