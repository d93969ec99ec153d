"""The sheet with the earlier reports of a project, and the answers to them."""

import time
from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.questions import FeedbackEntry
from tooltray.ui.feedback.feedback_words import moment_words, outcome_words
from tooltray.ui.i18n import tr
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.label import ElidedLabel, Label
from tooltray.ui.widgets.markdown_view import harmless, words_of
from tooltray.ui.widgets.sheet import SheetFrame
from tooltray.ui.widgets.surface import Surface, column, row

WIDTH = 600
MOST = 50  # entries that are asked for
LONGEST = 600  # characters of a report or an answer; the window that it came in had all


class HistorySheet(SheetFrame):
    """A sheet with the project's history, which `show_entries` fills; until then it shows that it is loading."""

    def __init__(self, theme: Theme, project: str) -> None:
        super().__init__(theme, tr("History of {project}", project=project) if project else tr("History"), WIDTH)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self._state = Label(theme, tr("Reading…"), "body", "muted", wrap=True)
        self.body.addWidget(self._state)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.setFocus(Qt.FocusReason.OtherFocusReason)

    def show_problem(self, problem: Problem | None) -> None:
        """Shows why the history could not be read."""
        if problem is not None:
            self.show_entries(())
        super().show_problem(problem)

    def show_entries(self, entries: Sequence[FeedbackEntry]) -> None:
        self._state.setText(tr("No reports yet. Reports that you answer or close are listed here."))
        self._state.setVisible(not entries)
        now = time.time()
        for entry in entries[:MOST]:
            self.body.addWidget(self._entry(entry, now))

    def _entry(self, entry: FeedbackEntry, now: float) -> QWidget:
        theme = self._theme
        box = Surface(theme, "surface", "border", "m")
        lines = column(box, margins=(14, 10, 14, 10), spacing=6)
        head = row(spacing=12)
        head.addWidget(ElidedLabel(theme, entry.client or tr("An AI client"), "strong"), 1)
        head.addWidget(Label(theme, moment_words(entry.asked_at, now), "caption", "muted", tabular=True))
        lines.addLayout(head)
        lines.addWidget(_text(theme, words_of(entry.summary), "secondary"))
        lines.addWidget(Label(theme, outcome_words(entry), "caption_strong", "accent" if entry.outcome == "answered" else "muted"))
        if entry.text:
            lines.addWidget(_text(theme, entry.text, "primary"))
        if entry.attachments:
            lines.addWidget(Label(theme, harmless(", ".join(entry.attachments)), "caption", "muted", wrap=True))
        return box


def _text(theme: Theme, text: str, tone: str) -> Label:
    shown = harmless(text).strip()
    label = Label(theme, shown if len(shown) <= LONGEST else f"{shown[:LONGEST]}…", "body", tone, wrap=True)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return label
