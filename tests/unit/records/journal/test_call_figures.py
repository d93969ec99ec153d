"""Percentiles are those of the calls that there are."""

from pathlib import Path

import pytest
from tests.fakes.journals import entry, journal_of

from tooltray.foundation.snapshots.activity import ActivityFilter
from tooltray.records.journal.call_figures import bucket_of


@pytest.mark.parametrize(("count", "p50_ms", "p95_ms"), [(1, 1000, 1000), (2, 1000, 2000), (20, 10_000, 19_000), (100, 50_000, 95_000)])
def test_half_of_the_calls_and_95_of_100_took_no_longer(tmp_path: Path, count: int, p50_ms: float, p95_ms: float) -> None:
    with journal_of(tmp_path / "activity.db", *(entry(duration=float(number)) for number in range(count, 0, -1))) as reader:
        [figures] = reader.figures("server", ActivityFilter())
    assert figures.calls == count
    assert (figures.p50_ms, figures.p95_ms) == (pytest.approx(p50_ms, rel=0.022), pytest.approx(p95_ms, rel=0.022))


def test_a_call_that_never_reached_its_server_counts_but_its_time_does_not(tmp_path: Path) -> None:
    given_up = {"outcome": "cancelled", "duration": 0.0007}
    sent = {"outcome": "cancelled", "duration": 2.0, "server_s": 2.0}
    with journal_of(tmp_path / "a.db", entry(**given_up), entry(**given_up), entry(**given_up), entry(**sent)) as reader:
        [figures] = reader.figures("server", ActivityFilter())
    assert (figures.calls, figures.p50_ms) == (4, pytest.approx(2000, rel=0.022))
    with journal_of(tmp_path / "b.db", entry(**given_up)) as reader:
        [figures] = reader.figures("server", ActivityFilter())
    assert (figures.calls, figures.p50_ms, figures.p95_ms) == (1, None, None)


def test_what_took_no_time_has_a_bucket_too() -> None:
    assert (bucket_of(0.0), bucket_of(-1.0), bucket_of(1e-6), bucket_of(2e-6)) == (0, 0, 0, 16)
