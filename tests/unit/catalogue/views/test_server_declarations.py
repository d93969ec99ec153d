"""server_declarations.py, and what introduction.py makes of it for a session"""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.everything_server import server_with
from tests.fakes.fake_channel import FakeChannel, line
from tests.fakes.hub_parts import MODERN_META, HubParts, entry, hub_parts, one_server, settled, two_servers
from tests.fakes.skill_server import EXTENSION, SkillServer

from tooltray.protocol.eras import Era

FOO: dict[str, Any] = {"extensions": {"com.example/foo": {"types": ["a"]}}}
TASKS: dict[str, Any] = {"list": {}, "requests": {"tools": {"call": {}}}}


def of_session(parts: HubParts, era: Era = Era.LEGACY, **options: Any) -> Any:
    client = parts.client()
    for name, value in options.items():
        setattr(client.state, name, value)
    return parts.introduction.capabilities(client, era)


async def test_what_servers_declare_is_joined_and_what_is_of_one_era_alone_stays_there(tmp_path: Path) -> None:
    one = server_with({**FOO, "tasks": TASKS, "experimental": {"x": {"on": False}}})
    two = server_with({"extensions": {"com.example/foo": {"types": ["b"]}}, "experimental": {"x": {"on": True}}})
    async with hub_parts(tmp_path, **two_servers(one, two)) as parts:
        assert of_session(parts) == {}
        for server in list(parts.servers):
            await parts.servers.start(server.name) if not server.is_builtin else None
        together = {"extensions": {"com.example/foo": {"types": ["a", "b"]}}, "experimental": {"x": {"on": True}}}
        assert of_session(parts) == {**together, "tasks": TASKS}
        assert of_session(parts, Era.MODERN) == together


async def test_it_is_known_of_servers_that_do_not_run_also_after_a_restart_of_the_hub(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, **one_server(server_with(FOO))) as parts:
        await parts.servers.start("s")
        await parts.ended()
    async with hub_parts(tmp_path, programs={"program": server_with({})}) as parts:
        assert of_session(parts) == FOO
        await parts.servers.start("s")
        assert of_session(parts) == {}
        await parts.ended()
    async with hub_parts(tmp_path, programs={"program": server_with(FOO)}) as parts:
        assert of_session(parts) == {}


async def test_what_cannot_run_and_what_a_profile_leaves_out_is_not_declared(tmp_path: Path) -> None:
    settings = {"profiles": {"none": {"servers": []}}}
    async with hub_parts(tmp_path, **one_server(server_with(FOO)), settings=settings) as parts:
        await parts.servers.start("s")
        assert of_session(parts, profile="none") == {}
        await parts.servers.stop("s")
        assert of_session(parts) == {}


async def test_another_configuration_is_another_program(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, **one_server(server_with(FOO))) as parts:
        await parts.servers.start("s")
        await parts.servers.stop("s")
        assert parts.server_declarations.of(parts.servers.get("s"), Era.LEGACY) == FOO
        await parts.conf.change_server("s", args=["--other"])
        assert parts.server_declarations.of(parts.servers.get("s"), Era.LEGACY) == {}
        await parts.conf.change_server("s", args=[])
        assert parts.server_declarations.of(parts.servers.get("s"), Era.LEGACY) == FOO
        await parts.conf.remove_server("s")
        await settled()


async def test_a_server_of_both_eras_may_declare_another_thing_in_each(tmp_path: Path) -> None:
    program = server_with(FOO, eras=("legacy", "modern"))
    program.handlers["initialize"] = lambda copy, params: {"protocolVersion": "2025-11-25", "capabilities": {"experimental": {"x": {}}}}
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        await parts.servers.start("s")
        managed = parts.servers.get("s")
        assert of_session(parts, Era.LEGACY) == FOO  # as far as is known
        await managed.running(Era.LEGACY, timeout_s=10)
        await managed.stop(then=managed.idle_state)
        assert (of_session(parts, Era.LEGACY), of_session(parts, Era.MODERN)) == ({"experimental": {"x": {}}}, FOO)


@pytest.mark.parametrize(
    "capabilities", [[], "x", None, {"extensions": []}, {"tasks": [1]}, {"experimental": {"a": 5}}, {"extensions": "x"}]
)
async def test_capabilities_of_another_type_are_none(tmp_path: Path, capabilities: Any) -> None:
    async with hub_parts(tmp_path, **one_server(server_with(capabilities))) as parts:
        await parts.servers.start("s")
        assert of_session(parts) == {}


async def test_members_of_tasks_that_are_no_objects_are_left_out_on_each_level(tmp_path: Path) -> None:
    tasks = {"cancel": {}, "list": True, "requests": {"tools": {"call": 1, "later": {}}, "x": None}}
    async with hub_parts(tmp_path, **one_server(server_with({"tasks": tasks}))) as parts:
        await parts.servers.start("s")
        assert of_session(parts) == {"tasks": {"cancel": {}, "requests": {"tools": {"later": {}}}}}


async def test_ten_thousand_extensions_of_a_server_and_megabytes_of_settings_are_bounded(tmp_path: Path) -> None:
    many = {f"x/{n}": {"y": "z" * 20_000 if n == 1 else ""} for n in range(10_000)}
    async with hub_parts(tmp_path, **one_server(server_with({"extensions": many, "experimental": {"big": {"x": "y" * 2**20}}}))) as parts:
        await parts.servers.start("s")
        told = of_session(parts)
        assert (len(told["extensions"]), "experimental" in told) == (64, False)
        assert len(json.dumps(told)) < 65_536


async def greeted_with(parts: HubParts, profile: str = "") -> list[Any]:
    """What an AI client hears of skills when it opens a session: in `initialize`, and in `server/discover`."""
    session, channel = parts.sessions.open_client(None), FakeChannel()
    session.state.profile = profile
    session.dispatcher.attach(channel)
    info = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    session.dispatcher.feed(line(id=1, method="initialize", params=info))
    session.dispatcher.feed(line(id=2, method="server/discover", params={"_meta": MODERN_META}))
    greetings = [(await channel.reply(id))["result"]["capabilities"] for id in (1, 2)]
    session.dispatcher.connection_lost("the AI client is gone")
    return [greeting.get("extensions", {}).get(EXTENSION) for greeting in greetings]


async def test_clients_are_greeted_with_skills_where_a_server_that_they_see_has_them_also_while_it_rests(tmp_path: Path) -> None:
    programs = {"plain": server_with({}), "skilled": SkillServer("git-workflow")}
    servers = {name: entry(name) for name in programs}
    profiles = {"profiles": {"bare": {"servers": ["plain"]}}}
    async with hub_parts(tmp_path, servers=servers, programs=programs, settings=profiles) as parts:
        assert await greeted_with(parts) == [None, None]
        for name in programs:
            await parts.servers.start(name)
        assert await greeted_with(parts) == [{"directoryRead": True}] * 2
        assert await greeted_with(parts, profile="bare") == [None, None]
        await parts.ended()
    async with hub_parts(tmp_path, programs=programs) as parts:
        assert not parts.launches
        assert await greeted_with(parts) == [{"directoryRead": True}] * 2
        assert not parts.launches
        await parts.servers.stop("skilled")
        assert await greeted_with(parts) == [None, None]
