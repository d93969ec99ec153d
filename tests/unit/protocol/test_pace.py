"""How many requests of one peer are answered at once."""

import asyncio

from tests.fakes.fake_clock import in_fake_time

from tooltray.protocol.pace import FIRST_IN_FLIGHT, GROWS_EVERY_S, MAX_IN_FLIGHT, Pace


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
