"""http_server/acceptor.py"""

import asyncio
import errno
import os
import socket
import sys
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from tests.fakes.heard import PATIENCE_S

from tooltray.carriers.http_server import acceptor
from tooltray.carriers.http_server import acceptor as module
from tooltray.carriers.http_server.acceptor import LEAST_STRANGERS, MOST_STRANGERS, Acceptor, Strangers, user_of

pytestmark = pytest.mark.posix  # Windows has handles for all, and its own listener

SORRY = b"too many\n"


class Place(socket.socket):
    """A listening socket whose next accepts fail, as often as `failures` says."""

    failures = 0
    number = errno.EMFILE

    def accept(self) -> Any:
        if self.failures:
            self.failures -= 1
            raise OSError(self.number, os.strerror(self.number))
        return super().accept()


class Greeting(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._transport.write(b"welcome\n")
        self._transport.close()


class Lasting(asyncio.Transport):
    def is_closing(self) -> bool:
        return False


@pytest.fixture
def place() -> Iterator[Place]:
    with Place() as place:
        place.bind(("127.0.0.1", 0))
        yield place


def accepting(place: Place) -> Acceptor:
    return Acceptor(place, Greeting, backlog=8, too_many=SORRY)


async def heard(place: tuple[str, int]) -> bytes:
    reader, writer = await asyncio.open_connection(*place)
    try:
        writer.write(b"hello")
        async with asyncio.timeout(PATIENCE_S):
            return await reader.read()
    finally:
        writer.close()


async def test_who_is_one_too_many_is_told_so_and_the_next_is_served_again(place: Place, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("CRITICAL", "tooltray.carriers.http_server.acceptor")
    taking, address = accepting(place), place.getsockname()
    assert await heard(address) == b"welcome\n"
    place.failures = 1
    assert await heard(address) == SORRY
    place.failures = 1
    assert await heard(address) == SORRY
    assert await heard(address) == b"welcome\n"
    taking.close()
    taking.close()
    with pytest.raises(ConnectionRefusedError):
        await heard(address)


async def test_where_not_even_the_reserve_can_be_had_it_looks_again_after_a_while_and_does_not_spin(
    place: Place, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("CRITICAL", "tooltray.carriers.http_server.acceptor")
    taking, address = accepting(place), place.getsockname()
    looks: list[int] = []
    looked = asyncio.Event()

    def no_descriptor(*_: Any, **__: Any) -> int:
        looks.append(1)
        looked.set()
        raise OSError(errno.EMFILE, "none left")

    place.failures = 2  # the first look, and the one with the reserve given up
    monkeypatch.setattr(acceptor.os, "open", no_descriptor)
    waiting = asyncio.ensure_future(heard(address))
    async with asyncio.timeout(PATIENCE_S):
        await looked.wait()
    monkeypatch.undo()
    assert await waiting == b"welcome\n"
    assert len(looks) == 1
    taking.close()


async def test_it_can_be_closed_while_it_waits(place: Place, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("CRITICAL", "tooltray.carriers.http_server.acceptor")
    taking, address = accepting(place), place.getsockname()
    told = asyncio.Event()

    def no_descriptor(*_: Any, **__: Any) -> int:
        told.set()
        raise OSError(errno.EMFILE, "none left")

    place.failures = 2
    monkeypatch.setattr(acceptor.os, "open", no_descriptor)
    _, writer = await asyncio.open_connection(*address)
    async with asyncio.timeout(PATIENCE_S):
        await told.wait()
    monkeypatch.undo()
    taking.close()
    writer.close()


async def test_the_reserve_of_a_place_serves_peers_when_no_other_descriptor_is_left(place: Place) -> None:
    taking, address = Acceptor(place, Greeting, backlog=8, too_many=SORRY, kept=2), place.getsockname()
    place.failures = 1
    assert await heard(address) == b"welcome\n"
    place.failures = 1
    assert await heard(address) == b"welcome\n"
    taking.close()


async def test_strangers_are_counted_and_refused_when_the_address_has_all_that_it_may_have(place: Place) -> None:
    strangers = Strangers(1)
    taking, address = Acceptor(place, Greeting, backlog=8, too_many=SORRY, strangers=strangers), place.getsockname()
    assert await heard(address) == b"welcome\n"
    known = [Lasting() for _ in range(2 * LEAST_STRANGERS)]
    for each in known:
        strangers.welcome(each)
    assert await heard(address) == SORRY
    taking.close()
    strangers.close()


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


linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows whose the other end of a connection is (/proc/net/tcp)")


@linux
@pytest.mark.parametrize(
    ("family", "bound", "reached"),
    [
        (socket.AF_INET, "127.0.0.1", "127.0.0.1"),
        (socket.AF_INET6, "::1", "::1"),
        (socket.AF_INET6, "::", "127.0.0.1"),
    ],
)
def test_the_user_of_a_peer_is_known(family: socket.AddressFamily, bound: str, reached: str) -> None:
    with (
        socket.create_server((bound, 0), family=family, dualstack_ipv6=bound == "::") as server,
        socket.create_connection((reached, server.getsockname()[1])),
    ):
        accepted, address = server.accept()
        with accepted:
            assert user_of(address, accepted.getsockname()) == os.getuid()
            assert user_of((address[0], 1, *address[2:]), accepted.getsockname()) is None


@pytest.mark.parametrize("peer", ["", None, (), ("no address", 1)])
def test_what_is_no_tcp_peer_is_of_nobody(peer: object) -> None:
    assert user_of(peer, ("127.0.0.1", 1)) is None


def test_another_system_tells_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(acceptor.sys, "platform", "darwin")
    assert user_of(("127.0.0.1", 1), ("127.0.0.1", 2)) is None
