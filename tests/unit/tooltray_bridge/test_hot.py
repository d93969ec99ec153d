"""The bridge as an AI client has it, with a hub that runs: what goes through, and what happens when one side stops, stalls or leaves."""

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fakes.bridge_process import FLAGS, MAIN, MEASURED, BridgeProcess
from tests.fakes.fake_hub import Connection, FakeHub, reply, request

from tooltray_bridge import hot, relay_posix
from tooltray_bridge.lines import LEAVE_ID

LARGE_BYTES = 50_000_000
LEAVE = b'{"jsonrpc":"2.0","id":%b,"result":{}}\n' % LEAVE_ID


@pytest.fixture
def connection(hub: FakeHub, bridge: BridgeProcess) -> Connection:
    """The bridge's connection after its hello line."""
    return hub.accept_greeted()


def test_the_first_line_says_who_connects(hub: FakeHub, home: Path) -> None:
    with BridgeProcess("--server", "files", environ={"HOME": str(home)}, cwd=home) as bridge:
        line = hub.accept().line()
        bridge.close_input()

    hello = json.loads(line)
    assert line.startswith(b'{"tooltray":1,"role":"client","session":"')
    assert uuid.UUID(hello.pop("session")).hex
    assert hello == {"tooltray": 1, "role": "client", "server": "files", "profile": None, "cwd": str(home), "leaves": True}


def test_the_first_line_says_which_profile_is_asked_for(hub: FakeHub, home: Path) -> None:
    with BridgeProcess("--profile", 'a "writing" ü', environ={"HOME": str(home)}, cwd=home):
        hello = hub.accept().hello()

    assert (hello["server"], hello["profile"]) == (None, 'a "writing" ü')


@pytest.mark.parametrize(
    ("name", "told"),
    [
        (b"plain", "plain"),
        ("Projekt äöü 项目".encode(), "Projekt äöü 项目"),
        (b'a "quoted" \\ one', 'a "quoted" \\ one'),
        (b"line\nbreak\ttab\x01", "line\nbreak\ttab\x01"),
        (b"not utf-8: \xff\xfe", "not utf-8: \ufffd\ufffd"),
    ],
)
def test_the_working_folder_is_told_whatever_its_name(hub: FakeHub, home: Path, name: bytes, told: str) -> None:
    folder = os.path.join(os.fsencode(home), name)
    os.mkdir(folder)
    with BridgeProcess(environ={"HOME": str(home)}, cwd=Path(os.fsdecode(folder))):
        assert hub.accept().hello()["cwd"] == f"{home}/{told}"


