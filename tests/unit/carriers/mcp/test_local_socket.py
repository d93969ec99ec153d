"""local_socket.py: connections, their hello, and the open socket."""

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
from msgspec import Raw
from tests.fakes.fake_channel import line
from tests.fakes.fake_clock import in_fake_time
from tests.fakes.fake_transport import FakeSocket, FakeTransport
from tests.fakes.heard import PATIENCE_S, Record
from tests.fakes.modes import has_mode

from tooltray.carriers.mcp import local_socket
from tooltray.carriers.mcp.local_socket import CONTROL, GRACE_AFTER_EOF_S, LEAVE, MAX_HELLO_BYTES, Connection, Hello, Listener
from tooltray.foundation.errors import TooltrayError
from tooltray.protocol.deadlines import DeadlineWheel
from tooltray.protocol.dispatcher import RawDispatcher
from tooltray.protocol.envelope import Envelope, dump, success
from tooltray.protocol.unsent import HUB_BYTES, LOOKED_AT_EVERY_S

HELLO = b'{"tooltray":1,"role":"client","session":"5e55","server":"one","profile":null,"cwd":"/home/me","later":{}}\n'


class Peer:
    """The other end of a connection."""

    def __init__(self, *, uid: int | None = None, pid: int = 4711, only: str = "") -> None:
        self.hellos: list[Hello] = []
        self.begun: Record[Any] = Record()
        self.may_answer = asyncio.Event()
        self.may_answer.set()
        self.transport = FakeTransport(FakeSocket(pid, os.getuid() if uid is None else uid))
        self.connection = Connection(on_hello=self._on_hello, only=only)
        self.connection.connection_made(self.transport)
        self.dispatcher = RawDispatcher(
            name="peer", deadlines=DeadlineWheel(), answer=self._answer, take_notification=lambda message: None, max_line_bytes=2**20
        )

    def _on_hello(self, hello: Hello, connection: Connection) -> RawDispatcher:
        assert connection is self.connection
        self.hellos.append(hello)
        return self.dispatcher

    async def _answer(self, request: Envelope) -> Envelope:
        self.begun.add(json.loads(bytes(request.id)))
        await self.may_answer.wait()
        return success({})

    def send(self, data: bytes) -> None:
        self.connection.data_received(data)

    @property
    def answers(self) -> list[dict[str, Any]]:
        return [json.loads(each) for each in self.transport.written.splitlines()]


async def test_a_bridge_is_asked_to_leave_if_it_has_said_that_it_does() -> None:
    peer = Peer()
    peer.send(HELLO.replace(b'"later":{}', b'"leaves":true'))
    assert peer.hellos[0].leaves
    peer.connection.send_away()
    assert peer.transport.written == LEAVE


# the first line


@in_fake_time
async def test_the_first_line_says_who_connects_and_the_rest_is_json_rpc() -> None:
    peer = Peer()
    peer.send(HELLO + line(id=1, method="m"))
    peer.send(line(id=2, method="m"))
    await peer.dispatcher.idle()
    assert peer.hellos == [Hello("client", "5e55", "one", "/home/me", False, 4711)]
    assert [answer["id"] for answer in peer.answers] == [1, 2]


@in_fake_time
async def test_the_first_line_may_come_in_pieces() -> None:
    peer = Peer()
    stream = HELLO + line(id=1, method="m")
    for place in range(len(stream)):
        peer.send(stream[place : place + 1])
    await peer.dispatcher.idle()
    assert (len(peer.hellos), peer.answers[0]["id"]) == (1, 1)


@pytest.mark.parametrize(
    ("hello", "expected"),
    [
        ({}, Hello("client", "", None, "", False, 4711)),
        ({"role": "control", "events": True}, Hello("control", "", None, "", True, 4711)),
        ({"role": "control", "events": "yes"}, Hello("control", "", None, "", False, 4711)),
        ({"role": "control", "terminal": True}, Hello("control", "", None, "", False, 4711, is_at_terminal=True)),
        ({"role": "control", "terminal": 1}, Hello("control", "", None, "", False, 4711)),
        ({"profile": "work"}, Hello("client", "", None, "", False, 4711, "work")),
        ({"server": None, "session": 5, "cwd": [], "role": {}, "profile": None}, Hello("client", "", None, "", False, 4711)),
    ],
)
@in_fake_time
async def test_what_the_first_line_lacks_or_says_oddly_has_a_default(hello: dict[str, Any], expected: Hello) -> None:
    peer = Peer()
    peer.send(json.dumps({"tooltray": 1, **hello}).encode() + b"\n")
    assert peer.hellos == [expected]


@in_fake_time
async def test_where_one_role_is_served_who_has_it_is_let_in() -> None:
    peer = Peer(only=CONTROL)
    peer.send(b'{"tooltray":1,"role":"control"}\n')
    assert [hello.role for hello in peer.hellos] == ["control"]


