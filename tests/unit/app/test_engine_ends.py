"""engine.py: the ends of a hub that nobody uses, and of one whose program was replaced."""

import asyncio
from collections.abc import Sequence
from typing import NamedTuple

import msgspec
import pytest
from tests.fakes.fake_clock import in_fake_time

from tooltray.app import engine
from tooltray.app.engine import IdleExit, until_replaced
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


class Looks(msgspec.Struct):
    """What a hub is at each look, the last one from then on."""

    looks: Sequence["Look"]
    number: int = 0

    @property
    def now(self) -> "Look":
        return self.looks[min(self.number, len(self.looks) - 1)]

    async def pause(self, _: float) -> None:
        self.number += 1


class Look(NamedTuple):
    answered: int
    is_busy: bool = False
    may_end: bool = True
    is_replaced: bool = True


async def ended_after(monkeypatch: pytest.MonkeyPatch, *looks: Look) -> int:
    """The number of the look after which it has ended."""
    hub = Looks(looks)
    monkeypatch.setattr(engine.asyncio, "sleep", hub.pause)
    await until_replaced(
        is_replaced=lambda: hub.now.is_replaced,
        may_end=lambda: hub.now.may_end,
        is_busy=lambda: hub.now.is_busy,
        count=lambda: hub.now.answered,
    )
    return hub.number


async def test_a_hub_whose_program_is_replaced_ends_in_a_quiet_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    assert await ended_after(monkeypatch, Look(0, is_replaced=False), Look(0)) == 1


async def test_it_goes_on_while_it_is_used_or_its_window_is_open_or_nothing_was_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = (Look(0), Look(5), Look(5, is_busy=True), Look(5, may_end=False), Look(5, is_replaced=False), Look(5))
    assert await ended_after(monkeypatch, *looks) == 5
