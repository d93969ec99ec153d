"""Shows what waits for the user's approval, one request at a time, and sends the answers to the engine: tool calls, and what commands want
to allow. Decides nothing."""

import contextlib
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from msgspec.structs import replace
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QApplication

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.events import ApprovalAsked, ApprovalEnded, ConfirmationAsked, ConfirmationEnded
from tooltray.foundation.snapshots.approvals import ApprovalSnapshot, ConfirmationSnapshot
from tooltray.foundation.tasks import TaskKeeper
from tooltray.ui.link.qt_mcp_presenter import QtMcpPresenter
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.sheet import GUARD_MS

if TYPE_CHECKING:  # imported when something waits
    from tooltray.ui.approval.asking_window import AskingWindow, ConfirmationWindow
    from tooltray.ui.approval.call_view import ApprovalWindow, Arguments

R = TypeVar("R", bound=ApprovalSnapshot | ConfirmationSnapshot)


class Prompt(QObject, Generic[R]):
    """The owner of a window that requests approval. A subclass defines what waits, the events about that, and how it is answered.

    Args:
        guard_ms: how long the window takes no answer after each change.
    """

    waiting_changed = Signal(object)  # tuple[R, ...]: all that wait, the oldest first
    events: tuple[type[Any], type[Any]]  # a request waits; it has ended

    def __init__(self, theme: Theme, *, hub: QtMcpPresenter, tasks: TaskKeeper, guard_ms: int = GUARD_MS) -> None:
        super().__init__()
        self._theme, self._hub, self._tasks, self._guard_ms = theme, hub, tasks, guard_ms
        self._requests: dict[str, R] = {}  # that wait, in the order in which they came
        self.window: AskingWindow[R] | None = None  # that is open now
        self._answering = ""  # the id of a request whose answer is on its way
        self._fault: Problem | None = None  # why the last answer does not count, until there is another one or it is put away
        asked, ended = self.events
        hub.on(asked, lambda news: self._on_asked(news.request), self)
        hub.on(ended, lambda news: self._drop(news.id), self)
        hub.snapshot_changed.connect(self._on_snapshot_changed)

    def go_there(self) -> None:
        """Gives the window the keyboard if a request waits, since the user came from somewhere else of Tooltray."""
        if self.window is not None:
            self.window.go_there()

    def close(self) -> None:
        """Closes the window; its requests keep waiting."""
        if self.window is not None:
            self.window.hide()
            self.window.deleteLater()
            self.window = None

    # what a subclass defines

    def _make_window(self) -> "AskingWindow[R]":
        raise NotImplementedError

    async def _send(self, id: str, answer: object) -> None:
        """Sends an answer to the engine, and drops the request unless it still waits."""
        raise NotImplementedError

    def _next(self) -> R | None:
        """Returns the request to show."""
        return next(iter(self._requests.values()), None)

    # one at a time

    def _on_asked(self, request: R) -> None:
        self._requests[request.id] = request  # one that is known keeps its place
        self._on_changed()

    def _drop(self, id: str) -> None:
        """Removes a request that was answered or has ended; ignores an unknown one."""
        if self._requests.pop(id, None) is not None:
            self._on_changed()

    def _on_snapshot_changed(self) -> None:
        if self._hub.snapshot is None and self._requests:  # the engine is gone, and the requests with it
            self._requests = {}
            self._on_changed()

    def _on_changed(self) -> None:
        self.waiting_changed.emit(tuple(self._requests.values()))
        if not self._answering:
            self._show()

    def _show(self) -> None:
        first = self._next()
        if first is not None:
            if self.window is None:
                self.window = self._make_window()
                self.window.answered.connect(self._on_answered)
                self.window.put_away.connect(self._on_put_away)
            self.window.ask(first, len(self._requests))
            if self._fault is not None:
                self.window.show_problem(self._fault)
            if not self.window.isVisible():
                self.window.show()
                QApplication.alert(self.window)
        elif self._fault is not None and self.window is not None:
            self.window.show_ended(self._fault)
        else:
            self.close()

    def _on_answered(self, id: str, answer: object) -> None:
        self._answering, self._fault = id, None
        if self.window is not None:
            self.window.set_busy()
        self._tasks.spawn(self._answer(id, answer), name="answer of the user")

    async def _answer(self, id: str, answer: object) -> None:
        try:
            await self._send(id, answer)
        except TooltrayError as error:
            self._fault = error.problem  # stands above what waits now, be it this request or the next one, or alone
        finally:
            self._answering = ""
        self._show()

    def _on_put_away(self) -> None:
        self._fault = None
        self._show()