@pytest.mark.expected_warnings("a connection was refused")
@pytest.mark.parametrize("first", [HELLO, b'{"tooltray":1}\n', b'{"tooltray":1,"role":["control"]}\n'])
@in_fake_time
async def test_where_one_role_is_served_all_others_are_refused(first: bytes) -> None:
    peer = Peer(only=CONTROL)
    peer.send(first)
    assert "serves the role 'control' only" in peer.answers[0]["error"]["message"]
    assert (peer.transport.is_closing(), peer.hellos) == (True, [])


@pytest.mark.expected_warnings("a connection was refused")
@pytest.mark.parametrize(
    "first",
    [b"", b"GET / HTTP/1.1\r", b"\xff\xfe", b'{"tooltray":1', b"[" * 50_000, b'{"tooltray":"\\ud8'],
    ids=["empty", "http", "binary", "half", "deep", "cut"],
)
@in_fake_time
async def test_a_first_line_that_is_no_json_is_refused(first: bytes) -> None:
    peer = Peer()
    peer.send(first + b"\n")
    assert peer.answers == [{"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "the first line is not a hello"}}]
    assert (peer.transport.is_closing(), peer.hellos) == (True, [])


@pytest.mark.expected_warnings("a connection was refused")
@pytest.mark.parametrize(
    ("first", "named"),
    [
        (b'{"tooltray":2}', "the other side 2;"),
        (b'{"tooltray":"1"}', "the other side '1';"),
        (b'{"jsonrpc":"2.0","id":1,"method":"initialize"}', "the other side None;"),
        (b"[1]", "the other side None;"),
        (b"5", "the other side None;"),
        (b'{"tooltray":"%b"}' % (b"x" * 5000), "the other side '" + "x" * 39 + ";"),
    ],
)
@in_fake_time
async def test_another_version_of_the_first_line_is_refused_with_both_named(first: bytes, named: str) -> None:
    peer = Peer()
    peer.send(first + b"\n" + line(id=1, method="m"))
    (answer,) = peer.answers
    assert (answer["id"], answer["error"]["code"]) == (None, -32600)
    assert "Tooltray uses hello version 1" in answer["error"]["message"]
    assert named in answer["error"]["message"]
    assert peer.transport.is_closing()


@pytest.mark.expected_warnings("the first line is too long")
@in_fake_time
async def test_a_first_line_without_end_is_refused() -> None:
    peer = Peer()
    peer.send(b"x" * MAX_HELLO_BYTES)
    assert peer.answers == []
    peer.send(b"x")
    assert peer.answers[0]["error"]["message"] == "the first line is too long"
    assert peer.transport.is_closing()


@pytest.mark.expected_warnings("a connection of another user (process")
@in_fake_time
async def test_another_user_is_refused() -> None:
    peer = Peer(uid=99999)
    assert peer.transport.is_aborted


@in_fake_time
@pytest.mark.parametrize("pid", [4711, 0])
async def test_on_macos_the_folder_guards_the_socket_and_the_system_tells_the_process(monkeypatch: pytest.MonkeyPatch, pid: int) -> None:
    monkeypatch.delattr(socket, "SO_PEERCRED")
    peer = Peer(uid=99999, pid=pid)
    peer.send(HELLO)
    assert not peer.transport.is_aborted
    assert peer.hellos[0].peer_pid == pid


# pace


@in_fake_time
async def test_a_peer_that_does_not_read_is_neither_read_from_nor_served_until_it_reads() -> None:
    peer = Peer()
    peer.send(HELLO)
    peer.connection.pause_writing()
    assert peer.transport.is_reading_paused
    peer.send(line(id=1, method="m"))
    peer.dispatcher.send_notification("n")
    await asyncio.sleep(100)
    assert (peer.begun.all, peer.transport.written) == ([], b"")
    peer.connection.resume_writing()
    assert not peer.transport.is_reading_paused
    await peer.begun.wait()
    await peer.dispatcher.idle()
    assert [answer.get("id") for answer in peer.answers] == [None, 1]


@in_fake_time
async def test_what_a_peer_does_not_read_is_counted_and_where_all_is_full_its_connection_ends() -> None:
    peer = Peer()
    peer.send(HELLO)
    peer.connection.pause_writing()
    peer.dispatcher.send_notification("n", Raw(b"[%b]" % (b" " * HUB_BYTES)))
    assert peer.dispatcher.unsent.bytes > HUB_BYTES
    await asyncio.sleep(LOOKED_AT_EVERY_S)
    assert peer.transport.is_aborted
    peer.connection.connection_lost(None)
    assert peer.dispatcher.unsent.bytes == 0


@in_fake_time
async def test_the_pace_is_kept_also_before_the_first_line() -> None:
    peer = Peer()
    peer.connection.pause_writing()
    peer.connection.resume_writing()
    peer.send(HELLO + line(id=1, method="m"))
    await peer.begun.wait()


# the end


@in_fake_time
async def test_a_peer_that_only_stops_sending_gets_its_answer_and_is_then_let_go() -> None:
    peer = Peer()
    peer.may_answer.clear()
    peer.send(HELLO + line(id=1, method="m"))
    await peer.begun.wait()
    assert peer.connection.eof_received() is True
    assert not peer.transport.is_closing()
    peer.may_answer.set()
    await peer.dispatcher.idle()
    assert (peer.answers[0]["id"], peer.transport.is_closing()) == (1, True)


@in_fake_time
async def test_a_peer_that_stopped_sending_is_waited_for_so_long_and_no_longer() -> None:
    peer = Peer()
    peer.may_answer.clear()
    peer.send(HELLO + line(id=1, method="m"))
    await peer.begun.wait()
    peer.connection.eof_received()
    await asyncio.sleep(GRACE_AFTER_EOF_S - 0.1)
    assert not peer.transport.is_closing()
    await asyncio.sleep(1)
    assert peer.transport.is_closing()
    await peer.dispatcher.idle()


@in_fake_time
async def test_a_peer_that_stops_before_its_first_line_ends_is_let_go() -> None:
    peer = Peer()
    peer.send(HELLO[:20])
    assert peer.connection.eof_received() is False
    peer.connection.connection_lost(None)
    assert peer.hellos == []


@in_fake_time
async def test_a_lost_peer_ends_its_session_and_what_it_has_not_read_is_let_go() -> None:
    peer = Peer()
    peer.send(HELLO)
    peer.connection.pause_writing()
    peer.dispatcher.send_notification("n")
    peer.connection.connection_lost(ConnectionResetError())
    assert peer.dispatcher.closed_because == "the AI client disconnected"
    peer.connection.resume_writing()
    assert peer.transport.written == b""


BRIDGE_HELLO = b'{"tooltray":1,"role":"client","session":"s"}\n'


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
    listener = await local_socket.listen(folder / "hub.sock", hub.open)
    reader, writer = await talk(folder / "hub.sock", BRIDGE_HELLO, line(id=1, method="m"))
    assert (await read(reader))["result"] == ["s", os.getpid()]
    listener.close()
    await hang_up(writer)


async def test_the_socket_is_for_this_user_alone_and_the_mask_of_others_is_left_as_it_was(folder: Path, hub: Hub) -> None:
    before = os.umask(0o022)
    try:
        listener = await local_socket.listen(folder / "hub.sock", hub.open)
        assert os.umask(0o022) == 0o022
    finally:
        os.umask(before)
    assert has_mode(folder / "hub.sock", 0o600)
    listener.close()


async def test_a_socket_that_a_dead_hub_left_is_replaced(folder: Path, hub: Hub) -> None:
    stale = socket.socket(socket.AF_UNIX)
    stale.bind(str(folder / "hub.sock"))
    stale.close()
    listener = await local_socket.listen(folder / "hub.sock", hub.open)
    reader, writer = await talk(folder / "hub.sock", BRIDGE_HELLO, line(id=1, method="m"))
    assert (await read(reader))["id"] == 1
    listener.close()
    await hang_up(writer)


@pytest.mark.parametrize("place", ["no/such/folder/hub.sock", "a-folder", "x" * 200])
async def test_a_place_where_no_socket_can_be_is_told(folder: Path, hub: Hub, place: str) -> None:
    (folder / "a-folder").mkdir()
    before = os.umask(0o022)
    try:
        with pytest.raises(TooltrayError, match="Tooltray's socket cannot be opened") as caught:
            await local_socket.listen(folder / place, hub.open)
        assert os.umask(0o022) == 0o022
    finally:
        os.umask(before)
    assert str(folder / place) in caught.value.problem.message


async def test_a_hundred_peers_may_come_in_one_moment(folder: Path, hub: Hub) -> None:
    listener = await local_socket.listen(folder / "hub.sock", hub.open)
    peers = await asyncio.gather(*(talk(folder / "hub.sock", BRIDGE_HELLO, line(id=n, method="m")) for n in range(100)))
    assert [(await read(reader))["id"] for reader, _ in peers] == list(range(100))
    listener.close()
    await hang_up(*(writer for _, writer in peers))


async def test_closing_lets_go_who_has_not_said_hello_and_keeps_the_others(folder: Path, hub: Hub) -> None:
    listener = await local_socket.listen(folder / "hub.sock", hub.open)
    stranger_reader, stranger = await talk(folder / "hub.sock", BRIDGE_HELLO[:10])
    known_reader, known = await talk(folder / "hub.sock", BRIDGE_HELLO, line(id=1, method="m"))
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
