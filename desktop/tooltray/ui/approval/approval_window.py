"""The window for a tool call that waits for the user's approval."""

from collections.abc import Iterable

from PySide6.QtWidgets import QHBoxLayout, QPushButton, QWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.approvals import ApprovalSnapshot
from tooltray.foundation.tasks import TaskKeeper
from tooltray.ui.approval.approval_body import MARGIN, because, question, wish
from tooltray.ui.approval.asking_window import AskingWindow
from tooltray.ui.approval.call_view import Arguments, CallView
from tooltray.ui.i18n import tr
from tooltray.ui.link.qt_mcp_presenter import QtMcpPresenter
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.sheet import GUARD_MS


class ApprovalWindow(AskingWindow[ApprovalSnapshot]):
    """A window with a call that waits for approval. It is answered with what a CallView is answered with, as a tuple."""

    def __init__(self, theme: Theme, *, hub: QtMcpPresenter, tasks: TaskKeeper, guard_ms: int = GUARD_MS) -> None:
        self.view = CallView(theme, hub, tasks, self, margin=MARGIN)
        super().__init__(theme, guard_ms=guard_ms)

    def ask(self, request: ApprovalSnapshot, count: int) -> None:
        self._request = request
        self.setAccessibleName(question(request))
        self.setAccessibleDescription(f"{wish(request)} {because(request)}")
        self.view.allow.show()
        self.view.show_call(request, tr("1 of {count}", count=count) if count > 1 else "")

    def show_ended(self, problem: Problem) -> None:
        super().show_ended(problem)
        self.view.end()

    # the parts

    def _time_left(self, request: ApprovalSnapshot) -> tuple[float, str]:
        return self.view.time_left

    def place_body(self, body: QWidget) -> None:
        self._show_body(body)

    def _buttons(self) -> QHBoxLayout:
        line = self.view.line
        line.setContentsMargins(24, 16, 24, 12)
        return line

    def _yes_buttons(self) -> Iterable[QPushButton]:
        return self.view.allow, self.view.longer

    def _no_button(self) -> QPushButton:
        return self.view.refuse

    # answers

    def answer_call(self, answer: str, arguments: Arguments | None) -> None:
        self._send((answer, arguments))

    def _answer(self, is_yes: bool) -> None:
        if not is_yes:
            self._send(("refuse", None))
        elif self._request is not None:
            self.view.accept()

    def _on_no_key(self) -> None:
        if not self._arrival.isActive():
            self.view.go_back()
