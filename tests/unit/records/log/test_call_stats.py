"""call_stats.py"""

import time
from collections.abc import Iterator

import pytest
from tests.fakes.exchanges import exchange_of
from tests.fakes.hub_parts import Client

from tooltray.foundation.snapshots.clients import SessionProject
from tooltray.protocol.envelope import Envelope, dump
from tooltray.records.log.call_stats import DURATIONS_KEPT, HOURS_SHOWN, CallStats, CallsUnderWay, day_start

pytestmark = pytest.mark.posix  # time zones go by TZ

HOUR_S = 3600.0
NOW = 1_800_000_000.0  # a full hour in UTC


@pytest.fixture(autouse=True)
def in_taipei(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Asia/Taipei")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def stats() -> CallStats:
    return CallStats()


def test_a_server_never_called_has_no_counts(stats: CallStats) -> None:
    assert stats.hours("fs", NOW) == (0,) * HOURS_SHOWN
    assert stats.today("fs", NOW) == 0
    assert stats.percentile_ms("fs", 0.95) == 0.0


def test_calls_are_counted_per_hour_with_the_current_one_last(stats: CallStats) -> None:
    for ago_s in (0.0, 1.0, HOUR_S, 15 * HOUR_S, 16 * HOUR_S, 100 * HOUR_S):
        stats.add("fs", 0.1, NOW + 10 - ago_s)
    stats.add("other", 0.1, NOW)
    assert stats.hours("fs", NOW + 10) == (1, *(0,) * 13, 1, 2)
    assert stats.hours("fs", NOW + 10 + HOUR_S) == (*(0,) * 13, 1, 2, 0)


def test_a_call_that_waited_for_a_person_counts_and_says_nothing_of_the_server(stats: CallStats) -> None:
    stats.add("hub", None, NOW)
    assert (stats.today("hub", NOW), sum(stats.hours("hub", NOW)), stats.percentile_ms("hub", 0.95)) == (1, 1, 0.0)
    stats.add("hub", 0.25, NOW)
    stats.add("hub", None, NOW)
    assert (stats.today("hub", NOW), stats.percentile_ms("hub", 0.95)) == (3, 250.0)


def test_hours_pass_without_calls(stats: CallStats) -> None:
    stats.add("fs", 0.1, NOW)
    assert stats.hours("fs", NOW + 15 * HOUR_S) == (1, *(0,) * 15)
    assert stats.hours("fs", NOW + 16 * HOUR_S) == (0,) * 16
    stats.add("fs", 0.1, NOW + 1000 * HOUR_S)
    assert sum(stats.hours("fs", NOW + 1000 * HOUR_S)) == 1


def test_today_begins_at_midnight_where_the_person_lives(stats: CallStats) -> None:
    midnight = NOW + 8 * HOUR_S  # 1_800_000_000 is 16:00 in Taipei
    stats.add("fs", 0.1, midnight - 1)
    assert stats.today("fs", midnight - 1) == 1
    assert stats.today("fs", midnight) == 0
    stats.add("fs", 0.1, midnight)
    stats.add("fs", 0.1, midnight + 23 * HOUR_S)
    assert stats.today("fs", midnight + 23 * HOUR_S) == 2
    assert stats.today("fs", midnight + 24 * HOUR_S) == 0


def test_95_of_100_calls_take_at_most_this_long(stats: CallStats) -> None:
    for milliseconds in range(100, 0, -1):
        stats.add("fs", milliseconds / 1000, NOW)
    assert stats.percentile_ms("fs", 0.95) == pytest.approx(95.0)


def test_one_call_is_its_own_percentile_and_old_durations_are_left_behind(stats: CallStats) -> None:
    stats.add("fs", 5.0, NOW)
    assert stats.percentile_ms("fs", 0.95) == 5000.0
    for _ in range(DURATIONS_KEPT):
        stats.add("fs", 0.002, NOW)
    assert stats.percentile_ms("fs", 0.95) == pytest.approx(2.0)


def test_a_forgotten_server_begins_anew(stats: CallStats) -> None:
    stats.add("fs", 0.1, NOW)
    stats.forget("fs")
    stats.forget("never called")
    assert stats.today("fs", NOW) == 0
    assert sum(stats.hours("fs", NOW)) == 0


def test_a_clock_that_was_set_back_costs_no_error(stats: CallStats) -> None:
    stats.add("fs", 0.1, NOW + 48 * HOUR_S)
    stats.add("fs", 0.1, NOW)
    assert stats.hours("fs", NOW)[-1] == 1
    assert stats.today("fs", NOW) == 1


def test_calls_of_before_are_added_to_those_since(stats: CallStats) -> None:
    stats.add("fs", 0.5, NOW)
    hour = int(NOW // HOUR_S)
    stats.add_past("fs", {hour: 2, hour - 3: 4}, 5, [0.1, 0.2], NOW)
    assert stats.hours("fs", NOW)[-4:] == (4, 0, 0, 3)
    assert (stats.today("fs", NOW), stats.percentile_ms("fs", 0.95)) == (6, 500.0)
    stats.add_past("other", {hour: 1}, 1, [], NOW)
    assert (stats.today("other", NOW), stats.percentile_ms("other", 0.95)) == (1, 0.0)
    stats.add("other", 0.1, NOW + 5)
    assert stats.today("other", NOW + 5) == 2


def test_of_durations_of_before_the_last_count(stats: CallStats) -> None:
    stats.add("fs", 0.1, NOW)
    stats.add_past("fs", {}, 0, [9.0] * 20 + [0.1] * (DURATIONS_KEPT - 1), NOW)
    assert stats.percentile_ms("fs", 0.95) == 100.0


def test_a_day_began_at_midnight_where_the_person_lives() -> None:
    assert day_start(NOW) == NOW - 16 * HOUR_S


def test_calls_are_there_from_their_beginning_to_their_end_the_longest_first() -> None:
    under_way = CallsUnderWay()
    client = Client(name="s1")
    client.state.client = "Cursor"
    first, second = (exchange_of(Envelope(method="tools/call", params=dump({"name": "t"})), each) for each in (client, Client(name="s2")))
    under_way.calls[first] = "files", "read_file"
    under_way.calls[second] = "web", "get"
    client.state.projects["person"] = SessionProject("/p", "p", "person")
    with second.timings.at_person():
        one, other = under_way.now()
    assert (one.client, one.session, one.project, one.server, one.tool, one.waits_for) == (
        "Cursor",
        "s1",
        "/p",
        "files",
        "read_file",
        "server",
    )
    assert (other.client, other.project, other.waits_for) == ("test", "", "person")
    assert one.since <= other.since
    del under_way.calls[first]
    assert [each.server for each in under_way.now()] == ["web"]
