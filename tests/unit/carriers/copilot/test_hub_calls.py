"""hub_calls.py and hubs.py: a hub that answers from a script, from an event loop that is not ours."""

import asyncio
import errno
import fcntl
import os
import socket
import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from tests.fakes.fake_control_hub import BOUND_S, FakeControlHub, HangUp, KeepSilent

from tooltray.carriers.control.control_client import HubLost, HubSilent
from tooltray.carriers.copilot.hub_calls import HubCalls
from tooltray.cli import hubs
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.home.home import Home

SHORT_S = 0.2  # for what is to be given up
LONG_S = 30.0


@pytest.fixture
def hub(hub_home: Home) -> Iterator[FakeControlHub]:
    with FakeControlHub(hub_home, {"echo": lambda **params: params}) as hub:
        yield hub


@pytest.fixture
def calls(hub_home: Home) -> HubCalls:
    return HubCalls(hub_home, may_start=False)


async def test_a_call_gives_the_result(hub: FakeControlHub, calls: HubCalls) -> None:
    assert await calls.within(LONG_S).hub.echo(a=[1], b="工具") == {"a": [1], "b": "工具"}
    assert hub.hellos == [{"tooltray": 1, "role": "control"}]


async def test_calls_at_once_do_not_wait_for_one_another(hub: FakeControlHub, calls: HubCalls) -> None:
    everybody = threading.Barrier(5)
    hub.answers["meet"] = lambda number: (everybody.wait(BOUND_S), number)[1]
    assert await asyncio.gather(*(calls.within(LONG_S).hub.meet(number=number) for number in range(5))) == list(range(5))


def test_any_event_loop_will_do(hub: FakeControlHub, calls: HubCalls) -> None:
    for number in range(2):
        assert asyncio.run(calls.within(LONG_S).hub.echo(number=number)) == {"number": number}


async def test_what_the_hub_refuses_has_its_three_parts(hub: FakeControlHub, calls: HubCalls) -> None:
    def refuse() -> None:
        raise TooltrayError("no such tool", "there are two", "choose one")

    hub.answers["refuse"] = refuse
    with pytest.raises(TooltrayError) as refused:
        await calls.within(LONG_S).hub.refuse()
    assert (refused.value.problem.title, refused.value.problem.message, refused.value.problem.hint) == (
        "no such tool",
        "there are two",
        "choose one",
    )


async def test_a_verb_that_the_hub_does_not_know_is_an_error(hub: FakeControlHub, calls: HubCalls) -> None:
    with pytest.raises(TooltrayError, match="does not know"):
        await calls.within(LONG_S).hub.unheard()


async def test_a_hub_that_ends_meanwhile_is_lost(hub: FakeControlHub, calls: HubCalls) -> None:
    def hang_up() -> None:
        raise HangUp

    hub.answers["end"] = hang_up
    with pytest.raises(HubLost):
        await calls.within(LONG_S).hub.end()


def cancellations(hub: FakeControlHub) -> list[dict[str, Any]]:
    return [params for method, params in hub.calls if method == "notifications/cancelled"]


@pytest.fixture
def silent(hub: FakeControlHub) -> threading.Event:
    """The hub's verb `wait` never answers; the event says that it was called."""
    called = threading.Event()

    def wait() -> None:
        called.set()
        raise KeepSilent

    hub.answers["wait"] = wait
    return called


async def test_a_call_that_takes_too_long_is_given_up_and_the_hub_is_told(
    hub: FakeControlHub, calls: HubCalls, silent: threading.Event
) -> None:
    with pytest.raises(HubSilent, match=r"wait took longer than 0\.2 s"):
        await calls.within(SHORT_S).hub.wait()
    assert hub.left.acquire(timeout=BOUND_S)
    assert cancellations(hub) == [{"requestId": 1}]


async def test_who_is_cancelled_cancels_the_verb(hub: FakeControlHub, calls: HubCalls, silent: threading.Event) -> None:
    task = asyncio.get_running_loop().create_task(calls.within(LONG_S).hub.wait())
    assert await asyncio.to_thread(silent.wait, BOUND_S)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert hub.left.acquire(timeout=BOUND_S)
    assert cancellations(hub) == [{"requestId": 1}]


async def test_a_call_to_a_hub_that_does_not_read_ends_all_the_same(hub_home: Home, calls: HubCalls) -> None:
    hub_home.prepare()
    with socket.socket(socket.AF_UNIX) as busy:
        busy.bind(os.fspath(hub_home.control_socket))
        busy.listen()
        with pytest.raises(HubSilent):
            await calls.within(SHORT_S).hub.stuck(filling="x" * 20_000_000)  # more than a socket's buffers hold


