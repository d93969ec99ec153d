"""The bridge while there is no hub: it comes back, says why it cannot, and loses nothing that can be kept."""

import itertools
import json
import os
import posix
import pty
import pwd
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.fakes.bridge_process import MEASURED, BridgeProcess
from tests.fakes.fake_hub import FakeHub, reply, request

from tooltray_bridge import cold, hot, paths_posix, relay_posix
from tooltray_bridge.tracker import CUT

INITIALIZE = request(0, "initialize")
INITIALIZED = b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n'
LOST, INTERNAL_ERROR = -32000, -32603


def test_a_hub_that_dies_before_the_first_line_is_found_again(hub: FakeHub, bridge: BridgeProcess) -> None:
    session = hub.accept().hello()["session"]
    hub.die()
    hub.listen()

    connection = hub.accept()
    assert connection.hello()["session"] == session
    bridge.send(request(1, "ping"))
    assert connection.line() == request(1, "ping")


def test_a_hub_that_never_reads_the_first_line_is_found_again(hub: FakeHub, bridge: BridgeProcess) -> None:
    bridge.send(INITIALIZE)
    hub.accept()
    hub.die()
    hub.listen()

    assert hub.accept_greeted().line() == INITIALIZE


def test_after_the_hub_died_in_a_call_the_call_fails_and_the_next_one_works(hub: FakeHub, bridge: BridgeProcess) -> None:
    connection = hub.accept_greeted()
    bridge.send(INITIALIZE)
    connection.line()
    connection.send(reply(0))
    bridge.line()
    bridge.send(INITIALIZED + request(1, "tools/call"))
    connection.line()
    connection.line()
    hub.die()

    lost = bridge.message()
    assert (lost["id"], lost["error"]["code"]) == (1, LOST)
    hub.listen()
    connection = hub.accept_greeted()
    replayed = json.loads(connection.line())
    assert replayed["method"] == "initialize"
    assert connection.line() == INITIALIZED
    bridge.send(request(2, "tools/call"))
    assert connection.line() == request(2, "tools/call")
    connection.send(reply(replayed["id"]) + reply(2))
    assert bridge.line() == reply(2)


def test_a_reply_that_is_cut_off_ends_with_its_line_and_its_call_fails(hub: FakeHub, bridge: BridgeProcess) -> None:
    connection = hub.accept_greeted()
    bridge.send(request(1, "tools/call"))
    connection.line()
    cut = reply(1, text="x" * 100_000)[:70_000]
    connection.send(cut)
    bridge.at_least(len(cut))
    hub.die()

    assert bridge.line() == cut + CUT
    assert bridge.message()["error"]["code"] == LOST


def test_a_line_that_the_client_was_within_is_sent_again_to_the_next_hub(hub: FakeHub, bridge: BridgeProcess) -> None:
    line = request(1, "tools/call", text="x" * 300_000)
    connection = hub.accept_greeted()
    bridge.send(line[:200_000])
    connection.at_least(200_000)
    hub.die()
    hub.listen()

    connection = hub.accept_greeted()
    assert connection.at_least(200_000) == line[:200_000]
    bridge.send(line[200_000:])
    assert connection.line() == line


def test_what_is_asked_between_two_hubs_is_answered_by_the_second(hub: FakeHub, bridge: BridgeProcess) -> None:
    bridge.send(request(0, "tools/call"))
    hub.accept_greeted().line()
    hub.die()
    assert bridge.message()["id"] == 0
    bridge.send(request(1, "tools/call"))
    hub.listen()

    connection = hub.accept_greeted()
    assert connection.line() == request(1, "tools/call")
    connection.send(reply(1))
    assert bridge.line() == reply(1)


def test_of_two_batches_the_one_in_flight_fails_and_the_one_between_two_hubs_is_answered(hub: FakeHub, bridge: BridgeProcess) -> None:
    first, second = [b"[%b,%b]\n" % (request(id, "tools/call")[:-1], request(id + 1, "tools/call")[:-1]) for id in (1, 3)]
    connection = hub.accept_greeted()
    bridge.send(first)
    assert connection.line() == first
    hub.die()
    assert {bridge.message()["id"], bridge.message()["id"]} == {1, 2}

    bridge.send(second)
    hub.listen()
    connection = hub.accept_greeted()
    assert connection.line() == second
    answers = b"[%b,%b]\n" % (reply(4)[:-1], reply(3)[:-1])
    connection.send(answers)
    assert bridge.line() == answers
    connection.close()
    connection = hub.accept_greeted()
    connection.send(reply(99))
    assert bridge.line() == reply(99)  # and before it no error for what has been answered


