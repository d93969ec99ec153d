"""control_client.py"""

import errno
import inspect
import json
import os
import socket
import subprocess
import sys
import threading
from typing import Any, get_type_hints

import pytest
from tests.fakes.fake_control_hub import BOUND_S, FakeControlHub, HangUp, KeepSilent
from tests.fakes.verb_table import VERBS

from tooltray.carriers.control.control_client import ControlClient, HubLost, HubSilent, result_type, typed_result, verb_entries
from tooltray.carriers.control.local_posix import wait_for_end
from tooltray.carriers.copilot.hub_calls import HubCalls
from tooltray.foundation.confirm_widening import NeedsPassphrase
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.home.home import Home
from tooltray.foundation.snapshots.tools import ToolSnapshot

pytestmark = pytest.mark.posix  # sockets of POSIX; tests/windows has the pipes


def connected(home: Home, *, with_events: bool = False) -> ControlClient:
    client = ControlClient.connect(home, with_events=with_events)
    assert client is not None
    return client


def test_no_socket_means_no_hub(hub_home: Home) -> None:
    assert ControlClient.connect(hub_home) is None


def test_the_socket_of_a_killed_hub_means_no_hub(hub_home: Home) -> None:
    hub_home.prepare()
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(os.fspath(hub_home.control_socket))
    assert hub_home.control_socket.exists()
    assert ControlClient.connect(hub_home) is None


def test_a_socket_that_cannot_be_used_is_told_with_its_path(hub_home: Home) -> None:
    hub_home.prepare()
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as other:
        other.bind(os.fspath(hub_home.control_socket))
        with pytest.raises(TooltrayError, match=r"control\.sock"):
            ControlClient.connect(hub_home)


def test_a_call_carries_its_parameters_and_brings_the_result_back(hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"get_server_log": lambda name: [name]}) as hub, connected(hub_home) as client:
        assert client.call("get_server_log", name="檔案") == ["檔案"]
        assert client.call("hub/info")["version"] == "9.9.9"
        assert hub.calls == [("get_server_log", {"name": "檔案"}), ("hub/info", {})]
        assert hub.hellos == [{"tooltray": 1, "role": "control", "events": False}]


def test_a_large_result_arrives_whole(hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"get": "x" * 5_000_000}), connected(hub_home) as client:
        assert client.call("get") == "x" * 5_000_000


def test_a_failure_of_the_hub_keeps_its_three_parts(hub_home: Home) -> None:
    def fail() -> None:
        raise TooltrayError("It failed", "because", "Do this")

    with FakeControlHub(hub_home, {"fail": fail}), connected(hub_home) as client:
        with pytest.raises(TooltrayError) as failure:
            client.call("fail")
        assert failure.value.problem.title == "It failed"
        assert failure.value.problem.message == "because"
        assert failure.value.problem.hint == "Do this"


def test_a_call_that_waits_for_the_person_at_the_window_may_take_longer_and_says_so(hub_home: Home) -> None:
    def slow() -> str:
        hub.send_raw(b'{"jsonrpc":"2.0","method":"waits_for_person","params":{"seconds":5}}\n')
        assert told.acquire(timeout=BOUND_S)
        return "done"

    told = threading.Semaphore(0)
    with FakeControlHub(hub_home, {"slow": slow}) as hub, connected(hub_home) as client:
        client.on_wait = told.release
        assert client.call("slow", timeout_s=BOUND_S) == "done"
        assert client.call("slow", timeout_s=None) == "done"


def test_a_refusal_that_a_passphrase_would_help_is_one_of_its_own(hub_home: Home) -> None:
    def fail() -> None:
        raise NeedsPassphrase("It needs the passphrase")

    with FakeControlHub(hub_home, {"fail": fail}), connected(hub_home) as client, pytest.raises(NeedsPassphrase):
        client.call("fail")


def test_a_verb_that_the_hub_does_not_know_is_named(hub_home: Home) -> None:
    with FakeControlHub(hub_home), connected(hub_home) as client, pytest.raises(TooltrayError, match=r"does not know.*get_moon"):
        client.call("get_moon")


