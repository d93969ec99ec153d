"""What the bridge and the hub each write down for themselves, because the bridge imports nothing of tooltray."""

import asyncio
import json
import os
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec import Raw
from tests.fakes.bridge_process import BridgeProcess
from tests.fakes.conversation import Conversation
from tests.fakes.fake_channel import make_dispatcher
from tests.fakes.fake_clock import in_fake_time
from tests.fakes.fake_hub import request

from tooltray.carriers.mcp import client_session, first_answers_file
from tooltray.carriers.mcp.first_answers_file import Asked, Kind, encode
from tooltray.carriers.mcp.local_socket import Connection, Hello
from tooltray.cli.arguments import parse
from tooltray.cli.run import HUB_RUNNING
from tooltray.foundation import programs
from tooltray.foundation.home import user_posix
from tooltray.foundation.home.home import Home, find_home
from tooltray.foundation.installs import old_versions
from tooltray.protocol import channels, envelope
from tooltray.protocol.unsent import AllUnsent
from tooltray_bridge import first_answers, hot, lines, long_home, start, tracker
from tooltray_bridge import paths_posix as paths

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


@pytest.mark.parametrize("has_session", [True, False])
def test_both_find_the_socket_of_a_long_home_wherever_it_is(home: Path, monkeypatch: pytest.MonkeyPatch, has_session: bool) -> None:
    session, shared = home / "user" / str(os.getuid()), home / "tmp"
    for folder in (session, shared) if has_session else (shared,):
        folder.mkdir(parents=True, mode=0o700)
    for module in (user_posix, long_home):
        monkeypatch.setattr(module, "RUNTIME_FOLDERS", str(home / "user"))
        monkeypatch.setattr(module, "SHARED_FOLDER", str(shared))
    theirs = Home(home / ("x" * 150))
    record = theirs.root / user_posix.RECORD

    def found() -> Path:
        ours = paths.socket_path(os.fsencode(theirs.root))
        assert os.fsdecode(ours) == str(theirs.socket)
        return theirs.socket

    places = [found()]
    (shared / places[0].parent.name.replace("-", f"-{os.getuid()}-")).mkdir(mode=0o700)  # of an older hub
    places.append(found())
    theirs.prepare()
    places.append(found())
    record.write_bytes(os.fsencode(shared) + b"/own")
    record.chmod(0o600)
    (shared / "own").mkdir(mode=0o700)
    places.append(found())
    assert len(set(places)) == (3 if has_session else 4)
    for spoiled in (b"", b"own", b"/\0"):
        record.write_bytes(spoiled)
        assert found().parent != shared / "own"
    record.write_bytes(os.fsencode(shared) + b"/own")
    for spoil in (lambda: record.chmod(0o660), lambda: (record.unlink(), record.mkdir())):
        spoil()
        assert found().parent != shared / "own"


