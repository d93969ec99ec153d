"""Work in the background: a read that coalesces requests, the work of windows without a page, and timers. Knows no widget and no verb."""

from collections.abc import Callable, Coroutine

from PySide6.QtCore import QObject, QTimer
from shiboken6 import isValid

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.tasks import TaskKeeper

Work = Callable[[], Coroutine[object, object, object]]

Show = Callable[[Problem | None], object]
"""Shows why something failed; None: it works now."""


def run_action(tasks: TaskKeeper, work: Work, show: Show, *, name: str) -> None:
    """Begins work for windows that are no `View`. `show`: gets the Problem if it fails, and None if it works."""

    async def reported() -> None:
        show(await failure_of(work()))

    tasks.spawn(reported(), name=name)


async def failure_of(work: Coroutine[object, object, object]) -> Problem | None:
    """Awaits work, and returns why it failed; None if it works."""
    try:
        await work
    except TooltrayError as error:
        return error.problem
    return None


def timer(parent: QObject, interval_ms: int, slot: Callable[[], object] | None = None, *, repeats: bool = False) -> QTimer:
    """Makes a timer, which the caller starts."""
    result = QTimer(parent, singleShot=not repeats, interval=interval_ms)
    if slot is not None:
        result.timeout.connect(slot)
    return result


async def while_valid(owner: object, work: Work) -> None:
    """Does the work of a QObject, and ends silently if the object is deleted meanwhile: then nothing can show the result."""
    try:
        await work()
    except RuntimeError:
        if not isinstance(owner, QObject) or isValid(owner):
            raise


class CoalescedRead:
    """A read that runs once at a time, and once more if it was requested meanwhile, since its data may have changed.

    Args:
        show: gets the Problem of a failed read, and None after a later success; None: `read` handles failures itself.
    """

    def __init__(self, read: Work, *, tasks: TaskKeeper, name: str, show: Show | None = None) -> None:
        self._read, self._tasks, self._name, self._show = read, tasks, name, show
        self._is_reading = self._has_to_read = self._has_failed = False

    def ask(self) -> None:
        """Requests a read; does not wait."""
        self._has_to_read = True
        if not self._is_reading:
            self._is_reading = True
            self._tasks.spawn(while_valid(getattr(self._read, "__self__", None), self._read_while_asked), name=self._name)

    async def _read_while_asked(self) -> None:
        try:
            while self._has_to_read:
                self._has_to_read = False
                had_failed, problem = self._has_failed, await failure_of(self._read())
                self._has_failed = problem is not None
                if self._show is not None and (self._has_failed or had_failed):
                    self._show(problem)
        finally:
            self._is_reading = False
