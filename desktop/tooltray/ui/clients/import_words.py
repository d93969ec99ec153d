"""Texts about servers that can be imported, and about the outcome. Pure functions of snapshots."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePath

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.ai_clients import AiClient, ClientScan, FoundSecret, ImportCandidate, ImportedServer, ImportSource
from tooltray.ui.i18n import many, tr
from tooltray.ui.kit.scan_words import names_in_a_row
from tooltray.ui.origins import folder_name, visible_path
from tooltray.ui.problem_words import whole
from tooltray.ui.state_language import Look

GROUPS = ("new", "different", "same", "broken")
"""The states of candidates, in the order of the tabs."""


def place_of(source: ImportSource, names: Mapping[str, str]) -> str:
    """Returns the name of the client whose settings have a server; of a project's own file, which is for several clients, its name and
    folder."""
    if _is_project_file(source):
        file = PurePath(source.path).relative_to(source.project).as_posix()
        return tr("{file} of {folder}", file=file, folder=folder_name(source.project))
    return names.get(source.client, source.client) or tr("What was given")


def _is_project_file(source: ImportSource) -> bool:
    return bool(source.project) and PurePath(source.path).is_relative_to(source.project)


def found_in(candidate: ImportCandidate, names: Mapping[str, str]) -> str:
    """Returns the places that have a server, each once."""
    return ", ".join(dict.fromkeys(place_of(source, names) for source in candidate.sources))


def can_be_chosen(candidate: ImportCandidate) -> bool:
    """Returns whether a candidate can be imported, or removed from its clients."""
    return candidate.state in ("new", "different") or can_be_removed(candidate)


def can_be_removed(candidate: ImportCandidate) -> bool:
    """Returns whether a server that is in Tooltray already can be removed from clients' own files; files of projects stay unchanged."""
    return candidate.state == "same" and bool(clients_of([candidate]))


def clients_of(candidates: Iterable[ImportCandidate]) -> set[str]:
    """Returns the ids of the clients whose own files have some servers."""
    return {source.client for each in candidates for source in each.sources if source.client and not source.project}


def without_tooltray(scan: ClientScan | None, clients: Iterable[str]) -> list[AiClient]:
    """Returns which of some clients do not reach Tooltray: a server that is removed from their files is missing there.

    Args:
        clients: their ids.
    """
    wanted, known = set(clients), scan.clients if scan is not None else ()
    return [client for client in known if client.id in wanted and client.connection in ("none", "broken")]


def left_clients(outcome: Iterable[ImportedServer]) -> set[str]:
    """Returns the ids of the clients from whose files servers were removed."""
    return {change.client for server in outcome for change in server.removed_from if change.problem is None}


def not_connected(clients: Sequence[AiClient]) -> str:
    """Returns which clients are not connected, as a title."""
    return tr("Not connected to Tooltray: {clients}", clients=names_in_a_row([client.name for client in clients]))


def note_chip(candidate: ImportCandidate) -> tuple[str, str]:
    """Returns the most important note about a candidate: word and tone."""
    if candidate.state == "broken":
        return tr("Cannot be used"), "error"
    if candidate.state == "same":
        return tr("Already added"), ""
    if candidate.why_not_chosen:
        return tr("Only if you tick it"), "warning"
    if candidate.asks:
        return tr("Asks for a value"), "info"
    if candidate.secrets:
        count = len(candidate.secrets)
        return (many(count, "1 key", "{count} keys")), "accent"
    return "", ""


def source_line(source: ImportSource, names: Mapping[str, str]) -> str:
    """Returns where an entry was found, in one line."""
    parts = [place_of(source, names), visible_path(source.path), source.name]
    if source.project and not _is_project_file(source):
        parts.append(tr("for the project {name}", name=folder_name(source.project)))
    return " · ".join(part for part in parts if part)


def secret_line(secret: FoundSecret, place: str) -> str:
    """Returns why a value is stored as a secret.

    Args:
        place: see `secret_place`.
    """
    if secret.because == "name":
        return tr("{key} goes to {place}: it has the name of a secret.", key=secret.key, place=place)
    return tr("{key} goes to {place}: its value has the form of a secret.", key=secret.key, place=place)