def test_both_find_the_socket_of_a_home_whose_disk_takes_none(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = Home(home / "usb")
    monkeypatch.setattr(user_posix, "takes_sockets", lambda _: False)
    theirs.prepare()
    try:
        assert theirs.socket.parent != theirs.run
        assert os.fsdecode(paths.socket_path(os.fsencode(theirs.root))) == str(theirs.socket)
    finally:
        theirs.remove_sockets()


@pytest.mark.parametrize("mode", [0o700, 0o750, 0o755, 0o770, 0o707, 0o1777])
def test_both_trust_the_same_folders(home: Path, mode: int) -> None:
    home.chmod(mode)

    assert paths.is_private(os.fsencode(home)) is (user_posix.reason_not_private(home) == "")


def test_both_name_the_files_in_a_home_alike(home: Path) -> None:
    theirs = Home(home)

    assert [home / name for name in (start.START_LOCK, start.DESKTOP_JSON, start.HOMES_JSON, start.REMOVED)] == [
        theirs.start_lock,
        theirs.desktop_json,
        theirs.homes,
        theirs.removed,
    ]


async def test_the_hub_understands_who_connects(home: Path) -> None:
    hellos: asyncio.Queue[Hello] = asyncio.Queue()

    class Session:
        """In place of a session's dispatcher: the connection ends behind the hello."""

        unsent = AllUnsent().of(is_server=False)

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
        arguments = ("--server", 'a "server" ü', "--profile", "ré/views", "--home", str(home), "--no-start")
        with BridgeProcess(*arguments, environ={"HOME": str(home)}, cwd=home) as bridge:
            first, again = [await asyncio.wait_for(hellos.get(), 20) for _ in range(2)]

            assert first == again  # the session outlives a connection
            assert len(bytes.fromhex(first.session)) == 16
            assert (first.role, first.server, first.cwd, first.peer_pid) == ("client", 'a "server" ü', str(home), bridge.process.pid)
            assert first.profile == "ré/views"
            assert first.facts == first_answers.facts('a "server" ü', "ré/views", os.fsencode(home))


def test_both_name_and_sign_the_first_answers_alike(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = Home(home)
    assert theirs.first_answers == home / os.fsdecode(first_answers.FILE)
    for path in (home, home / "none", home / "none" / "below"):
        assert first_answers.signature(os.fsencode(path)) == first_answers_file.signature(path)
    for is_frozen in (False, True):
        monkeypatch.setattr(sys, "frozen", is_frozen, raising=False)
        assert os.path.realpath(first_answers._program()) == os.path.realpath(os.fsencode(first_answers_file.program_file()))


@given(
    facts=st.binary(max_size=20),
    inputs=st.lists(st.text(st.characters(exclude_characters="\0"), min_size=1, max_size=9).map(lambda text: f"/none{text!a}")),
    answers=st.dictionaries(
        st.tuples(st.binary(max_size=9), st.sampled_from(["initialize", "tools/list"]), st.binary(max_size=9)),
        st.binary(min_size=1),
        min_size=1,
    ),
)
def test_the_bridge_reads_the_answers_that_the_hub_writes(
    facts: bytes, inputs: list[str], answers: dict[tuple[bytes, str, bytes], bytes]
) -> None:
    program = first_answers_file.signature(first_answers_file.program_file())
    absent = dict.fromkeys(inputs, first_answers_file.ABSENT)
    kind = Kind(absent, {Asked(*asked): result for asked, result in answers.items()})
    with tempfile.TemporaryDirectory() as home:
        path = Path(home, os.fsdecode(first_answers.FILE))
        path.touch(0o600)
        path.write_bytes(encode(program, absent, {b"another" + facts: Kind(), facts: kind}))
        read = first_answers.read(os.fsencode(home), facts)

    assert read
    for (introduction, method, params), result in answers.items():
        assert read.find(introduction, method.encode(), params) == (result, first_answers_file.checksum(result))


def test_the_hub_knows_a_request_that_a_bridge_has_answered() -> None:
    assert (lines.AHEAD_ID % (b"", 1)).startswith(client_session.AHEAD)


@pytest.mark.parametrize("id", [b"1", b'"a \\" b"', b"-1.5e3", b"null"])
def test_every_reply_of_the_hub_begins_as_the_bridge_expects(id: bytes) -> None:
    for reply in (envelope.success({"a": 1}), envelope.failure(-32000, "no")):
        head, payload, tail = envelope.reply_parts(Raw(id), reply)
        line = head + bytes(payload) + tail

        assert line.startswith(lines.REPLY_HEAD)
        assert lines.reply_id_at(line, 0) == id


def test_a_request_of_the_hub_is_not_taken_for_a_reply() -> None:
    head, payload, tail = envelope.request_parts(b"1", "roots/list", Raw(b"{}"))

    assert lines.reply_id_at(head + bytes(payload) + tail, 0) == b""


def test_the_bridges_own_errors_are_replies_that_the_hub_could_have_written() -> None:
    for error in (lines.HUB_LOST, lines.LINE_LOST):
        message = envelope.decode(lines.failed(b"5", error))
        assert (bytes(message.id), bool(message.error)) == (b"5", True)


def test_what_the_bridge_replays_is_a_request_to_the_hub() -> None:
    followed = tracker.Tracker()
    followed.client_sent(request(1, "initialize", protocolVersion="2025-11-25"))
    followed.hub_sent(b'{"jsonrpc":"2.0","id":1,"result":{}}\n')
    followed.hub_lost()

    message = envelope.decode(followed.hub_found())
    envelope.check_request(message)
    assert message.method == "initialize"


def test_the_bridge_tells_a_refusal_of_the_hub_from_a_result() -> None:
    for reply, is_refused in ((envelope.success({}), False), (envelope.failure(-32002, "no"), True)):
        line = b"".join(map(bytes, envelope.reply_parts(Raw(b'"a"'), reply)))
        assert lines.is_refusal(line, b'"a"') is is_refused


def test_the_bridge_notices_what_the_hub_asks_and_what_it_withdraws() -> None:
    followed = tracker.Tracker()
    ask = [b"".join(map(bytes, envelope.request_parts(id, "elicitation/create", Raw(b"{}")))) for id in (b"70", b"71")]
    withdraw = envelope.request_parts(b"", "notifications/cancelled", envelope.dump({"requestId": 70, "reason": "x"}))
    followed.hub_sent(b"".join(ask) + b"".join(map(bytes, withdraw)))

    told = envelope.decode(followed.hub_lost())
    assert (told.method, envelope.load(told.params)["requestId"]) == ("notifications/cancelled", 71)


@in_fake_time
async def test_the_bridge_finds_each_answer_in_the_hubs_array() -> None:
    dispatcher, channel = make_dispatcher()
    dispatcher.takes_batches = True
    followed = tracker.Tracker()
    asked = b"[%b]\n" % b",".join(request(id, "m").rstrip(b"\n") for id in (1, "a,[", 3))
    dispatcher.feed(followed.client_sent(asked))
    await channel.message()
    (array,) = channel.lines.all
    assert followed.hub_sent(array[:-1]) == array[:-1]
    assert followed.hub_sent(array[-1:] + b"\n") == array[-1:] + b"\n"
    assert followed.hub_lost() == b""


@in_fake_time
async def test_a_hub_takes_a_handshake_and_a_batch_that_the_bridge_replays_in_one_go() -> None:
    async with Conversation() as client:
        client.presenter.listings[None] = Raw(b'{"tools":[]}')
        followed = tracker.Tracker()
        followed.client_sent(
            request(0, "initialize", protocolVersion="2025-03-26", capabilities={}, clientInfo={"name": "t", "version": "1"})
        )
        followed.hub_sent(b'{"jsonrpc":"2.0","id":0,"result":{}}\n')
        followed.client_sent(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        followed.hub_lost()
        followed.client_sent(b"[%b,%b]\n" % (request(1, "ping")[:-1], request(2, "tools/list")[:-1]))

        client.session.dispatcher.feed(followed.hub_found())
        await client.channel.lines.until(lambda: len(client.channel.lines.all) == 2)
        handshake, array = (line + b"\n" for line in client.channel.lines.all)
        assert followed.hub_sent(handshake + array) == array
        assert {reply["id"]: "result" in reply for reply in json.loads(array)} == {1: True, 2: True}
        assert followed.hub_lost() == b""


def test_both_give_up_a_line_at_the_same_size() -> None:
    assert tracker.MAX_LINE_BYTES == channels.MAX_CLIENT_LINE_BYTES


def test_the_command_that_the_bridge_runs_exists_and_its_exit_code_is_known() -> None:
    assert parse(start.SERVE).started_by_bridge
    assert HUB_RUNNING in start.OTHER_HUB_CODES


def test_the_hub_asks_a_bridge_to_leave_in_the_words_that_it_knows() -> None:
    from tooltray.carriers.mcp.local_socket import LEAVE

    bridge = tracker.Tracker()
    assert bridge.hub_sent(LEAVE) == b""
    assert bridge.may_leave


def test_the_hello_line_fits_into_what_the_hub_reads_of_it() -> None:
    from tooltray.carriers.mcp.local_socket import MAX_HELLO_BYTES

    assert len(hot.hello("x" * 64, "p" * 100)) < MAX_HELLO_BYTES


@pytest.mark.parametrize("is_frozen", [False, True])
def test_both_start_the_same_hub(monkeypatch: pytest.MonkeyPatch, is_frozen: bool) -> None:
    monkeypatch.setattr(sys, "frozen", is_frozen, raising=False)
    assert start.program() == programs.tooltray_command()
    assert start.SUPERSEDED == old_versions.SUPERSEDED
    assert start.CURRENT == programs.CURRENT
