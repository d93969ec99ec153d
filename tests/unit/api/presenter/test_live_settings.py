"""What somebody writes into settings.json counts at once."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.file_servers import file_server
from tests.fakes.hub_parts import HubParts, entry, hub_parts
from tests.fakes.scripted_server import ScriptedServer, tool

from tooltray.api.presenter.live_settings import LiveSettings
from tooltray.config.naming.published_names import PublishedNames
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.events import ConfigChanged, EventBus, ServerStarted, ServerStopped
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.foundation.tasks import TaskKeeper
from tooltray.servers.upstream.managed_server import ServersConfigured


class RecordingHub:
    """Keeps what it was told."""

    def __init__(self) -> None:
        self.calls: list[Any] = []

    async def start_all(self) -> None:
        self.calls.append("start_all")

    def start_new(self, servers: Iterable[str]) -> None:
        self.calls.append(list(servers))

    def use_secret_backend(self) -> None:
        self.calls.append("use_secret_backend")


class Live:
    def __init__(self, folder: Path) -> None:
        self.path, self.bus, self.hub, self.tasks = folder / "settings.json", EventBus(), RecordingHub(), TaskKeeper()
        self.conf = McpConfHelper(self.path, self.bus)
        self.bus.subscribe(ConfigChanged, lambda event: self.bus.publish(ServersConfigured()))  # as ServerManager does
        self.names = PublishedNames(folder / "names.json")

    async def edit(self, **fields: Any) -> list[Any]:
        """Somebody saves the file; returns what the hub was told thereupon."""
        self.hub.calls.clear()
        before = json.loads(self.path.read_text()) if self.path.exists() else {"version": 1}
        self.path.write_text(json.dumps(before | fields))
        await self.conf.reload()
        while len(self.tasks):
            others = asyncio.all_tasks() - {asyncio.current_task()}
            await (asyncio.wait(others) if others else asyncio.sleep(0))
        return self.hub.calls


@pytest.fixture
async def live(tmp_path: Path) -> AsyncIterator[Live]:
    live = Live(tmp_path)
    await live.edit(mcpServers={"a": {"command": "x"}, "off": {"command": "x", "disable": True}})
    settings = LiveSettings(config=live.conf, names=live.names, hub=live.hub, spawn=live.tasks.spawn, bus=live.bus)
    settings.start()
    yield live
    await live.tasks.close()


async def test_servers_that_are_new_or_on_again_are_begun_and_no_others(live: Live) -> None:
    assert await live.edit(mcpServers={"a": {"command": "y"}, "off": {"command": "x"}, "b": {"command": "x"}}) == [["off", "b"]]
    assert await live.edit(mcpServers={"a": {"command": "y", "disable": True}, "b": {"command": "x", "idleStop": 5}}) == []


async def test_one_that_is_another_program_now_is_listed_anew_and_not_begun(live: Live) -> None:
    assert await live.edit(mcpServers={"a": {"command": "y"}, "off": {"command": "y", "disable": True}}) == [[]]


async def test_what_is_new_while_everything_is_off_begins_when_it_is_on_again(live: Live) -> None:
    assert await live.edit(mcpEnabled=False) == []
    assert await live.edit(mcpServers={"new": {"command": "x"}}) == []
    assert await live.edit(mcpEnabled=True) == ["start_all"]


async def test_tools_are_named_as_the_settings_say_from_then_on(live: Live) -> None:
    await live.edit(publish={"naming": "always"})
    assert list(live.names.publish([("a", "t")]).values()) == ["a_t"]
    await live.edit(publish={"naming": "conflict"})
    assert list(live.names.publish([("a", "u")]).values()) == ["u"]


async def test_the_names_of_a_server_that_has_left_the_settings_are_free_when_it_does_not_come_back(live: Live) -> None:
    live.names.publish([("a", "t"), ("off", "t")])
    await live.edit(mcpServers={"a": {"command": "x"}, "off": {"command": "x", "disable": True}, "b": {"command": ""}})
    assert not any(map(live.names.is_retired, ("a", "off", "b")))
    await live.edit(mcpServers={"a": {"command": ""}})  # a slip of the pen
    assert list(map(live.names.is_retired, ("a", "off", "b"))) == [False, True, True]
    await live.edit(mcpServers={"off": {"command": "x"}})
    assert list(map(live.names.is_retired, ("a", "off"))) == [True, False]


async def test_servers_of_projects_come_and_go_with_their_names(live: Live) -> None:
    live.conf.set_file_servers({"db": file_server("db")})
    live.conf.set_file_servers({})
    await live.edit(publish={})
    assert not live.names.is_retired("db")


async def test_secrets_are_looked_for_where_the_settings_say(live: Live) -> None:
    assert await live.edit(secrets={"backend": "memory"}) == ["use_secret_backend"]
    assert await live.edit(publish={"lazyLoad": True}) == []


async def edit(parts: HubParts, **fields: Any) -> None:
    document = json.loads(parts.home.settings.read_text())
    parts.home.settings.write_text(json.dumps(document | fields))
    await parts.conf.reload()


async def test_a_server_that_somebody_writes_into_the_file_runs_if_it_starts_with_the_hub(tmp_path: Path) -> None:
    program = ScriptedServer()
    async with hub_parts(tmp_path, servers={}, programs={"program": program}) as parts:
        await edit(parts, mcpServers={"s": entry("program")}, defaultServers=["s"])
        await parts.heard.event(ServerStarted, server_name="s")
        (copy,) = program.running
        await edit(parts, mcpServers={"s": entry("program", disabledTools=["drop"])})
        assert program.running == [copy]


async def test_one_on_demand_that_is_another_program_now_is_listed_anew_and_rests_again(tmp_path: Path) -> None:
    programs = {"old": ScriptedServer(tool("before")), "new": ScriptedServer(tool("after"))}
    async with hub_parts(tmp_path, servers={"s": entry("old")}, programs=programs) as parts:
        await edit(parts, mcpServers={"s": entry("new")})
        await parts.heard.event(ServerStarted, server_name="s")
        await parts.heard.event(ServerStopped, server_name="s")
        assert (await parts.listed(), programs["old"].copies.all) == (["after"], [])


async def test_a_server_without_its_secret_is_tried_again_where_somebody_names_another_place(tmp_path: Path) -> None:
    servers = {"s": entry("program", env={"KEY": "${secret:s/KEY}"})}
    async with hub_parts(tmp_path, servers=servers, programs={"program": ScriptedServer()}) as parts:
        await parts.secrets.set("s/KEY", "value")
        parts.secrets.use("file")
        parts.servers.get("s").start()
        await parts.heard.state("s", ServerState.ERROR)
        await edit(parts, secrets={"backend": "memory"})
        await parts.heard.event(ServerStarted, server_name="s")
