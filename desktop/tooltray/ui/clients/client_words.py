"""Texts about AI clients: their state, their files, their sessions, how tools are listed to them, profiles, and what runs without asking.
Pure functions of snapshots."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from tooltray.foundation.errors import Problem
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.ai_clients import AiClient, AiClientFile, ClientChange, ClientEdit, ClientScan, ClientServer
from tooltray.foundation.snapshots.clients import ClientModeSnapshot, ProfileSnapshot, SessionProject, SessionSnapshot
from tooltray.foundation.snapshots.servers import ServerSnapshot
from tooltray.ui.client_names import shown_client
from tooltray.ui.figures import tokens
from tooltray.ui.i18n import many, say, tr
from tooltray.ui.kit.scan_words import here
from tooltray.ui.problem_words import in_a_row, whole
from tooltray.ui.state_language import Look

if TYPE_CHECKING:
    from tooltray.ui.clients.client_table import ClientRow

MODES = {
    "": (Phrase("Default for all clients"), Phrase("As chosen in Defaults….")),
    "automatic": (Phrase("Automatic, by size"), Phrase("All at once if that fits the client, else what it can deal with.")),
    "everything": (Phrase("Full"), Phrase("The client is given the whole list: every tool that it may see.")),
    "lazy": (Phrase("Compact"), Phrase("The client is given one small tool per server; using it loads the rest.")),
    "search": (Phrase("Search"), Phrase("The client is given two tools: one finds tools, the other calls them.")),
}
"""What a person can choose for a kind of client: name and explanation; the first leaves it to the servers' settings."""
GIVEN = {
    "everything": Phrase("{tokens} · in full", tokens=""),
    "lazy": Phrase("{tokens} · 1 per server", tokens=""),
    "search": Phrase("{tokens} · search", tokens=""),
}
"""The tokens in a client's context, and what they are: of its whole list, of one tool per server, or of two tools that find others."""
SOURCES = {
    "feedback": Phrase("Reported by the model."),
    "roots": Phrase("The client declared it."),
    "folder": Phrase("The client was started there."),
}
"""How the project of a session was found, if the user has not chosen it."""
OWN = "own"
RULES: Mapping[str, tuple[str, ...] | None] = {"": None, "all": ("all",), "reads": ("read",), "nothing": ()}
"""What can run without asking for a client, besides rules of its own (OWN); None: the servers' rules count."""
GUARDS: Mapping[str, bool | None] = {"": None, "on": True, "off": False}
SET_UP = {
    "connected": ("plug", "accent", Phrase("Set up"), Phrase("Its settings have Tooltray's entry; it connects when it runs.")),
    "outdated": ("state-waiting", "warning", Phrase("Old entry"), Phrase("Its entry works, but is written in an older way.")),
    "broken": ("state-error", "error", Phrase("Does not work"), Phrase("Its entry is switched off, or its program is missing.")),
}
"""Of the connections of clients that have Tooltray's entry: shape, colour, word and explanation."""
NOT_SET_UP = ("state-off", "neutral", Phrase("Not set up"), "")


def mode_options() -> list[tuple[str, str]]:
    """Returns the ways to list tools to one client, with their names."""
    return [(mode, mode_name(mode)) for mode in MODES]


def default_mode_options() -> list[tuple[str, str]]:
    """Returns the ways to list tools to all clients, with their names."""
    return [("", tr("As each server is set")), *mode_options()[1:]]


def mode_name(mode: str) -> str:
    """Returns the name of a way to list tools."""
    return say(MODES.get(mode, MODES[""])[0])


def mode_text(mode: str) -> str:
    """Returns the explanation of a way to list tools, in a sentence."""
    return say(MODES.get(mode, MODES[""])[1])


def reason(client: ClientModeSnapshot) -> str:
    """Returns why tools are listed in this way, as a sentence."""
    return whole(Problem(client.reason))


def client_name(session: SessionSnapshot) -> str:
    """Returns the name of a session's client; its version is a fact beside it."""
    return shown_client(session.client) or tr("A client without a name")


