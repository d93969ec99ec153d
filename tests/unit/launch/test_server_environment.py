"""launch/server_environment.py"""

from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.hub_parts import Shell, hub_parts

from tooltray.events import EventBus, ServerStarted
from tooltray.launch.remembered_variables import RememberedVariables
from tooltray.launch.server_environment import ServerEnvironment
from tooltray.launch.variable_sources import VariableSources
from tooltray.snapshots.hub import EnvironmentChange, EnvironmentVariable


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
        EnvironmentVariable("https_proxy", "http://***@p:1", "login shell", "", is_used=True),
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