def test_the_next_hub_is_told_what_is_subscribed_and_the_client_that_its_answers_are_not_needed(
    hub: FakeHub, bridge: BridgeProcess
) -> None:
    connection = hub.accept_greeted()
    subscribe = request(1, "resources/subscribe", uri="file:///a")
    bridge.send(subscribe)
    connection.line()
    question = request(70, "roots/list")
    connection.send(reply(1) + question)
    assert (bridge.line(), bridge.line()) == (reply(1), question)
    hub.die()

    told = bridge.message()
    assert (told["method"], told["params"]["requestId"]) == ("notifications/cancelled", 70)
    hub.listen()
    connection = hub.accept_greeted()
    again = json.loads(connection.line())
    assert (again["method"], again["params"]) == ("resources/subscribe", {"uri": "file:///a"})
    connection.send(reply(again["id"]) + reply(2))
    assert bridge.line() == reply(2)


def test_a_client_that_closes_its_side_without_a_hub_still_gets_its_answer(home: Path) -> None:
    with BridgeProcess("--no-start", environ={"HOME": str(home)}) as bridge, FakeHub(home / ".tooltray" / "run" / "hub.sock") as hub:
        bridge.send(INITIALIZE + request(1, "tools/list"))
        bridge.close_input()

        connection = hub.accept_greeted()
        assert connection.rest() == INITIALIZE + request(1, "tools/list")
        connection.send(reply(0) + reply(1))
        connection.close()
        assert (bridge.rest(), bridge.end()) == (reply(0) + reply(1), 0)


def test_without_a_hub_each_request_is_told_why_and_nothing_else_is_said(home: Path) -> None:
    with BridgeProcess("--no-start", environ={"HOME": str(home)}) as bridge:
        bridge.send(INITIALIZE + INITIALIZED + request("two", "tools/list") + b"garbage\n")
        answers = [bridge.message(), bridge.message()]
        bridge.close_input()

        assert [answer["id"] for answer in answers] == [0, "two"]
        assert {answer["error"]["code"] for answer in answers} == {INTERNAL_ERROR}
        assert "--no-start" in answers[0]["error"]["message"]
        assert (bridge.rest(), bridge.end(), bridge.errors()) == (b"", 1, b"")
    assert not (home / ".tooltray").exists()


def test_a_client_that_was_refused_is_served_as_soon_as_there_is_a_hub(home: Path) -> None:
    with BridgeProcess("--no-start", environ={"HOME": str(home)}) as bridge:
        bridge.send(INITIALIZE)
        assert bridge.message()["error"]["code"] == INTERNAL_ERROR
        bridge.send(request(1, "tools/list"))  # at once: the reason is still good
        assert bridge.message()["error"]["code"] == INTERNAL_ERROR

        with FakeHub(home / ".tooltray" / "run" / "hub.sock") as hub:
            connection = hub.accept_greeted()
            bridge.send(request(5, "initialize"))
            assert connection.line() == request(5, "initialize")
            bridge.close_input()
            connection.rest()
            connection.send(reply(5))
            connection.close()
            assert (bridge.line(), bridge.rest(), bridge.end()) == (reply(5), b"", 0)


def test_a_client_that_leaves_while_there_is_no_hub_ends_the_bridge(home: Path) -> None:
    with BridgeProcess("--no-start", environ={"HOME": str(home)}) as bridge:
        bridge.close_input()
        assert (bridge.end(), bridge.errors()) == (0, b"")


def test_a_client_that_vanishes_while_it_waits_for_a_hub_ends_the_bridge(home: Path) -> None:
    with BridgeProcess("--no-start", environ={"HOME": str(home)}) as bridge:
        bridge.send(INITIALIZE)
        bridge.close_output()
        assert (bridge.end(), bridge.errors()) == (0, b"")


def test_a_client_that_reads_late_gets_its_errors_late(hub: FakeHub, bridge: BridgeProcess) -> None:
    connection = hub.accept_greeted()
    count = 3000
    bridge.send(b"".join(request(id, "tools/call") for id in range(count)))
    connection.take(len(b"".join(request(id, "tools/call") for id in range(count))))
    bridge.close_input()
    connection.rest()
    hub.die()

    errors = [json.loads(line) for line in bridge.rest().splitlines()]
    assert [error["id"] for error in errors] == list(range(count))
    assert bridge.end() == 0


class Attempt:
    """A start that never gets ready, and is given up after so many steps."""

    steps = 200
    most_kept_bytes = 0

    def __init__(self, relay: relay_posix.Relay) -> None:
        self._relay = relay
        self._left = self.steps

    def step(self) -> str:
        Attempt.most_kept_bytes = max(Attempt.most_kept_bytes, self._relay.tracker.kept_bytes)
        self._left -= 1
        return "" if self._left else "given up"

    def close(self) -> None: ...