def project_name(project: SessionProject | None) -> str:
    return project.name if project is not None else tr("Project not known")


def project_source(project: SessionProject) -> str:
    """Returns how the session's project was found."""
    return say(SOURCES.get(project.source, Phrase("You chose it.")))


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


def left_out_words(session: SessionSnapshot, profiles: Iterable[ProfileSnapshot], servers: Iterable[ServerSnapshot]) -> str:
    """Returns which servers of a session's project its profile leaves out, in a sentence; empty if none."""
    if session.project is None:
        return ""
    has = next((profile.servers for profile in profiles if profile.name == session.profile), None)
    own = [server.name for server in servers if server.project == session.project.path]
    missing = [name for name in own if has is not None and name not in has]
    if not missing:
        return ""
    return tr("It does not see {servers} of this project: not in its profile {name}.", servers=", ".join(missing), name=session.profile)


def client_title(client: ClientModeSnapshot) -> str:
    return client.title or client.client


def has_own_choices(kind: ClientModeSnapshot) -> bool:
    """Returns whether something was chosen for this kind of client."""
    chosen = (kind.auto_approve, kind.result_limit, kind.call_rules, kind.flow_guard, kind.csv_tables)
    return bool(kind.mode or kind.profile) or any(each is not None for each in chosen)


def what_a_profile_is() -> str:
    """Returns the explanation of profiles, in a sentence."""
    return tr("A profile is a named set of tools; a client that has it sees only those and Tooltray's own.")


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


def state_look(row: "ClientRow") -> Look:
    """Returns whether a client uses Tooltray: shape, colour and word."""
    if row.sessions:
        return Look("state-connected", "success", tr("Connected"))
    if row.found is None:
        return Look("state-off", "neutral", tr("Disconnected"))
    icon, tone, word, _ = SET_UP.get(row.found.connection, NOT_SET_UP)
    return Look(icon, tone, say(word) if row.found.is_installed or row.found.connection in SET_UP else tr("Not installed"))


def state_tip(row: "ClientRow") -> str:
    """Returns what a client's state means, as a sentence."""
    if row.sessions:
        return many(len(row.sessions), "1 session is open.", "{count} sessions are open.")
    if row.found is None:
        return tr("It was connected, or has settings of its own.")
    return say(SET_UP.get(row.found.connection, NOT_SET_UP)[3]) or presence(row.found)


def context_text(row: "ClientRow") -> str:
    """Returns what definitions cost in a client's context; empty if not known."""
    if row.tokens is None:
        return ""
    cost = tokens(row.tokens, row.whole)
    return tr("{tokens} in its context", tokens=cost) if row.tokens or not row.whole else cost


def context_tip(row: "ClientRow") -> str:
    """Returns what definitions cost in a client's context, and how its tools are listed; empty if not known."""
    return "\n".join(filter(None, (context_text(row), mode_text(row.mode) if row.mode else "")))


def context_words(row: "ClientRow") -> str:
    """Returns what definitions cost in a client's context, and what it is given for that, in a few words; empty if not known."""
    if row.tokens is None:
        return ""
    count = f"{row.tokens:,}"
    return say(GIVEN[row.mode].filled(tokens=count)) if row.mode in GIVEN else count


def presence(client: AiClient) -> str:
    """Returns whether a client is installed and runs; for some clients it is not known whether they run."""
    if not client.is_installed:
        return tr("Not installed")
    if client.is_running is None:
        return tr("Installed")
    return tr("Running") if client.is_running else tr("Not running")


def own_servers(client: AiClient) -> list[ClientServer]:
    """Returns the servers in a client's files, without our own entries."""
    return [server for file in client.files for server in file.servers if server.kind != "bridge"]


