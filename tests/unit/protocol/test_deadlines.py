"""Deadlines: never early, at most one tick late, and nothing left of those that were not needed."""

import asyncio
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fakes.fake_clock import in_fake_time
from tests.fakes.heard import Record

from tooltray.protocol.deadlines import TICK_S, Deadline, DeadlineWheel

ROUNDING_S = 1e-6


def now() -> float:
    return asyncio.get_running_loop().time()


@settings(max_examples=15)
@given(st.lists(st.floats(0, 700), min_size=1, max_size=12))
@in_fake_time
async def test_each_deadline_comes_once_never_early_and_at_most_a_tick_late(waits: list[float]) -> None:
    wheel, begun, late = DeadlineWheel(), now(), {}
    done = asyncio.Event()

    def expired(place: int) -> None:
        assert place not in late
        late[place] = now() - begun - waits[place]
        if len(late) == len(waits):
            done.set()

    for place, seconds in enumerate(waits):
        wheel.add(seconds, partial(expired, place))
    await done.wait()
    assert all(-ROUNDING_S <= each <= TICK_S + ROUNDING_S for each in late.values()), late
    assert len(wheel) == 0


@in_fake_time
async def test_progress_moves_a_deadline() -> None:
    wheel, begun, expired = DeadlineWheel(), now(), asyncio.Event()
    deadline = wheel.add(10, expired.set)
    for _ in range(5):
        await asyncio.sleep(8)
        deadline.restart()
    await expired.wait()
    assert 50 - ROUNDING_S <= now() - begun <= 50 + 2 * TICK_S


@in_fake_time
async def test_a_cancelled_deadline_never_comes_and_leaves_nothing_behind() -> None:
    wheel, expired = DeadlineWheel(), []
    deadlines = [wheel.add(seconds, partial(expired.append, seconds)) for seconds in (1, 1, 2)]
    assert len(wheel) == 3
    deadlines[0].cancel()
    deadlines[2].cancel()
    deadlines[2].cancel()
    assert len(wheel) == 1
    await asyncio.sleep(5)
    assert expired == [1]
    assert len(wheel) == 0


@in_fake_time
async def test_what_happens_at_a_deadline_may_cancel_and_add_others() -> None:
    wheel, happened, second = DeadlineWheel(), [], asyncio.Event()
    deadlines: list[Deadline] = []

    def first_of_two() -> None:
        happened.append("one of two")
        for deadline in deadlines:
            deadline.cancel()
        wheel.add(3, second.set)

    deadlines += [wheel.add(1, first_of_two), wheel.add(1, first_of_two)]
    await second.wait()
    assert happened == ["one of two"]


@pytest.mark.expected_warnings("the callback of a deadline failed")
@in_fake_time
async def test_a_failure_at_one_deadline_does_not_touch_the_others() -> None:
    wheel, later = DeadlineWheel(), asyncio.Event()
    reached: Record[str] = Record()

    def fail(name: str) -> None:
        reached.add(name)
        raise RuntimeError("a bug")

    wheel.add(1, partial(fail, "a"))
    wheel.add(1, partial(fail, "b"))
    wheel.add(2, later.set)
    await later.wait()
    assert sorted(reached.all) == ["a", "b"]


@in_fake_time
async def test_the_timer_rests_when_nothing_waits_and_runs_again_for_the_next() -> None:
    wheel, expired = DeadlineWheel(), asyncio.Event()
    wheel.add(1, lambda: None).cancel()
    await asyncio.sleep(100)
    wheel.add(1, expired.set)
    await expired.wait()
