"""The API about this installation, and the text of diagnostics."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from tooltray import __version__
from tooltray.api.presenter.diagnostics import Diagnostics
from tooltray.api.presenter.program_api import ProgramApi
from tooltray.foundation.errors import Problem
from tooltray.foundation.home.home import Home
from tooltray.foundation.installs import start_at_login
from tooltray.foundation.snapshots.hub import EnvironmentSnapshot, EnvironmentVariable, HubSnapshot
from tooltray.sources.doctor.diagnosis import Diagnosis

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


def diagnostics(source: Source, masked: Callable[[str], str] = str) -> Diagnostics:
    any_part = cast(Any, source)
    return Diagnostics(snapshots=any_part, check_up=any_part, environment=any_part, masked=masked)


def hub(*, is_paused: bool = False, notices: tuple[Problem, ...] = ()) -> HubSnapshot:
    return HubSnapshot(1, __version__, is_paused, 2, 0.0, (), notices)


class Running:
    """Stands for a server whose processes are these."""

    def __init__(self, *pids: int) -> None:
        self.pids = pids


def program_api(*servers: Running) -> ProgramApi:
    return ProgramApi(diagnostics=diagnostics(Source(hub(), [])), servers=cast(Any, servers), home=Home(Path("/h")))


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
    lines = (await diagnostics(source).text()).splitlines()
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
        "  lines that were no messages: 2",
        "  stderr: no key s3cret",
        f"  stderr: in {ILL.stderr[1].removeprefix('in ').replace(str(Path.home()), '~')}",
    ]


async def test_secrets_the_person_s_folder_and_what_is_not_there_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("XDG_CURRENT_DESKTOP", "XDG_SESSION_TYPE"):
        monkeypatch.delenv(name, raising=False)
    text = await diagnostics(
        Source(hub(), [Diagnosis("s", False, "stdio", "error", stderr=(f"{Path.home()}/x", "s3cret"))]), _masked
    ).text()
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