def notes(candidate: ImportCandidate) -> list[str]:
    """Returns the notes about a candidate, a sentence each."""
    lines = []
    if candidate.problem is not None:
        lines.append(whole(candidate.problem))
    if candidate.state == "same":
        lines.append(tr("The server {name} here is the same one.", name=candidate.here))
    if candidate.state == "different":
        text = tr("{here} already exists and runs something else. This one is added as {name}.", here=candidate.here, name=candidate.name)
        lines.append(text)
    if candidate.why_not_chosen:
        lines.append(whole(Problem(candidate.why_not_chosen)))
    lines.extend(whole(Problem(remark)) for remark in candidate.remarks if remark != candidate.why_not_chosen)
    if candidate.proxied:
        lines.append(tr("It leads to {target} through a proxy; Tooltray connects to that directly.", target=candidate.proxied))
    return lines


def leaving(candidates: Iterable[ImportCandidate], names: Mapping[str, str]) -> list[str]:
    """Returns which entries are removed from which files, a line for each file."""
    places: dict[tuple[str, str], list[str]] = {}
    for candidate in candidates:
        for source in candidate.sources:
            if source.client and not source.project:
                places.setdefault((source.client, source.path), []).append(source.name)
    return [
        tr("{client}: {servers} from {file}", client=names.get(client, client), servers=names_in_a_row(servers), file=visible_path(path))
        for (client, path), servers in places.items()
    ]


def keys_text(candidates: Sequence[ImportCandidate], place: str) -> str:
    """Returns how many secrets are stored, as a sentence; empty for none.

    Args:
        place: see `secret_place`.
    """
    keys = [secret.key for candidate in candidates for secret in candidate.secrets]
    shown = names_in_a_row(list(dict.fromkeys(keys)))
    if len(keys) < 2:
        return tr("1 key goes to {place}: {names}.", place=place, names=shown) if keys else ""
    return tr("{count} keys go to {place}: {names}.", count=len(keys), place=place, names=shown)


def outcome_look(state: str) -> Look:
    """Returns the outcome of a server's import: shape, colour and word.

    Args:
        state: of an ImportedServer.
    """
    match state:
        case "listed":
            return Look("state-connected", "success", tr("Works"))
        case "added":
            return Look("state-waiting", "warning", tr("Added"))
        case "failed":
            return Look("state-error", "error", tr("Failed"))
        case _:
            return Look("state-off", "neutral", tr("Cancelled"))


def outcome_text(server: ImportedServer, names: Mapping[str, str]) -> str:
    """Returns the outcome of a server's import, as sentences."""
    if server.problem is not None:
        return whole(server.problem)
    if server.state == "added":
        return tr("It waits for your approval, a sign-in or its first use, and stays in its clients.")
    if server.state == "cancelled":
        return tr("It was not imported.")
    tools = many(server.tools, "1 tool", "{count} tools")
    gone = [names.get(change.client, change.client) for change in server.removed_from if change.problem is None]
    if not gone:
        return tr("{tools} listed.", tools=tools)
    return tr("{tools} listed. It left {clients}.", tools=tools, clients=names_in_a_row(list(dict.fromkeys(gone))))


def failures(outcome: Sequence[ImportedServer]) -> list[tuple[str, Problem]]:
    """Returns why servers failed: each reason once, with the names of its servers."""
    names: dict[Problem, list[str]] = {}
    for server in outcome:
        if server.state == "failed" and server.problem is not None:
            names.setdefault(server.problem, []).append(server.name)
    return [(names_in_a_row(named), problem) for problem, named in names.items()]


def outcome_title(outcome: Sequence[ImportedServer]) -> str:
    """Returns the outcome of an import, as a sentence."""
    works, failed = (sum(server.state == state for server in outcome) for state in ("listed", "failed"))
    waits = sum(server.state == "added" for server in outcome)
    if any(server.state == "cancelled" for server in outcome):
        return tr("Cancelled. {works} work here, {waits} wait, {failed} failed.", works=works, waits=waits, failed=failed)
    if works == len(outcome):
        return many(works, "It works here now.", "All {count} work here now.")
    return tr("{works} work here now, {waits} wait, {failed} failed.", works=works, waits=waits, failed=failed)
