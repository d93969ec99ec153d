"""Texts about files with servers in them, about folders, and about what waits for the user's approval, for cards, pages and sheets; and the
rows of the list of folders. Pure functions of snapshots."""

from collections.abc import Collection, Iterable, Sequence
from pathlib import PurePath

import msgspec
from msgspec.structs import replace

from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.approvals import TrustedEntry, TrustRequest
from tooltray.foundation.snapshots.clients import ClientModeSnapshot, ProfileSnapshot, SessionSnapshot
from tooltray.foundation.snapshots.setup import FileEntrySnapshot, FileProblem, ReloadChange, ServerFileSnapshot
from tooltray.ui.client_names import shown_client
from tooltray.ui.i18n import many, say, tr
from tooltray.ui.origins import file_name, folder_name, visible_path
from tooltray.ui.problem_words import sentences, title
from tooltray.ui.state_language import Look

VARIABLES = {
    "set": Phrase("{name}: is set now", name=""),
    "default": Phrase("{name}: is not set; its default counts", name=""),
    "missing": Phrase("{name}: is not set; without it the server cannot start", name=""),
}
"""Whether a variable is set, in words."""
ENTRY_LOOKS = {
    "used": Look("state-connected", "success", Phrase("In use")),
    "waits": Look("state-waiting", "warning", Phrase("Not allowed yet")),
    "changed": Look("state-waiting", "warning", Phrase("Its change waits")),
    "off": Look("state-off", "neutral", Phrase("Switched off")),
}
RELOAD_LOOKS = {
    "add": Look("state-connected", "success", Phrase("Is added")),
    "restart": Look("state-starting", "info", Phrase("Restarts")),
    "change": Look("state-waiting", "warning", Phrase("Is changed")),
    "setting": Look("state-waiting", "warning", Phrase("Is changed")),
    "remove": Look("state-error", "error", Phrase("Is removed")),
    "wait": Look("state-waiting", "warning", Phrase("Asks you")),
}


def file_title(file: ServerFileSnapshot) -> str:
    return tr("Settings") if file.kind == "settings" else file_name(file.path, file.project)


def file_kind(file: ServerFileSnapshot) -> str:
    if file.kind not in ("settings", "mcp.json"):
        return tr("TBXark proxy, as started")
    return tr("for all clients") if file.kind == "settings" or file.is_for_all else tr("for clients in this folder")


def file_look(file: ServerFileSnapshot, failing: Collection[str] = ()) -> Look:
    """Returns a file's status: shape, colour and word; `failing`: names of servers that run only after the user has acted."""
    states = [entry.state for entry in file.entries]
    if file.problems:
        count = len(file.problems)
        return Look("state-error", "error", many(count, "1 problem", "{count} problems"))
    if not file.exists:
        return Look("state-off", "neutral", tr("Not there"))
    if waiting := sum(state in ("waits", "changed") for state in states):
        return Look("state-waiting", "warning", many(waiting, "1 waits", "{count} wait"))
    if bad := sum(entry.server in failing for entry in file.entries if entry.state == "used"):
        return Look("state-error", "error", many(bad, "1 fails", "{count} fail"))
    return Look("state-connected", "success", tr("In use"))


def entry_look(entry: FileEntrySnapshot) -> Look:
    """Returns the status of one server of a file."""
    return _in_words(ENTRY_LOOKS.get(entry.state, Look("state-error", "error", Phrase("Not used"))))


def here(entry: FileEntrySnapshot) -> str:
    """Returns the name of a file's server in Tooltray, if it differs."""
    return entry.server if entry.server and entry.server != entry.name else ""


def line_word(line: int) -> str:
    return tr("line {line}", line=line) if line else ""


def problem_title(problem: FileProblem) -> str:
    """Returns a problem of a file, with the name of its server."""
    shown = title(problem.problem)
    return shown if not problem.entry or problem.entry in shown else f"{problem.entry}: {say(problem.problem.title)}"