@pytest.fixture
def outage_of(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[bytes], relay_posix.Relay]]:
    """Goes through an outage in the test's own process with a client that writes this and closes its side."""
    monkeypatch.setattr(posix, "environ", {b"HOME": os.fsencode(home)})
    monkeypatch.setattr(cold, "EVERY_S", 0.0)
    with open(home / "asked", "w+b") as asked, open(home / "told", "w+b") as told:

        def go(lines: bytes) -> relay_posix.Relay:
            asked.write(lines)
            asked.seek(0)
            relay = relay_posix.Relay(relay_posix.Tracker(), stdin=asked.fileno(), stdout=told.fileno())
            relay.tracker.start_offline()
            monkeypatch.setattr(cold, "HubStart", lambda *_, **__: Attempt(relay))
            assert not cold.Outage(relay, hot.Options(), b"hello\n").wait_for_hub()
            return relay

        yield go


def test_no_more_requests_are_taken_in_than_are_kept(outage_of: Callable[[bytes], relay_posix.Relay], home: Path) -> None:
    line = request(1, "tools/call", text="x" * 10_000)
    outage_of(line.replace(b'"id":1', b'"id":%d') * 500 % tuple(range(500)))

    assert cold.KEPT_BYTES <= Attempt.most_kept_bytes < cold.KEPT_BYTES + 2 * relay_posix.CHUNK_BYTES
    answers = [json.loads(line) for line in (home / "told").read_bytes().splitlines()]
    assert [answer["id"] for answer in answers] == list(range(500))
    assert {answer["error"]["message"] for answer in answers} == {"given up"}


