"""Texts about a scan for AI clients: the installed ones, and their servers. Pure functions of snapshots."""

from collections.abc import Sequence

from tooltray.foundation.snapshots.ai_clients import AiClient, ClientScan
from tooltray.ui.figures import first_names
from tooltray.ui.i18n import many, tr
from tooltray.ui.problem_words import in_a_row

MOST_NAMES = 4  # of clients in a sentence; more are counted


def names_in_a_row(names: Sequence[str]) -> str:
    """Returns names as part of a sentence; many are counted."""
    if len(names) > MOST_NAMES:
        return first_names(names, MOST_NAMES)
    if len(names) < 2:
        return "".join(names)
    return tr("{names} and {last}", names=", ".join(names[:-1]), last=names[-1])


def here(scan: ClientScan) -> list[AiClient]:
    """Returns the clients that are installed."""
    return [client for client in scan.clients if client.is_installed]


def has_removable(scan: ClientScan) -> bool:
    """Returns whether a client's own file has a server that Tooltray could remove: not in a project or under version control."""
    files = [file for client in here(scan) for file in client.files if not (file.project or file.is_version_controlled)]
    return any(server.kind == "server" and server.state == "on" for file in files for server in file.servers)


def scan_title(scan: ClientScan) -> str:
    """Returns which clients were found, and which of them have our entry already, as sentences."""
    names = [client.name for client in here(scan)]
    if not names:
        return tr("No supported AI client found on this computer.")
    found = tr("Found {name}.", name=names[0]) if len(names) == 1 else tr("Found {names}.", names=names_in_a_row(names))
    return in_a_row(found, _set_up_text([client.name for client in here(scan) if client.connection in ("connected", "outdated")]))


def _set_up_text(names: Sequence[str]) -> str:
    if len(names) < 2:
        return tr("{name} is set up.", name=names[0]) if names else ""
    return tr("{names} are set up.", names=names_in_a_row(names))


def scan_text(scan: ClientScan) -> str:
    """Returns what the found clients contain, as sentences."""
    if not here(scan):
        return ""
    return in_a_row(_servers_text(scan), _new_text(scan), _secrets_text(scan))


def _servers_text(scan: ClientScan) -> str:
    if not scan.servers:
        return tr("They have no servers of their own.") if len(here(scan)) > 1 else tr("It has no servers of its own.")
    if scan.servers == 1:
        return tr("1 server in their settings.")
    if scan.different_servers == scan.servers:
        return tr("{count} servers in their settings.", count=scan.servers)
    return tr("{count} servers in their settings, {different} different ones.", count=scan.servers, different=scan.different_servers)


def _new_text(scan: ClientScan) -> str:
    if scan.servers and not scan.new_servers:
        return many(scan.servers, "It is in Tooltray already.", "All {count} are in Tooltray already.")
    if scan.new_servers >= scan.different_servers:
        return ""
    return many(scan.new_servers, "1 is not in Tooltray yet.", "{count} are not in Tooltray yet.")


def _secrets_text(scan: ClientScan) -> str:
    return many(scan.plain_secrets, "1 key in plain text.", "{count} keys in plain text.") if scan.plain_secrets else ""
