"""The window and the sheet for a tool call that waits for the user's approval. Enter allows nothing; Ctrl+Enter allows once, a moment after
it was opened."""

from typing import cast

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QKeyEvent, QShowEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.approvals import ApprovalSnapshot
from tooltray.foundation.tasks import TaskKeeper
from tooltray.ui.approval.approval_body import MARGIN, WIDTH, because, question, wish
from tooltray.ui.approval.asking_window import AskingWindow
from tooltray.ui.approval.call_view import Answer, Arguments, CallView
from tooltray.ui.i18n import tr
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.sheet_view import SheetView
from tooltray.ui.link.qt_mcp_presenter import QtMcpPresenter
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.keyboard import add_accept_keys
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.sheet import GUARD_MS
from tooltray.ui.widgets.surface import clear
from tooltray.ui.zoom import px

TICK_MS = 500


class ApprovalWindow(AskingWindow[ApprovalSnapshot]):
    """A window with a call that waits for approval. It is answered with what a CallView is answered with, as a tuple."""

    def __init__(self, theme: Theme, *, hub: QtMcpPresenter, tasks: TaskKeeper, guard_ms: int = GUARD_MS) -> None:
        self.view = view = CallView(theme, hub, tasks, self, margin=MARGIN)
        view.line.setContentsMargins(px(24), px(16), px(24), px(12))
        super().__init__(theme, view.line, view.refuse, view.allow, view.longer, guard_ms=guard_ms)

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


class CallSheet(SheetView):
    """A sheet with a call that waits for approval.

    Args:
        answer: answers the call. It closes the sheet, or calls `show_problem`.
    """

    def __init__(self, context: PageContext, call: ApprovalSnapshot, answer: Answer) -> None:
        super().__init__(context, tr("A call waits for your answer"), WIDTH)
        self._answer_call = answer
        self.setAccessibleDescription(question(call))
        self._guard = QTimer(self, singleShot=True, interval=GUARD_MS)
        self._guard.timeout.connect(self._on_guard_over)
        self._view = CallView(context.theme, context.hub, context.tasks, self)
        self._left = Label(context.theme, "", "caption", "muted", tabular=True)
        self._left.setContentsMargins(px(24), px(10), px(24), 0)
        layout = cast(QVBoxLayout, self.layout())
        layout.insertWidget(layout.count() - 1, self._left)
        self.buttons.addLayout(self._view.line)
        self._clock = QTimer(self, interval=TICK_MS)
        self._clock.timeout.connect(self._tick)
        self._clock.start()
        self.show_call(call)
        add_accept_keys(self, self._view.accept)

    @property
    def call_id(self) -> str:
        """The id of the call."""
        return self._call.id

    def show_call(self, call: ApprovalSnapshot) -> None:
        """Shows a newer snapshot of the call."""
        self._call = call
        self._view.show_call(call)
        self._tick()

    def _tick(self) -> None:
        self._left.setText(self._view.time_left[1])

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._begin_guard()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and not self._view.is_at_call:
            self._view.go_back()  # to the call first, and from the sheet by the next press
        else:
            super().keyPressEvent(event)

    def show_problem(self, problem: Problem | None) -> None:
        """Shows why the answer was not accepted."""
        super().show_problem(problem)
        if problem is not None:
            self._view.set_usable(True)

    def place_body(self, body: QWidget) -> None:
        clear(self.body)
        self.body.addWidget(body)
        if not self._view.is_at_call:
            self.hold()  # a stray click loses nothing that was typed
        self._begin_guard()

    def _begin_guard(self) -> None:
        self._view.set_usable(False)
        self._guard.start()

    def _on_guard_over(self) -> None:
        self._view.set_usable(True)
        focused = self.window().focusWidget()
        if focused is None or not self._view.body.isAncestorOf(focused):  # else the user types there
            self._view.refuse.setFocus(Qt.FocusReason.OtherFocusReason)

    def answer_call(self, answer: str, arguments: Arguments | None) -> None:
        self._view.set_usable(False)
        self.show_problem(None)
        self._answer_call(answer, arguments)
