"""Shows servers' questions over the window, one at a time and the oldest first, and sends the answers to the engine."""

from PySide6.QtCore import QObject, QUrl, Signal
from PySide6.QtGui import QDesktopServices

from tooltray.foundation.snapshots.questions import ElicitationSnapshot
from tooltray.ui.approval.question import QuestionPanel
from tooltray.ui.i18n import tr
from tooltray.ui.kit.action import Commands, action, as_notice
from tooltray.ui.kit.open_attempts import OpenAttempts
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.link.qt_mcp_presenter import QtMcpPresenter


class QuestionLine(QObject):
    """The questions that wait for the window, without those about calls that show their questions themselves. `changed`: a question was
    added or has ended.
    """

    changed = Signal()

    def __init__(self, hub: QtMcpPresenter, attempts: OpenAttempts, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._hub, self._attempts = hub, attempts
        self._waiting: list[ElicitationSnapshot] = []
        hub.elicitation_asked.connect(self._on_asked)
        hub.elicitation_ended.connect(self.drop)
        hub.snapshot_changed.connect(self._on_snapshot_changed)
        attempts.changed.connect(self.changed)

    @property
    def first(self) -> ElicitationSnapshot | None:
        return self._here[0] if self._here else None

    @property
    def count_behind(self) -> int:
        return max(0, len(self._here) - 1)

    @property
    def _here(self) -> list[ElicitationSnapshot]:
        return [question for question in self._waiting if not self._attempts.is_shown(question.attempt)]

    def drop(self, id: str) -> None:
        """Removes a question that was answered or has ended; ignores an unknown one."""
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


class Questions(Commands):
    """The sheets with questions; a question waits while another sheet is open."""

    def __init__(self, context: PageContext, parent: QObject | None) -> None:
        super().__init__(hub=context.hub, tasks=context.tasks, parent=parent)
        self._context = context
        self._line = QuestionLine(context.hub, context.attempts, self)
        self._line.changed.connect(self._show)
        context.sheets.freed.connect(self._show)
        context.sheets.replacing.connect(self._on_replacing)
        self.failed.connect(context.notices.add_notice)

    @property
    def _panel(self) -> QuestionPanel | None:
        panel = self._context.sheets.panel
        return panel if isinstance(panel, QuestionPanel) else None

    def _show(self) -> None:
        """Shows the oldest question, unless something else lies over the window, and closes one that has ended."""
        first, panel, sheet = self._line.first, self._panel, self._context.sheets.sheet
        if panel is not None and sheet is not None and (first is None or panel.question.id != first.id):
            panel.settle()
            sheet.dismiss()
        elif panel is not None:
            panel.set_waiting(self._line.count_behind)
        elif first is not None and sheet is None:
            self._open(QuestionPanel(self._context.theme, first))

    def _open(self, panel: QuestionPanel) -> None:
        panel.set_waiting(self._line.count_behind)
        panel.answered.connect(self._on_answered)
        panel.open_requested.connect(self._on_page_wanted)
        panel.copy_requested.connect(self._on_copy)
        sheet = self._context.sheets.open(panel, closes_outside=False)  # a stray click is no answer
        sheet.closed.connect(panel.on_closed)

    def _on_replacing(self) -> None:
        if (panel := self._panel) is not None:
            panel.settle()  # it is shown again afterwards

    def _on_answered(self, id: str, action: str, content: dict[str, object] | None) -> None:
        self.answer(id, action, content)
        self._line.drop(id)

    @action(as_notice)
    async def answer(self, id: str, action: str, content: dict[str, object] | None) -> None:
        """Sends the user's answer to the server that asked."""
        await self._hub.questions.answer_elicitation(id, action, content)

    def _on_page_wanted(self, url: str) -> None:
        if (panel := self._panel) is None:
            return
        if QDesktopServices.openUrl(QUrl(url)):
            panel.accept_url()
        else:
            panel.show_no_browser()

    def _on_copy(self, url: str) -> None:
        self._context.copy(url, tr("The address is copied"))