def test_a_client_that_reads_none_of_its_refusals_is_read_no_further(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unread, to_client = os.pipe()
    os.set_blocking(to_client, False)
    turns = itertools.count()

    def now() -> float:
        if next(turns) == 1999:
            os.close(unread)  # the client leaves
        return 0.0

    monkeypatch.setattr(posix, "environ", {b"HOME": os.fsencode(home)})
    for pause in ("EVERY_S", "IDLE_FROM_S", "IDLE_TO_S"):
        monkeypatch.setattr(cold, pause, 0.0)
    monkeypatch.setattr(cold, "REFUSE_FOR_S", 1.0)
    monkeypatch.setattr(cold, "monotonic", now)
    monkeypatch.setattr(cold, "HubStart", lambda *_, **__: Refusing())
    with open(home / "asked", "w+b") as asked:
        asked.writelines(request(id, "m") for id in range(50_000))
        asked.seek(0)
        relay = relay_posix.Relay(relay_posix.Tracker(), stdin=asked.fileno(), stdout=to_client)
        relay.tracker.start_offline()
        assert not cold.Outage(relay, hot.Options(), b"hello\n").wait_for_hub()
        assert cold.KEPT_BYTES <= len(relay.to_client) < 2 * cold.KEPT_BYTES
    os.close(to_client)


class Refusing:
    """A start that is given up at once."""

    def step(self) -> str:
        return "given up"

    def close(self) -> None: ...


def test_nothing_is_started_for_a_client_that_asks_nothing(
    outage_of: Callable[[bytes], relay_posix.Relay], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: Attempt) -> str:
        raise AssertionError("a hub was started")

    monkeypatch.setattr(Attempt, "step", refuse)
    outage_of(INITIALIZED + reply(5) + b"garbage\n" * 100_000)

    assert (home / "told").read_bytes() == b""


def test_a_hub_that_hangs_up_again_and_again_is_told_as_such(hub: FakeHub, bridge: BridgeProcess) -> None:
    bridge.send(INITIALIZE)
    for _ in range(cold.QUICK_LOSSES + 1):
        hub.accept().close()

    answer = bridge.message()
    assert (answer["id"], answer["error"]["code"]) == (0, INTERNAL_ERROR)
    assert "closes every connection at once" in answer["error"]["message"]


def test_a_hub_that_answered_before_it_died_is_given_another_chance_at_once(hub: FakeHub, bridge: BridgeProcess) -> None:
    for id in range(cold.QUICK_LOSSES + 2):
        connection = hub.accept_greeted()
        bridge.send(request(id, "ping"))
        connection.line()
        connection.send(reply(id))
        assert bridge.line() == reply(id)
        connection.close()


def test_a_hub_that_takes_no_connections_is_waited_for_and_then_told(home: Path) -> None:
    path = home / ".tooltray" / "run" / "hub.sock"
    path.parent.mkdir(parents=True, mode=0o700)
    with socket.socket(socket.AF_UNIX) as busy, socket.socket(socket.AF_UNIX) as other:
        busy.bind(str(path))
        busy.listen(0)
        other.connect(str(path))
        with BridgeProcess(environ={"HOME": str(home)}) as bridge:
            bridge.send(INITIALIZE)

            assert "cannot be reached" in bridge.message()["error"]["message"]


@pytest.mark.parametrize("open_to", [0o020, 0o002])
def test_in_a_home_that_others_can_write_to_no_hub_is_started(home: Path, open_to: int) -> None:
    (home / ".tooltray").mkdir()
    (home / ".tooltray").chmod(0o700 | open_to)
    with BridgeProcess(environ={"HOME": str(home)}) as bridge:
        bridge.send(INITIALIZE)

        message = bridge.message()["error"]["message"]
        assert f"Other users can write to {home}/.tooltray" in message
        assert "chmod 700" in message


def test_in_a_home_that_is_not_listed_no_hub_is_started(home: Path) -> None:
    with BridgeProcess("--home", str(home / "other"), environ={"HOME": str(home)}) as bridge:
        bridge.send(INITIALIZE)

        message = bridge.message()["error"]["message"]
        assert f"tooltray serve --home {home}/other" in message
        assert "homes.json" in message
    assert not (home / "other").exists()


def test_without_any_home_the_client_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(uid: int) -> None:
        raise KeyError(uid)

    monkeypatch.setattr(pwd, "getpwuid", unknown)
    monkeypatch.setattr(paths_posix, "ENVIRON", {})
    asked, asks = os.pipe()
    told, tells = os.pipe()
    try:
        os.write(asks, INITIALIZE)
        os.close(asks)
        relay = relay_posix.Relay(relay_posix.Tracker(), stdin=asked, stdout=tells)
        relay.tracker.start_offline()
        outage = cold.Outage(relay, hot.Options(), hot.hello(None))

        assert not outage.wait_for_hub()
        assert outage.exit_code == 1
        assert "HOME is not set" in json.loads(os.read(told, 10_000))["error"]["message"]
    finally:
        for end in (asked, told, tells):
            os.close(end)


def test_help_says_how_to_use_it(home: Path) -> None:
    with BridgeProcess("--help", environ={"HOME": str(home)}) as bridge:
        text = bridge.rest()
        assert (bridge.end(), bridge.errors()) == (0, b"")
    assert text.startswith(cold.PURPOSE.encode())
    assert all(option in text for option in (b"--server NAME", b"--profile NAME", b"--home DIR", b"--no-start"))


def test_a_command_line_that_is_not_understood_is_a_usage_error(home: Path) -> None:
    with BridgeProcess("--serve", environ={"HOME": str(home)}) as bridge:
        assert (bridge.rest(), bridge.end()) == (b"", 2)
        assert b"usage: tooltray-bridge" in bridge.errors()


CONSOLE_SCRIPT = [sys.executable, "-c", "import sys; from tooltray_bridge.cold import main; sys.exit(main())"]


def test_the_console_script_is_the_same_bridge(hub: FakeHub, home: Path) -> None:
    environ = {"HOME": str(home), **MEASURED}
    with subprocess.Popen(CONSOLE_SCRIPT, env=environ, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        connection = hub.accept_greeted()
        assert process.stdin
        process.stdin.close()
        connection.rest()
        connection.close()
        assert process.wait(20) == 0
        assert process.stderr
        assert process.stderr.read() == b""


def test_on_a_terminal_the_console_script_says_what_it_is_for(hub: FakeHub, home: Path) -> None:
    environ = {"HOME": str(home), **MEASURED}
    ours, terminal = pty.openpty()
    with (
        open(ours, "wb", buffering=0) as keyboard,
        open(terminal, "rb") as theirs,
        subprocess.Popen(CONSOLE_SCRIPT, env=environ, stdin=theirs, stdout=theirs, stderr=subprocess.PIPE) as process,
    ):
        connection = hub.accept_greeted()
        keyboard.write(b'{"id":1}\n')
        assert connection.line() == b'{"id":1}\n'
        keyboard.write(b"\x04")  # Ctrl-D
        connection.rest()
        connection.close()
        assert process.wait(20) == 0
        assert process.stderr
        assert process.stderr.read() == cold.PURPOSE.encode() + b"\n"


def test_on_a_terminal_with_wrong_options_only_the_usage_is_said(home: Path) -> None:
    ours, terminal = pty.openpty()
    with open(ours, "rb"), open(terminal, "rb") as theirs:
        ended = subprocess.run([*CONSOLE_SCRIPT, "--nothing"], stdin=theirs, capture_output=True, check=False)

        assert (ended.returncode, ended.stderr.decode()) == (2, cold.USAGE)
