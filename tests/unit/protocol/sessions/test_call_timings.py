"""Where the time of a call goes is measured by whoever has it."""

import itertools
from types import SimpleNamespace

import pytest

from tooltray.protocol.sessions.call_timings import CallTimings


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each look at it is a second later."""
    ticks = itertools.count()
    monkeypatch.setattr("tooltray.protocol.sessions.call_timings.time", SimpleNamespace(perf_counter=lambda: float(next(ticks))))


def test_a_person_the_start_and_the_server_have_their_own_time() -> None:
    timings = CallTimings()  # 0
    with timings.at_start():  # 1 to 2
        assert timings.waits_for == "start"
    assert (timings.waits_for, timings.start_s, timings.person_s, timings.server_s) == ("server", 1.0, None, None)
    with timings.at_server(), timings.at_person():  # 3, 4 to 5, 6
        assert timings.waits_for == "person"
    assert (timings.person_s, timings.server_s) == (1.0, 2.0)  # of three seconds a person had one
    with timings.at_person(), timings.at_server():
        pass
    assert (timings.person_s, timings.server_s) == (4.0, 3.0)
    assert timings.passed_s == 11.0


def test_of_several_questions_at_once_a_person_has_one_time() -> None:
    timings = CallTimings()
    with timings.at_person(), timings.at_person(), timings.at_start():  # 1 to 2
        assert timings.waits_for == "person"
    assert (timings.person_s, timings.start_s) == (1.0, None)


def test_until_there_is_a_reply_time_passes_and_then_it_stands() -> None:
    timings = CallTimings()
    assert (timings.passed_s, timings.passed_s) == (1.0, 2.0)
    timings.answered_at = 1.5
    assert (timings.passed_s, timings.passed_s) == (1.5, 1.5)
