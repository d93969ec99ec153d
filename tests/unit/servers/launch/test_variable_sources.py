import subprocess
import sys
from collections.abc import Coroutine, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.hub_parts import Shell, hub_parts

from tooltray.foundation.events import EventBus, ServerStarted
from tooltray.foundation.snapshots.hub import EnvironmentChange, EnvironmentVariable
from tooltray.servers.launch.remembered_variables import RememberedVariables
from tooltray.servers.launch.variable_sources import Run, ServerEnvironment, Source, VariableSources, look_up, make_login_shell, run_program

NAMES = ("SSL_CERT_FILE", "https_proxy", "NO_PROXY")
SYSTEMD = "SSL_CERT_FILE=/of/session.pem\nOTHER=1\nNO_PROXY=$'a b'\nodd line\n"
ETC = '# SSL_CERT_FILE=/no\nexport SSL_CERT_FILE="/of/etc.pem"\n\nhttps_proxy=\'http://proxy:1\'\nNO_PROXY="unfinished\n'


def answering(text: str = "", error: Exception | None = None) -> Run:
    def run(command: list[str], environ: Mapping[str, str], within_s: float) -> str:
        if error:
            raise error
        return text

    return run


@pytest.fixture
def etc(tmp_path: Path) -> Path:
    return tmp_path / "environment"


def test_the_session_goes_before_the_file(etc: Path) -> None:
    etc.write_text(ETC)
    assert look_up(NAMES, {}, platform="linux", run=answering(SYSTEMD), etc_environment=etc) == {
        "SSL_CERT_FILE": ("/of/session.pem", "systemctl --user"),
        "https_proxy": ("http://proxy:1", str(etc)),
        "NO_PROXY": ("a b", "systemctl --user"),
    }
    assert look_up(["NO_PROXY"], {}, platform="linux", run=answering(), etc_environment=etc) == {"NO_PROXY": ('"unfinished', str(etc))}


@pytest.mark.parametrize("error", [FileNotFoundError(), subprocess.TimeoutExpired("x", 1), subprocess.CalledProcessError(1, "x")])
def test_what_is_missing_fails_or_does_not_answer_has_nothing(etc: Path, error: Exception) -> None:
    for platform in ("linux", "darwin"):
        assert look_up(NAMES, {}, platform=platform, run=answering(error=error), etc_environment=etc) == {}
    etc.mkdir()
    assert look_up(NAMES, {}, platform="linux", run=answering(error=error), etc_environment=etc) == {}


def test_systemctl_is_told_where_the_session_is_and_nothing_else(etc: Path) -> None:
    seen: list[Mapping[str, str]] = []

    def run(command: list[str], environ: Mapping[str, str], within_s: float) -> str:
        seen.append(environ)
        return ""

    look_up(NAMES, {"XDG_RUNTIME_DIR": "/run/user/1", "API_KEY": "key"}, platform="linux", run=run, etc_environment=etc)
    assert [environ.keys() - {"PATH"} for environ in seen] == [{"XDG_RUNTIME_DIR"}]


def test_launchd_is_asked_for_each_variable(etc: Path) -> None:
    def run(command: list[str], environ: Mapping[str, str], within_s: float) -> str:
        assert command[:2] == ["launchctl", "getenv"]
        return "/of/mac.pem\n" if command[2] == "SSL_CERT_FILE" else "\n"

    assert look_up(NAMES, {}, platform="darwin", run=run, etc_environment=etc) == {"SSL_CERT_FILE": ("/of/mac.pem", "launchctl")}


def test_windows_has_it_in_every_environment() -> None:
    assert look_up(NAMES, {}, platform="win32", run=answering(SYSTEMD)) == {}


@pytest.mark.posix
def test_a_program_is_run_within_its_time() -> None:
    assert run_program([sys.executable, "-c", "import os; print(os.environ['X'])"], {"X": "1"}, 30) == "1\n"
    with pytest.raises(subprocess.TimeoutExpired):
        run_program([sys.executable, "-c", "import threading; threading.Event().wait()"], {}, 0.05)


@pytest.fixture
def remembered(tmp_path: Path) -> RememberedVariables:
    return RememberedVariables(tmp_path / "environment.json")


def sources(remembered: RememberedVariables, **system: str) -> VariableSources:
    def look_up(names: Iterable[str], environ: Mapping[str, str]) -> Mapping[str, tuple[str, str]]:
        return {name: (system[name], "the system") for name in names if name in system}

    return VariableSources(remembered, look_up=look_up, complete=dict)


@pytest.mark.posix
def test_the_login_shell_goes_first_then_the_system_then_what_is_remembered(remembered: RememberedVariables) -> None:
    remembered.remember({"SSL_CERT_DIR": "/", "UV_NATIVE_TLS": "1", "NO_PROXY": "mine"}, is_all=True)
    here = sources(remembered, SSL_CERT_DIR="/usr", UV_NATIVE_TLS="0", SSH_AUTH_SOCK="/tmp")
    completed = here.complete({"SSL_CERT_DIR": "/tmp", "HOME": "/me"})
    assert completed == {"SSL_CERT_DIR": "/tmp", "HOME": "/me", "UV_NATIVE_TLS": "0", "NO_PROXY": "mine", "SSH_AUTH_SOCK": "/tmp"}
    origins = {name: source.origin for name, source in here.sources.items()}
    assert origins == {
        "SSL_CERT_DIR": "the login shell",
        "UV_NATIVE_TLS": "the system",
        "NO_PROXY": "remembered",
        "SSH_AUTH_SOCK": "the system",
    }
    assert here.sources["NO_PROXY"].since


