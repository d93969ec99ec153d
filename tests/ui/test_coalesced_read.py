"""What is asked for in a burst is read once, and once more if it was asked for while it was being read."""

import asyncio

from tests.fakes.desk import until

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.tasks import TaskKeeper
from tooltray.ui.kit.background import CoalescedRead


class Source:
    """Answers a read when the test lets it."""

    def __init__(self) -> None:
        self.reads = 0
        self.may_answer = asyncio.Event()
        self.failure: TooltrayError | None = None

    async def read(self) -> None:
        self.reads += 1
        await self.may_answer.wait()
        if self.failure is not None:
            raise self.failure


async def test_a_burst_is_one_read_and_what_comes_meanwhile_is_one_more() -> None:
    source, tasks = Source(), TaskKeeper()
    read = CoalescedRead(source.read, tasks=tasks, name="test")
    for _ in range(50):
        read.ask()
    await until(lambda: source.reads == 1)
    for _ in range(50):
        read.ask()
    source.may_answer.set()
    await until(lambda: not len(tasks))
    assert source.reads == 2


async def test_a_failure_is_shown_and_the_next_success_takes_it_away_once() -> None:
    source, tasks = Source(), TaskKeeper()
    shown: list[Problem | None] = []
    read = CoalescedRead(source.read, tasks=tasks, name="test", show=shown.append)
    source.may_answer.set()
    source.failure = TooltrayError("it cannot be read")
    for _ in range(3):
        read.ask()
        await until(lambda: not len(tasks))
        source.failure = None
    assert shown == [Problem("it cannot be read"), None]
