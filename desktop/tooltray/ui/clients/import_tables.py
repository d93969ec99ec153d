"""The lists of an import: its candidates, with the details of the current one, and its progress; and their texts, pure functions of
snapshots. Hundreds of candidates cost as much as the visible ones."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import Any

from PySide6.QtWidgets import QAbstractItemView, QVBoxLayout, QWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.events import ImportProgressed
from tooltray.foundation.snapshots.ai_clients import AiClient, ClientScan, FoundSecret, ImportCandidate, ImportedServer, ImportSource
from tooltray.ui.i18n import many, tr
from tooltray.ui.kit.scan_words import names_in_a_row
from tooltray.ui.kit.secrets_help import KeyringWait
from tooltray.ui.link.qt_mcp_presenter import QtMcpPresenter
from tooltray.ui.origins import folder_name, visible_path
from tooltray.ui.problem_words import sentences, title, whole
from tooltray.ui.state_language import Look
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.cell_delegate import TWO_LINES_HEIGHT
from tooltray.ui.widgets.charts import Meter
from tooltray.ui.widgets.label import CodeLabel, Label
from tooltray.ui.widgets.row_model import Column, Index, Kind
from tooltray.ui.widgets.setting_rows import lines_box
from tooltray.ui.widgets.surface import clear, column, fill
from tooltray.ui.widgets.table import Table
from tooltray.ui.zoom import px

GROUPS = ("new", "different", "same", "broken")
"""The states of candidates, in the order of the tabs."""
HEADER, ROW = 34, 34  # px of the header and of a line
MOST_CANDIDATES, MOST_IN_PROGRESS = 5, 14  # lines in sight at once, the rest scrolls
NOTES = 3  # the column
MOST_LINES = 8  # of sources, in full
MOST_PROBLEMS = 3  # in full


class CandidateTable(Table):
    """A table of candidates. `switched` carries a candidate and whether it is ticked; `look` gets the current candidate."""

    def __init__(self, theme: Theme, names: Mapping[str, str], chosen: set[str], look: Callable[[ImportCandidate], object]) -> None:
        def is_chosen(candidate: ImportCandidate) -> bool | None:
            return candidate.id in chosen if can_be_chosen(candidate) else None

        columns = [
            Column(tr("Select"), is_chosen, Kind.CHECK, 56),
            Column(tr("Server"), lambda candidate: (candidate.name, candidate.target), Kind.TWO_LINES),
            Column(tr("Found in"), lambda candidate: found_in(candidate, names), Kind.QUIET, 150, _tip(names)),
            Column(tr("To know"), note_chip, Kind.CHIP, 142, lambda candidate: "\n".join(notes(candidate))),
        ]
        self._look, height = look, px(TWO_LINES_HEIGHT)
        name = tr("Servers that can be imported")
        super().__init__(theme, columns, name, lambda each: each.id, in_card=True, has_header=True, row_height=height)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)

    def make_room(self, rows: int) -> None:
        """Sets the height to so many lines, up to `MOST_CANDIDATES`; more of them scroll."""
        self.setFixedHeight(self.horizontalHeader().height() + min(max(rows, 1), MOST_CANDIDATES) * px(TWO_LINES_HEIGHT) + px(2))

    def set_rows(self, rows: Sequence[Any]) -> None:
        """Replaces the candidates; the column of notes is hidden while none has one."""
        super().set_rows(rows)
        self.setColumnHidden(NOTES, not any(note_chip(each)[0] for each in rows))

    def currentChanged(self, current: Index, previous: Index) -> None:
        super().currentChanged(current, previous)
        if current.isValid():
            self._look(self.rows[current.row()])


def _tip(names: Mapping[str, str]) -> Callable[[ImportCandidate], str]:
    return lambda candidate: "\n".join(source_line(source, names) for source in candidate.sources[:MOST_LINES])


class CandidateDetails(QWidget):
    """The details of the current candidate.

    Args:
        place: returns where secrets are stored, as a part of a sentence.
    """

    def __init__(self, theme: Theme, names: Mapping[str, str], place: Callable[[], str]) -> None:
        super().__init__()
        self._theme, self._names, self._place = theme, names, place
        self._lines = column(self, spacing=4)
        self.hide()

    def show_candidate(self, candidate: ImportCandidate) -> None:
        clear(self._lines)
        self._lines.addWidget(CodeLabel(self._theme, candidate.target))
        tone = "error" if candidate.state == "broken" else "warning" if candidate.why_not_chosen else "secondary"
        lines = [(text, tone) for text in notes(candidate)]
        lines += [(secret_line(secret, self._place()), "secondary") for secret in candidate.secrets]
        lines += [(source_line(source, self._names), "muted") for source in candidate.sources[:MOST_LINES]]
        if (more := len(candidate.sources) - MOST_LINES) > 0:
            lines.append((tr("and {count} more", count=more), "muted"))
        fill(self._lines, *(Label(self._theme, text, "caption", tone, wrap=True) for text, tone in lines))
        self.show()


class ImportProgressList(QWidget):
    """A line for each server that is imported, or removed from its clients.

    Attributes:
        notes: the layout for what the user should do next.
    """

    def __init__(
        self,
        theme: Theme,
        hub: QtMcpPresenter,
        candidates: Sequence[ImportCandidate],
        names: Mapping[str, str],
        *,
        is_removing: bool = False,
    ) -> None:
        super().__init__()
        self._working = tr("Removing…") if is_removing else tr("Importing…")
        self._theme, self._names = theme, names
        self._known: dict[str, ImportedServer] = {}
        self._done: dict[str, str] = {}  # what became of those that are finished, by their names
        self._is_over, count = False, len(candidates)
        importing = many(count, "Importing 1 server…", "Importing {count} servers…")
        removing = many(count, "Removing 1 server from its clients…", "Removing {count} servers from their clients…")
        self._title = Label(theme, removing if is_removing else importing, "strong", wrap=True)
        self._bar, self._wait = Meter(theme, tr("Progress"), height=6), KeyringWait(theme, hub)
        columns = [
            Column(tr("Name"), lambda each: each.name, Kind.TEXT, 170),
            Column(tr("State"), self._look, Kind.STATE, 126),
            Column(tr("Details"), self._text, Kind.QUIET, 0, self._text),
        ]
        self._table = Table(theme, columns, tr("Imported servers"), lambda each: each.id, in_card=True, has_header=True, row_height=px(ROW))
        self._table.set_rows(candidates)
        self._table.setFixedHeight(px(HEADER) + min(max(count, 1), MOST_IN_PROGRESS) * px(ROW) + px(2))
        self._table.row_chosen.connect(self._on_row)
        self._failures, self.notes = column(spacing=8), column(spacing=8)
        self._more = Label(theme, "", "caption", "secondary", wrap=True)
        self._more.hide()
        box = lines_box(theme, [self._table], margin=1)
        parts = self._title, self._bar, self._wait, box, self._failures, self.notes, self._more
        fill(column(self, spacing=12), *parts)

    def show_progress(self, progress: ImportProgressed) -> None:
        self._wait.start() if progress.state == "unlocking" else self._wait.stop()
        if progress.name:
            self._done[progress.name] = progress.state
        self._bar.set_share(progress.done / max(progress.total, 1))
        self._table.viewport().update()

    def show_outcome(self, outcome: Sequence[ImportedServer]) -> None:
        self._is_over = True
        self._wait.stop()
        self._known = {server.id: server for server in outcome}
        self._title.setText(outcome_title(outcome))
        self._bar.hide()
        clear(self._failures)
        problems = [(f"{names}: {title(problem)}", sentences(problem)) for names, problem in failures(outcome)]
        add_problems(self._theme, self._failures, "error", problems)
        if any(server.removed_from for server in outcome):
            self._more.setText(tr("Changes of AI clients' files are in the details of each client, with Undo."))
            self._more.show()
        self._table.viewport().update()

    def _look(self, candidate: ImportCandidate) -> Look:
        if (server := self._known.get(candidate.id)) is not None:
            return outcome_look(server.state)
        if self._is_over:
            return Look("state-off", "neutral", tr("Cancelled"))
        if candidate.name in self._done:
            return outcome_look(self._done[candidate.name])
        return Look("state-starting", "info", self._working)

    def _text(self, candidate: ImportCandidate) -> str:
        server = self._known.get(candidate.id)
        return outcome_text(server, self._names) if server is not None else candidate.target

    def _on_row(self, candidate: ImportCandidate) -> None:
        """Shows a candidate's reason in full below the list, since long ones are cut in their lines."""
        self._more.setText(f"{candidate.name}: {self._text(candidate)}")
        self._more.show()


def add_problems(theme: Theme, lines: QVBoxLayout, tone: str, problems: Sequence[tuple[str, str]]) -> None:
    """Adds a banner for each of the first problems, with its title and text, and how many more there are."""
    for name, text in problems[:MOST_PROBLEMS]:
        lines.addWidget(Banner(theme, tone, name, text))
    if (more := len(problems) - MOST_PROBLEMS) > 0:
        lines.addWidget(Label(theme, many(more, "1 more problem", "{count} more problems"), "caption", "muted"))


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
    return (many(len(candidate.secrets), "1 key", "{count} keys"), "accent") if candidate.secrets else ("", "")


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
    works, waits, failed = (sum(server.state == state for server in outcome) for state in ("listed", "added", "failed"))
    if any(server.state == "cancelled" for server in outcome):
        return tr("Cancelled. {works} work here, {waits} wait, {failed} failed.", works=works, waits=waits, failed=failed)
    if works == len(outcome):
        return many(works, "It works here now.", "All {count} work here now.")
    return tr("{works} work here now, {waits} wait, {failed} failed.", works=works, waits=waits, failed=failed)