def problem_place(file: ServerFileSnapshot, problem: FileProblem) -> str:
    """Returns the place of a problem in the file."""
    place = line_word(problem.line)
    return tr("{file}, {place}", file=file_title(file), place=place) if place else file_title(file)


def problem_line(problem: FileProblem) -> str:
    """Returns the line of a problem, unless its text contains it already."""
    place = line_word(problem.line)
    return "" if place.casefold() in sentences(problem.problem).casefold() else place


# what waits for a yes


def trust_text(requests: Sequence[TrustRequest]) -> str:
    """Returns what the user is asked to approve, in a sentence or two."""
    if not requests[0].project:
        return tr("A program wants to add or change servers. What you switch on runs on this computer, as it is written here.")
    file = file_name(requests[0].file, requests[0].project)
    if all(request.is_change for request in requests):
        return tr("{file} has changed. What you allowed keeps running unchanged until you approve the new version.", file=file)
    return tr("{file} came with the project. What you switch on runs on this computer, as it is written here.", file=file)


def unseen_by(
    project: str,
    entries: Iterable[str],
    profiles: Iterable[ProfileSnapshot],
    kinds: Iterable[ClientModeSnapshot],
    sessions: Iterable[SessionSnapshot],
) -> str:
    """Returns which AI clients would not see servers that are allowed, because of their profiles, in a sentence; empty if none.

    Args:
        project: the folder of the servers; empty: all clients may have them.
        entries: the servers' names.
        kinds: the AI clients, each with the profile that was chosen for it.
        sessions: may have requested another profile.
    """
    wanted = set(entries)
    lacking = {each.name for each in profiles if each.servers is not None and not wanted <= {*each.servers}}
    named = [(kind.title or kind.client, kind.profile) for kind in kinds if kind.client]
    here = [each for each in sessions if not project or (each.project is not None and each.project.path == project)]
    named += [(shown_client(each.client) or tr("A client without a name"), each.profile) for each in here]
    found = dict.fromkeys((client, profile) for client, profile in named if profile in lacking)
    if not found:
        return ""
    clients = ", ".join(tr("{client} (profile {profile})", client=client, profile=profile) for client, profile in found)
    return tr("Not seen by {clients} until you add it to the profile, in Clients.", clients=clients)


def waiting_title(requests: Sequence[TrustRequest]) -> str:
    """Returns the title of a banner or a notification."""
    projects = list(dict.fromkeys(request.project for request in requests))
    if projects == [""]:
        return _proposed(requests)
    if "" in projects:
        return tr("{count} servers are not allowed yet", count=len(requests))
    if len(projects) > 1:
        return tr("{projects} projects bring {count} servers. Allow them?", count=len(requests), projects=len(projects))
    folder = folder_name(projects[0])
    if len(requests) > 1:
        return tr("{folder} brings {count} servers. Allow them?", count=len(requests), folder=folder)
    return tr("{folder} brings the server {name}. Allow it?", name=requests[0].entry, folder=folder)


def _proposed(requests: Sequence[TrustRequest]) -> str:
    if len(requests) > 1:
        return tr("Programs want to add or change {count} servers", count=len(requests))
    if requests[0].is_change:
        return tr("A program wants to change the server {name}", name=requests[0].entry)
    return tr("A program wants to add the server {name}", name=requests[0].entry)


def waiting_text(requests: Sequence[TrustRequest]) -> str:
    if any(not request.project for request in requests):
        return tr("Nothing of it runs before you have seen what it starts.")
    if all(request.is_change for request in requests):
        return tr("Their entries have changed. Until you allow that, they run as you allowed them before.")
    return tr("A project's own servers run only after you have seen what they start.")


def waiting_entries(count: int) -> tuple[str, ...]:
    """Returns how many servers of projects wait for approval, for the tray; empty if none does."""
    if not count:
        return ()
    return (many(count, "1 server is not allowed yet", "{count} servers are not allowed yet"),)