@pytest.mark.parametrize("line", [b"no JSON\n", b"[]\n", b"[" * 100_000 + b"\n"])
async def test_an_answer_that_is_none_is_an_error(hub: FakeControlHub, calls: HubCalls, line: bytes) -> None:
    def answer() -> None:
        hub.send_raw(line)
        raise KeepSilent

    hub.answers["odd"] = answer
    with pytest.raises(TooltrayError, match="Tooltray sent an answer that cannot be read"):
        await calls.within(LONG_S).hub.odd()


async def test_events_and_answers_to_others_are_passed_over(hub: FakeControlHub, calls: HubCalls) -> None:
    def answer() -> str:
        hub.send_raw(b'{"jsonrpc":"2.0","method":"event","params":{}}\n{"jsonrpc":"2.0","id":7,"result":"not this"}\n')
        return "this"

    hub.answers["late"] = answer
    assert await calls.within(LONG_S).hub.late() == "this"


async def test_a_large_answer_arrives_whole(hub: FakeControlHub, calls: HubCalls) -> None:
    text = "x" * 20_000_000
    hub.answers["large"] = text
    assert await calls.within(LONG_S).hub.large() == text


async def test_an_answer_beyond_every_limit_is_an_error(hub: FakeControlHub, calls: HubCalls, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tooltray.carriers.copilot.hub_calls.MAX_SERVER_LINE_BYTES", 1000)
    hub.answers["large"] = "x" * 10_000
    with pytest.raises(TooltrayError, match="too large"):
        await calls.within(LONG_S).hub.large()


async def test_without_a_hub_nothing_can_be_called(calls: HubCalls, hub_home: Home) -> None:
    with pytest.raises(TooltrayError, match=r"Tooltray is not running.*tooltray serve") as error:
        await calls.within(LONG_S).hub.echo()
    assert str(hub_home.control_socket) in str(error.value)


async def test_the_socket_that_a_killed_hub_left_is_no_hub(calls: HubCalls, hub_home: Home) -> None:
    hub_home.prepare()
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(os.fspath(hub_home.socket))
    with pytest.raises(TooltrayError, match="Tooltray is not running"):
        await calls.within(LONG_S).hub.echo()


async def test_a_socket_that_cannot_be_used_is_an_error(calls: HubCalls, hub_home: Home) -> None:
    hub_home.prepare()
    hub_home.socket.symlink_to(hub_home.socket)
    with pytest.raises(TooltrayError, match="cannot be reached"):
        await calls.within(LONG_S).hub.echo()


async def test_a_hub_of_another_user_is_told_nothing(hub: FakeControlHub, calls: HubCalls, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 4_000_000)
    with pytest.raises(TooltrayError, match="another user"):
        await calls.within(LONG_S).hub.echo()
    assert not hub.calls


async def test_a_socket_that_only_another_user_may_use_is_not_the_users(calls: HubCalls, monkeypatch: pytest.MonkeyPatch) -> None:
    async def refuse(*_arguments: object, **_options: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(asyncio, "open_unix_connection", refuse)
    with pytest.raises(TooltrayError, match="another user"):
        await calls.within(LONG_S).hub.echo()


# starting one


async def test_why_no_hub_could_be_started_is_told(hub_home: Home) -> None:
    hub_home.root.write_text("a file where the folder should be")
    with pytest.raises(TooltrayError, match=r"could not be started.*\.tooltray"):
        await HubCalls(hub_home, may_start=True).within(LONG_S).hub.echo()


async def test_who_gives_up_while_a_hub_starts_leaves_nothing_behind(hub_home: Home) -> None:
    hub_home.prepare()
    with hub_home.start_lock.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # as if somebody else were starting one
        with pytest.raises(HubSilent):
            await HubCalls(hub_home, may_start=True).within(SHORT_S).hub.echo()


@pytest.fixture
def starter(hub_home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """The program that starts hubs has the home as its argument."""
    monkeypatch.setattr(sys, "argv", ["hubs", str(hub_home.root)])


@pytest.mark.usefixtures("starter", "hub")
def test_the_starter_leaves_a_hub_that_runs_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert hubs.main() == 0
    assert capsys.readouterr().out == ""


@pytest.mark.usefixtures("starter")
def test_the_starter_says_why_there_is_no_hub(hub_home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    hub_home.root.write_text("a file where the folder should be")
    assert hubs.main() == 1
    assert str(hub_home.root) in capsys.readouterr().out