def test_a_working_folder_that_has_been_removed_is_told_as_none(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = home / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()

    assert json.loads(hot.hello(None))["cwd"] == ""


def test_lines_pass_both_ways_as_they_are(bridge: BridgeProcess, connection: Connection) -> None:
    odd = b'{"jsonrpc":"2.0","id":1e2,"method":"x","params":{"n":1e400,"u":"\xff\xfe","big":%d}}\n' % 2**70
    bridge.send(odd)
    assert connection.line() == odd

    connection.send(odd + b"\x00\xff binary\r\n")
    assert (bridge.line(), bridge.line()) == (odd, b"\x00\xff binary\r\n")


def test_half_a_line_is_passed_on_at_once(bridge: BridgeProcess, connection: Connection) -> None:
    bridge.send(b'{"jsonrpc":')
    assert connection.at_least(11) == b'{"jsonrpc":'
    bridge.send(b'"2.0"}\n')
    assert connection.line() == b'{"jsonrpc":"2.0"}\n'


def test_a_client_that_closes_its_side_still_gets_its_answers(bridge: BridgeProcess, connection: Connection) -> None:
    bridge.send(request(1, "tools/list"))
    bridge.close_input()

    assert connection.rest() == request(1, "tools/list")
    connection.send(reply(1))
    connection.close()
    assert bridge.rest() == reply(1)
    assert (bridge.end(), bridge.errors()) == (0, b"")


def test_calls_that_the_hub_leaves_open_behind_a_closed_side_are_answered_by_the_bridge(
    bridge: BridgeProcess, connection: Connection
) -> None:
    bridge.send(request(1, "tools/call"))
    bridge.close_input()
    connection.rest()
    connection.close()

    assert bridge.message()["error"]["code"] == -32000
    assert (bridge.rest(), bridge.end()) == (b"", 0)


def test_a_client_that_has_gone_ends_the_bridge_quietly(bridge: BridgeProcess, connection: Connection) -> None:
    bridge.close_output()
    bridge.close_input()

    assert (bridge.end(), bridge.errors()) == (0, b"")
    assert connection.rest() == b""


def test_a_client_that_goes_while_it_is_written_to_ends_the_bridge_quietly(bridge: BridgeProcess, connection: Connection) -> None:
    sending = threading.Thread(target=send_until_refused, args=[connection], name="hub")
    sending.start()
    bridge.at_least(1)
    bridge.close_output()  # the bridge is blocked in writing to it

    assert (bridge.end(), bridge.errors()) == (0, b"")
    sending.join()


def send_until_refused(connection: Connection) -> None:
    with pytest.raises(OSError):  # noqa: PT012 - which of them is refused is up to the sizes of the buffers
        while True:
            connection.send(reply(1, text="x" * 1_000_000))


def test_a_client_that_does_not_read_can_still_write(bridge: BridgeProcess, connection: Connection) -> None:
    line = reply(1, text="x" * 5_000_000)
    sending = threading.Thread(target=connection.send, args=[line], name="hub")
    sending.start()
    bridge.at_least(1)
    bridge.send(request(2, "tools/call") * 1000)
    assert connection.take(len(request(2, "tools/call")) * 1000) == len(request(2, "tools/call")) * 1000

    assert bridge.line() == line
    sending.join()


def test_fifty_megabytes_in_each_direction_at_once_do_not_stall_each_other(bridge: BridgeProcess, connection: Connection) -> None:
    asked = request(1, "tools/call", text="x" * LARGE_BYTES)
    answered = reply(7, text="y" * LARGE_BYTES)
    writers = [
        threading.Thread(target=bridge.send, args=[asked], name="client writes"),
        threading.Thread(target=connection.send, args=[answered], name="hub writes"),
    ]
    for writer in writers:
        writer.start()
    bridge.at_least(1)
    connection.at_least(1)  # both are being written to, and neither is read: the buffers on all sides fill
    assert all(writer.is_alive() for writer in writers)

    assert connection.take(len(asked)) == len(asked)  # the client does not read while it writes
    assert bridge.take(len(answered)) == len(answered)
    for writer in writers:
        writer.join()


def test_a_hub_that_does_not_read_makes_the_bridge_read_no_more(bridge: BridgeProcess, connection: Connection) -> None:
    assert bridge.process.stdin
    os.set_blocking(bridge.process.stdin.fileno(), False)
    chunk = request(1, "tools/call", text="x" * 50_000)
    written, before = 0, -1
    while written > before:
        before = written
        for _ in range(2):  # the bridge goes round, and would read if it did
            connection.send(reply(9))
            assert bridge.line() == reply(9)
        while count := bridge.process.stdin.write(chunk):
            written += count
    assert written < 2_000_000

    assert connection.take(written) == written


def test_a_hub_that_hands_over_gets_no_more_requests_and_the_next_one_gets_them(
    hub: FakeHub, bridge: BridgeProcess, connection: Connection
) -> None:
    first = request(1, "tools/call")
    bridge.send(first)
    assert connection.line() == first
    connection.send(LEAVE + b'{"jsonrpc":"2.0","method":"notifications/seen"}\n')
    assert bridge.line() == b'{"jsonrpc":"2.0","method":"notifications/seen"}\n'

    bridge.send(request(2, "tools/call"))
    connection.send(reply(1))

    assert bridge.line() == reply(1)
    assert connection.rest() == b""
    after = hub.accept_greeted()
    assert after.line() == request(2, "tools/call")
    after.send(reply(2))
    assert bridge.line() == reply(2)


def test_an_answer_that_came_before_the_hub_died_is_not_lost(hub: FakeHub, bridge: BridgeProcess, connection: Connection) -> None:
    bridge.send(request(1, "tools/call") + request(2, "tools/call"))
    connection.line()
    connection.line()
    connection.send(reply(1))
    hub.die()

    assert bridge.line() == reply(1)
    assert bridge.message()["error"]["code"] == -32000


class Pipes:
    """A relay in the test's own process, between two pipes."""

    def __init__(self) -> None:
        self.asked, self.asks = os.pipe()
        self.told, self.tells = os.pipe()
        os.set_blocking(self.tells, False)
        self.relay = relay_posix.Relay(relay_posix.Tracker(), stdin=self.asked, stdout=self.tells)

    def answers(self) -> list[bytes]:
        return os.read(self.told, 1 << 20).splitlines(keepends=True)

    def close(self) -> None:
        self.relay.detach()
        for end in (self.asked, self.asks, self.told, self.tells):
            os.close(end)


@pytest.fixture
def pipes() -> Iterator[Pipes]:
    pipes = Pipes()
    yield pipes
    pipes.close()


def test_an_answer_is_read_also_if_the_hub_is_found_dead_by_writing_to_it(hub: FakeHub, pipes: Pipes) -> None:
    relay = pipes.relay
    relay.attach(relay_posix.connect(os.fsencode(hub.path)), b"hello\n")
    connection = hub.accept()
    connection.line()
    connection.send(reply(1))
    hub.die()
    os.write(pipes.asks, request(2, "tools/call"))
    relay.read_client()

    relay.pump()
    relay.detach()
    relay.tell_client(relay.tracker.hub_lost())
    first, second = pipes.answers()
    assert first == reply(1)
    assert json.loads(second)["id"] == 2


def test_what_a_hub_does_not_take_at_all_is_kept_for_it(hub: FakeHub, pipes: Pipes) -> None:
    connected = relay_posix.connect(os.fsencode(hub.path))
    filled = 0
    with contextlib.suppress(BlockingIOError):
        while True:
            filled += connected.send(b"x" * 100_000)
    pipes.relay.attach(connected, b"hello\n")
    connection = hub.accept()
    lines = []

    def be_hub() -> None:
        connection.take(filled)
        lines.append(connection.line())
        hub.die()

    thread = threading.Thread(target=be_hub, name="hub")
    thread.start()
    pipes.relay.pump()
    thread.join()
    assert lines == [b"hello\n"]


def test_what_a_client_does_not_take_at_all_is_kept_for_it(pipes: Pipes) -> None:
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(pipes.tells, b"x" * 4096)
    pipes.relay.tell_client(b"one\n")
    pipes.relay.tell_client(b"two\n")
    while not os.read(pipes.told, 4096).rstrip(b"x") and select.select([pipes.told], [], [], 0)[0]:
        pass

    pipes.relay.flush(select.POLLOUT)
    assert pipes.answers() == [b"one\n", b"two\n"]
    assert not pipes.relay.to_client


def test_a_client_that_is_found_gone_by_writing_to_it_is_gone(pipes: Pipes) -> None:
    os.close(pipes.told)
    pipes.relay.tell_client(b"line\n")
    pipes.told = os.dup(pipes.asked)

    assert pipes.relay.is_client_gone


def test_what_is_owed_to_the_client_comes_at_once_or_behind_the_line_that_it_is_within(hub: FakeHub, pipes: Pipes) -> None:
    relay = pipes.relay
    relay.tracker.start_offline()
    os.write(pipes.asks, request(1, "initialize") + request(2, "initialize"))
    relay.read_client()
    (owed,) = pipes.answers()
    assert json.loads(owed)["id"] == 1

    relay.attach(relay_posix.connect(os.fsencode(hub.path)), relay.tracker.hub_found())
    connection = hub.accept()
    line = reply(2, text="x" * 500)
    connection.send(line[:300])
    relay.read_hub()
    relay.tracker.owed = b"owed\n"
    os.write(pipes.asks, request(3, "ping"))
    relay.read_client()
    assert pipes.answers() == [line[:300]]
    connection.send(line[300:])
    relay.read_hub()
    assert pipes.answers() == [line[300:], b"owed\n"]


def test_a_bridge_blocked_in_both_directions_notices_that_the_hub_died(hub: FakeHub, bridge: BridgeProcess, connection: Connection) -> None:
    writers = [
        threading.Thread(target=bridge.send, args=[request(1, "tools/call", text="x" * 5_000_000)], name="client writes"),
        threading.Thread(target=send_until_refused, args=[connection], name="hub writes"),
    ]
    for writer in writers:
        writer.start()
    bridge.at_least(1)
    connection.at_least(1)
    hub.die()

    while b'"id":1,"error"' not in (line := bridge.line()):
        assert line
    for writer in writers:
        writer.join()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, -signal.SIGTERM), (signal.SIGINT, 130)])