@pytest.mark.parametrize("value", ["http://shell:1", ""])
def test_who_sets_one_spelling_of_a_proxy_or_empties_it_has_decided(remembered: RememberedVariables, value: str) -> None:
    remembered.remember({"HTTPS_PROXY": "http://remembered:1"}, is_all=True)
    assert sources(remembered, HTTPS_PROXY="http://system:1").complete({"https_proxy": value}) == {"https_proxy": value}


def test_a_file_that_is_gone_is_not_given_and_the_next_place_is_asked(remembered: RememberedVariables, tmp_path: Path) -> None:
    file, gone = tmp_path / "a.pem", tmp_path / "gone.pem"
    file.touch()
    gone.touch()
    remembered.remember({"SSL_CERT_FILE": str(file), "PIP_CERT": str(gone)}, is_all=True)
    gone.unlink()
    here = sources(remembered, SSL_CERT_FILE=str(gone), PIP_CERT=str(gone))
    assert here.complete({}) == {"SSL_CERT_FILE": str(file)}
    assert here.sources["PIP_CERT"] == Source(str(gone), "the system", is_used=False)


async def test_a_command_without_a_hub_has_the_same(remembered: RememberedVariables, tmp_path: Path) -> None:
    remembered.remember({"UV_NATIVE_TLS": "1"}, is_all=True)
    shell = make_login_shell(tmp_path / "environment.json", {"HOME": str(tmp_path), "SHELL": "/bin/sh"})
    assert (await shell.environ())["UV_NATIVE_TLS"] == "1"


class Parts:
    def __init__(self, folder: Path) -> None:
        self.bus, self.shell = EventBus(), Shell()
        self.begun: list[Coroutine[Any, Any, None]] = []
        self.remembered = RememberedVariables(folder / "environment.json")
        self.sources = VariableSources(self.remembered, look_up=lambda _, __: {}, complete=dict)
        shell: Any = self.shell
        spawn: Any = lambda work, *, name: self.begun.append(work)  # noqa: E731
        self.environment = ServerEnvironment(login_shell=shell, sources=self.sources, remembered=self.remembered, bus=self.bus, spawn=spawn)

    def has(self, **environ: str) -> None:
        self.shell.variables = dict(self.sources.complete(environ))

    async def starts(self, server: str) -> None:
        self.bus.publish(ServerStarted(server))
        while self.begun:
            await self.begun.pop()


@pytest.fixture
def parts(tmp_path: Path) -> Parts:
    return Parts(tmp_path)


async def test_people_see_what_servers_get_and_where_it_is_from_without_passwords(parts: Parts) -> None:
    parts.remembered.remember({"UV_NATIVE_TLS": "1"}, is_all=True)
    parts.has(https_proxy="http://me:hunter2@p:1")
    since = parts.remembered.variables["UV_NATIVE_TLS"].since
    assert (await parts.environment.snapshot()).variables == (
        EnvironmentVariable("UV_NATIVE_TLS", "1", "remembered", since, is_used=True),
        EnvironmentVariable("https_proxy", "http://***@p:1", "the login shell", "", is_used=True),
    )


async def test_what_was_there_when_a_server_last_worked_and_is_another_now_is_told(parts: Parts) -> None:
    parts.has(NO_PROXY="a", http_proxy="http://me:hunter2@p:1", https_proxy="http://me:hunter2@p:1", UV_NATIVE_TLS="1", PIP_CERT="/tmp")
    await parts.starts("s")
    assert (await parts.environment.snapshot()).changes == ()
    parts.has(NO_PROXY="b", http_proxy="http://me:other@p:1", UV_NATIVE_TLS="", PIP_CERT="/tmp")
    assert (await parts.environment.snapshot()).changes == (
        EnvironmentChange("s", "NO_PROXY", was="a", now="b"),
        EnvironmentChange("s", "UV_NATIVE_TLS", was="1", now=""),
        EnvironmentChange("s", "https_proxy", was="", now=""),
    )
    await parts.starts("s")
    assert (await parts.environment.snapshot()).changes == ()


async def test_of_what_comes_with_the_hub_nothing_is_noted(parts: Parts) -> None:
    parts.has(NO_PROXY="a")
    await parts.starts("hub")
    assert parts.remembered.worked == {}


async def test_what_is_forgotten_is_looked_up_anew(parts: Parts) -> None:
    parts.remembered.remember({"UV_NATIVE_TLS": "1"}, is_all=True)
    await parts.environment.forget()
    assert (parts.remembered.variables, parts.shell.expired) == ({}, 1)


async def test_the_presenter_shows_and_forgets_it(tmp_path: Path) -> None:
    async with hub_parts(tmp_path) as hub:
        hub.remembered.remember({"UV_NATIVE_TLS": "1"}, is_all=True)
        hub.sources.complete({})
        assert [each.name for each in (await hub.presenter.get_environment()).variables] == ["UV_NATIVE_TLS"]
        await hub.presenter.forget_environment()
        assert not hub.home.environment.exists()


async def test_a_variable_of_the_hubs_own_environment_is_said_to_be_of_it(parts: Parts) -> None:
    parts.has(OF_SERVE="x", OTHER="x", https_proxy="http://p:1")
    assert parts.environment.origin("OF_SERVE") == "the environment that Tooltray was started with"
    assert parts.environment.origin("OTHER") == parts.environment.origin("https_proxy") == "the login shell"


async def test_a_variable_that_is_remembered_is_said_to_be_so(parts: Parts) -> None:
    parts.remembered.remember({"https_proxy": "http://p:1"}, is_all=True)
    parts.has()
    assert parts.environment.origin("https_proxy") == "remembered"
