"""The sheets of a feedback window: the project's history, and the ready answers to be edited. One at a time.

Above it: FeedbackWindow, over which they lie. Below it: the sheets. Knows no engine.
"""

from collections.abc import Sequence

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QWidget

from tooltray.errors import Problem
from tooltray.snapshots.feedback import FeedbackEntry
from tooltray.ui.feedback.feedback_history import FeedbackHistoryPanel
from tooltray.ui.feedback.ready_answers_panel import ReadyAnswersPanel
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.sheet import Sheet


class FeedbackSheets(QObject):
    """`opened` says whether one lies over the window now."""

    opened = Signal(bool)
    history_requested = Signal()
    ready_answers_saved = Signal(object)  # list[str]

    def __init__(self, theme: Theme, window: QWidget) -> None:
        super().__init__(window)
        self._theme, self._window = theme, window
        self._sheet: Sheet | None = None

    @property
    def sheet(self) -> Sheet | None:
        """The open one."""
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
        """What the open sheet wanted did not work."""
        panel = self._sheet.panel if self._sheet is not None else None
        if isinstance(panel, ReadyAnswersPanel):
            panel.show_failure(problem)
        elif isinstance(panel, FeedbackHistoryPanel):
            panel.show_entries(())
            panel.show_fault(problem)

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