def test_an_error_without_words_of_ours_is_still_told(hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"x": KeepSilent}) as hub, connected(hub_home) as client:
        client.call("hub/info")
        hub.send_raw(b'{"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"server is missing"}}\n')
        with pytest.raises(TooltrayError, match="server is missing"):
            client.call("hub/info")


def test_a_hub_that_ends_during_a_call_is_told(hub_home: Home) -> None:
    def hang_up() -> None:
        raise HangUp

    with FakeControlHub(hub_home, {"x": hang_up}), connected(hub_home) as client:
        with pytest.raises(HubLost):
            client.call("x")
        with pytest.raises(HubLost):
            client.call("x")


def test_a_hub_that_does_not_answer_is_given_up(hub_home: Home) -> None:
    def keep_silent() -> None:
        raise KeepSilent

    with FakeControlHub(hub_home, {"x": keep_silent}), connected(hub_home) as client:
        with pytest.raises(HubSilent, match=r"x took longer than 0\.05 s"):
            client.call("x", timeout_s=0.05)
        with pytest.raises(HubSilent):
            client.call("x", timeout_s=0.0)


@pytest.mark.parametrize("line", [b"no json\n", b"[1]\n", b"[" * 200_000 + b"\n"])
def test_an_answer_that_makes_no_sense_is_told(hub_home: Home, line: bytes) -> None:
    with FakeControlHub(hub_home) as hub, connected(hub_home) as client:
        client.call("hub/info")
        hub.send_raw(line)
        with pytest.raises(TooltrayError, match="Tooltray sent an answer that cannot be read"):
            client.call("hub/info")


def test_events_are_kept_while_a_call_waits_and_end_with_the_hub(hub_home: Home) -> None:
    first = {"method": "event", "params": {"type": "ServerStarted", "data": {"server_name": "a"}}}
    second = {"method": "event", "params": {"type": "ServerStopped", "data": {"server_name": "a"}}}
    with FakeControlHub(hub_home) as hub, connected(hub_home, with_events=True) as client:
        client.call("hub/info")
        hub.send_raw(json.dumps(first).encode() + b"\n" + b'{"method":"other"}\n')
        client.call("hub/info")
        events = client.events()
        assert next(events) == ("ServerStarted", {"server_name": "a"})
        hub.send_raw(json.dumps(second).encode() + b"\n")
        assert next(events) == ("ServerStopped", {"server_name": "a"})
        hub.close()
        assert list(events) == []
        assert hub.hellos[0]["events"] is True


def test_stopping_waits_until_the_process_is_gone(hub_home: Home) -> None:
    process = subprocess.Popen([sys.executable, "-I", "-S", "-c", "input()"], stdin=subprocess.PIPE)

    def end() -> dict[str, str]:
        assert process.stdin is not None
        process.stdin.close()
        return {}

    reaper = threading.Thread(target=process.wait)
    with FakeControlHub(hub_home, {"hub/stop": end}, pid=process.pid), connected(hub_home) as client:
        reaper.start()
        assert client.stop() == process.pid
        reaper.join(10)
    assert process.returncode is not None


def test_a_hub_that_hands_over_without_a_word_has_handed_over(hub_home: Home) -> None:
    with FakeControlHub(hub_home) as hub, connected(hub_home) as client:
        assert client.hand_over() == hub.pid
        assert hub.methods() == ["hub/info", "hub/hand_over"]


