"""What the commands of a page have in common: each is carried out in the background, and what fails is shown where a person looks.

Above it: the commands of one page each. Below it: the task keeper. Knows no widget and no verb.
"""

from collections.abc import Callable, Coroutine
from typing import Any

from PySide6.QtCore import QObject, Signal

from tooltray.errors import TooltrayError
from tooltray.tasks import TaskKeeper


class PageCommands(QObject):
    """The base of a page's commands."""

    failed = Signal(object)  # Problem, or None once it is over: for the page

    def __init__(self, *, name: str, tasks: TaskKeeper) -> None:
        """
        Args:
            name: of the page, in the names of tasks.
        """
        super().__init__()
        self._name, self._tasks = name, tasks

    def _do(self, verb: Callable[..., Coroutine[Any, Any, None]], *arguments: object, told: Any = None) -> None:
        """Begins to carry out a command; does not wait.

        Args:
            told: the signal that carries its Problem if it fails; None: `failed`, which then also says that it did not.
        """
        self._tasks.spawn(self._reported(verb, arguments, told), name=f"{self._name}: {verb.__name__}")

    async def _reported(self, verb: Callable[..., Coroutine[Any, Any, None]], arguments: tuple[object, ...], told: Any) -> None:
        try:
            await verb(*arguments)
        except TooltrayError as error:
            (told or self.failed).emit(error.problem)
        else:
            if told is None:
                self.failed.emit(None)
