"""The sheets of a feedback window: the project's history, and the ready answers to be edited. One at a time. Knows no engine."""

import time
from collections.abc import Sequence

from PySide6.QtCore import QObject, Qt, QUrl, Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.questions import FeedbackEntry
from tooltray.ui.addresses import LOOPBACK, can_follow, host_of
from tooltray.ui.feedback.feedback_words import moment_words, outcome_words
from tooltray.ui.feedback.ready_answers_panel import ReadyAnswersPanel
from tooltray.ui.i18n import tr
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Button, IconButton
from tooltray.ui.widgets.icon import Icon
from tooltray.ui.widgets.label import CodeLabel, ElidedLabel, Label
from tooltray.ui.widgets.markdown_view import harmless, words_of
from tooltray.ui.widgets.sheet import Sheet, SheetFrame
from tooltray.ui.widgets.surface import Surface, column, row

WIDTH = 600
MOST = 50  # entries that are asked for
LONGEST = 600  # characters of a report or an answer; the window that it came in had all


class FeedbackHistoryPanel(SheetFrame):
    """A sheet with the project's history, which `show_entries` fills; until then it shows that it is loading."""

    def __init__(self, theme: Theme, project: str) -> None:
        super().__init__(theme, tr("History of {project}", project=project) if project else tr("History"), WIDTH)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self._state = Label(theme, tr("Reading…"), "body", "muted", wrap=True)
        self.body.addWidget(self._state)

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


class FeedbackSheets(QObject):
    """The sheets over a feedback window. `opened` carries whether a sheet is open now."""

    opened = Signal(bool)
    history_requested = Signal()
    ready_answers_saved = Signal(object)  # list[str]

    def __init__(self, theme: Theme, window: QWidget) -> None:
        super().__init__(window)
        self._theme, self._window = theme, window
        self._sheet: Sheet | None = None

    @property
    def sheet(self) -> Sheet | None:
        """The open sheet."""
        return self._sheet

    def open_history(self, project_name: str) -> None:
        if self._open(FeedbackHistoryPanel(self._theme, project_name)):
            self.history_requested.emit()

    def open_ready_answers(self, answers: Sequence[str]) -> None:
        panel = ReadyAnswersPanel(self._theme, answers)
        panel.saved.connect(self.ready_answers_saved)
        self._open(panel)

    def show_history(self, entries: Sequence[FeedbackEntry]) -> None:
        if self._sheet is not None and isinstance(self._sheet.panel, FeedbackHistoryPanel):
            self._sheet.panel.show_entries(entries)

    def show_failure(self, problem: Problem) -> None:
        """Shows in the open sheet that its request failed."""
        panel = self._sheet.panel if self._sheet is not None else None
        if isinstance(panel, ReadyAnswersPanel):
            panel.show_failure(problem)
        elif isinstance(panel, FeedbackHistoryPanel):
            panel.show_entries(())
            panel.show_problem(problem)

    def dismiss(self) -> None:
        if self._sheet is not None:
            self._sheet.dismiss()

    def _open(self, panel: FeedbackHistoryPanel | ReadyAnswersPanel) -> bool:
        if self._sheet is not None:
            return False
        sheet = self._sheet = Sheet(self._theme, self._window, panel)
        self.opened.emit(True)
        panel.close_requested.connect(sheet.dismiss)
        sheet.closed.connect(self._on_closed)
        sheet.show()
        panel.setFocus(Qt.FocusReason.OtherFocusReason)
        return True

    def _on_closed(self) -> None:
        self._sheet = None
        self.opened.emit(False)


LONGEST_ADDRESS = 2000  # characters of an address; longer ones are cut, and not opened


class LinkQuestion(Surface):
    """A question before a link is opened. `open_requested` and `copy_requested` carry the address."""

    open_requested = Signal(str)
    copy_requested = Signal(str)
    closed = Signal()

    def __init__(self, theme: Theme, address: str) -> None:
        url = QUrl(address)
        can_open = can_follow(url) and len(address) <= LONGEST_ADDRESS
        super().__init__(theme, "info.subtle" if can_open else "warning.subtle", None, "m")
        self._address = address
        tone = "info" if can_open else "warning"
        line = row(self, margins=(12, 8, 8, 8), spacing=10)
        line.addWidget(Icon(theme, "globe" if can_open else "alert", 16, f"{tone}.text"), 0, Qt.AlignmentFlag.AlignTop)
        words = column(spacing=2)
        title = tr("This link leads to {host}", host=host_of(url)) if can_open else tr("This link leads to no web page. It is not opened.")
        words.addWidget(Label(theme, title, "caption_strong", tone, wrap=True))
        words.addWidget(CodeLabel(theme, address[:LONGEST_ADDRESS], "secondary"))
        if can_open and url.scheme() == "http" and url.host() not in LOOPBACK:
            words.addWidget(Label(theme, tr("The connection is not encrypted: others can read along."), "caption", tone, wrap=True))
        line.addLayout(words, 1)
        self.setAccessibleName(f"{title} {address[:LONGEST_ADDRESS]}")
        if can_open:
            self._add_open(theme, line)
        copy = IconButton(theme, "copy", tr("Copy the address"), small=True)
        copy.clicked.connect(self._on_copy)
        line.addWidget(copy, 0, Qt.AlignmentFlag.AlignTop)
        close = IconButton(theme, "x", tr("Close"), small=True)
        close.clicked.connect(self.closed)
        line.addWidget(close, 0, Qt.AlignmentFlag.AlignTop)

    def _add_open(self, theme: Theme, line: QHBoxLayout) -> None:
        button = Button(theme, tr("Open page"), small=True)
        button.clicked.connect(self._on_open)
        line.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)

    def _on_open(self) -> None:
        self.open_requested.emit(self._address)
        self.closed.emit()

    def _on_copy(self) -> None:
        self.copy_requested.emit(self._address)
        self.closed.emit()
