"""extensions.py, notifications.py: which server a method of an extension is for."""

from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw
from tests.fakes.everything_server import EVERYTHING, answered, server_with
from tests.fakes.hub_parts import HubParts, entry, hub_parts, settled
from tests.fakes.scripted_server import ScriptedServer

from tooltray.protocol.envelope import dump
from tooltray.protocol.eras import Era

NOT_FOUND = {"code": -32601, "message": "Method not found", "data": "foo/bar"}


def with_extension(*names: str, eras: tuple[str, ...] = ("legacy",), method: str = "foo/bar", **more: Any) -> ScriptedServer:
    """A server that has one of everything besides, and answers the method with what it was told."""
    program = server_with({**EVERYTHING, "extensions": {name: {} for name in names}, **more}, eras=eras)
    program.handlers[method] = lambda copy, params: {"by": copy.name, "told": params}
    return program


def served(**programs: ScriptedServer) -> dict[str, Any]:
    return {"servers": {name: entry(name) for name in programs}, "programs": programs}


async def start(parts: HubParts) -> None:
    for name in [server.name for server in parts.servers if not server.is_builtin]:
        await parts.servers.start(name)
        await parts.offers.listed(parts.servers.get(name)).wait()


async def test_a_method_goes_to_the_server_whose_extension_it_is_named_after(tmp_path: Path) -> None:
    a, b = with_extension("com.example/foo"), with_extension("com.example/other", experimental={"zap": {}}, method="zap/it")
    async with hub_parts(tmp_path, **served(a=a, b=b)) as parts:
        await start(parts)
        for method in ("foo/bar", "com.example/foo/bar"):
            a.handlers[method] = lambda copy, params: {"by": copy.name, "told": params}
            assert (await answered(parts, method, x=1))["result"] == {"by": "a", "told": {"x": 1}}
        assert (await answered(parts, "zap/it"))["result"]["by"] == "b"
        modern = await answered(parts, "foo/bar", is_modern=True, x=1)
        assert modern["result"] == {"resultType": "complete", "by": "a", "told": {"x": 1}}


async def test_a_server_that_was_never_started_by_this_hub_is_started_for_what_it_was_known_to_declare(tmp_path: Path) -> None:
    program = with_extension("com.example/foo")
    async with hub_parts(tmp_path, **served(a=program)) as parts:
        await start(parts)
        await parts.ended()
    async with hub_parts(tmp_path, programs={"a": program}) as parts:
        assert (await answered(parts, "foo/bar"))["result"]["by"] == "a"


async def test_what_a_server_has_lost_with_its_restart_is_its_own_to_refuse_and_afterwards_unknown(tmp_path: Path) -> None:
    program = with_extension("com.example/foo")
    async with hub_parts(tmp_path, **served(a=program)) as parts:
        await start(parts)
        lost = server_with()
        program.handlers["initialize"] = lost.handlers["initialize"]
        del program.handlers["foo/bar"]
        managed = parts.servers.get("a")
        await managed.stop(then=managed.idle_state)
        assert (await answered(parts, "foo/bar"))["error"] == {"code": -32601, "message": "Method not found"}
        assert program.count("foo/bar") == 1
        assert (await answered(parts, "foo/bar"))["error"] == NOT_FOUND
        assert program.count("foo/bar") == 1


async def test_of_two_that_claim_a_method_the_one_is_asked_whose_tool_prompt_or_resource_is_named(tmp_path: Path) -> None:
    a, b = with_extension("com.example/foo"), with_extension("org.example/foo")
    async with hub_parts(tmp_path, **served(a=a, b=b)) as parts:
        await start(parts)
        tools = await parts.listed()
        assert len(tools) == 2
        prompts = [each["name"] for each in (await answered(parts, "prompts/list"))["result"]["prompts"]]
        uris = [each["uri"] for each in (await answered(parts, "resources/list"))["result"]["resources"]]
        for names, member, own in ((tools, "name", "t"), (prompts, "name", "p"), (uris, "uri", "x://1")):
            replies = [(await answered(parts, "foo/bar", **{member: name, "y": 2}))["result"] for name in names]
            assert sorted(reply["by"] for reply in replies) == ["a", "b"]
            assert all(reply["told"] == {member: own, "y": 2} for reply in replies)
        for unclear in ({}, {"name": "gone"}, {"uri": ["x"]}, {"uri": "z://gone"}):
            error = (await answered(parts, "foo/bar", **unclear))["error"]
            assert error["code"] == -32602
            assert error["message"] == (
                "several servers have foo/bar: 'a', 'b'; "
                "connect to one of them directly: at /servers/a/mcp, or with `tooltray-bridge --server a`"
            )