def test_a_signal_ends_the_bridge_quietly(bridge: BridgeProcess, connection: Connection, number: int, code: int) -> None:
    bridge.process.send_signal(number)

    assert (bridge.end(), bridge.errors()) == (code, b"")


def test_the_client_may_give_a_socket_for_both_pipes(hub: FakeHub, home: Path) -> None:
    ours, theirs = socket.socketpair()
    with (
        ours,
        theirs,
        theirs.makefile("rwb", buffering=0) as pipe,
        BridgeProcess(environ={"HOME": str(home)}, stdin=pipe, stdout=pipe) as bridge,
    ):
        theirs.close()
        pipe.close()
        connection = hub.accept()
        connection.hello()
        ours.sendall(request(1, "tools/call"))
        assert connection.line() == request(1, "tools/call")
        connection.send(reply(1))
        assert ours.recv(1000) == reply(1)
        ours.close()
        assert (bridge.end(), bridge.errors()) == (0, b"")


def test_a_pipe_that_is_shared_is_left_as_it_was(hub: FakeHub, home: Path) -> None:
    reading, writing = os.pipe()
    with open(reading, "rb") as output, open(writing, "wb") as shared:
        with BridgeProcess(environ={"HOME": str(home)}, stdout=shared) as bridge:
            connection = hub.accept()
            connection.hello()
            assert not os.get_blocking(shared.fileno())
            bridge.close_input()
            connection.rest()
            connection.close()
            assert bridge.end() == 0
        assert os.get_blocking(shared.fileno())
        assert output


