"""Connections, also where no descriptor is left for one."""

import asyncio
import errno
import os
import socket
from collections.abc import Iterator
from typing import Any

import pytest
from tests.fakes.heard import PATIENCE_S

from tooltray.carriers.http_server import acceptor
from tooltray.carriers.http_server.acceptor import Acceptor
from tooltray.carriers.http_server.strangers import LEAST_STRANGERS, Strangers

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
