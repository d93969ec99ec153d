"""The lists of an import: its candidates, with the details of the current one, and its progress. Hundreds of candidates cost as much as the
visible ones."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from PySide6.QtWidgets import QAbstractItemView, QVBoxLayout, QWidget

from tooltray.foundation.events import ImportProgressed
from tooltray.foundation.snapshots.ai_clients import ImportCandidate, ImportedServer
from tooltray.ui.clients import import_words as said
from tooltray.ui.i18n import many, tr
from tooltray.ui.kit.secrets_help import KeyringWait
from tooltray.ui.link.qt_mcp_presenter import QtMcpPresenter
from tooltray.ui.problem_words import sentences, title
from tooltray.ui.state_language import Look
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.cell_delegate import TWO_LINES_HEIGHT
from tooltray.ui.widgets.charts import Meter
from tooltray.ui.widgets.label import CodeLabel, Label
from tooltray.ui.widgets.row_model import Column, Index, Kind
from tooltray.ui.widgets.surface import Surface, clear, column
from tooltray.ui.widgets.table import Table
from tooltray.ui.zoom import px

HEADER, ROW = 34, 34  # px of the header and of a line
MOST_CANDIDATES, MOST_IN_PROGRESS = 5, 14  # lines in sight at once, the rest scrolls
NOTES = 3  # the column
MOST_LINES = 8  # of sources, in full
MOST_PROBLEMS = 3  # in full


class CandidateTable(Table):
    """A table of candidates. `switched` carries a candidate and whether it is ticked; `look` gets the current candidate."""

    def __init__(self, theme: Theme, names: Mapping[str, str], chosen: set[str], look: Callable[[ImportCandidate], object]) -> None:
        def is_chosen(candidate: ImportCandidate) -> bool | None:
            return candidate.id in chosen if said.can_be_chosen(candidate) else None

        columns = [
            Column(tr("Select"), is_chosen, Kind.CHECK, 56),
            Column(tr("Server"), lambda candidate: (candidate.name, candidate.target), Kind.TWO_LINES),
            Column(tr("Found in"), lambda candidate: said.found_in(candidate, names), Kind.QUIET, 150, _tip(names)),
            Column(tr("To know"), said.note_chip, Kind.CHIP, 142, lambda candidate: "\n".join(said.notes(candidate))),
        ]
        self._look = look
        super().__init__(
            theme,
            columns,
            tr("Servers that can be imported"),
            lambda each: each.id,
            in_card=True,
            has_header=True,
            row_height=px(TWO_LINES_HEIGHT),
        )
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)

    def make_room(self, rows: int) -> None:
        """Sets the height to so many lines, up to `MOST_CANDIDATES`; more of them scroll."""
        self.setFixedHeight(self.horizontalHeader().height() + min(max(rows, 1), MOST_CANDIDATES) * px(TWO_LINES_HEIGHT) + px(2))

    def set_rows(self, rows: Sequence[Any]) -> None:
        """Replaces the candidates; the column of notes is hidden while none has one."""
        super().set_rows(rows)
        self.setColumnHidden(NOTES, not any(said.note_chip(each)[0] for each in rows))

    def currentChanged(self, current: Index, previous: Index) -> None:
        super().currentChanged(current, previous)
        if current.isValid():
            self._look(self.rows[current.row()])


def _tip(names: Mapping[str, str]) -> Callable[[ImportCandidate], str]:
    return lambda candidate: "\n".join(said.source_line(source, names) for source in candidate.sources[:MOST_LINES])


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
        theme = self._theme
        self._lines.addWidget(CodeLabel(theme, candidate.target))
        for text in said.notes(candidate):
            tone = "error" if candidate.state == "broken" else "warning" if candidate.why_not_chosen else "secondary"
            self._lines.addWidget(Label(theme, text, "caption", tone, wrap=True))
        for secret in candidate.secrets:
            self._lines.addWidget(Label(theme, said.secret_line(secret, self._place()), "caption", "secondary", wrap=True))
        for source in candidate.sources[:MOST_LINES]:
            self._lines.addWidget(Label(theme, said.source_line(source, self._names), "caption", "muted", wrap=True))
        if (more := len(candidate.sources) - MOST_LINES) > 0:
            self._lines.addWidget(Label(theme, tr("and {count} more", count=more), "caption", "muted"))
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
        self._count = len(candidates)
        self._is_over = False
        lines = column(self, spacing=12)
        importing = many(self._count, "Importing 1 server…", "Importing {count} servers…")
        removing = many(self._count, "Removing 1 server from its clients…", "Removing {count} servers from their clients…")
        self._title = Label(theme, removing if is_removing else importing, "strong", wrap=True)
        lines.addWidget(self._title)
        self._bar = Meter(theme, tr("Progress"), height=6)
        lines.addWidget(self._bar)
        self._wait = KeyringWait(theme, hub)
        lines.addWidget(self._wait)
        columns = [
            Column(tr("Name"), lambda each: each.name, Kind.TEXT, 170),
            Column(tr("State"), self._look, Kind.STATE, 126),
            Column(tr("Details"), self._text, Kind.QUIET, 0, self._text),
        ]
        self._table = Table(theme, columns, tr("Imported servers"), lambda each: each.id, in_card=True, has_header=True, row_height=px(ROW))
        self._table.set_rows(candidates)
        self._table.setFixedHeight(px(HEADER) + min(max(self._count, 1), MOST_IN_PROGRESS) * px(ROW) + px(2))
        self._table.row_chosen.connect(self._on_row)
        box = Surface(theme, "surface", "border", "m")
        column(box, margins=(14, 1, 14, 1)).addWidget(self._table)
        lines.addWidget(box)
        self._failures = column(spacing=8)
        lines.addLayout(self._failures)
        self.notes = column(spacing=8)
        lines.addLayout(self.notes)
        self._more = Label(theme, "", "caption", "secondary", wrap=True)
        self._more.hide()
        lines.addWidget(self._more)

    def show_progress(self, progress: ImportProgressed) -> None:
        if progress.state == "unlocking":
            self._wait.start()
        else:
            self._wait.stop()
        if progress.name:
            self._done[progress.name] = progress.state
        self._bar.set_share(progress.done / max(progress.total, 1))
        self._table.viewport().update()

    def show_outcome(self, outcome: Sequence[ImportedServer]) -> None:
        self._is_over = True
        self._wait.stop()
        self._known = {server.id: server for server in outcome}
        self._title.setText(said.outcome_title(outcome))
        self._bar.hide()
        clear(self._failures)
        failures = [(f"{names}: {title(problem)}", sentences(problem)) for names, problem in said.failures(outcome)]
        add_problems(self._theme, self._failures, "error", failures)
        if any(server.removed_from for server in outcome):
            self._more.setText(tr("Changes of AI clients' files are in the details of each client, with Undo."))
            self._more.show()
        self._table.viewport().update()

    def _look(self, candidate: ImportCandidate) -> Look:
        if (server := self._known.get(candidate.id)) is not None:
            return said.outcome_look(server.state)
        if self._is_over:
            return Look("state-off", "neutral", tr("Cancelled"))
        if candidate.name in self._done:
            return said.outcome_look(self._done[candidate.name])
        return Look("state-starting", "info", self._working)

    def _text(self, candidate: ImportCandidate) -> str:
        server = self._known.get(candidate.id)
        return said.outcome_text(server, self._names) if server is not None else candidate.target

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
