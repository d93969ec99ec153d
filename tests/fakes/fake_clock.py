"""An event loop whose clock jumps to the next timer instead of waiting for it: seconds pass in no time, as many as were asked for.

For what runs in one thread and waits for nothing outside; while a thread works or a process runs, time would rush past it.
"""

import asyncio
import functools
import selectors
from collections.abc import Callable, Coroutine
from typing import Any

BOUND_S = 1000.0  # of the clock that jumps; a test that has nothing left to do but wait comes to its end at once


class _JumpingSelector(selectors.DefaultSelector):
    now = 0.0

    def select(self, timeout: float | None = None) -> Any:
        ready = super().select(0)
        if not ready and timeout is not None:
            self.now += max(0.0, timeout)
            return ready
        return ready or super().select(timeout)


class JumpingLoop(asyncio.SelectorEventLoop):
    """`time()` begins at 1,000 s."""

    def __init__(self) -> None:
        self._jumping = _JumpingSelector()
        super().__init__(self._jumping)

    def time(self) -> float:
        return 1000.0 + self._jumping.now


def in_fake_time(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Runs an async test in such a loop; fails if it hangs or leaves a task."""

    @functools.wraps(test)
    def run(*args: Any, **kwargs: Any) -> None:
        async def bounded() -> None:
            async with asyncio.timeout(BOUND_S):
                await test(*args, **kwargs)
            left = asyncio.all_tasks() - {asyncio.current_task()}
            if left:
                await asyncio.wait(left, timeout=1.0)
            left = asyncio.all_tasks() - {asyncio.current_task()}
            assert not left, left

        with asyncio.Runner(loop_factory=JumpingLoop) as runner:
            runner.run(bounded())

    return run
