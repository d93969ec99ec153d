"""Connections without a token: their share, their time, and the descriptors that are left to others."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from tooltray.carriers.http_server import strangers as module
from tooltray.carriers.http_server.strangers import LEAST_STRANGERS, MOST_STRANGERS, Strangers


class FakeTransport(asyncio.Transport):
    def __init__(self, peer: object) -> None:
        super().__init__({"peername": peer})
        self.is_ended = False

    def abort(self) -> None:
        self.is_ended = True

    def is_closing(self) -> bool:
        return self.is_ended


def from_host(host: str) -> FakeTransport:
    return FakeTransport((host, 7))


@pytest.fixture
async def strangers() -> AsyncIterator[Strangers]:
    made = Strangers(1)
    yield made
    made.close()


def test_the_share_follows_from_the_limit_of_the_process() -> None:
    assert [Strangers(files).most for files in (1, 1024, 1_000_000)] == [LEAST_STRANGERS, 128, MOST_STRANGERS]
    assert Strangers().most >= LEAST_STRANGERS


async def test_beyond_the_share_the_oldest_goes_first(strangers: Strangers) -> None:
    made = [from_host("127.0.0.1") for _ in range(LEAST_STRANGERS + 2)]
    for each in made:
        strangers.add(each)
    assert [each.is_ended for each in made] == [True, True, *[False] * LEAST_STRANGERS]
    assert strangers.count == LEAST_STRANGERS


async def test_of_several_hosts_the_one_with_most_gives_way(strangers: Strangers) -> None:
    quiet, unix = from_host("10.0.0.2"), FakeTransport("")
    made = [quiet, unix, *(from_host("10.0.0.3") for _ in range(LEAST_STRANGERS))]
    for each in made:
        strangers.add(each)
    assert (quiet.is_ended, unix.is_ended, made[2].is_ended, made[-1].is_ended) == (False, False, True, False)


async def test_another_user_of_this_computer_gives_way_with_its_own_connections_alone() -> None:
    users = {7: 1001, 8: 1000}
    strangers = Strangers(1, user_of=lambda peer, own: users[peer[1]])
    ours = FakeTransport(("127.0.0.1", 8))
    strangers.add(ours)
    theirs = [FakeTransport((f"127.0.0.{number}", 7)) for number in range(1, 2 * LEAST_STRANGERS)]  # one of each address
    for each in theirs:
        strangers.add(each)
    assert not ours.is_ended
    assert sum(not each.is_ended for each in theirs) == LEAST_STRANGERS - 1
    strangers.close()


async def test_users_are_looked_up_once_each_and_not_before_the_share_is_full() -> None:
    looked_up: list[int] = []
    strangers = Strangers(1, user_of=lambda peer, own: looked_up.append(peer[1]))
    made = [FakeTransport(("127.0.0.1", port)) for port in range(LEAST_STRANGERS + 3)]
    for each in made[:LEAST_STRANGERS]:
        strangers.add(each)
    assert not looked_up
    for each in made[LEAST_STRANGERS:]:
        strangers.add(each)
    assert looked_up == list(range(LEAST_STRANGERS + 2))
    strangers.close()


async def test_who_has_shown_a_token_is_no_stranger_whether_before_or_after_it_was_counted(strangers: Strangers) -> None:
    late, early = from_host("127.0.0.1"), from_host("127.0.0.1")
    strangers.add(late)
    strangers.welcome(late)
    strangers.welcome(early)
    strangers.add(early)
    strangers.welcome(None)
    assert strangers.count == 0
    for _ in range(2 * LEAST_STRANGERS):
        strangers.add(from_host("127.0.0.1"))
    assert not late.is_ended
    assert not early.is_ended


async def test_who_has_left_counts_no_more(strangers: Strangers) -> None:
    left = from_host("127.0.0.1")
    strangers.add(left)
    left.abort()
    assert strangers.count == 0


async def test_half_of_the_descriptors_are_for_others(strangers: Strangers) -> None:
    known = [from_host("127.0.0.1") for _ in range(2 * LEAST_STRANGERS)]
    for each in known:
        assert not strangers.is_full
        strangers.welcome(each)
    assert strangers.is_full
    known[0].abort()
    assert not strangers.is_full


async def test_who_shows_nothing_in_time_is_ended(strangers: Strangers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "HEAD_WITHIN_S", 0.05)
    first, second = from_host("127.0.0.1"), from_host("127.0.0.1")
    strangers.add(first)
    loop = asyncio.get_running_loop()
    both_ended = loop.create_future()
    loop.call_later(0.03, strangers.add, second)
    loop.call_later(5.0, lambda: None if both_ended.done() else both_ended.set_result(False))

    def look() -> None:
        if first.is_ended and second.is_ended and not both_ended.done():
            both_ended.set_result(True)
        elif not both_ended.done():
            loop.call_later(0.01, look)

    look()
    assert await both_ended


async def test_the_end_of_the_address_ends_them() -> None:
    strangers, stranger = Strangers(), from_host("127.0.0.1")
    strangers.add(stranger)
    strangers.close()
    assert stranger.is_ended
    Strangers().close()