def button_word(row: "ClientRow") -> str:
    """Returns the text of a client's button; empty if there is nothing to do, as for one that is connected in its own way."""
    client = row.found
    if client is None or not client.is_installed or (not client.can_connect and client.connection != "connected"):
        return ""
    if row.sessions and client.connection == "none":
        return ""
    match client.connection:
        case "connected":
            return tr("Disconnect")
        case "outdated" | "broken":
            return tr("Mend")
        case _:
            return tr("Connect")


def wants_disconnect(client: AiClient) -> bool:
    """Returns whether the client's button disconnects it."""
    return client.connection == "connected"


def to_connect(scan: ClientScan) -> list[AiClient]:
    """Returns the clients that "Connect all" can connect without manual steps."""
    return [client for client in here(scan) if client.can_connect and client.way != "link" and client.connection != "connected"]


def file_chips(file: AiClientFile) -> list[tuple[str, str]]:
    """Returns the unusual facts about a file: words and tones."""
    facts = ((file.is_version_controlled, tr("Under version control"), "warning"), (not file.exists, tr("Not there yet"), "neutral"))
    return [(word, tone) for is_so, word, tone in facts if is_so]


def server_chips(server: ClientServer) -> list[tuple[str, str]]:
    """Returns the unusual facts about a server in a client's file: words and tones."""
    facts = (
        (server.kind == "bridge", tr("Tooltray"), "success"),
        (server.kind == "loop", tr("Leads back to Tooltray"), "error"),
        (server.state == "off", tr("Off"), "neutral"),
        (server.state == "waits", tr("Not approved there"), "warning"),
        (bool(server.secrets), many(len(server.secrets), "1 plain key", "{count} plain keys"), "warning"),
    )
    return [(word, tone) for is_so, word, tone in facts if is_so]


def edit_word(edit: ClientEdit, name: str) -> str:
    """Returns what a change would do."""
    match edit.action:
        case "connect":
            return tr("Connect {name}", name=name)
        case "disconnect":
            return tr("Disconnect {name}", name=name)
        case "mend":
            return tr("Mend the entry in {name}", name=name)
        case "skill":
            return tr("Write the skill for {name}", name=name)
        case _:
            return tr("Take moved servers out of {name}", name=name)


def change_word(change: ClientChange, name: str) -> str:
    """Returns what a change has done."""
    match change.action:
        case "connect":
            return tr("{name} is set up", name=name)
        case "disconnect":
            return tr("{name} is disconnected", name=name)
        case "mend":
            return tr("The entry in {name} is mended", name=name)
        case "skill":
            return tr("The skill for {name} is written", name=name)
        case "undo":
            return tr("A change in {name} was undone", name=name)
        case _:
            return many(len(change.servers), "1 server was taken out of {name}", "{count} servers were taken out of {name}", name=name)


def is_change_unseen(row: "ClientRow", changes: Sequence[ClientChange]) -> bool:
    """Returns whether a client's file was changed after each of its open sessions had begun."""
    latest = max((change.at for change in changes if change.problem is None), default=0.0)
    return latest > max((session.connected_at for session in row.sessions), default=0.0)


def change_look(change: ClientChange) -> Look:
    """Returns the outcome of a change: shape, colour and word."""
    if change.problem is not None:
        return Look("state-error", "error", tr("Not changed"))
    return Look("state-connected", "success", tr("Done"))


def undo_word(change: ClientChange) -> str:
    """Returns what undoing would do, in a sentence; empty if it cannot be undone."""
    if change.undo == "exact":
        return tr("Undo makes the file what it was, to the byte.")
    return tr("The file has changed since. Undo reverses only this change.") if change.undo == "entries" else ""


def change_note(change: ClientChange) -> str:
    """Returns what the user should know of a change."""
    if change.problem is not None:
        return ""
    copy = tr("The copy for Undo is not encrypted: the place of your secrets could not be used.")
    return in_a_row(whole(Problem(change.note)), copy if is_copy_plain(change) else "")


def is_copy_plain(change: ClientChange) -> bool:
    """Returns whether the copy that Undo uses is not encrypted, which the user should know."""
    return not change.is_encrypted and change.undo != "none"
