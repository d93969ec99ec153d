"""The servers' questions that wait for the person, oldest first.

Above it: the window, which shows the first one. Below it: the Qt presenter layer. Knows no widget and no answer.
"""

from PySide6.QtCore import QObject, Signal

from tooltray.snapshots.questions import ElicitationSnapshot
from tooltray.ui.presenter.qt_mcp_presenter import QtMcpPresenter


class QuestionLine(QObject):
    """`changed`: a question came, or one has ended."""

    changed = Signal()

    def __init__(self, hub: QtMcpPresenter, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._hub = hub
        self._waiting: list[ElicitationSnapshot] = []
        hub.elicitation_asked.connect(self._on_asked)
        hub.elicitation_ended.connect(self.drop)
        hub.snapshot_changed.connect(self._on_snapshot_changed)

    @property
    def first(self) -> ElicitationSnapshot | None:
        return self._waiting[0] if self._waiting else None

    @property
    def count_behind(self) -> int:
        return max(0, len(self._waiting) - 1)

    def drop(self, id: str) -> None:
        """A question is answered or has ended; one that is not known is none."""
        left = [question for question in self._waiting if question.id != id]
        if len(left) < len(self._waiting):
            self._waiting = left
            self.changed.emit()

    def _on_asked(self, question: ElicitationSnapshot) -> None:
        self._waiting.append(question)
        self.changed.emit()

    def _on_snapshot_changed(self) -> None:
        if self._hub.snapshot is None and self._waiting:  # the engine is gone, and the servers with it
            self._waiting = []
            self.changed.emit()