async def test_a_uri_that_a_client_knows_by_heart_is_looked_up_in_the_lists_of_the_servers(tmp_path: Path) -> None:
    a, b = with_extension("com.example/foo"), with_extension("org.example/foo")
    async with hub_parts(tmp_path, **served(a=a, b=b)) as parts:
        b.handlers["resources/list"] = lambda copy, params: {"resources": [{"uri": "y://2", "name": "y"}]}
        go_on = b.hold("resources/list")
        for name in "ab":
            await parts.servers.start(name)
        answering = parts.keeper.spawn(answered(parts, "foo/bar", uri="y://2"), name="answer")
        await b.request("resources/list")
        await settled()
        go_on.set()
        assert (await answering)["result"] == {"by": "b", "told": {"uri": "y://2"}}


async def test_the_flow_guard_hears_of_a_server_whose_extension_is_used(tmp_path: Path) -> None:
    program = with_extension("com.example/foo")
    async with hub_parts(tmp_path, **served(a=program), settings={"approvals": {"flowGuard": True}}) as parts:
        await start(parts)
        noted: list[str] = []
        parts.flow_guard.note_other = lambda server, state: noted.append(server)
        await answered(parts, "foo/bar")
        assert noted == ["a"]


async def test_modern_connections_with_an_extension_that_the_hub_does_not_know_may_speak_of_it(tmp_path: Path) -> None:
    programs = {
        "a": with_extension("com.example/foo", eras=("modern",)),
        "old": with_extension("com.example/foo"),
        "ui": with_extension("io.modelcontextprotocol/ui", eras=("modern",)),
    }
    async with hub_parts(tmp_path, **served(**programs)) as parts:
        await start(parts)

        def speaking(server: str | None) -> list[str]:
            return [client.name for client in parts.extension_claims.speaking(parts.client(), server)]

        assert [speaking(server) for server in (None, "a", "old", "ui")] == [["a"], ["a"], [], ["ui"]]


async def test_a_method_that_is_named_after_nothing_is_for_the_only_server_with_an_extension_that_the_hub_does_not_know(
    tmp_path: Path,
) -> None:
    ui, a = with_extension("io.modelcontextprotocol/ui"), with_extension("com.example/other")
    async with hub_parts(tmp_path, **served(ui=ui, a=a)) as parts:
        await start(parts)
        assert (await answered(parts, "foo/bar"))["result"]["by"] == "a"
        await parts.servers.stop("a")
        assert "you stopped it" in (await answered(parts, "foo/bar"))["error"]["message"]


async def test_where_several_may_know_a_method_that_none_is_named_after_it_is_not_found_and_the_words_help(tmp_path: Path) -> None:
    programs = {"a": with_extension("com.example/one"), "b c": with_extension("com.example/two")}
    async with hub_parts(tmp_path, servers={name: entry(name) for name in programs}, programs=programs) as parts:
        await start(parts)
        error = (await answered(parts, "foo/bar"))["error"]
        assert (error["code"], error["data"]) == (-32601, "foo/bar")
        assert "'a', 'b c'" in error["message"]
        await parts.servers.stop("a")
        assert (await answered(parts, "foo/bar"))["result"]["by"] == "b c"


@pytest.mark.parametrize(
    ("capabilities", "method"),
    [
        ({}, "foo/bar"),
        ({"extensions": {"io.modelcontextprotocol/skills": {}}}, "foo/bar"),
        ({"extensions": ["com.example/foo"]}, "foo/bar"),
        ({"extensions": {"com.example/resources": {}}}, "resources/subscribe"),
    ],
)
async def test_what_nobody_declares_and_what_the_specification_defines_is_of_no_extension(
    tmp_path: Path, capabilities: Any, method: str
) -> None:
    program = server_with({**EVERYTHING, **capabilities})
    async with hub_parts(tmp_path, **served(a=program)) as parts:
        await start(parts)
        error = (await answered(parts, method, is_modern=True, uri="x://1"))["error"]
        assert error == {**NOT_FOUND, "data": method}
        assert program.count(method) == 0


async def test_a_server_outside_of_the_profile_is_not_reached_by_its_extension_nor_by_a_tool_that_is_left_out(tmp_path: Path) -> None:
    a, b = with_extension("com.example/foo"), with_extension("com.example/foo")
    settings = {"profiles": {"work": {"servers": ["b"]}, "few": {"tools": {"a": [], "b": []}}}}
    async with hub_parts(tmp_path, **served(a=a, b=b), settings=settings) as parts:
        await start(parts)
        [of_a, of_b] = sorted(await parts.listed())
        client = parts.client()
        client.state.profile = "work"
        assert (await answered(parts, "foo/bar", client, name=of_a))["result"] == {"by": "b", "told": {"name": of_a}}
        client.state.profile = "few"
        assert (await answered(parts, "foo/bar", client, name=of_b))["error"]["code"] == -32602
        client.state.profile = "gone"
        assert (await answered(parts, "foo/bar", client))["error"] == NOT_FOUND


