"""The hub's socket: for this user alone, in the place of a stale one, and clear words where it cannot be opened."""

import asyncio
import json
import os
import shutil
import socket
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.fake_channel import line
from tests.fakes.fake_transport import FakeSocket, FakeTransport
from tests.fakes.heard import PATIENCE_S
from tests.fakes.modes import has_mode

from tooltray.carriers.mcp import bridge_listener
from tooltray.carriers.mcp.bridge_listener import Listener
from tooltray.carriers.mcp.connection import Connection, Hello
from tooltray.foundation.errors import TooltrayError
from tooltray.protocol.deadlines import DeadlineWheel
from tooltray.protocol.dispatcher import RawDispatcher
from tooltray.protocol.envelope import Envelope, dump

HELLO = b'{"tooltray":1,"role":"client","session":"s"}\n'


@pytest.fixture
def folder() -> Iterator[Path]:
    """Short enough for a socket."""
    folder = Path(tempfile.mkdtemp(prefix="l", dir=tempfile.gettempdir()))
    yield folder
    shutil.rmtree(folder)


class Hub:
    """Answers with the session's name and the pid at the other end."""

    def __init__(self) -> None:
        self.hellos: list[Hello] = []
        self.dispatchers: list[RawDispatcher] = []

    def open(self, hello: Hello, connection: Connection) -> RawDispatcher:
        async def answer(request: Envelope) -> Envelope:
            return Envelope(result=dump([hello.session, hello.peer_pid]))

        self.hellos.append(hello)
        dispatcher = RawDispatcher(
            name="peer", deadlines=DeadlineWheel(), answer=answer, take_notification=lambda message: None, max_line_bytes=2**20
        )
        self.dispatchers.append(dispatcher)
        return dispatcher


@pytest.fixture
async def hub() -> AsyncIterator[Hub]:
    hub = Hub()
    yield hub
    for dispatcher in hub.dispatchers:
        await dispatcher.close("the test has ended")


async def talk(path: Path, *lines: bytes) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_unix_connection(str(path))
    writer.write(b"".join(lines))
    return reader, writer


async def read(reader: asyncio.StreamReader) -> Any:
    async with asyncio.timeout(PATIENCE_S):
        answer = await reader.readline()
    return json.loads(answer) if answer else None


async def hang_up(*writers: asyncio.StreamWriter) -> None:
    for writer in writers:
        writer.close()
        await writer.wait_closed()


async def test_a_peer_connects_says_hello_and_is_answered(folder: Path, hub: Hub) -> None:
    listener = await bridge_listener.listen(folder / "hub.sock", hub.open)
    reader, writer = await talk(folder / "hub.sock", HELLO, line(id=1, method="m"))
    assert (await read(reader))["result"] == ["s", os.getpid()]
    listener.close()
    await hang_up(writer)


async def test_the_socket_is_for_this_user_alone_and_the_mask_of_others_is_left_as_it_was(folder: Path, hub: Hub) -> None:
    before = os.umask(0o022)
    try:
        listener = await bridge_listener.listen(folder / "hub.sock", hub.open)
        assert os.umask(0o022) == 0o022
    finally:
        os.umask(before)
    assert has_mode(folder / "hub.sock", 0o600)
    listener.close()


async def test_a_socket_that_a_dead_hub_left_is_replaced(folder: Path, hub: Hub) -> None:
    stale = socket.socket(socket.AF_UNIX)
    stale.bind(str(folder / "hub.sock"))
    stale.close()
    listener = await bridge_listener.listen(folder / "hub.sock", hub.open)
    reader, writer = await talk(folder / "hub.sock", HELLO, line(id=1, method="m"))
    assert (await read(reader))["id"] == 1
    listener.close()
    await hang_up(writer)


@pytest.mark.parametrize("place", ["no/such/folder/hub.sock", "a-folder", "x" * 200])
async def test_a_place_where_no_socket_can_be_is_told(folder: Path, hub: Hub, place: str) -> None:
    (folder / "a-folder").mkdir()
    before = os.umask(0o022)
    try:
        with pytest.raises(TooltrayError, match="the hub's socket cannot be opened") as caught:
            await bridge_listener.listen(folder / place, hub.open)
        assert os.umask(0o022) == 0o022
    finally:
        os.umask(before)
    assert str(folder / place) in caught.value.problem.message


async def test_a_hundred_peers_may_come_in_one_moment(folder: Path, hub: Hub) -> None:
    listener = await bridge_listener.listen(folder / "hub.sock", hub.open)
    peers = await asyncio.gather(*(talk(folder / "hub.sock", HELLO, line(id=n, method="m")) for n in range(100)))
    assert [(await read(reader))["id"] for reader, _ in peers] == list(range(100))
    listener.close()
    await hang_up(*(writer for _, writer in peers))


async def test_closing_lets_go_who_has_not_said_hello_and_keeps_the_others(folder: Path, hub: Hub) -> None:
    listener = await bridge_listener.listen(folder / "hub.sock", hub.open)
    stranger_reader, stranger = await talk(folder / "hub.sock", HELLO[:10])
    known_reader, known = await talk(folder / "hub.sock", HELLO, line(id=1, method="m"))
    await read(known_reader)
    listener.close()
    listener.close()
    assert await read(stranger_reader) is None
    known.write(line(id=2, method="m"))
    assert (await read(known_reader))["id"] == 2
    with pytest.raises(OSError):
        await asyncio.open_unix_connection(str(folder / "hub.sock"))
    await hang_up(known, stranger)


async def test_who_was_accepted_in_the_moment_before_the_end_is_let_go(hub: Hub) -> None:
    listener, transport = Listener(hub.open), FakeTransport(FakeSocket(4711, os.getuid()))
    connection = Connection(on_hello=listener.introduce)
    connection.connection_made(transport)
    listener.close()
    assert not transport.is_closing()
    listener.let_in(connection)
    assert transport.is_closing()
