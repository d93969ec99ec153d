"""The sheet of one tool call that waits: everything that the user should read before the answer, and the answers. Enter allows nothing;
Ctrl+Enter allows once, a moment after the sheet was opened."""

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QKeyEvent, QShowEvent
from PySide6.QtWidgets import QWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.approvals import ApprovalSnapshot
from tooltray.ui.approval.approval_body import WIDTH, question
from tooltray.ui.approval.call_view import Answer, Arguments, CallView
from tooltray.ui.i18n import tr
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.sheet_view import SheetView
from tooltray.ui.widgets.keyboard import add_accept_keys
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.sheet import GUARD_MS
from tooltray.ui.widgets.surface import clear

TICK_MS = 500


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
        self.buttons.addWidget(self._left)
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
