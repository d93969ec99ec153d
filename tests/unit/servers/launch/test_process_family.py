"""Ending what a server has started and what has left its process group."""

import asyncio
import os
import runpy
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest
from tests.fakes.heard import PATIENCE_S
from tests.fakes.process_end import end_of

from tooltray.servers.launch import process_family
from tooltray.servers.launch.process_family import INSTANCE_VARIABLE, LOOK_EVERY_S, ProcessFamily

pytestmark = pytest.mark.posix  # what Windows has a job for


def stragglers_of(mark: str) -> int:
    return ProcessFamily(0, mark).end_stragglers()


class Sleepers:
    """Processes that sleep until they are ended."""

    def __init__(self) -> None:
        self.processes: list[subprocess.Popen[bytes]] = []

    def start(self, *, mark: str | None, command: str = "read line") -> int:
        env = {"PATH": os.defpath} | ({INSTANCE_VARIABLE: mark} if mark is not None else {})
        process = subprocess.Popen(
            ["/bin/sh", "-c", f"echo ready; {command}"], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
        )
        self.processes.append(process)
        assert process.stdout
        assert process.stdout.readline() == b"ready\n"
        return process.pid


@pytest.fixture
def sleepers() -> Iterator[Sleepers]:
    sleepers = Sleepers()
    yield sleepers
    for process in sleepers.processes:
        process.kill()
        process.communicate()


def is_running(pid: int) -> bool:
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None


async def test_exactly_those_with_the_mark_are_killed(sleepers: Sleepers) -> None:
    mine = [sleepers.start(mark="a1b2"), sleepers.start(mark="a1b2", command="trap '' TERM HUP; read line")]
    others = [sleepers.start(mark=mark) for mark in ("a1b", "a1b2c", "", None)]
    assert await asyncio.to_thread(stragglers_of, "a1b2") == 2
    for pid in mine:
        await end_of(pid)
    assert [sleepers.processes[place].wait() for place in range(2)] == [-signal.SIGKILL] * 2
    assert all(is_running(pid) for pid in others)


async def test_nothing_is_found_when_all_have_left() -> None:
    assert await asyncio.to_thread(stragglers_of, "nobody has this mark") == 0


async def test_elsewhere_than_on_linux_nothing_is_found(sleepers: Sleepers, monkeypatch: pytest.MonkeyPatch) -> None:
    pid = sleepers.start(mark="e5f6")
    monkeypatch.setattr(sys, "platform", "darwin")
    assert await asyncio.to_thread(stragglers_of, "e5f6") == 0
    assert is_running(pid)


async def test_what_has_ended_and_was_not_yet_looked_after_is_no_straggler(sleepers: Sleepers) -> None:
    pid = sleepers.start(mark="c3d4", command="true")
    await end_of(pid)
    assert await asyncio.to_thread(stragglers_of, "c3d4") == 0


def test_a_family_without_a_mark_has_no_stragglers() -> None:
    assert stragglers_of("") == 0


def test_a_group_has_ended_once_no_process_of_it_is_left(sleepers: Sleepers, monkeypatch: pytest.MonkeyPatch) -> None:
    family = ProcessFamily(sleepers.start(mark=None))
    assert not family.wait_for_end(2 * LOOK_EVERY_S)
    family.kill()
    sleepers.processes[0].wait()
    assert family.wait_for_end(PATIENCE_S)

    def may_not(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "killpg", may_not)
    assert not family.wait_for_end(2 * LOOK_EVERY_S), "it cannot be known"


def test_on_macos_a_server_stays_in_the_hubs_session_where_the_guardian_finds_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")

    assert runpy.run_path(process_family.__file__)["START_OPTIONS"] == {"process_group": 0}
