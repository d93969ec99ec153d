"""moments.py"""

import pytest

from tooltray.foundation.moments import JUMP_S, Moment, SteadyWallClock, day_of, days_kept


class Clocks:
    """A clock that somebody may set, and one that nobody can."""

    def __init__(self) -> None:
        self.wall_s, self.steady_s = 1_000_000.0, 50.0

    def moment(self, at: float | None = None) -> Moment:
        return Moment(at, wall=lambda: self.wall_s, steady=lambda: self.steady_s)

    def go_on(self, seconds: float) -> None:
        self.wall_s, self.steady_s = self.wall_s + seconds, self.steady_s + seconds


def test_a_jump_of_the_clock_is_no_time_that_has_passed() -> None:
    clocks = Clocks()
    moment = clocks.moment()
    clocks.go_on(60.0)
    assert (moment.elapsed_s, moment.unix) == (60.0, 1_000_000.0)
    clocks.wall_s += 3e8
    assert (moment.elapsed_s, clocks.wall_s - moment.unix) == (60.0, 60.0)
    clocks.wall_s -= 6e8
    clocks.go_on(1.0)
    assert (moment.elapsed_s, clocks.wall_s - moment.unix) == (61.0, 61.0)


def test_a_clock_that_is_put_right_by_a_little_leaves_a_moment_where_it_was() -> None:
    clocks = Clocks()
    moment = clocks.moment()
    clocks.go_on(10.0)
    clocks.wall_s += JUMP_S - 1
    assert moment.unix == 1_000_000.0


def test_a_moment_of_before_is_told_by_the_clock_of_now() -> None:
    clocks = Clocks()
    moment = clocks.moment(at=999_990.0)
    assert (moment.elapsed_s, moment.unix) == (10.0, 999_990.0)


def test_how_long_it_is_until_a_moment_is_no_matter_of_what_the_clock_is_set_to() -> None:
    clocks = Clocks()
    moment = clocks.moment(at=1_000_060.0)
    clocks.wall_s += 3e8
    clocks.go_on(20.0)
    assert (moment.left_s, moment.unix - clocks.wall_s) == (40.0, 40.0)
    clocks.go_on(50.0)
    assert moment.left_s == 0.0


def test_no_moment_is_in_the_future_and_the_systems_clocks_are_used() -> None:
    assert Clocks().moment(at=2_000_000.0).elapsed_s == 0.0
    assert 0.0 <= Moment().elapsed_s < 60.0


def test_what_expires_does_not_last_longer_because_the_clock_is_put_back() -> None:
    clocks = Clocks()
    clock = SteadyWallClock(wall=lambda: clocks.wall_s, steady=lambda: clocks.steady_s)
    clocks.go_on(5.0)
    assert clock() == 1_000_005.0
    clocks.wall_s -= 500_000.0
    clocks.go_on(60.0)
    assert clock() == 1_000_065.0
    clocks.wall_s += 1_000_000.0
    assert clock() == clocks.wall_s
    assert SteadyWallClock()() > 1e9


@pytest.mark.parametrize(
    ("days", "today", "kept"),
    [
        ("", "j", "j"),
        ("ihg", "j", "jih"),
        ("cba", "z", "zcb"),
        ("zih", "j", "jih"),
        ("zyi", "j", "jiz"),
    ],
)
def test_the_last_days_that_there_were_are_kept_and_those_to_come_are_the_oldest(days: str, today: str, kept: str) -> None:
    assert days_kept(days, today, 3) == set(kept)


def test_a_day_is_told_of_any_time() -> None:
    assert [day_of(each) for each in (0.0, 1_800_000_000.0, -1e300, 1e300)] == ["1970-01-01", "2027-01-15", "1970-01-01", "5138-11-16"]
