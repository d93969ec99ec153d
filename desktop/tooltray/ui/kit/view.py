"""View: what pages, panes and sheets have in common. They await the API's verbs, and show why one failed. Leaf widgets stay passive: they
draw what they are given and emit what the user does."""

from collections.abc import Callable, Coroutine
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from shiboken6 import isValid

from tooltray.foundation.errors import Problem
from tooltray.ui.kit.background import CoalescedRead, Show, Work, failure_of

if TYPE_CHECKING:
    from tooltray.ui.kit.page_context import PageContext
    from tooltray.ui.link.qt_mcp_presenter import QtMcpPresenter
    from tooltray.ui.widgets.button import SteadyButton


class View:
    """A mixin of widgets that await verbs.

    Attributes:
        context: what the window lends to its views; set in the constructor.
    """

    context: "PageContext"

    @property
    def hub(self) -> "QtMcpPresenter":
        """The API: `self.hub.servers.stop_server(name)`."""
        return self.context.hub

    def show_problem(self, problem: Problem | None) -> None:
        """Shows why an action or a read of this view failed; None: it works now. Unless overridden, the window shows it."""
        self.context.show_problem(problem)

    def run(
        self,
        work: Coroutine[object, object, object],
        *,
        then: Work | None = None,
        toast: str = "",
        undo: Work | None = None,
        show: Show | None = None,
        button: "SteadyButton | None" = None,
    ) -> None:
        """Awaits `work` in the background. It also ends after the view is closed; the window shows a failure then.

        Args:
            then: awaited afterwards, also after a failure and after `undo`, so that controls show what is true: mostly a read.
            toast: shown after success.
            undo: undoes the work; its button is in the toast.
            show: gets the failure, or None after success; by default `show_problem`.
            button: is busy meanwhile.
        """
        show = show or self.show_problem
        undone = (lambda: self._carry_out(undo(), then, None, show)) if undo is not None else None
        task = self.context.tasks.spawn(
            self._carry_out(work, then, partial(self._tell_done, toast, undone), show), name=type(self).__name__
        )
        task.add_done_callback(lambda _: work.close())  # a task that is cancelled before it began has never awaited it
        if button is not None:
            button.set_busy(True)
            task.add_done_callback(lambda _: button.set_busy(False) if isValid(button) else None)

    def reading(self, read: Work) -> Callable[[], None]:
        """Returns a function that requests a read: one runs at a time, and once more if another was requested meanwhile.

        Keep it in an attribute: a signal that it is connected to does not keep it alive.
        """
        return CoalescedRead(read, tasks=self.context.tasks, name=type(self).__name__, show=self.show_problem).ask

    async def _carry_out(
        self, work: Coroutine[object, object, object], then: Work | None, succeeded: Callable[[], None] | None, show: Show
    ) -> None:
        problem = await self._failure_of(work)
        if problem is None and succeeded is not None:
            succeeded()
        if then is not None and self.is_there:
            later = await self._failure_of(then())
            problem = problem or later
        if self.is_there:
            show(problem)
        elif self.context.is_there:
            self.context.show_problem(problem)

    async def _failure_of(self, work: Coroutine[object, object, object]) -> Problem | None:
        try:
            return await failure_of(work)
        except RuntimeError:  # about a widget that was deleted meanwhile: there is nothing to be drawn any more
            if self.is_there:
                raise
        return None

    def _tell_done(self, toast: str, undo: Work | None) -> None:
        if not self.context.is_there:
            return
        if undo is not None:
            self.context.offer_undo(toast, undo)
        elif toast:
            self.context.say(toast)

    @property
    def is_there(self) -> bool:
        """Whether the view was not deleted yet."""
        return not isinstance(self, QObject) or isValid(self)