def request_chip(request: TrustRequest) -> tuple[str, str]:
    """Returns whether an entry is new, and its tone."""
    return (tr("Changed"), "warning") if request.is_change else (tr("New"), "info")


def unasked(request: TrustRequest) -> str:
    """Returns which calls of a server would run without asking."""
    rules = request.auto_approve
    if "all" in rules or "*" in rules:
        return tr("all calls, also those that write")
    if rules in (("read",), ("reads",)):
        return tr("calls that only read")
    return ", ".join(rules) or tr("none: every call asks")


def variable_lines(request: TrustRequest) -> str:
    """Returns the variables that an entry would get, each with whether it is set, if that is known; never their values."""
    states = request.variable_states or ("",) * len(request.variables)
    return "\n".join(
        say(VARIABLES[state].filled(name=name)) if state in VARIABLES else name
        for name, state in zip(request.variables, states, strict=True)
    )


def is_another(request: TrustRequest, known: TrustRequest) -> bool:
    """Returns whether an entry differs from the one that the user has seen, apart from which variables are set."""
    return replace(request, variable_states=()) != replace(known, variable_states=())


# reading again


def reload_look(change: ReloadChange) -> Look:
    """Returns what a reload would do to one thing: shape, colour and word."""
    return _in_words(RELOAD_LOOKS.get(change.kind, Look("state-off", "neutral", Phrase("Stays"))))


def _in_words(look: Look) -> Look:
    return replace(look, word=say(look.word))


def reload_does_something(changes: Sequence[ReloadChange]) -> bool:
    return any(change.kind not in ("keep", "wait") for change in changes)


def reload_name(change: ReloadChange) -> str:
    """Returns the subject of a change: a server, a setting, or the file as a whole."""
    return change.name or PurePath(change.file).name


def reload_file(change: ReloadChange) -> str:
    """Returns the file by its name and folder, since its whole path does not fit into a line."""
    path = PurePath(change.file)
    return visible_path(f"{path.parent.name}/{path.name}" if path.parent.name else path.name)


class FolderRow(msgspec.Struct, frozen=True):
    """A row of the list: the servers of a folder that wait for approval, one that is trusted, or a folder for which the user's servers may
    be started.

    Attributes:
        path: of the folder; empty: programs have proposed the servers.
    """

    path: str
    requests: tuple[TrustRequest, ...] = ()
    trusted: TrustedEntry | None = None

    @property
    def key(self) -> tuple[str, bool, str]:
        return self.path, bool(self.requests), self.trusted.entry if self.trusted is not None else ""


def folder_rows(requests: Sequence[TrustRequest], allowed: Iterable[str], trusted: Iterable[TrustedEntry]) -> list[FolderRow]:
    """Returns the rows, first those that wait."""
    projects = dict.fromkeys(request.project for request in requests)
    waiting = [FolderRow(path, tuple(each for each in requests if each.project == path)) for path in projects]
    known = [*(FolderRow(path) for path in allowed), *(FolderRow(each.project, trusted=each) for each in trusted)]
    return [*waiting, *sorted(known, key=lambda row: row.key)]


def row_servers(row: FolderRow) -> str:
    if row.requests:
        return ", ".join(request.entry for request in row.requests)
    if (entry := row.trusted) is None:
        return tr("Your servers")
    return entry.entry if entry.server in ("", entry.entry) else f"{entry.entry} ({entry.server})"


def row_state(row: FolderRow) -> tuple[str, str]:
    """Returns the state of a row, as a chip."""
    if any(request.warnings for request in row.requests):
        return tr("Look closely"), "warning"
    return request_chip(min(row.requests, key=lambda request: request.is_change)) if row.requests else (tr("Allowed"), "")


def row_state_tip(row: FolderRow) -> str:
    if row.requests:
        return tr("Servers of a project run only after you have seen what they start.")
    if row.trusted is not None:
        return tr("written by Tooltray") if row.trusted.is_own else tr("by you")
    return tr("Servers that work on a project may be started for this folder, and for all below it.")
