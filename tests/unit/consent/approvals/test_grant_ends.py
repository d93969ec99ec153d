"""grant_ends.py: a yes for a time ends by the clock, and the pages hear of it once."""

import asyncio
from pathlib import Path

import pytest
from tests.fakes.approval_desk import desk
from tests.fakes.fake_clock import in_fake_time
from tests.fakes.set_clock import SetClock

from tooltray.consent.approvals.grant_ends import CHECK_EVERY_S, DAY_S, HOUR_S, SETTLE_S, GrantEnds
from tooltray.foundation.events import EventBus, GrantsChanged


class Book:
    """Grants that end at these times, by the loop's clock, or by one of its own."""

    def __init__(self, *ends: float, clock: SetClock | None = None) -> None:
        self.ends, self._clock = ends, clock

    def now(self) -> float:
        return self._clock() if self._clock else asyncio.get_running_loop().time()

    @property
    def next_end(self) -> float:
        return min((end for end in self.ends if end > self.now()), default=0.0)


def ended(bus: EventBus) -> list[float]:
    """When ends were told, in seconds since the fake clock began."""
    told: list[float] = []
    bus.subscribe(GrantsChanged, lambda event: told.append(asyncio.get_running_loop().time() - 1000.0))
    return told


@pytest.mark.parametrize(("answer", "lasts_s"), [("hour", HOUR_S), ("day", DAY_S)])
async def test_a_yes_for_a_time_is_for_this_tool_and_client_and_ends_by_itself(tmp_path: Path, answer: str, lasts_s: float) -> None:
    async with desk(tmp_path) as here:
        await here.allow(answer=answer)
        [grant] = await here.parts.presenter.get_grants()
        assert (grant.kind, grant.tool, grant.client, grant.expires_at - grant.created_at) == ("tool", "write_it", "Cursor", lasts_s)
        assert "result" in await here.call(arguments={"other": 1})


@in_fake_time
async def test_ends_are_told_when_they_come_a_hundred_at_once_as_one() -> None:
    bus = EventBus()
    told = ended(bus)
    GrantEnds(live_grants=Book(1000.2, *(1100.0 + n / 1000 for n in range(100)), 1100.7), bus=bus)
    await asyncio.sleep(200.0)
    assert [round(at, 1) for at in told] == [0.7, 100.5, 101.2]


@in_fake_time
async def test_nothing_wakes_the_hub_while_nothing_ends() -> None:
    bus, loop = EventBus(), asyncio.get_running_loop()
    wakes: list[float] = []

    class Watched(Book):
        def now(self) -> float:
            wakes.append(loop.time())
            return super().now()

    GrantEnds(live_grants=Watched(), bus=bus)
    wakes.clear()
    await asyncio.sleep(10 * CHECK_EVERY_S)
    assert wakes == []


@in_fake_time
async def test_an_end_that_passed_while_the_computer_slept_is_told_soon_after() -> None:
    bus, clock = EventBus(), SetClock(1000.0)
    told = ended(bus)
    GrantEnds(live_grants=Book(1000.0 + HOUR_S, clock=clock), bus=bus)
    await asyncio.sleep(1.0)
    clock.now += 2 * HOUR_S  # the loop's timers stood still
    await asyncio.sleep(2 * CHECK_EVERY_S)
    assert told == [CHECK_EVERY_S]


@in_fake_time
async def test_a_grant_that_ends_sooner_than_all_others_is_waited_for_from_then_on() -> None:
    bus = EventBus()
    told = ended(bus)
    book = Book(1000.0 + HOUR_S)
    GrantEnds(live_grants=book, bus=bus)
    book.ends = (*book.ends, 1004.0)
    bus.publish(GrantsChanged())
    await asyncio.sleep(10.0)
    assert told == [0.0, 4.0 + SETTLE_S]
