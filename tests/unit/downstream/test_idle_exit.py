"""downstream/idle_exit.py"""

import asyncio

from tests.fakes.fake_clock import in_fake_time

from tooltray.downstream.idle_exit import IdleExit

AFTER_S = 60.0


class Ended:
    """Notes when the hub was told to end."""

    def __init__(self) -> None:
        self.at: list[float] = []

    def __call__(self) -> None:
        self.at.append(asyncio.get_running_loop().time())


@in_fake_time
async def test_a_hub_that_nobody_comes_to_ends() -> None:
    ended, began = Ended(), asyncio.get_running_loop().time()
    IdleExit(after_s=AFTER_S, end=ended).count(0)
    await asyncio.sleep(AFTER_S * 3)
    assert ended.at == [began + AFTER_S]


@in_fake_time
async def test_the_time_begins_anew_when_the_last_one_has_left() -> None:
    ended, began = Ended(), asyncio.get_running_loop().time()
    idle = IdleExit(after_s=AFTER_S, end=ended)
    idle.count(0)
    await asyncio.sleep(AFTER_S / 2)
    for sessions in (1, 2, 1):
        idle.count(sessions)
    await asyncio.sleep(AFTER_S * 2)
    assert ended.at == []
    idle.count(0)
    await asyncio.sleep(AFTER_S * 2)
    assert ended.at == [began + AFTER_S * 3.5]


@in_fake_time
async def test_a_hub_that_stays_or_ends_anyway_is_not_told() -> None:
    ended = Ended()
    IdleExit(after_s=None, end=ended).count(0)
    closed = IdleExit(after_s=AFTER_S, end=ended)
    closed.count(0)
    closed.close()
    closed.count(0)
    await asyncio.sleep(AFTER_S * 2)
    assert ended.at == []
