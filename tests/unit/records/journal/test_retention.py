"""retention.py"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fakes.journals import NOW, entry, written

from tooltray.config.settings.settings import ActivitySettings
from tooltray.records.journal import retention
from tooltray.records.journal.journal_file import Contents, JournalFile
from tooltray.records.journal.retention import SETTLED_S, Retention, SettledClock

TEXTS = Contents('{"a":1}', '{"b":2}', True)
DAY = 86_400.0


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "activity.db"


class Clock:
    def __init__(self) -> None:
        self.wall, self.steady = NOW, 5.0

    def passes(self, seconds: float) -> None:
        self.wall += seconds
        self.steady += seconds

    def settled(self) -> SettledClock:
        return SettledClock(lambda: self.wall, lambda: self.steady)


def test_a_clock_is_believed_when_it_has_gone_on_for_a_while() -> None:
    clock = Clock()
    settled = clock.settled()
    clock.passes(SETTLED_S - 1)
    assert settled.now() is None
    clock.passes(1)
    assert settled.now() == NOW + SETTLED_S
    clock.wall += 100 * DAY  # it jumps forward
    clock.passes(SETTLED_S - 1)
    assert settled.now() == NOW + 2 * SETTLED_S - 1
    clock.wall -= 200 * DAY  # and back, too far
    assert settled.now() == clock.wall
    clock.wall += 300 * DAY
    clock.passes(SETTLED_S)
    settled.now()
    clock.passes(SETTLED_S)
    assert settled.now() == clock.wall  # that is how late it is, then


class Fixed(SettledClock):
    def __init__(self, now: float | None) -> None:
        self.at = now

    def now(self) -> float | None:
        return self.at


@pytest.fixture
def aged(path: Path) -> Iterator[JournalFile]:
    """Entries of 5, 4, ... 0 days ago, with contents."""
    file = written(path, [entry(at=NOW - days * DAY, contents=TEXTS) for days in range(5, -1, -1)])
    yield file
    file.close()


def test_entries_go_after_their_days_and_contents_before(aged: JournalFile) -> None:
    kept = Retention(lambda: ActivitySettings(days=4, contents_days=2), Fixed(NOW + 1))
    assert not kept.step(aged)
    assert (aged.ids(), aged.first_contents()) == ((3, 6), 5)


def test_while_the_clock_is_not_believed_nothing_is_old(aged: JournalFile) -> None:
    assert not Retention(lambda: ActivitySettings(days=1, contents_days=1), Fixed(None)).step(aged)
    assert (aged.ids(), aged.first_contents()) == ((1, 6), 1)


def test_without_contents_there_is_nothing_to_look_for(path: Path) -> None:
    file = written(path, [entry(at=NOW)])
    assert not Retention(ActivitySettings, Fixed(NOW)).step(file)
    assert file.ids() == (1, 1)
    file.close()


def test_an_entry_of_a_clock_that_was_wrong_goes_with_its_neighbours(path: Path) -> None:
    times = (NOW - 9 * DAY, NOW + 900 * DAY, NOW - 9 * DAY, NOW, 0.0, NOW)
    file = written(path, [entry(at=at) for at in times])
    Retention(lambda: ActivitySettings(days=4), Fixed(NOW)).step(file)
    assert file.ids() == (2, 6)  # what the clock was ahead at stays, and so does what is behind it
    Retention(lambda: ActivitySettings(days=4), Fixed(NOW + 905 * DAY)).step(file)
    assert file.ids() == (0, 0)
    file.close()


def test_what_is_to_go_for_good_goes_in_slices(aged: JournalFile, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "SLICE", 2)
    monkeypatch.setattr(retention, "CONTENTS_SLICE", 1)
    aged.clear()
    aged.let_go()
    aged.write([entry(at=NOW, contents=TEXTS)])
    kept = Retention(ActivitySettings, Fixed(NOW + 30 * DAY))
    assert [kept.step(aged) for _ in range(4)] == [True, True, True, True]
    assert (aged.ids(), aged.first_contents()) == ((7, 7), None)
    assert not kept.step(aged)


def test_of_too_much_the_oldest_go(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "SLICE", 100)
    file = written(path, [entry(touched="x" * 1000) for _ in range(1500)])
    kept = Retention(lambda: ActivitySettings(megabytes=1), Fixed(None))
    while kept.step(file):
        pass
    first, last = file.ids()
    assert (file.used_bytes <= retention.MEGABYTE, last) == (True, 1500)
    assert 500 < first < 1200
    file.close()
