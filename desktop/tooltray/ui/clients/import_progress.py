"""The progress of an import: a line for each server, during the import and after it."""

from collections.abc import Mapping, Sequence

from PySide6.QtWidgets import QWidget

from tooltray.foundation.events import ImportProgressed
from tooltray.foundation.snapshots.ai_clients import ImportCandidate, ImportedServer
from tooltray.ui.clients import import_words as said
from tooltray.ui.i18n import many, tr
from tooltray.ui.kit.secrets_help import KeyringWait
from tooltray.ui.problem_words import sentences, title
from tooltray.ui.state_language import Look
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.charts import Meter
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.row_model import Column, Kind
from tooltray.ui.widgets.surface import Surface, clear, column
from tooltray.ui.widgets.table import Table

MOST_FAILURES = 3  # reasons that are shown in full
HEADER, ROW, MOST_ROWS = 34, 34, 14  # px of the header and of a line; lines in sight at once, the rest scrolls


class ImportProgressList(QWidget):
    """A line for each server that is imported."""

    def __init__(self, theme: Theme, candidates: Sequence[ImportCandidate], names: Mapping[str, str]) -> None:
        super().__init__()
        self._theme, self._names = theme, names
        self._known: dict[str, ImportedServer] = {}
        self._done: dict[str, str] = {}  # what became of those that are finished, by their names
        self._count = len(candidates)
        self._is_over = False
        lines = column(self, spacing=12)
        text = many(self._count, "Importing 1 server…", "Importing {count} servers…")
        self._title = Label(theme, text, "strong", wrap=True)
        lines.addWidget(self._title)
        self._bar = Meter(theme, tr("Progress"), height=6)
        lines.addWidget(self._bar)
        self._wait = KeyringWait(theme)
        lines.addWidget(self._wait)
        columns = [
            Column(tr("Name"), lambda each: each.name, Kind.TEXT, 170),
            Column(tr("State"), self._look, Kind.STATE, 126),
            Column(tr("Details"), self._text, Kind.QUIET, 0, self._text),
        ]
        self._table = Table(theme, columns, tr("Imported servers"), lambda each: each.id, in_card=True, has_header=True, row_height=ROW)
        self._table.set_rows(candidates)
        self._table.setFixedHeight(HEADER + min(max(self._count, 1), MOST_ROWS) * ROW + 2)
        self._table.row_chosen.connect(self._on_row)
        box = Surface(theme, "surface", "border", "m")
        column(box, margins=(14, 1, 1, 1)).addWidget(self._table)
        lines.addWidget(box)
        self._failures = column(spacing=8)
        lines.addLayout(self._failures)
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
        failures = said.failures(outcome)
        for names, problem in failures[:MOST_FAILURES]:
            text = f"{names}: {title(problem)}"
            self._failures.addWidget(Banner(self._theme, "error", text, sentences(problem)))
        if (more := len(failures) - MOST_FAILURES) > 0:
            text = many(more, "1 more problem", "{count} more problems")
            self._failures.addWidget(Label(self._theme, text, "caption", "muted"))
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
        return Look("state-starting", "info", tr("Importing…"))

    def _text(self, candidate: ImportCandidate) -> str:
        server = self._known.get(candidate.id)
        return said.outcome_text(server, self._names) if server is not None else candidate.target

    def _on_row(self, candidate: ImportCandidate) -> None:
        """Shows a candidate's reason in full below the list, since long ones are cut in their lines."""
        self._more.setText(f"{candidate.name}: {self._text(candidate)}")
        self._more.show()
