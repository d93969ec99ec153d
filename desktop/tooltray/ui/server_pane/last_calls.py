"""The last calls of one server, for its overview."""

from collections.abc import Sequence
from datetime import datetime

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QGridLayout, QWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.events import ActivityWritten
from tooltray.foundation.snapshots.activity import ActivityFilter, ActivityRow
from tooltray.ui.activity.activity_words import at, outcome_look, subject, took, touched
from tooltray.ui.i18n import tr
from tooltray.ui.kit.destinations import CallsWhere
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.view import View
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.label import ElidedLabel, Label
from tooltray.ui.widgets.surface import clear, column, row

MOST = 5
LAST = 3  # the column of durations
EVERY_MS = 1000  # a busy server does not redraw them more often
TONES = {"error": "error", "warning": "warning"}  # of an outcome; others are not noteworthy


class LastCalls(QWidget, View):
    """The last calls of a server, and a link to all of them; it reads nothing while it is hidden."""

    def __init__(self, context: PageContext, server: str) -> None:
        super().__init__()
        self.context, self._theme, self._server = context, context.theme, server
        self._rows: Sequence[ActivityRow] | None = None
        layout = column(self, spacing=4)
        head = row(spacing=8)
        head.addWidget(Label(self._theme, tr("Last calls"), "caption_strong", "muted"), 1)
        self._all = Button(self._theme, tr("All calls"), "link", small=True)
        self._all.setAccessibleName(tr("All calls of {name}", name=server))
        self._all.clicked.connect(self._on_all)
        head.addWidget(self._all)
        layout.addLayout(head)
        self._note = Label(self._theme, "", "caption", "muted")
        layout.addWidget(self._note)
        self._grid = QGridLayout()
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(12)
        self._grid.setVerticalSpacing(4)
        self._grid.setColumnStretch(2, 1)
        layout.addLayout(self._grid)
        self.refresh = self.reading(self._read)
        self._soon = QTimer(self, singleShot=True, interval=EVERY_MS)
        self._soon.timeout.connect(self._refresh_if_visible)
        context.hub.on_any((ActivityWritten,), self._on_written, self)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.refresh()

    def show_problem(self, problem: Problem | None) -> None:
        """Shows that the calls cannot be read; the Activity page shows why."""
        if problem is not None:
            self._show(())
            self._rows = None
            self._note.setText(tr("Not known: the journal could not be read."))

    async def _read(self) -> None:
        of_server = ActivityFilter(kinds=("call",), servers=(self._server,))
        self._show(await self.hub.activity.get_activity(of_server, 0, MOST, True))

    def _show(self, rows: Sequence[ActivityRow]) -> None:
        if rows == self._rows:
            return
        self._rows = rows
        clear(self._grid)
        for place, each in enumerate(rows):
            self._add(place, each)
        self._note.setText(tr("No calls yet"))
        self._note.setVisible(not rows)
        self._all.setVisible(bool(rows))

    def _add(self, place: int, shown: ActivityRow) -> None:
        entry, look = shown.entry, outcome_look(shown.entry)
        name = subject(entry) if shown.count < 2 else tr("{name}, {count} times", name=subject(entry), count=f"{shown.count:,}")
        end = look.word if look.tone in TONES else took(entry.duration_s) if entry.duration_s else ""
        target = ElidedLabel(self._theme, touched(entry), "caption", "muted", mode=Qt.TextElideMode.ElideLeft)
        for column_, label in enumerate(
            (
                Label(self._theme, at(entry.at, datetime.now()), "caption", "muted", tabular=True),
                ElidedLabel(self._theme, name, "caption", hugs=True),
                target,
                Label(self._theme, end, "caption", TONES.get(look.tone, "muted"), tabular=True),
            )
        ):
            self._grid.addWidget(label, place, column_, Qt.AlignmentFlag.AlignRight if column_ == LAST else Qt.AlignmentFlag(0))

    def _on_written(self) -> None:
        if self.isVisible() and not self._soon.isActive():
            self._soon.start()

    def _refresh_if_visible(self) -> None:
        if self.isVisible():
            self.refresh()

    def _on_all(self) -> None:
        self.context.go(CallsWhere(ActivityFilter(servers=(self._server,))))
