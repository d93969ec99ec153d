"""The candidates of an import: a line for each, and the details of the current one. Hundreds of candidates cost as much as the visible
ones."""

from collections.abc import Callable, Mapping

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QAbstractItemView, QWidget

from tooltray.foundation.snapshots.ai_clients import ImportCandidate
from tooltray.ui.clients import import_words as said
from tooltray.ui.i18n import tr
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.label import CodeLabel, Label
from tooltray.ui.widgets.row_model import Column, Index, Kind
from tooltray.ui.widgets.surface import clear, column
from tooltray.ui.widgets.table import Table

ROW, MOST_ROWS = 34, 7  # px of a line; lines in sight at once, the rest scrolls
MOST_LINES = 8  # of sources, in full


class CandidateTable(Table):
    """A table of candidates. `switched` carries a candidate and whether to import it; `looked_at` the candidate with the keyboard or the
    pointer.
    """

    looked_at = Signal(object)

    def __init__(self, theme: Theme, names: Mapping[str, str], chosen: set[str]) -> None:
        def is_chosen(candidate: ImportCandidate) -> bool | None:
            return candidate.id in chosen if said.can_be_chosen(candidate) else None

        columns = [
            Column(tr("Move"), is_chosen, Kind.CHECK, 56),
            Column(tr("Name"), lambda candidate: candidate.name, Kind.TEXT, 150),
            Column(tr("What runs"), lambda candidate: candidate.target, Kind.MONO, 0, lambda candidate: candidate.target),
            Column(tr("Found in"), lambda candidate: said.found_in(candidate, names), Kind.QUIET, 140, _tip(names)),
            Column(tr("To know"), said.note_chip, Kind.CHIP, 142, lambda candidate: "\n".join(said.notes(candidate))),
        ]
        name = tr("Servers that can be imported")
        super().__init__(theme, columns, name, lambda each: each.id, in_card=True, has_header=True, row_height=ROW)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)

    def make_room(self, rows: int) -> None:
        """Sets the height to so many lines, up to `MOST_ROWS`; more of them scroll."""
        self.setFixedHeight(self.horizontalHeader().height() + min(max(rows, 1), MOST_ROWS) * ROW + 2)

    def currentChanged(self, current: Index, previous: Index) -> None:
        super().currentChanged(current, previous)
        if current.isValid():
            self.looked_at.emit(self.rows[current.row()])


def _tip(names: Mapping[str, str]) -> Callable[[ImportCandidate], str]:
    return lambda candidate: "\n".join(said.source_line(source, names) for source in candidate.sources[:MOST_LINES])


class CandidateDetails(QWidget):
    """The details of the current candidate."""

    def __init__(self, theme: Theme, names: Mapping[str, str]) -> None:
        super().__init__()
        self._theme, self._names = theme, names
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
            self._lines.addWidget(Label(theme, said.secret_line(secret), "caption", "secondary", wrap=True))
        for source in candidate.sources[:MOST_LINES]:
            self._lines.addWidget(Label(theme, said.source_line(source, self._names), "caption", "muted", wrap=True))
        if (more := len(candidate.sources) - MOST_LINES) > 0:
            self._lines.addWidget(Label(theme, tr("and {count} more", count=more), "caption", "muted"))
        self.show()
