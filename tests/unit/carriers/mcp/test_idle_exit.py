"""idle_exit.py"""

import asyncio

from tests.fakes.fake_clock import in_fake_time

from tooltray.carriers.mcp.idle_exit import IdleExit
from tooltray.foundation.events import EventBus, SessionsChanged

AFTER_S = 60.0


class Ended:
    """Notes when the hub was told to end."""

    def __init__(self) -> None:
        self.at: list[float] = []

    def __call__(self) -> None:
        self.at.append(asyncio.get_running_loop().time())


def idle_exit(after_s: float | None, ended: Ended) -> tuple[IdleExit, EventBus]:
    bus = EventBus()
    exit = IdleExit(after_s=after_s, end=ended, bus=bus)
    exit.start()
    return exit, bus


@in_fake_time
async def test_a_hub_that_nobody_comes_to_ends() -> None:
    ended, began = Ended(), asyncio.get_running_loop().time()
    idle_exit(AFTER_S, ended)
    await asyncio.sleep(AFTER_S * 3)
    assert ended.at == [began + AFTER_S]


@in_fake_time
async def test_the_time_begins_anew_when_the_last_one_has_left() -> None:
    ended, began = Ended(), asyncio.get_running_loop().time()
    _, bus = idle_exit(AFTER_S, ended)
    await asyncio.sleep(AFTER_S / 2)
    for sessions in (1, 2, 1):
        bus.publish(SessionsChanged(sessions))
    await asyncio.sleep(AFTER_S * 2)
    assert ended.at == []
    bus.publish(SessionsChanged(0))
    await asyncio.sleep(AFTER_S * 2)
    assert ended.at == [began + AFTER_S * 3.5]


@in_fake_time
async def test_a_hub_that_stays_or_ends_anyway_is_not_told() -> None:
    ended = Ended()
    idle_exit(None, ended)
    closed, bus = idle_exit(AFTER_S, ended)
    closed.close()
    bus.publish(SessionsChanged(0))
    await asyncio.sleep(AFTER_S * 2)
    assert ended.at == []
