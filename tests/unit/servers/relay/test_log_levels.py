"""log_levels.py"""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw
from tests.fakes.exchanges import exchange_of
from tests.fakes.heard import PATIENCE_S
from tests.fakes.hub_parts import MODERN_META, Client, HubParts, entry, hub_parts, loaded, opened, settled
from tests.fakes.scripted_server import ScriptedServer, error, tool

from tooltray.protocol.envelope import NOTHING, Envelope, dump
from tooltray.protocol.eras import Era
from tooltray.protocol.sessions.exchange import Exchange
from tooltray.servers.relay.log_levels import LEVELS, LogLevels, read_level
from tooltray.servers.upstream.mcp_client import McpClient

SET = "logging/setLevel"
INTRODUCTION = dump({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}})


def legacy_client() -> Client:
    return Client(introduction=INTRODUCTION)


class World:
    """A hub with the servers `a`, `b` (legacy, with levels), `silent` (without), `new` (modern) and `own` (a copy for each session)."""

    def __init__(self, parts: HubParts) -> None:
        self.parts = parts
        self.levels = LogLevels(bus=parts.bus, spawn=parts.keeper.spawn)

    async def run(self, name: str, *, era: Era = Era.LEGACY, session: Client | None = None) -> McpClient:
        client = await self.parts.servers.get(name).running(era, timeout_s=10, session=session)
        await self.done()
        return client

    async def set(self, session: Client, level: str, **options: Any) -> Any:
        return opened(await self.levels.set(session, level, self.parts.servers.running_clients(), **options))

    def told(self, name: str) -> list[str]:
        """The levels that a server was told."""
        return [asked.params["level"] for asked in self.parts.programs[name].asked.all if asked.method == SET]

    async def done(self) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while tasks := [each for each in asyncio.all_tasks() if each.get_name().startswith("log level of")]:
                await asyncio.wait(tasks)


def leveled(*, is_leveled: bool = True) -> ScriptedServer:
    server = ScriptedServer()

    def initialize(copy: Any, params: Any) -> Any:
        capabilities = {"tools": {}} | ({"logging": {}} if is_leveled else {})
        return {"protocolVersion": params["protocolVersion"], "capabilities": capabilities, "serverInfo": {"name": "s", "version": "1"}}

    server.handlers |= {"initialize": initialize, SET: lambda copy, params: {}}
    return server


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    new = ScriptedServer(eras=("modern",))
    new.handlers["server/discover"] = lambda copy, params: {
        "supportedVersions": ["2026-07-28"],
        "capabilities": {"tools": {}, "logging": {}},
    }
    programs = {"a": leveled(), "b": leveled(), "silent": leveled(is_leveled=False), "new": new, "own": leveled()}
    servers = {name: entry(name) for name in programs}
    servers["own"]["isolation"] = "session"
    async with hub_parts(tmp_path, servers=servers, programs=programs) as parts:
        yield World(parts)


def named(level: Any, caller: Client) -> Exchange:
    """A modern client's request that names a level."""
    params = dump({"_meta": {**MODERN_META, "io.modelcontextprotocol/logLevel": level}})
    return exchange_of(Envelope(method="tools/call", params=params), caller)


async def test_every_server_that_knows_levels_is_told_what_a_client_sets(world: World) -> None:
    for name in ("a", "b", "silent", "new"):
        await world.run(name)
    assert await world.set(legacy_client(), "warning") == {"result": {}}
    assert [world.told(name) for name in ("a", "b", "silent", "new")] == [["warning"], ["warning"], [], []]


async def test_a_server_has_the_lowest_level_that_anybody_set_and_hears_of_it_only_when_it_changes(world: World) -> None:
    await world.run("a")
    first, second = legacy_client(), legacy_client()
    for session, level in ((first, "warning"), (second, "debug"), (first, "error"), (first, "info"), (second, "critical")):
        await world.set(session, level)
    assert world.told("a") == ["warning", "debug", "info"]


async def test_a_client_that_leaves_takes_its_level_along(world: World) -> None:
    await world.run("a")
    first, second = legacy_client(), legacy_client()
    await world.set(first, "error")
    await world.set(second, "debug")
    world.levels.end(second)
    world.levels.end(legacy_client())
    await world.done()
    assert world.told("a") == ["error", "debug", "error"]
    world.levels.end(first)  # nobody wants anything now; there is no level for that
    await world.done()
    assert world.told("a") == ["error", "debug", "error"]


async def test_a_copy_that_starts_later_or_again_is_told_too(world: World) -> None:
    await world.set(legacy_client(), "notice")
    await world.run("a")
    assert world.told("a") == ["notice"]
    world.parts.programs["a"].copy.die()
    await world.parts.programs["a"].request(SET, count=2)
    assert world.told("a") == ["notice", "notice"]


async def test_a_copy_that_has_ended_is_told_nothing(world: World) -> None:
    await world.run("a")
    await world.parts.servers.stop("a")
    await world.set(legacy_client(), "notice")
    assert world.told("a") == []


async def test_a_client_of_one_server_changes_nothing_elsewhere(world: World) -> None:
    for name in ("a", "b"):
        await world.run(name)
    await world.set(legacy_client(), "debug", server="a")
    assert (world.told("a"), world.told("b")) == (["debug"], [])