def test_output_that_does_not_block_already_stays_so(hub: FakeHub, home: Path) -> None:
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    with open(reading, "rb"), open(writing, "wb") as shared:
        with BridgeProcess(environ={"HOME": str(home)}, stdout=shared) as bridge:
            connection = hub.accept()
            bridge.close_input()
            connection.rest()
            connection.close()
            assert bridge.end() == 0
        assert not os.get_blocking(shared.fileno())


@pytest.mark.parametrize("closed", ["<&-", ">&-"])
def test_without_input_or_output_there_is_nobody_to_serve(hub: FakeHub, home: Path, closed: str) -> None:
    command = ["/bin/sh", "-c", f'exec "$@" {closed}', "sh", sys.executable, *FLAGS, str(MAIN)]

    ended = subprocess.run(command, env={"HOME": str(home), **MEASURED}, stdin=subprocess.DEVNULL, capture_output=True, check=False)

    assert (ended.returncode, ended.stderr) == (1, b"")


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        ([], (None, None, None, True)),
        (["--server", "files", "--profile", "work", "--home", "/x", "--no-start"], ("files", "work", "/x", False)),
        (["--server=a=b", "--profile=c", "--home=~/x"], ("a=b", "c", "~/x", True)),
        (["--profile"], None),
        (["--server"], None),
        (["--server="], None),
        (["--home"], None),
        (["--no-start=1"], None),
        (["files"], None),
        (["--help"], None),
        (["--version"], None),
    ],
)
def test_the_command_line_is_read_or_refused(arguments: list[str], options: tuple[object, ...] | None) -> None:
    read = hot.read_options(arguments)

    assert (read and (read.server, read.profile, read.home, read.may_start)) == options


def test_a_socket_in_a_folder_that_others_can_write_to_is_not_trusted(hub: FakeHub) -> None:
    hub.path.parent.chmod(0o777)

    with pytest.raises(PermissionError, match="other users can write"):
        relay_posix.connect(os.fsencode(hub.path))


def test_a_hub_of_another_user_is_not_trusted(hub: FakeHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relay_posix, "owner_of", lambda _: os.getuid() + 1)

    with pytest.raises(PermissionError, match="runs as another user"):
        relay_posix.connect(os.fsencode(hub.path))


def test_the_owner_of_a_hub_is_told_by_the_kernel_where_it_can(hub: FakeHub, monkeypatch: pytest.MonkeyPatch) -> None:
    connected = relay_posix.connect(os.fsencode(hub.path))
    assert relay_posix.owner_of(connected) == os.getuid()
    monkeypatch.delattr("_socket.SO_PEERCRED")
    assert relay_posix.owner_of(connected) is None
    connected.close()


def test_a_relay_bears_a_pipe_that_somebody_else_reads_too(home: Path) -> None:
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    relay = relay_posix.Relay(relay_posix.Tracker(), stdin=reading)
    relay.read_client()
    assert relay.is_input_open
    os.close(reading)
    os.close(writing)
    relay.read_client()  # as on a terminal that has been closed
    assert not relay.is_input_open


def test_a_relay_bears_being_woken_for_nothing(hub: FakeHub, pipes: Pipes) -> None:
    pipes.relay.attach(relay_posix.connect(os.fsencode(hub.path)), b"")

    assert pipes.relay.read_hub()
