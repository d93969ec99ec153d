"""upstream/usage.py"""

from tests.fakes.set_clock import SetClock

from tooltray.upstream.usage import Usage


def test_what_nobody_has_used_yet_is_idle_since_it_is_there() -> None:
    clock = SetClock(100.0)
    usage = Usage(clock)
    clock.now = 103.0
    assert usage.idle_s == 3.0


def test_it_is_idle_since_the_last_of_all_uses_has_ended() -> None:
    clock = SetClock(100.0)
    usage = Usage(clock)
    usage.begin()
    usage.begin()
    clock.now = 110.0
    assert usage.idle_s == 0.0
    usage.end()
    clock.now = 120.0
    assert usage.idle_s == 0.0
    usage.end()
    clock.now = 127.0
    assert usage.idle_s == 7.0


def test_a_use_of_one_moment_counts_from_that_moment() -> None:
    clock = SetClock(100.0)
    usage = Usage(clock)
    clock.now = 150.0
    usage.note()
    clock.now = 151.0
    assert usage.idle_s == 1.0


def test_without_a_clock_of_a_test_time_passes_by_itself() -> None:
    usage = Usage()
    usage.note()
    assert usage.idle_s >= 0.0
