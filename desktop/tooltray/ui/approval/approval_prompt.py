"""Shows the tool calls that wait for the user's approval, one at a time, and brings the answers to the engine. Decides nothing."""

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QApplication

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.snapshots.approvals import ApprovalSnapshot, OfferedRule
from tooltray.foundation.tasks import TaskKeeper
from tooltray.ui.approval.approval_window import ApprovalWindow
from tooltray.ui.kit.approval_line import ApprovalLine, disk_diff
from tooltray.ui.link.qt_mcp_presenter import QtMcpPresenter
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.sheet import GUARD_MS


class ApprovalPrompt(QObject):
    """The owner of the approval window. `waiting_changed` carries the waiting calls as tuple[ApprovalSnapshot].

    Args:
        guard_ms: how long the window takes no answer after each change.
    """

    waiting_changed = Signal(object)

    def __init__(self, theme: Theme, *, hub: QtMcpPresenter, tasks: TaskKeeper, guard_ms: int = GUARD_MS) -> None:
        super().__init__()
        self._theme, self._hub, self._tasks, self._guard_ms = theme, hub, tasks, guard_ms
        self._line = ApprovalLine(hub, self)
        self._window: ApprovalWindow | None = None
        self._compared = ""  # the id of the last call that was compared with the file on disk
        self._answering = ""  # the id of a call whose answer is on its way
        self._fault: Problem | None = None  # why the last answer does not count, until there is another one or it is put away
        self._is_sought = False  # the person is there: what waits quietly is shown, too, until nothing waits
        self._is_known = False  # what waited before the engine was listened to
        self._line.changed.connect(self._on_line_changed)
        hub.snapshot_changed.connect(self._on_snapshot_changed)

    @property
    def window(self) -> ApprovalWindow | None:
        """The window that is open now, or None."""
        return self._window

    def go_there(self) -> None:
        """Gives the window the keyboard if a call waits, since the user came from somewhere else of Tooltray."""
        self._is_sought = len(self._line) > 0
        if self._is_sought and not self._answering:
            self._show()
        if self._window is not None:
            self._window.go_there()

    def answer(self, id: str, answer: str) -> None:
        """Sends an answer that was given elsewhere, "once" or "refuse", to the engine; ignores a call that no longer waits."""
        if id in self._line and not self._answering:
            self._on_answered(id, answer)

    def close(self) -> None:
        """Closes the window; its calls keep waiting."""
        if self._window is not None:
            self._window.hide()
            self._window.deleteLater()
            self._window = None

    def _on_snapshot_changed(self) -> None:
        is_known = self._hub.snapshot is not None
        if is_known and not self._is_known:
            self._tasks.spawn(self._catch_up(), name="approvals that wait")
        self._is_known = is_known

    async def _catch_up(self) -> None:
        try:
            self._line.add(await self._hub.approvals.get_approvals())
        except TooltrayError:
            return  # the engine has just left; what waited has ended with it

    def _on_line_changed(self) -> None:
        self._is_sought = self._is_sought and len(self._line) > 0
        self.waiting_changed.emit(self._line.waiting)
        if not self._answering:
            self._show()

    def _show(self) -> None:
        first = self._next()
        if first is not None:
            window = self._opened()
            window.ask(first, len(self._line))
            if first.diff and first.id != self._compared:
                self._compared = first.id
                self._tasks.spawn(self._compare(first), name="what a call would change on disk")
            if self._fault is not None:
                window.show_problem(self._fault)
            if not window.isVisible():
                window.show()
                QApplication.alert(window)
        elif self._fault is not None and self._window is not None:
            self._window.show_ended(self._fault)
        else:
            self.close()

    async def _compare(self, request: ApprovalSnapshot) -> None:
        self._line.set_diff(request.id, await disk_diff(self._hub, request))

    def _next(self) -> ApprovalSnapshot | None:
        """Returns the request to show: the oldest that is not quiet, or the oldest of all once the user has come to answer."""
        waiting = self._line.waiting
        return next((each for each in waiting if self._is_sought or not each.is_quiet), None)

    def _opened(self) -> ApprovalWindow:
        if self._window is None:
            self._window = ApprovalWindow(self._theme, guard_ms=self._guard_ms)
            self._window.answered.connect(self._on_answered)
            self._window.put_away.connect(self._on_put_away)
            self._window.preview_requested.connect(self._on_preview_requested)
        return self._window

    def _on_answered(self, id: str, answer: str) -> None:
        self._answering, self._fault, self._is_sought = id, None, True
        if self._window is not None:
            self._window.set_busy()
        self._tasks.spawn(self._answer(id, answer), name="answer to an approval")

    async def _answer(self, id: str, answer: str) -> None:
        try:
            await self._hub.approvals.answer_approval(id, answer)
        except TooltrayError as error:
            self._fault = error.problem  # stands above what waits now, be it this call or the next one, or alone
        finally:
            self._answering = ""
        if self._fault is None:
            self._line.drop(id)
        self._show()

    def _on_preview_requested(self, server: str, rule: OfferedRule) -> None:
        self._tasks.spawn(self._preview(server, rule), name="what a rule would have covered")

    async def _preview(self, server: str, rule: OfferedRule) -> None:
        try:
            preview = await self._hub.approvals.preview_rule(server, dict(rule.rule))
        except TooltrayError:
            return  # the server has just gone, and the call with it
        if self._window is not None:
            self._window.show_preview(rule, preview)

    def _on_put_away(self) -> None:
        self._fault = None
        self._show()