class ApprovalPrompt(Prompt[ApprovalSnapshot]):
    """The owner of the approval window."""

    events = ApprovalAsked, ApprovalEnded
    _compared = ""  # the id of the last call that was compared with the file on disk
    _is_sought = False  # the person is there: what waits quietly is shown, too, until nothing waits
    _is_known = False  # what waited before the engine was listened to

    def go_there(self) -> None:
        self._is_sought = bool(self._requests)
        if self._is_sought and not self._answering:
            self._show()
        super().go_there()

    def answer(self, id: str, answer: str) -> None:
        """Sends an answer that was given elsewhere, "once" or "refuse", to the engine; ignores a call that no longer waits."""
        if id in self._requests and not self._answering:
            self._on_answered(id, (answer, None))

    def _make_window(self) -> "ApprovalWindow":
        from tooltray.ui.approval.call_view import ApprovalWindow

        return ApprovalWindow(self._theme, hub=self._hub, tasks=self._tasks, guard_ms=self._guard_ms)

    async def _send(self, id: str, answer: object) -> None:
        from tooltray.ui.approval.call_view import answer_call

        choice, arguments = cast("tuple[str, Arguments | None]", answer)
        await answer_call(self._hub, id, choice, arguments)
        self._drop(id)

    def _on_snapshot_changed(self) -> None:
        super()._on_snapshot_changed()
        is_known = self._hub.snapshot is not None
        if is_known and not self._is_known:
            self._tasks.spawn(self._catch_up(), name="approvals that wait")
        self._is_known = is_known

    async def _catch_up(self) -> None:
        """Adds the calls that waited before; calls that are known already are newer and stay."""
        with contextlib.suppress(TooltrayError):  # the engine has just left; what waited has ended with it
            waited = {request.id: request for request in await self._hub.approvals.get_approvals()}
            if self._requests != (known := waited | self._requests):
                self._requests = known
                self._on_changed()

    def _next(self) -> ApprovalSnapshot | None:
        """Returns the oldest call that is not quiet, or the oldest of all once the user has come to answer."""
        return next((each for each in self._requests.values() if self._is_sought or not each.is_quiet), None)

    def _on_changed(self) -> None:
        self._is_sought = self._is_sought and bool(self._requests)
        super()._on_changed()

    def _show(self) -> None:
        super()._show()
        first = self._next()
        if first is not None and first.diff and first.id != self._compared:
            self._compared = first.id
            self._tasks.spawn(self._compare(first), name="what a call would change on disk")

    async def _compare(self, request: ApprovalSnapshot) -> None:
        """Shows how the file on disk would change, if the call still waits."""
        from tooltray.ui.approval.call_view import disk_diff

        diff = await disk_diff(self._hub, request)
        if (now := self._requests.get(request.id)) is not None and diff and diff != now.diff:
            self._on_asked(replace(now, diff=diff))

    def _on_answered(self, id: str, answer: object) -> None:
        self._is_sought = True
        super()._on_answered(id, answer)


class ConfirmationPrompt(Prompt[ConfirmationSnapshot]):
    """The owner of the window for what commands want to allow."""

    events = ConfirmationAsked, ConfirmationEnded

    def _make_window(self) -> "ConfirmationWindow":
        from tooltray.ui.approval.asking_window import ConfirmationWindow

        return ConfirmationWindow(self._theme, guard_ms=self._guard_ms)

    async def _send(self, id: str, answer: object) -> None:
        try:
            await self._hub.confirmations.answer_confirmation(id, bool(answer))
        finally:
            self._drop(id)  # also after a failure: it has ended
