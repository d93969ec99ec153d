"""Texts about AI clients' sessions, about how tools are listed to them, and about what runs without asking. Pure functions of snapshots."""

from collections.abc import Mapping, Sequence

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.clients import ClientModeSnapshot, ProfileSnapshot, SessionProject, SessionSnapshot
from tooltray.ui.i18n import many, tr
from tooltray.ui.problem_words import whole

MODES = ("", "automatic", "everything", "lazy", "search")
"""What a person can choose for a kind of client; the first leaves it to the servers' settings."""
OWN = "own"
RULES: Mapping[str, tuple[str, ...] | None] = {"": None, "all": ("all",), "reads": ("read",), "nothing": ()}
"""What can run without asking for a client, besides rules of its own (OWN); None: the servers' rules count."""
GUARDS: Mapping[str, bool | None] = {"": None, "on": True, "off": False}


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


def reason(client: ClientModeSnapshot) -> str:
    """Returns why tools are listed in this way, as a sentence."""
    return whole(Problem(client.reason))


def client_name(session: SessionSnapshot) -> str:
    """Returns the name of a session's client; its version is a fact beside it."""
    return session.client or tr("A client without a name")


def project_name(project: SessionProject | None) -> str:
    return project.name if project is not None else tr("Project not known")


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


def session_facts(session: SessionSnapshot, profile: str) -> list[str]:
    """Returns what is unusual about a session, in sentences.

    Args:
        profile: of its client; a session may have requested another.
    """
    facts = [tr("Version {version}", version=session.version)] if session.version else []
    if session.server:
        facts.append(tr("It has only the server {name}.", name=session.server))
    if session.profile != profile:
        facts.append(tr("It requested the profile {name}.", name=session.profile) if session.profile else tr("It has no profile."))
    if session.activated:
        facts.append(tr("Loaded: {servers}", servers=", ".join(session.activated)))
    return facts


def client_title(client: ClientModeSnapshot) -> str:
    return client.title or client.client


def has_own_choices(kind: ClientModeSnapshot) -> bool:
    """Returns whether something was chosen for this kind of client."""
    chosen = (kind.auto_approve, kind.result_limit, kind.call_rules, kind.flow_guard)
    return bool(kind.mode or kind.profile) or any(each is not None for each in chosen)


def what_a_profile_is() -> str:
    """Returns the explanation of profiles, in a sentence."""
    return tr("A profile is a named set of tools; a client that has it sees only those.")


def profile_servers(profile: ProfileSnapshot) -> str:
    """Returns which servers a profile has."""
    if profile.servers is None:
        return tr("All servers")
    return many(len(profile.servers), "1 server", "{count} servers")


def profile_text(profile: ProfileSnapshot, clients: Sequence[str]) -> str:
    """Returns what is in a profile, and which clients have it.

    Args:
        clients: their names.
    """
    tools = many(profile.tool_count, "1 tool", "{count} tools")
    return " · ".join([profile_servers(profile), tools, ", ".join(clients) or tr("No client has it")])


def rule_choices() -> list[tuple[str, str]]:
    """Returns what can run without asking for one kind of AI client."""
    names = (tr("Default (each server's rules)"), tr("Everything"), tr("What only reads"), tr("Nothing"), tr("Rules of its own"))
    return list(zip((*RULES, OWN), names, strict=True))


def guard_choices() -> list[tuple[str, str]]:
    """Returns what can be chosen of the flow guard for one kind of AI client."""
    return list(zip(GUARDS, (tr("Flow guard: default"), tr("Flow guard on"), tr("Flow guard off")), strict=True))


def rules_choice(rules: Sequence[str] | None) -> str:
    """Returns which of `rule_choices` some rules are."""
    return next((choice for choice, each in RULES.items() if each == (None if rules is None else tuple(rules))), OWN)
