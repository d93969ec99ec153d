"""The feedback windows: opens one for each report that waits, and sends answers to the engine.

Drafts stay in memory, by AI client and project, until the next report. They are never written to the disk: a report and its AI client do
not outlive the hub either, and the window shows that drafts last only as long as Tooltray runs."""

import contextlib
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.events import FeedbackAsked, FeedbackEnded
from tooltray.foundation.snapshots.questions import FeedbackAttachment, FeedbackSnapshot
from tooltray.foundation.tasks import TaskKeeper
from tooltray.ui.kit.background import Work, run_action
from tooltray.ui.link.qt_mcp_presenter import QtMcpPresenter
from tooltray.ui.theme import Theme
from tooltray.ui.zoom import px

if TYPE_CHECKING:  # imported when an AI client reports
    from tooltray.ui.feedback.feedback_window import Draft, FeedbackWindow

GAP = 24  # px between windows, and to the edges of the screen
STEP = 32  # px from one window to the next where they do not fit side by side
MOST_DRAFTS = 10  # projects; the oldest is forgotten


class FeedbackWindows(QObject):
    """The open feedback windows. `asked`: a window was opened without the keyboard, so the user may not notice it."""

    asked = Signal(object)  # FeedbackSnapshot

    def __init__(self, theme: Theme, *, hub: QtMcpPresenter, tasks: TaskKeeper) -> None:
        super().__init__()
        self.theme, self.hub, self.tasks = theme, hub, tasks
        self._windows: dict[str, FeedbackWindow] = {}
        self._drafts: dict[tuple[str, str], Draft] = {}  # that were not sent, the oldest first
        self._answers: list[str] = []  # that stand ready
        hub.on(FeedbackAsked, lambda news: self._on_asked(news.request), self)
        hub.on(FeedbackEnded, lambda news: self._on_ended(news.id), self)
        hub.snapshot_changed.connect(self._on_snapshot_changed)
        self._has_hub = False

    @property
    def windows(self) -> "list[FeedbackWindow]":
        """The open windows, the oldest first."""
        return list(self._windows.values())

    def go_there(self) -> None:
        """Shows the windows in front; the oldest report gets the keyboard."""
        for window in reversed(self.windows):
            window.show_up()

    def close(self) -> None:
        """Closes all windows without answering their reports; drafts are kept."""
        for window in self.windows:
            self._keep_draft(window)
            self._drop(window)

    # the hub

    def _on_snapshot_changed(self) -> None:
        has_hub = self.hub.snapshot is not None
        if has_hub and not self._has_hub:
            self._do(self._catch_up)
        elif not has_hub:  # the engine is gone, and with it those who would get an answer
            self.close()
        self._has_hub = has_hub

    async def _catch_up(self) -> None:
        """Shows reports that were waiting before, as when the desktop takes over from a hub without a window."""
        for request in await self.hub.feedback.get_feedback_requests():
            if request.id not in self._windows:
                self._on_asked(request)

    def _on_asked(self, request: FeedbackSnapshot) -> None:
        known = self._windows.get(request.id) or self._left_by(request)
        if known is not None:
            self._windows.pop(known.request.id)
            self._windows[request.id] = known
            known.show_request(request)
            QApplication.alert(known)
        else:
            self._open(request)
        if known is None or not known.isActiveWindow():
            self.asked.emit(request)

    def _left_by(self, request: FeedbackSnapshot) -> "FeedbackWindow | None":
        """Returns a window of the same client and project whose report has ended; the new report belongs in it."""
        wanted = whose(request)
        return next((each for each in self._windows.values() if each.has_ended and whose(each.request) == wanted), None)

    def _open(self, request: FeedbackSnapshot) -> None:
        from tooltray.ui.feedback.feedback_window import FeedbackWindow

        window = FeedbackWindow(self, request)
        window.setAttribute(Qt.WidgetAttribute.WA_QuitOnClose, False)
        window.set_ready_answers(self._answers)
        if (draft := self._drafts.pop(whose(request), None)) is not None:
            window.set_draft(draft)
        window.move(place_for(len(self._windows), window.size(), QGuiApplication.primaryScreen().availableGeometry()))
        self._windows[request.id] = window
        window.show()
        QApplication.alert(window)
        self._do(self.read_ready_answers)

    def _on_ended(self, id: str) -> None:
        if (window := self._windows.get(id)) is not None:
            window.end()

    # a person

    def answer(self, window: "FeedbackWindow", text: str, attachments: Sequence[FeedbackAttachment]) -> None:
        """Sends the answer of a window."""
        del self._windows[window.request.id]  # the report ends by this answer, and its end is none that has to be told
        self._do(partial(self._answer, window, text, attachments))

    async def _answer(self, window: "FeedbackWindow", text: str, attachments: Sequence[FeedbackAttachment]) -> None:
        try:
            await self.hub.feedback.answer_feedback(window.request.id, text, attachments)
        except TooltrayError as error:
            await self._take_back(window, error.problem)
            return
        if not window.isVisible():  # somebody has closed it meanwhile, and what they wrote has arrived all the same
            self._drafts.pop(whose(window.request), None)
        self._drop(window)

    async def _take_back(self, window: "FeedbackWindow", problem: Problem) -> None:
        """Shows that an answer did not arrive, in its window, which is opened again if it was closed."""
        self._drafts.pop(whose(window.request), None)
        self._windows[window.request.id] = window
        window.show()
        window.show_problem(problem)
        with contextlib.suppress(TooltrayError):
            waiting = await self.hub.feedback.get_feedback_requests()
            if window in self.windows and all(each.id != window.request.id for each in waiting):
                self._let_go(window)

    def _let_go(self, window: "FeedbackWindow") -> None:
        """Ends a window whose report ended while the answer was being sent; an open window of a newer report takes over the draft."""
        wanted = whose(window.request)
        newer = next((each for each in self.windows if not each.has_ended and each is not window and whose(each.request) == wanted), None)
        if newer is None or not newer.box.is_empty:
            window.end()
            return
        newer.take_over(window.draft)
        self._drop(window)

    def take_closed(self, window: "FeedbackWindow") -> None:
        """Keeps the draft of a window that the user has closed; its report gets no answer."""
        self._keep_draft(window)
        if window not in self._windows.values():
            return  # its answer is on its way
        if not window.has_ended:
            self._do(partial(self.hub.feedback.dismiss_feedback, window.request.id))
        self._drop(window)

    def _keep_draft(self, window: "FeedbackWindow") -> None:
        if not window.box.is_empty:
            self._drafts.pop(whose(window.request), None)
            self._drafts[whose(window.request)] = window.draft
            if len(self._drafts) > MOST_DRAFTS:
                self._drafts.pop(next(iter(self._drafts)))

    def _drop(self, window: "FeedbackWindow") -> None:
        self._windows.pop(window.request.id, None)
        window.hide()
        window.deleteLater()

    async def read_ready_answers(self) -> None:
        """Reads the ready answers for all windows."""
        self._answers = await self.hub.feedback.get_ready_answers()
        for window in self.windows:
            window.set_ready_answers(self._answers)

    def _do(self, work: Work) -> None:
        """Calls the engine in the background; ignores a failure, which no window is left to show."""
        run_action(self.tasks, work, lambda _: None, name="feedback")


def whose(request: FeedbackSnapshot) -> tuple[str, str]:
    """Returns the key that a report shares with the next one: its client and project."""
    return (request.client, request.project_path or request.project_name)


def place_for(index: int, size: QSize, screen: QRect) -> QPoint:
    """Returns where a window opens: at the bottom, side by side, then in steps, so that none hides another. The right end comes last, since
    a call that waits for approval is shown there, and cannot wait long.

    Args:
        index: how many are open already.
    """
    fits = max(1, (screen.width() - px(GAP)) // (size.width() + px(GAP)))
    column, layer = (index + 1) % fits, index // fits
    x = screen.right() - (column + 1) * (size.width() + px(GAP)) - layer * px(STEP)
    if fits == 1:
        x = min(screen.left() + px(GAP) + layer * px(STEP), screen.right() - size.width())
    y = screen.bottom() - size.height() - px(GAP) - layer * px(STEP)
    return QPoint(max(x, screen.left()), max(y, screen.top()))