async def test_a_copy_for_one_client_has_the_level_of_that_client(world: World) -> None:
    first, second = legacy_client(), legacy_client()
    for session in (first, second):
        await world.run("own", session=session)
    await world.set(first, "debug")
    assert world.told("own") == ["debug"]
    await world.set(second, "error")
    assert world.told("own") == ["debug", "error"]


@pytest.mark.parametrize("level", ["", "loud", "DEBUG"])
async def test_a_level_that_there_is_not_is_an_error(world: World, level: str) -> None:
    await world.run("a")
    reply = await world.set(legacy_client(), level)
    assert reply["error"]["code"] == -32602
    assert world.told("a") == []


async def test_the_error_of_a_server_is_the_clients_if_no_other_takes_the_level(world: World) -> None:
    await world.run("a")
    world.parts.programs["a"].handlers[SET] = lambda copy, params: error(-32603, "out of ink")
    assert (await world.set(legacy_client(), "debug"))["error"]["message"] == "out of ink"
    await world.run("b")
    assert await world.set(legacy_client(), "debug") == {"result": {}}


@pytest.mark.parametrize(("asked", "level", "is_heard"), [("info", "info", True), ("info", "debug", False), ("error", "loud", True)])
async def test_a_client_hears_what_it_asked_for(world: World, asked: str, level: str, is_heard: bool) -> None:
    client = legacy_client()
    await world.set(client, asked)
    assert world.levels.wants(client, level) is is_heard


async def test_a_client_that_never_asked_hears_what_the_server_sends_until_another_makes_it_talkative(world: World) -> None:
    client = legacy_client()
    assert world.levels.wants(client, "debug")
    await world.set(legacy_client(), "debug")
    assert not world.levels.wants(client, "debug")
    assert world.levels.wants(client, "info")


async def test_a_modern_client_hears_only_what_its_calls_in_flight_ask_for(world: World) -> None:
    server, client, other = await world.run("a"), Client(), Client()
    assert not world.levels.wants(client, "emergency")
    async with world.levels.during(named("notice", client), server):
        assert world.told("a") == ["notice"]
        assert world.levels.wants(client, "notice")
        assert not world.levels.wants(client, "info")
        assert not world.levels.wants(other, "emergency")
    assert not world.levels.wants(client, "notice")


async def test_the_level_of_a_call_is_the_servers_until_the_call_ends(world: World) -> None:
    server, _ = await world.run("a"), await world.run("b")
    await world.set(legacy_client(), "error")
    async with world.levels.during(named("debug", Client()), server):
        assert world.told("a") == ["error", "debug"]
        await world.set(legacy_client(), "alert")
    await world.done()
    assert (world.told("a"), world.told("b")) == (["error", "debug", "error"], ["error"])


async def test_calls_that_name_the_same_level_again_cost_nothing(world: World) -> None:
    server = await world.run("a")
    for _ in range(3):
        async with world.levels.during(named("debug", Client()), server):
            pass
    await world.done()
    assert world.told("a") == ["debug"]


async def test_a_call_that_is_cancelled_while_the_server_is_told_leaves_nothing(world: World) -> None:
    server, client = await world.run("a"), Client()
    world.parts.programs["a"].hold(SET)

    async def call() -> None:
        async with world.levels.during(named("debug", client), server):
            raise AssertionError("not yet")

    calling = world.parts.keeper.spawn(call(), name="call")
    await world.parts.programs["a"].request(SET)
    calling.cancel()
    await settled()
    assert not world.levels.wants(client, "debug")


@pytest.mark.parametrize("level", [None, 5, "loud", ""])
async def test_a_call_that_names_no_level_changes_nothing(world: World, level: Any) -> None:
    server, client = await world.run("a"), Client()
    async with world.levels.during(named(level, client), server):
        assert not world.levels.wants(client, "emergency")
    async with world.levels.during(exchange_of(Envelope(method="tools/call"), client), server):
        assert world.told("a") == []


async def test_a_modern_server_reads_the_level_of_a_call_itself(world: World) -> None:
    server, client = await world.run("new", era=Era.MODERN), Client()
    async with world.levels.during(named("debug", client), server):
        assert world.told("new") == []
        assert world.levels.wants(client, "debug")  # what the server then says is for the client
    assert not world.levels.wants(client, "debug")


async def test_a_modern_server_is_told_a_clients_level_with_each_request(world: World) -> None:
    client = legacy_client()
    assert world.levels.of(client) == NOTHING
    await world.set(client, "alert")
    assert loaded(world.levels.of(client)) == "alert"


@pytest.mark.parametrize(
    ("params", "level"), [(b'{"level":"info","data":1e400}', "info"), (b"{}", ""), (b'{"level":5}', ""), (b"[]", ""), (b"", "")]
)
def test_the_level_of_a_message_is_read(params: bytes, level: str) -> None:
    assert read_level(Raw(params)) == level


def test_levels_stand_in_their_order() -> None:
    assert LEVELS == ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")


# on the way of a call


async def test_a_modern_clients_level_reaches_a_legacy_server_before_its_call(world: World) -> None:
    a = world.parts.programs["a"]
    a.tools.append(tool("look"))
    await world.run("a")
    await world.parts.listed()
    await world.parts.call("look", server="a", is_modern=True, _meta={"io.modelcontextprotocol/logLevel": "debug"})
    assert [asked.method for asked in a.asked.all if asked.method in (SET, "tools/call")] == [SET, "tools/call"]
    assert "_meta" not in (await a.call("look")).params
