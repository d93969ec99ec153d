"""The one way to run a task: its reference is kept, and its failure is logged."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from functools import partial
from typing import ParamSpec, Protocol, TypeVar

from tooltray.foundation.confirm_widening import background_context

logger = logging.getLogger(__name__)
P = ParamSpec("P")
T = TypeVar("T")
U = TypeVar("U")


class TaskKeeper:
    """The tasks of one part of the program, which end together. Belongs to one event loop."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[object]] = set()

    def spawn(self, work: Coroutine[object, None, T], *, name: str) -> asyncio.Task[T]:
        """Starts a background task and keeps a reference to it; asyncio keeps only a weak one, and a collected task just stops.

        The task may outlive the request that starts it, so it does not act for the asker of that request.
        """
        task = asyncio.get_running_loop().create_task(work, name=name, context=background_context())
        self._tasks.add(task)
        task.add_done_callback(self._on_done)
        return task

    def __len__(self) -> int:
        return len(self._tasks)

    async def close(self) -> None:
        """Cancels all tasks and waits until they have ended."""
        current = asyncio.current_task()
        while tasks := [task for task in self._tasks if task is not current]:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)  # not gather: of tasks that have ended already it returns before their callbacks ran, for ever

    def _on_done(self, task: asyncio.Task[object]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            logger.error("task %r failed", task.get_name(), exc_info=error)


class Spawn(Protocol):
    def __call__(self, work: Coroutine[object, None, T], /, *, name: str) -> asyncio.Task[T]: ...


async def end_in_turn(*steps: Callable[[], Awaitable[None]]) -> None:
    """Ends parts of the program one after the other; an error in one does not keep the next ones alive."""
    for step in steps:
        try:
            await step()
        except Exception:
            logger.exception("a part of Tooltray did not end cleanly: %r", step)


SLICE = 250  # items of a long list that are dealt with in one turn of the loop: 1 to 3 ms, at 5 to 10 us each


async def in_slices(work: Callable[[T], U], items: Iterable[T]) -> list[U]:
    """Returns the result of `work` for each item; gives other tasks a turn of the loop after each SLICE of them."""
    made: list[U] = []
    for item in items:
        made.append(work(item))
        if len(made) % SLICE == 0:
            await asyncio.sleep(0)
    return made


async def finish(work: Coroutine[object, None, T]) -> T:
    """Runs work that must not be left half done in its own task; a caller that is cancelled meanwhile waits until it has ended."""
    return await _to_its_end(asyncio.get_running_loop().create_task(work))


async def finish_in_thread(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Runs blocking work in a thread, and waits until it has ended, also if the caller is cancelled meanwhile.

    `asyncio.to_thread` would stop waiting: the thread could then write to a home that is the next hub's already, and work that had not
    begun would never run.
    """
    return await _to_its_end(asyncio.get_running_loop().run_in_executor(None, partial(work, *args, **kwargs)))


async def _to_its_end(ending: asyncio.Future[T]) -> T:
    try:
        return await asyncio.shield(ending)
    except asyncio.CancelledError:
        await asyncio.wait({ending})
        if not ending.cancelled() and (error := ending.exception()):
            logger.error("a task that had to be finished failed", exc_info=error)
        raise
