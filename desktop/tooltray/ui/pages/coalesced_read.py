"""Reads that are asked for faster than they are answered: a hundred requests in a row are two reads, not a hundred."""

from collections.abc import Callable, Coroutine
from typing import Any

from tooltray.errors import Problem, TooltrayError
from tooltray.tasks import TaskKeeper


class CoalescedRead:
    """Runs `read` once at a time, and once more if it was asked for meanwhile, since what it reads may have changed.

    Args:
        show: gets the Problem of a read that failed, and None once a later one has worked; None: `read` deals with failures itself.
    """

    def __init__(
        self,
        read: Callable[[], Coroutine[Any, Any, None]],
        *,
        tasks: TaskKeeper,
        name: str,
        show: Callable[[Problem | None], object] | None = None,
    ) -> None:
        self._read, self._tasks, self._name, self._show = read, tasks, name, show
        self._is_reading = self._has_to_read = self._has_failed = False

    def ask(self) -> None:
        """Asks for a read; does not wait."""
        self._has_to_read = True
        if not self._is_reading:
            self._is_reading = True
            self._tasks.spawn(self._run(), name=self._name)

    async def _run(self) -> None:
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
