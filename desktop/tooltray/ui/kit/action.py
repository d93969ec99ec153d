"""Actions of the user that run in the background, each written as one coroutine; a failure is shown where its cause is. Knows no widget and
no verb."""

import functools
from collections.abc import Callable, Coroutine
from typing import Concatenate, ParamSpec, TypeVar

from PySide6.QtCore import QObject, Signal
from shiboken6 import isValid

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.tasks import TaskKeeper
from tooltray.ui.link.qt_mcp_presenter import QtMcpPresenter


class Commands(QObject):
    """The base of a page's commands; its actions are methods under `@action()`.

    Args:
        parent: the page or window whose end also ends the commands; else they would carry out again what the next window's user asks for.
            None: a view that no signal of its window reaches; its actions continue after it closes.
    """

    failed = Signal(object)  # Problem, or None once it is over: for the page
    refused = Signal(object)  # Problem: for the sheet that is open
    done = Signal(str)  # what was done, for a toast

    def __init__(self, *, hub: QtMcpPresenter, tasks: TaskKeeper, parent: QObject | None) -> None:
        super().__init__(parent)
        self._hub, self.tasks = hub, tasks


C = TypeVar("C", bound=Commands)
P = ParamSpec("P")
Work = Callable[[], Coroutine[object, object, object]]
Place = Callable[..., None]
"""Shows a Problem, or with None that it is over; called with the commands, the problem, and the action's own arguments."""


def at_page(commands: Commands, problem: Problem | None, *_arguments: object) -> None:
    """Shows an error on the page until the next success."""
    commands.failed.emit(problem)


def at_sheet(commands: Commands, problem: Problem | None, *_arguments: object) -> None:
    """Shows an error in the open sheet, which hides it later."""
    if problem is not None:
        commands.refused.emit(problem)


def as_notice(commands: Commands, problem: Problem | None, *_arguments: object) -> None:
    """Shows an error above the pages, until the user dismisses it."""
    if problem is not None:
        commands.failed.emit(problem)


def action(
    shown_at: Place = at_page, *, clears: bool = True
) -> Callable[[Callable[Concatenate[C, P], Coroutine[object, object, None]]], Callable[Concatenate[C, P], None]]:
    """Makes a method that begins the work of a coroutine and does not wait for it.

    Args:
        shown_at: where a failure is shown.
        clears: success hides an earlier action's failure there.
    """

    def decorated(work: Callable[Concatenate[C, P], Coroutine[object, object, None]]) -> Callable[Concatenate[C, P], None]:
        @functools.wraps(work)
        def begin(self: C, /, *args: P.args, **kwargs: P.kwargs) -> None:
            show = functools.partial(_show, shown_at, self, args)
            running = functools.partial(while_valid, self, functools.partial(work, self, *args, **kwargs))
            run_action(self.tasks, running, show, name=work.__qualname__, clears=clears)

        return begin

    return decorated


def run_action(
    tasks: TaskKeeper,
    work: Work,
    show: Callable[[Problem | None], object],
    *,
    name: str,
    clears: bool = True,
) -> None:
    """Begins the work of a coroutine, for views without commands of their own.

    Args:
        show: gets the Problem if it fails, and None if it works and `clears`.
    """
    tasks.spawn(_reported(work, show, clears), name=name)


async def while_valid(owner: object, work: Work) -> None:
    """Does the work of a QObject, and ends silently if the object is deleted meanwhile: then nothing can show the result."""
    try:
        await work()
    except RuntimeError:
        if not isinstance(owner, QObject) or isValid(owner):
            raise


def _show(place: Place, commands: Commands, arguments: tuple[object, ...], problem: Problem | None) -> None:
    if isValid(commands):
        place(commands, problem, *arguments)


async def _reported(work: Work, show: Callable[[Problem | None], object], clears: bool) -> None:
    try:
        await work()
    except TooltrayError as error:
        show(error.problem)
    else:
        if clears:
            show(None)


class CoalescedRead:
    """A read that runs once at a time, and once more if it was requested meanwhile, since its data may have changed.

    Args:
        show: gets the Problem of a failed read, and None after a later success; None: `read` handles failures itself.
    """

    def __init__(
        self,
        read: Work,
        *,
        tasks: TaskKeeper,
        name: str,
        show: Callable[[Problem | None], object] | None = None,
    ) -> None:
        self._read, self._tasks, self._name, self._show = read, tasks, name, show
        self._is_reading = self._has_to_read = self._has_failed = False

    def ask(self) -> None:
        """Requests a read; does not wait."""
        self._has_to_read = True
        if not self._is_reading:
            self._is_reading = True
            self._tasks.spawn(self._run(), name=self._name)

    async def _run(self) -> None:
        await while_valid(getattr(self._read, "__self__", None), self._read_while_asked)

    async def _read_while_asked(self) -> None:
        try:
            while self._has_to_read:
                self._has_to_read = False
                await self._read_once()
        finally:
            self._is_reading = False

    async def _read_once(self) -> None:
        try:
            await self._read()
        except TooltrayError as error:
            self._has_failed = True
            self._tell(error.problem)
        else:
            if self._has_failed:
                self._has_failed = False
                self._tell(None)

    def _tell(self, problem: Problem | None) -> None:
        if self._show is not None:
            self._show(problem)
