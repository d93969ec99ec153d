"""The API about this installation, and the text of diagnostics."""

import asyncio
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from tooltray import __version__
from tooltray.api.presenter.program_api import Process, ProgramApi, memory_in, memory_of, own_memory, read_ps
from tooltray.foundation.errors import Problem
from tooltray.foundation.home.home import Home
from tooltray.foundation.installs import start_at_login
from tooltray.foundation.snapshots.diagnosis import Diagnosis
from tooltray.foundation.snapshots.hub import EnvironmentSnapshot, EnvironmentVariable, HubSnapshot

WELL = Diagnosis("git", True, "stdio", "running", tool_count=3, stderr=("chatter",))
ILL = Diagnosis(
    "files",
    False,
    "stdio",
    "error",
    exit_code=3,
    stderr=("no key s3cret", f"in {Path.home()}/work"),
    noise_lines=2,
    problem=Problem("It has ended", "with 3", "Look at its log"),
)


class Source:
    """Stands for what the diagnostics are made of."""

    def __init__(self, hub: HubSnapshot, diagnoses: list[Diagnosis], variables: tuple[EnvironmentVariable, ...] = ()) -> None:
        self._hub, self._diagnoses, self._variables = hub, diagnoses, variables

    def now(self) -> HubSnapshot:
        return self._hub

    async def diagnose(self, server: str | None, wait_s: float) -> list[Diagnosis]:
        assert (server, wait_s) == (None, 0.0)
        return self._diagnoses

    async def snapshot(self) -> EnvironmentSnapshot:
        return EnvironmentSnapshot(self._variables, ())


def hub(*, is_paused: bool = False, notices: tuple[Problem, ...] = ()) -> HubSnapshot:
    return HubSnapshot(1, __version__, is_paused, 2, 0.0, (), notices)


class Running:
    """Stands for a server whose processes are these."""

    def __init__(self, *pids: int) -> None:
        self.pids = pids


def program_api(*servers: Running, source: Source | None = None, masked: Callable[[str], str] = str) -> ProgramApi:
    known = cast(Any, source or Source(hub(), []))
    running, home = cast(Any, servers), Home(Path("/h"))
    return ProgramApi(snapshots=known, check_up=known, environment=known, masked=masked, servers=running, home=home, began=(0.0, 0.0))


async def test_what_the_program_needs_is_told_apart_from_what_its_servers_have() -> None:
    api = program_api(Running(), Running(os.getpid()))
    load = await api.get_load()
    assert load.running_servers == 1
    assert load.memory_bytes > 1_000_000
    assert load.server_memory_bytes >= load.memory_bytes // 2  # of this very process, with all that it has started
    assert load.cpu_share >= 0.0


async def test_diagnostics_say_how_the_program_the_hub_and_each_server_are(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CURRENT_DESKTOP", "KDE")
    monkeypatch.delenv("XDG_SESSION_TYPE", raising=False)
    variables = (EnvironmentVariable("HTTPS_PROXY", "http://proxy.corp.example", "the login shell", "", True),)
    source = Source(hub(is_paused=True, notices=(Problem("A file is broken"),)), [WELL, ILL], variables)
    lines = (await program_api(source=source).get_diagnostics()).splitlines()
    assert lines[0].startswith(f"Tooltray {__version__} (checkout), Python 3.")
    assert lines[2:] == [
        "desktop: KDE",
        "AI clients: 2; servers: 0; paused",
        "variables for servers: HTTPS_PROXY (the login shell)",
        "notice: A file is broken",
        "",
        "server git: running, stdio, tools: 3",
        "",
        "server files: error, stdio, tools: 0",
        f"  problem: {ILL.problem}",
        "  exit code: 3",
        "  lines that were not messages: 2",
        "  stderr: no key s3cret",
        f"  stderr: in {ILL.stderr[1].removeprefix('in ').replace(str(Path.home()), '~')}",
    ]


async def test_secrets_the_person_s_folder_and_what_is_not_there_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("XDG_CURRENT_DESKTOP", "XDG_SESSION_TYPE"):
        monkeypatch.delenv(name, raising=False)
    source = Source(hub(), [Diagnosis("s", False, "stdio", "error", stderr=(f"{Path.home()}/x", "s3cret"))])
    text = await program_api(source=source, masked=_masked).get_diagnostics()
    assert "stderr: ~/x\n" in text
    assert "stderr: ***\n" in text
    assert str(Path.home()) not in text
    assert not {"desktop:", "variables", "notice", "paused", "problem", "exit code"} & set(text.replace("\n", " ").split())


def _masked(text: str) -> str:
    return text.replace("s3cret", "***")


async def test_start_at_login_is_what_the_system_says_and_not_what_was_asked_for(home: Path) -> None:
    api = program_api()
    assert not (await api.get_program()).starts_at_login
    assert (await api.set_start_at_login(True)).starts_at_login
    start_at_login.switch(on=False)
    assert not (await api.get_program()).starts_at_login


async def test_this_installation_is_named_with_how_it_is_updated(home: Path) -> None:
    program = await program_api().get_program()
    assert (program.home, Path(program.settings).parent, Path(program.logs).parent) == (str(Path("/h")), Path("/h"), Path("/h"))
    assert (program.version, program.kind, program.kind_name) == (__version__, "checkout", "checkout of the source")
    assert program.update == "Run: git pull && make run"


async def test_licences_and_diagnostics_are_texts() -> None:
    api = program_api()
    assert (await api.get_licences()).startswith("MIT License")
    assert (await api.get_diagnostics()).startswith("Tooltray ")


LINUX = pytest.mark.skipif(sys.platform != "linux", reason="memory of other processes is read from /proc, which only Linux has")


@LINUX
async def test_what_a_process_has_started_counts_for_it() -> None:
    alone = memory_of([os.getpid()])
    program = ("-c", "print(flush=True); input()")
    started = await asyncio.create_subprocess_exec(sys.executable, *program, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE)
    try:
        assert started.stdout
        await started.stdout.readline()  # it grows no more
        both = memory_of([os.getpid()])
        assert both > alone
        assert memory_of([started.pid, os.getpid()]) <= both + memory_of([started.pid]) // 2  # nothing counts twice
    finally:
        await started.communicate(b"\n")


@LINUX
def test_a_process_that_has_ended_has_nothing() -> None:
    assert memory_of([2**22 + 1]) == 0
    assert own_memory() > 1_000_000


def test_a_table_of_all_processes_is_followed_downwards() -> None:
    there = {1: Process(0, 1), 5: Process(1, 10), 6: Process(5, 100), 7: Process(6, 1000), 8: Process(1, 10_000)}
    assert memory_in(there, [5]) == 1110
    assert memory_in(there, [9]) == 0


def test_lines_of_ps_are_read_and_others_left_out() -> None:
    assert read_ps("    1     0  9000\n  77     1    12\nps: odd line here too\n") == {1: Process(0, 9_216_000), 77: Process(1, 12_288)}