def test_a_hub_of_another_user_is_not_talked_to(hub_home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeControlHub(hub_home) as hub:
        uid = os.getuid()
        monkeypatch.setattr("os.getuid", lambda: uid + 1)
        with pytest.raises(TooltrayError, match="another user"):
            ControlClient.connect(hub_home)
        monkeypatch.undo()
    assert hub.calls == []


def test_a_socket_that_only_another_user_may_use_is_not_the_users(hub_home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(connection: socket.socket, address: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    with pytest.raises(TooltrayError, match="another user"):
        ControlClient.connect(hub_home)


def test_a_home_with_a_long_path_is_found_too(hub_home: Home) -> None:
    long_home = Home(hub_home.root / ("x" * 200))
    with FakeControlHub(long_home, {"get": 1}), connected(long_home) as client:
        assert client.call("get") == 1
    long_home.remove_sockets()


def test_a_hub_that_hangs_at_its_end_is_told(hub_home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tooltray.carriers.control.control_client.END_TIMEOUT_S", 0.05)
    with (
        FakeControlHub(hub_home, {"hub/stop": {}}, pid=os.getpid()),
        connected(hub_home) as client,
        pytest.raises(HubSilent, match="hub/stop"),
    ):
        client.stop()


def test_a_call_without_a_limit_waits(hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"get": 1}), connected(hub_home) as client:
        assert client.call("get", timeout_s=None) == 1


def test_a_hub_that_dies_with_our_question_unread_is_lost_and_no_crash(hub_home: Home) -> None:
    hub_home.prepare()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.fspath(hub_home.control_socket))
        listener.listen()
        client = connected(hub_home)
        listener.accept()[0].close()
    with client, pytest.raises(HubLost):
        client.call("hub/info")


def test_a_hub_that_does_not_read_is_given_up(hub_home: Home) -> None:
    hub_home.prepare()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.fspath(hub_home.control_socket))
        listener.listen()
        with connected(hub_home) as client, pytest.raises(HubSilent):
            client.call("set_secret", timeout_s=0.05, value="x" * 10_000_000)


def test_the_end_of_a_process_is_seen_where_the_kernel_cannot_tell_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("os.pidfd_open", raising=False)
    process = subprocess.Popen([sys.executable, "-I", "-S", "-c", "input()"], stdin=subprocess.PIPE)
    assert not wait_for_end(process.pid, 0.0)
    reaper = threading.Thread(target=process.communicate)
    reaper.start()
    assert wait_for_end(process.pid, BOUND_S)
    reaper.join(BOUND_S)


def version_found(home: Home) -> str | None:
    client = ControlClient.connect(home)
    if client is None:
        return None
    with client:
        return str(client.call("hub/info")["version"])


def test_a_hub_has_a_socket_for_commands(hub_home: Home) -> None:
    with FakeControlHub(hub_home), FakeControlHub(hub_home, {"hub/info": {"version": "of bridges"}}, is_old=True):
        assert version_found(hub_home) == "9.9.9"


@pytest.mark.parametrize("is_left", [False, True])
async def test_a_hub_of_a_version_without_a_control_socket_is_found_also_beside_one_that_a_killed_hub_left(
    hub_home: Home, is_left: bool
) -> None:
    hub_home.prepare()
    if is_left:
        with socket.socket(socket.AF_UNIX) as dead:
            dead.bind(os.fspath(hub_home.control_socket))
    with FakeControlHub(hub_home, {"get_secret_names": ["s/KEY"]}, is_old=True):
        assert version_found(hub_home) == "9.9.9"
        assert await HubCalls(hub_home, may_start=False).within(10).secrets.get_secret_names() == ["s/KEY"]
    assert version_found(hub_home) is None


def test_the_table_has_every_verb_as_it_is_declared() -> None:
    assert {verb: list(entry.takes) for verb, entry in verb_entries().items()} == {
        verb: list(inspect.signature(kind).parameters)[1:] for verb, kind in VERBS.items()
    }
    results = {verb: get_type_hints(kind)["return"] for verb, kind in VERBS.items()}
    assert {verb: result_type(verb) for verb in VERBS} == {
        verb: kind if "tooltray." in repr(kind) else Any for verb, kind in results.items()
    }


def test_a_list_of_snapshots_is_converted_and_plain_json_stays() -> None:
    tool = {
        "name": "a",
        "server": "s",
        "original_name": "a",
        "description": "",
        "category": "read",
        "is_enabled": True,
        "is_approved": True,
    }
    assert typed_result("get_tools", [tool]) == [ToolSnapshot(**tool)]
    assert typed_result("call_tool", tool) is tool


@pytest.mark.parametrize("answer", [{}, None, [{"name": 1}]])
def test_an_answer_of_another_shape_is_an_error_with_a_way_out(answer: Any) -> None:
    with pytest.raises(TooltrayError, match="Tooltray sent an answer that cannot be read") as caught:
        typed_result("get_tools", answer)
    assert "tooltray stop" in caught.value.problem.hint
