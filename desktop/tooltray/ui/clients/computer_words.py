"""Texts about the AI clients on this computer, their files and what was changed in them. Pure functions of snapshots."""

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.ai_clients import AiClient, AiClientFile, ClientChange, ClientEdit, ClientScan, ClientServer
from tooltray.ui.clients.client_rows import ClientRow
from tooltray.ui.figures import tokens
from tooltray.ui.i18n import many, tr
from tooltray.ui.kit.scan_words import here
from tooltray.ui.problem_words import in_a_row, whole
from tooltray.ui.state_language import Look


def state_look(row: ClientRow) -> Look:
    """Returns whether a client uses Tooltray: shape, colour and word."""
    if row.sessions:
        return Look("state-connected", "success", tr("Connected now"))
    if row.found is None:
        return Look("state-off", "neutral", tr("Disconnected"))
    match row.found.connection:
        case "connected":
            return Look("state-lazy", "accent", tr("Ready"))
        case "outdated":
            return Look("state-waiting", "warning", tr("Old entry"))
        case "broken":
            return Look("state-error", "error", tr("Does not work"))
        case _:
            return Look("state-off", "neutral", tr("Not connected") if row.found.is_installed else tr("Not installed"))


def state_tip(row: ClientRow) -> str:
    """Returns what a client's state means, as a sentence."""
    if row.sessions:
        return many(len(row.sessions), "1 session is open.", "{count} sessions are open.")
    if row.found is None:
        return tr("It was connected, or has settings of its own.")
    match row.found.connection:
        case "connected":
            return tr("Its settings have Tooltray's entry; it connects when it runs.")
        case "outdated":
            return tr("Its entry works, but is written in an older way.")
        case "broken":
            return tr("Its entry is switched off, or its program is missing.")
        case _:
            return presence(row.found)


def context_text(row: ClientRow) -> str:
    """Returns what definitions cost in a client's context; empty if not known."""
    return "" if row.tokens is None else tr("{tokens} in its context", tokens=tokens(row.tokens, row.whole))


def presence(client: AiClient) -> str:
    """Returns whether a client is installed and runs; for some clients it is not known whether they run."""
    if not client.is_installed:
        return tr("Not installed")
    if client.is_running is None:
        return tr("Installed")
    return tr("Runs now") if client.is_running else tr("Not running")


def own_servers(client: AiClient) -> list[ClientServer]:
    """Returns the servers in a client's files, without our own entries."""
    return [server for file in client.files for server in file.servers if server.kind != "bridge"]


def button_word(row: ClientRow) -> str:
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
    chips = []
    if file.is_version_controlled:
        chips.append((tr("Under version control"), "warning"))
    if not file.exists:
        chips.append((tr("Not there yet"), "neutral"))
    return chips


def server_chips(server: ClientServer) -> list[tuple[str, str]]:
    """Returns the unusual facts about a server in a client's file: words and tones."""
    chips = []
    if server.kind == "bridge":
        chips.append((tr("Tooltray"), "success"))
    if server.kind == "loop":
        chips.append((tr("Leads back to Tooltray"), "error"))
    if server.state == "off":
        chips.append((tr("Off"), "neutral"))
    if server.state == "waits":
        chips.append((tr("Not approved there"), "warning"))
    if server.secrets:
        count = len(server.secrets)
        chips.append((many(count, "1 plain key", "{count} plain keys"), "warning"))
    return chips


def edit_word(edit: ClientEdit, name: str) -> str:
    """Returns what a change would do."""
    match edit.action:
        case "connect":
            return tr("Connect {name}", name=name)
        case "disconnect":
            return tr("Disconnect {name}", name=name)
        case "mend":
            return tr("Mend the entry in {name}", name=name)
        case _:
            return tr("Take moved servers out of {name}", name=name)


def change_word(change: ClientChange, name: str) -> str:
    """Returns what a change has done."""
    match change.action:
        case "connect":
            return tr("{name} is connected", name=name)
        case "disconnect":
            return tr("{name} is disconnected", name=name)
        case "mend":
            return tr("The entry in {name} is mended", name=name)
        case "undo":
            return tr("A change in {name} was undone", name=name)
        case _:
            count = len(change.servers)
            if count == 1:
                return tr("1 server was taken out of {name}", name=name)
            return tr("{count} servers were taken out of {name}", count=count, name=name)


def change_look(change: ClientChange) -> Look:
    """Returns the outcome of a change: shape, colour and word."""
    if change.problem is not None:
        return Look("state-error", "error", tr("Not changed"))
    return Look("state-connected", "success", tr("Done"))


def undo_word(change: ClientChange) -> str:
    """Returns what undoing would do, in a sentence; empty if it cannot be undone."""
    match change.undo:
        case "exact":
            return tr("Undo makes the file what it was, to the byte.")
        case "entries":
            return tr("The file has changed since. Undo reverses only this change.")
        case _:
            return ""


def change_note(change: ClientChange) -> str:
    """Returns what the user should know of a change."""
    if change.problem is not None:
        return ""
    plain = "" if change.is_encrypted or change.undo == "none" else tr("The copy for Undo is not encrypted: no keyring was there.")
    return in_a_row(whole(Problem(change.note)), plain)
