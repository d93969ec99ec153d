"""What the bridge and the hub each write down for themselves, because the bridge imports nothing of tooltray."""

import asyncio
import os
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec import Raw
from tests.fakes.bridge_process import BridgeProcess
from tests.fakes.fake_hub import request

from tooltray.cli.arguments import parse
from tooltray.cli.outcome import HUB_RUNNING
from tooltray.config import user_posix
from tooltray.config.home import Home, find_home
from tooltray.publish.connection import Connection, Hello
from tooltray.wire import envelope, framing
from tooltray_bridge import hot, paths, start, tracker

paths_of_all_kinds = st.text(st.sampled_from("/.~ab é\udcff"), max_size=12) | st.text(
    st.characters(exclude_characters="\0"), max_size=150
).map(lambda text: "/" + text.encode("utf-8", "replace").decode())


@given(argument=st.none() | paths_of_all_kinds, variable=st.none() | paths_of_all_kinds, user=paths_of_all_kinds)
@example(argument=None, variable=None, user="")
@example(argument="~", variable=None, user="/home/me/")
@example(argument="//x", variable=None, user="/home/me")
@example(argument=None, variable="~/" + "x" * 200, user="/home/me")
def test_both_find_the_same_home_and_the_same_socket(argument: str | None, variable: str | None, user: str) -> None:
    environ = {"HOME": user} | ({} if variable is None else {"TOOLTRAY_HOME": variable})
    theirs = find_home(argument, environ)

    ours = paths.find_home(argument, {os.fsencode(name): os.fsencode(value) for name, value in environ.items()})

    assert os.fsdecode(ours) == str(theirs.root)
    assert os.fsdecode(paths.socket_path(ours)) == str(theirs.socket)


@pytest.mark.parametrize("mode", [0o700, 0o750, 0o755, 0o770, 0o707, 0o1777])
def test_both_trust_the_same_folders(home: Path, mode: int) -> None:
    home.chmod(mode)

    assert paths.is_private(os.fsencode(home)) is (user_posix.reason_not_private(home) == "")


def test_both_name_the_files_in_a_home_alike(home: Path) -> None:
    theirs = Home(home)

    assert [home / name for name in (start.START_LOCK, start.DESKTOP_JSON, start.HOMES_JSON)] == [
        theirs.start_lock,
        theirs.desktop_json,
        theirs.homes,
    ]


async def test_the_hub_understands_who_connects(home: Path) -> None:
    hellos: asyncio.Queue[Hello] = asyncio.Queue()

    class Session:
        """In place of a session's dispatcher: the connection ends behind the hello."""

        def attach(self, connection: Connection) -> None:
            connection.close()

        def feed(self, data: bytes) -> None: ...

        def connection_lost(self, reason: str) -> None: ...

    def on_hello(hello: Hello, connection: Connection) -> Session:
        hellos.put_nowait(hello)
        return Session()

    path = Home(home).socket
    path.parent.mkdir(mode=0o700)
    server = await asyncio.get_running_loop().create_unix_server(lambda: Connection(on_hello=on_hello), str(path))  # type: ignore[arg-type]
    async with server:
        arguments = ("--server", 'a "server" ü', "--home", str(home), "--no-start")
        with BridgeProcess(*arguments, environ={"HOME": str(home)}, cwd=home) as bridge:
            first, again = [await asyncio.wait_for(hellos.get(), 20) for _ in range(2)]

            assert first == again  # the session outlives a connection
            assert len(bytes.fromhex(first.session)) == 16
            assert (first.role, first.server, first.cwd, first.peer_pid) == ("client", 'a "server" ü', str(home), bridge.process.pid)


@pytest.mark.parametrize("id", [b"1", b'"a \\" b"', b"-1.5e3", b"null"])
def test_every_reply_of_the_hub_begins_as_the_bridge_expects(id: bytes) -> None:
    for reply in (envelope.success({"a": 1}), envelope.failure(-32000, "no")):
        head, payload, tail = envelope.reply_parts(Raw(id), reply)
        line = head + bytes(payload) + tail

        assert line.startswith(tracker.REPLY_HEAD)
        assert tracker.reply_id_at(line, 0) == id


def test_a_request_of_the_hub_is_not_taken_for_a_reply() -> None:
    head, payload, tail = envelope.request_parts(b"1", "roots/list", Raw(b"{}"))

    assert tracker.reply_id_at(head + bytes(payload) + tail, 0) == b""


def test_the_bridges_own_errors_are_replies_that_the_hub_could_have_written() -> None:
    for error in (tracker.HUB_LOST, tracker.LINE_LOST):
        message = envelope.decode(tracker.failed(b"5", error))
        assert (bytes(message.id), bool(message.error)) == (b"5", True)


def test_what_the_bridge_replays_is_a_request_to_the_hub() -> None:
    followed = tracker.Tracker()
    followed.client_sent(request(1, "initialize", protocolVersion="2025-11-25"))
    followed.hub_sent(b'{"jsonrpc":"2.0","id":1,"result":{}}\n')
    followed.hub_lost()

    message = envelope.decode(followed.hub_found())
    envelope.check_request(message)
    assert message.method == "initialize"


def test_both_give_up_a_line_at_the_same_size() -> None:
    assert tracker.MAX_LINE_BYTES == framing.MAX_CLIENT_LINE_BYTES


def test_the_command_that_the_bridge_runs_exists_and_its_exit_code_is_known() -> None:
    assert parse(start.SERVE).started_by_bridge
    assert HUB_RUNNING in start.OTHER_HUB_CODES


def test_the_hello_line_fits_into_what_the_hub_reads_of_it() -> None:
    from tooltray.publish.connection import MAX_HELLO_BYTES

    assert len(hot.hello("x" * 64)) < MAX_HELLO_BYTES
