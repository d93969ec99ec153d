"""Shows what commands want to allow, one at a time, and brings the answers to the engine. Decides nothing."""

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QApplication

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.snapshots.approvals import ConfirmationSnapshot
from tooltray.foundation.tasks import TaskKeeper
from tooltray.ui.approval.confirmation_window import ConfirmationWindow
from tooltray.ui.link.qt_mcp_presenter import QtMcpPresenter
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.sheet import GUARD_MS


class ConfirmationPrompt(QObject):
    """The owner of the window for commands' requests. `waiting_changed` carries the waiting requests as tuple[ConfirmationSnapshot], the
    oldest first.

    Args:
        guard_ms: how long the window takes no answer after each change.
    """

    waiting_changed = Signal(object)

    def __init__(self, theme: Theme, *, hub: QtMcpPresenter, tasks: TaskKeeper, guard_ms: int = GUARD_MS) -> None:
        super().__init__()
        self._theme, self._hub, self._tasks, self._guard_ms = theme, hub, tasks, guard_ms
        self._waiting: dict[str, ConfirmationSnapshot] = {}
        self._window: ConfirmationWindow | None = None
        self._answering = ""  # the id of a request whose answer is on its way
        self._fault: Problem | None = None  # why the last answer does not count, until there is another one or it is put away
        hub.confirmation_asked.connect(self._on_asked)
        hub.confirmation_ended.connect(self._on_ended)
        hub.snapshot_changed.connect(self._on_snapshot_changed)

    @property
    def window(self) -> ConfirmationWindow | None:
        """The window that is open now, or None."""
        return self._window

    def go_there(self) -> None:
        """Gives the window the keyboard if a request waits, since the user came from somewhere else of Tooltray."""
        if self._window is not None:
            self._window.go_there()

    def close(self) -> None:
        """Closes the window; its requests keep waiting."""
        if self._window is not None:
            self._window.hide()
            self._window.deleteLater()
            self._window = None

    def _on_asked(self, request: ConfirmationSnapshot) -> None:
        self._waiting[request.id] = request  # one that is known keeps its place
        self._on_changed()

    def _on_ended(self, id: str) -> None:
        if self._waiting.pop(id, None) is not None:
            self._on_changed()

    def _on_snapshot_changed(self) -> None:
        if self._hub.snapshot is None and self._waiting:  # the engine is gone, and the commands with it
            self._waiting.clear()
            self._on_changed()

    def _on_changed(self) -> None:
        self.waiting_changed.emit(tuple(self._waiting.values()))
        if not self._answering:
            self._show()

    def _show(self) -> None:
        first = next(iter(self._waiting.values()), None)
        if first is not None:
            window = self._opened()
            window.ask(first, len(self._waiting))
            if self._fault is not None:
                window.show_problem(self._fault)
            if not window.isVisible():
                window.show()
                QApplication.alert(window)
        elif self._fault is not None and self._window is not None:
            self._window.show_ended(self._fault)
        else:
            self.close()

    def _opened(self) -> ConfirmationWindow:
        if self._window is None:
            self._window = ConfirmationWindow(self._theme, guard_ms=self._guard_ms)
            self._window.answered.connect(self._on_answered)
            self._window.put_away.connect(self._on_put_away)
        return self._window

    def _on_answered(self, id: str, is_yes: bool) -> None:
        self._answering, self._fault = id, None
        if self._window is not None:
            self._window.set_busy()
        self._tasks.spawn(self._answer(id, is_yes), name="answer to a command")

    async def _answer(self, id: str, is_yes: bool) -> None:
        try:
            await self._hub.confirmations.answer_confirmation(id, is_yes)
        except TooltrayError as error:
            self._fault = error.problem
        finally:
            self._answering = ""
        self._waiting.pop(id, None)
        self._on_changed()

    def _on_put_away(self) -> None:
        self._fault = None
        self._show()