async def test_while_all_is_paused_nothing_is_started_and_params_that_are_no_object_reach_the_server(tmp_path: Path) -> None:
    program = with_extension("com.example/foo")
    async with hub_parts(tmp_path, **served(a=program)) as parts:
        await start(parts)
        assert (await answered(parts, "foo/bar", uri="z://gone"))["result"]["told"] == {"uri": "z://gone"}
        await parts.conf.set_enabled(False)
        assert "paused" in (await answered(parts, "foo/bar"))["error"]["message"]


# notifications


async def test_what_a_client_says_of_an_extension_goes_to_the_server_that_has_it_if_that_runs(tmp_path: Path) -> None:
    a, b = with_extension("com.example/foo"), with_extension("com.example/foo")
    async with hub_parts(tmp_path, **served(a=a, b=b)) as parts:
        client = parts.client()
        parts.notifications.take(client, "notifications/foo/said", dump({"x": 1}), server=None)
        await start(parts)
        [_, of_b] = sorted(await parts.listed())
        said = ["foo/said", "foo/said", "other", "progress", "initialized"]
        for name, params in zip(said, [{"name": of_b}, {"x": 1}, {}, {}, {}], strict=True):
            parts.notifications.take(client, f"notifications/{name}", dump(params), server=None)
        await parts.servers.stop("a")
        for params in (dump({"x": 2}), Raw(b'["name"]')):
            parts.notifications.take(client, "notifications/foo/alone", params, server=None)
        await settled()
        told = {name: [(each.method, each.params) for each in program.told.all] for name, program in (("a", a), ("b", b))}
        begun = ("notifications/initialized", {})
        assert told["a"] == [begun]
        alone = "notifications/foo/alone"
        assert told["b"] == [begun, ("notifications/foo/said", {"name": "t"}), (alone, {"x": 2}), (alone, ["name"])]


async def test_what_a_client_says_of_an_extension_goes_over_the_connection_of_its_era(tmp_path: Path) -> None:
    program = with_extension("com.example/foo", eras=("legacy", "modern"))
    async with hub_parts(tmp_path, **served(a=program)) as parts:
        await start(parts)
        legacy = await parts.servers.get("a").running(Era.LEGACY, timeout_s=10)
        for count, client in enumerate((parts.client(introduction=Raw(b"{}")), parts.client()), 1):
            parts.notifications.take(client, "notifications/foo/said", dump({}), server=None)
            told = await program.told.wait(lambda told: told.method == "notifications/foo/said", count=count)
            assert (told.copy is legacy.transport) is bool(client.introduction)


@pytest.mark.parametrize(
    ("theirs", "mine", "method", "server", "hears"),
    [
        ({}, [], "notifications/foo/said", None, True),
        ({"extensions": {"x/foo": {}}}, [], "notifications/foo/said", None, False),
        ({"extensions": {"x/foo": {}}}, [], "notifications/foo/said", "a", False),
        ({"extensions": {"x/foo": {}}}, ["x/foo"], "notifications/foo/said", None, True),
        ({"extensions": {"x/foo": {}}}, ["y/foo"], "notifications/foo/said", None, False),
        ({"extensions": {"x/foo": {}}}, [], "notifications/later", None, False),
        ({"extensions": {"x/foo": {}}}, ["x/foo"], "notifications/later", None, True),
        ({"extensions": {"x/foo": {}}}, [], "notifications/later", "a", True),
        ({"extensions": {"x/foo": {}}, "experimental": {"y": {}}}, [], "notifications/later", None, True),
        ({"extensions": {"x/tasks": {}}}, [], "notifications/tasks/status", None, True),
    ],
)
async def test_what_a_server_says_of_an_extension_is_for_clients_that_have_declared_it(
    tmp_path: Path, theirs: Any, mine: list[str], method: str, server: str | None, hears: bool
) -> None:
    async with hub_parts(tmp_path, **served(a=server_with(theirs))) as parts:
        await start(parts)
        client = parts.client()
        client.state.declared, client.state.server = {"extensions": {name: {} for name in mine}}, server
        running = await parts.servers.get("a").running(Era.LEGACY, timeout_s=10)
        assert parts.notifications.may_hear(client, running, method) is hears
        running.owner = client
        assert parts.notifications.may_hear(client, running, method)
