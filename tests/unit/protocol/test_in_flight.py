"""The requests of a peer that wait, and how many are handled at once."""

import asyncio

from msgspec import Raw
from tests.fakes.fake_clock import in_fake_time

from tooltray.protocol.envelope import Envelope
from tooltray.protocol.in_flight import FIRST_IN_FLIGHT, GROWS_EVERY_S, MAX_BACKLOG_BYTES, MAX_IN_FLIGHT, Backlog, Pace


def asked(id: int, size: int = 0) -> Envelope:
    return Envelope(id=Raw(b"%d" % id), method="m", params=Raw(b"[%b]" % (b" " * size)))


def test_what_does_not_fit_is_refused_and_a_large_one_passes_alone() -> None:
    backlog = Backlog()
    assert backlog.add(asked(1, MAX_BACKLOG_BYTES))
    assert not backlog.add(asked(2))
    backlog.next()
    assert backlog.add(asked(2))
    assert not backlog.add(asked(3, MAX_BACKLOG_BYTES))
    assert [bytes(each.id) for each in backlog.waiting] == [b"2"]


def test_what_is_taken_out_leaves_room() -> None:
    backlog = Backlog()
    for id in range(3):
        assert backlog.add(asked(id, MAX_BACKLOG_BYTES // 4))
    assert not backlog.add(asked(3, MAX_BACKLOG_BYTES // 3))
    assert backlog.remove(b"1")
    assert not backlog.remove(b"1")
    assert backlog.add(asked(3, MAX_BACKLOG_BYTES // 3))
    backlog.clear()
    assert backlog.add(asked(4))
    assert backlog.add(asked(5, MAX_BACKLOG_BYTES // 2))


def test_a_peer_with_an_even_pace_is_never_slowed_down() -> None:
    pace = Pace(is_even=True, go_on=lambda: None)
    pace.slow_down()
    pace.grow_later()
    assert pace.max_in_flight == MAX_IN_FLIGHT


@in_fake_time
async def test_while_requests_wait_time_allows_more_up_to_all_of_them() -> None:
    seen: list[int] = []

    def go_on() -> None:
        seen.append(pace.max_in_flight)
        pace.grow_later()

    pace = Pace(is_even=False, go_on=go_on)
    pace.grow_later()
    pace.grow_later()
    await asyncio.sleep(20 * GROWS_EVERY_S)
    assert seen == [*(FIRST_IN_FLIGHT * times for times in (2, 4, 8, 16, 32)), MAX_IN_FLIGHT]
    pace.slow_down()
    assert pace.max_in_flight == FIRST_IN_FLIGHT
    pace.grow_later()
    pace.close()
    await asyncio.sleep(2 * GROWS_EVERY_S)
    assert len(seen) == 6
    Pace(is_even=False, go_on=go_on).close()
