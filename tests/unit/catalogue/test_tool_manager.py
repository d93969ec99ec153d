"""tool_manager.py, tool_routes.py: under which names tools are offered, which of them, and to whom."""

import asyncio
import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw
from msgspec.structs import replace
from tests.fakes.exchanges import exchange_of
from tests.fakes.hub_parts import HubParts, hub_parts, one_server, opened, refusal_of, settled, started, started_parts, text_of, two_servers
from tests.fakes.offering import OfferingServer, resource
from tests.fakes.scripted_server import ScriptedServer, error, raw, text, tool

from tooltray.catalogue.auto_approve import decide
from tooltray.catalogue.definition import read_definition
from tooltray.catalogue.offer import RESOURCES
from tooltray.catalogue.token_counts import counted_size
from tooltray.catalogue.tool_routes import Entry, ListTerms, Route, called_by_views, listed
from tooltray.foundation.events import ToolListChanged
from tooltray.protocol.envelope import Envelope, dump, load
from tooltray.protocol.eras import Era
from tooltray.protocol.output_schemas import LegacyOutput

# lists


@pytest.mark.parametrize("server", [None, "s"])
async def test_a_list_waits_for_a_server_that_was_never_listed(tmp_path: Path, server: str | None) -> None:
    program = ScriptedServer(tool("t"))
    go_on = program.hold("tools/list")
    async with started_parts(tmp_path, **one_server(program)) as parts:
        listing = asyncio.create_task(parts.tools.listing(server))
        await program.request("tools/list")
        await settled()
        assert not listing.done()
        go_on.set()
        assert [each["name"] for each in load(await listing)["tools"]] == [each.name for each in await parts.tools.entries(server)] == ["t"]


APP_ONLY, MODEL_ONLY = ({"ui": {"visibility": [each]}} for each in ("app", "model"))


async def test_the_size_of_a_servers_tools_is_that_of_those_for_models_as_they_are_published(tmp_path: Path) -> None:
    program = ScriptedServer(tool("t"), tool("plain"), tool("v", _meta=APP_ONLY))
    async with started_parts(tmp_path, **one_server(program, toolOverrides={"t": {"description": "x" * 100}})) as parts:
        assert [each["name"] for each in load(await parts.tools.listing())["tools"]] == ["plain", "t"]
        routes = parts.tools.routes("s")
        assert parts.tools.size("s") == (2, sum(counted_size(routes[name].published(name)) for name in ("t", "plain")))


@pytest.mark.parametrize(("meta", "called"), [({"ui/resourceUri": "ui://v"}, {"shows", "plain"}), ({}, set())])
def test_views_of_a_server_may_call_its_tools_that_are_not_for_models_alone(meta: dict[str, Any], called: set[str]) -> None:
    tools = (tool("shows", _meta=meta), tool("plain"), tool("m", _meta=MODEL_ONLY))
    assert called_by_views([read_definition(json.dumps(each).encode()) for each in tools]) == called


LISTS: dict[str, Any] = {"type": "array"}
OUTPUTS = {"plain": None, "none": LegacyOutput(None), "other": LegacyOutput(Raw(b'{"type":"object"}'))}


@pytest.mark.parametrize(
    ("is_output_read", "names", "schemas"),
    [
        (lambda output: False, ["plain", "none", "other"], [LISTS, None, {"type": "object"}]),
        (lambda output: output.schema is None, ["plain", "none", "other"], [LISTS, LISTS, {"type": "object"}]),
        (lambda output: output.schema is None, ["plain", "none"], None),
    ],
)
def test_legacy_clients_get_output_schemas_that_they_can_read(
    is_output_read: Callable[[LegacyOutput], bool], names: list[str], schemas: list[Any] | None
) -> None:
    entries = []
    for name in names:
        definition = replace(read_definition(json.dumps(tool(name, outputSchema=LISTS)).encode()), output=OUTPUTS[name])
        entries.append(Entry(name, Route("s", definition, decide("s", name, None, ["all"])), definition.raw))
    made = listed(tuple(entries), is_output_read=is_output_read)
    assert made.of(Era.MODERN) is made
    assert [each.get("outputSchema") for each in load(made.listing)["tools"]] == [LISTS] * len(names)
    legacy = made.of(Era.LEGACY)
    assert (legacy is made) is (schemas is None)
    assert schemas is None or [each.get("outputSchema") for each in load(legacy.listing)["tools"]] == schemas


# names


async def test_tools_that_come_together_with_one_name_are_named_together(tmp_path: Path) -> None:
    async with started_parts(tmp_path, "a", "b", **two_servers(ScriptedServer(tool("t"), tool("u")), ScriptedServer(tool("t")))) as parts:
        assert await parts.listed() == ["a_t", "b_t", "u"]
        assert len({route.mark for route in parts.tools.all_routes()}) == 3
        assert [parts.tools.published_name(parts.tools.routes(server)["t"]) for server in "ab"] == ["a_t", "b_t"]
        for name in ("a_t", "b_t", "u"):
            assert await text_of(parts, name, arguments={"text": name}) == name


async def test_clients_that_accept_long_names_get_those_whole_that_fit_and_share_what_is_the_same(tmp_path: Path) -> None:
    long, longer = "t" * 80, "u" * 90
    async with started_parts(tmp_path, **one_server(ScriptedServer(tool("a"), tool(long), tool(longer)))) as parts:

        async def names(room: int) -> list[str]:
            return [each.name for each in await parts.tools.entries(terms=ListTerms(room=room))]

        assert not parts.tools.are_named
        short = await names(0)
        assert parts.tools.are_named
        assert {long, longer}.isdisjoint(short)
        assert [await names(room) for room in (79, 80, 89, 90)] == [
            short,
            ["a", long, short[2]],
            ["a", long, short[2]],
            ["a", long, longer],
        ]
        listings = [await parts.tools.listing(terms=ListTerms(room=room)) for room in (0, 79, 80, 89, 90)]
        assert [one is other for one, other in pairwise(listings)] == [True, False, True, False]


async def test_names_are_given_when_somebody_lists_and_kept(tmp_path: Path) -> None:
    first, second = ScriptedServer(tool("t")), ScriptedServer(tool("t"))
    async with started_parts(tmp_path, "a", **two_servers(first, second)) as parts:
        await parts.heard.event(ToolListChanged, server="a")
        assert not parts.home.names.exists()
        assert await parts.listed() == ["t"]
        assert parts.home.names.exists()
        await started(parts, "b")
        await parts.heard.event(ToolListChanged, server="b")
        assert await parts.listed() == ["b_t", "t"]  # a name that was given stays
        await parts.tools.forget_names()
        assert await parts.listed() == ["a_t", "b_t"]


async def test_forgetting_the_names_tells_the_clients_of_servers_with_tools(tmp_path: Path) -> None:
    async with started_parts(tmp_path, "a", "b", **two_servers(ScriptedServer(tool("t")), ScriptedServer())) as parts:
        await parts.listed()
        told = len(parts.heard.of(ToolListChanged))
        await parts.tools.forget_names()
        assert [each.server for each in parts.heard.of(ToolListChanged)[told:]] == ["a"]


async def test_what_was_approved_is_what_the_server_gets_also_if_a_client_names_two_tools(tmp_path: Path) -> None:
    program = ScriptedServer(tool("read"), tool("wipe"))
    async with started_parts(tmp_path, **one_server(program)) as parts:
        await parts.listed()
        request = Envelope(method="tools/call", params=Raw(b'{"name":"wipe","arguments":{},"name":"read"}'))
        client = parts.client()
        await parts.calls.call(exchange_of(request, client))
        assert (await program.call("read")).params == {"name": "read", "arguments": {}}
        assert b"wipe" not in bytes(request.params)


# which tools are offered and to whom


@pytest.mark.parametrize(
    ("fields", "offered"),
    [
        ({}, ["a", "b", "c"]),
        ({"disabledTools": ["b"]}, ["a", "c"]),
        ({"toolFilter": {"mode": "allow", "list": ["a", "b"]}}, ["a", "b"]),
        ({"toolFilter": {"mode": "block", "list": ["a"]}}, ["b", "c"]),
        ({"toolFilter": {"mode": "allow", "list": ["a", "b"]}, "disabledTools": ["a"]}, ["b"]),
    ],
)
async def test_a_server_offers_what_its_settings_let_through(tmp_path: Path, fields: dict[str, Any], offered: list[str]) -> None:
    program = ScriptedServer(tool("a"), tool("b"), tool("c"))
    async with started_parts(tmp_path, **one_server(program, **fields)) as parts:
        assert await parts.listed() == offered
        assert await parts.listed("s") == offered
        assert parts.tools.tool_count("s") == 3


async def test_a_client_of_one_server_gets_its_definitions_verbatim(tmp_path: Path) -> None:
    written = b'{ "name":"t", "inputSchema" : {"type":"object"},"n":1e400 }'
    program = ScriptedServer()
    program.handlers["tools/list"] = lambda copy, params: raw(b'{"tools":[%b]}' % written)
    async with started_parts(tmp_path, **one_server(program)) as parts:
        await parts.listed("s")
        assert bytes(await parts.tools.listing("s")) == b'{"tools":[%b]}' % written


async def test_a_result_is_as_long_as_its_tool_or_else_its_server_lets_it(tmp_path: Path) -> None:
    overrides = {"a": {"resultLimit": 700}, "b": {"description": "B"}}
    program = ScriptedServer(tool("a"), tool("b"), tool("c"))
    async with started_parts(tmp_path, **one_server(program, toolOverrides=overrides, resultLimit=900)) as parts:
        await parts.listed()
        limits = {route.definition.name: route.result_limit for route in parts.tools.all_routes("s")}
        assert limits == {"a": 700, "b": 900, "c": 900}


async def test_what_is_offered_is_made_again_only_for_settings_of_tools(tmp_path: Path) -> None:
    async with started_parts(tmp_path, **one_server(ScriptedServer(tool("t"), tool("u")))) as parts:
        await parts.listed()
        made = parts.tools.routes("s")
        await parts.conf.change_server("s", call_timeout=5)
        assert parts.tools.routes("s") is made
        await parts.conf.change_server("s", disabled_tools=["u"])
        assert list(parts.tools.routes("s")) == ["t"]


async def views_listed(parts: HubParts) -> list[str]:
    listed = json.loads(bytes(await parts.tools.listing()))["tools"]
    return [each["_meta"]["ui"]["resourceUri"] for each in listed if "_meta" in each]


async def test_a_removed_server_leaves_its_tools_and_the_uri_of_a_view_to_the_others(tmp_path: Path) -> None:
    first, second = (ScriptedServer(tool(name, _meta={"ui": {"resourceUri": "ui://v"}})) for name in ("t", "u"))
    async with started_parts(tmp_path, "a", "b", **two_servers(first, second)) as parts:
        assert await parts.listed() == ["t", "u"]
        assert await views_listed(parts) == ["ui://a/ui%3A%2F%2Fv", "ui://b/ui%3A%2F%2Fv"]
        told = len(parts.heard.of(ToolListChanged))
        await parts.conf.remove_server("a")
        assert await parts.listed() == ["u"]
        assert await views_listed(parts) == ["ui://v"]
        assert ToolListChanged("a") in parts.heard.of(ToolListChanged)[told:]


async def test_a_resource_that_moves_the_view_of_a_tool_changes_the_list_of_that_tools_server(tmp_path: Path) -> None:
    first, second = ScriptedServer(tool("t", _meta={"ui": {"resourceUri": "ui://v"}})), OfferingServer(resources=[resource("ui://v")])
    second.tools = [tool("u")]
    async with started_parts(tmp_path, "a", **two_servers(first, second)) as parts:
        assert await parts.listed() == ["t"]
        assert await views_listed(parts) == ["ui://v"]
        told = len(parts.heard.of(ToolListChanged))
        await started(parts, "b")
        assert await parts.listed() == ["t", "u"]
        await parts.offers.listed(parts.servers.get("b")).wait()
        assert await views_listed(parts) == ["ui://a/ui%3A%2F%2Fv"]
        assert sorted(each.server for each in parts.heard.of(ToolListChanged)[told:]) == ["a", "b"]
        second.resources = [resource("ui://w")]
        second.copy.notify("notifications/resources/list_changed")
        await parts.heard.until(lambda: [each.key for each in parts.offers.offered(RESOURCES)["b"]] == ["ui://w"])
        assert await views_listed(parts) == ["ui://v"]


async def test_a_tool_that_is_switched_off_is_refused_and_comes_back(tmp_path: Path) -> None:
    async with started_parts(tmp_path, **one_server(ScriptedServer(tool("a"), tool("b")))) as parts:
        assert await parts.listed() == ["a", "b"]
        await parts.conf.change_server("s", disabled_tools=["b"])
        assert await parts.listed() == ["a"]
        assert await refusal_of(parts, "b") == "the tool 'b' is disabled in Tooltray"
        assert await refusal_of(parts, "b", server="s") == "the tool 'b' is disabled in Tooltray"
        await parts.conf.change_server("s", disabled_tools=[])
        assert await parts.listed() == ["a", "b"]


async def test_what_is_not_approved_is_listed_and_refused_without_a_way_around_it(tmp_path: Path) -> None:
    program = ScriptedServer(tool("get_it"), tool("delete_it"))
    async with started_parts(tmp_path, **one_server(program, autoApprove=["read"])) as parts:
        assert await parts.listed() == ["delete_it", "get_it"]
        assert await text_of(parts, "get_it", arguments={"text": "x"}) == "x"
        said = await refusal_of(parts, "delete_it")
        assert 'the tool "delete_it" of the server "s" writes' in said
        assert "autoApprove" not in said
        assert program.count("tools/call") == 1
        await parts.conf.change_server("s", auto_approve=["read", "delete_it"])
        assert await text_of(parts, "delete_it", arguments={"text": "x"}) == "x"


async def test_a_paused_hub_lists_and_refuses(tmp_path: Path) -> None:
    program = ScriptedServer(tool("t"))
    async with started_parts(tmp_path, **one_server(program)) as parts:
        await parts.conf.set_enabled(False)
        assert await parts.listed() == ["t"]
        assert "Tooltray is paused" in await refusal_of(parts, "t")
        client = parts.client()
        relayed = await parts.relay.send_with_retry(parts.servers.get("s"), exchange_of(Envelope(method="prompts/list"), client))
        assert "Tooltray is paused" in opened(relayed)["error"]["message"]
        assert program.count("tools/call") == 0


async def test_the_tools_of_the_built_in_server_need_no_approval(tmp_path: Path) -> None:
    builtin = BuiltIn()
    async with started_parts(tmp_path, "hub", servers={}, builtins={"hub": builtin}) as parts:
        assert await text_of(parts, "delete_everything") == "done"
        [snapshot] = await parts.tools.snapshots()
        assert (snapshot.is_approved, snapshot.category) == (True, "write")


class BuiltIn:
    async def answer(self, request: Envelope) -> Envelope:
        replies = {
            "initialize": {"protocolVersion": "2025-11-25", "capabilities": {}},
            "tools/list": {"tools": [tool("delete_everything")]},
            "tools/call": text("done"),
        }
        return Envelope(result=dump(replies[request.method])) if request.method in replies else error(-32601, "Method not found")


async def test_every_tool_known_has_a_snapshot_also_those_that_are_switched_off(tmp_path: Path) -> None:
    program, words = ScriptedServer(tool("get.it", description="Gets it"), tool("drop"), tool("off")), {"drop": {"description": "Drops it"}}
    async with started_parts(tmp_path, **one_server(program, autoApprove=["read"], disabledTools=["off"], toolOverrides=words)) as parts:
        found = {each.original_name: each for each in await parts.tools.snapshots()}
        assert (found["get.it"].name, found["get.it"].description, found["get.it"].server) == ("get_it", "Gets it", "s")
        assert [(each.category, each.is_enabled, each.is_approved) for each in found.values()] == [
            ("read", True, True),
            ("write", True, False),
            ("write", False, False),
        ]
        assert (found["off"].name, found["drop"].description) == ("off", "Drops it")
        assert await parts.tools.snapshots("other") == []


async def test_the_schema_of_a_tool_is_known_as_long_as_it_is_offered(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "x-mcp-header": "A"}}}
    async with started_parts(tmp_path, **one_server(ScriptedServer(tool("t", inputSchema=schema)))) as parts:
        await parts.tools.listing()
        assert json.loads(bytes(parts.tools.input_schema("s", "t") or b"null")) == schema
        assert parts.tools.input_schema("s", "other") is None
        assert parts.tools.input_schema("other", "t") is None


async def test_the_schema_is_also_known_when_only_an_instance_for_one_session_has_listed_the_tool(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "x-mcp-header": "A"}}}
    program = ScriptedServer(tool("t", inputSchema=schema))
    async with hub_parts(tmp_path, **one_server(program, isolation="session")) as parts:
        session = parts.client()
        program.handlers["tools/list"] = lambda copy, params: {"tools": [] if copy is program.copies.all[0] else program.tools}
        await started(parts)
        own = await parts.servers.get("s").running(Era.LEGACY, timeout_s=20.0, session=session)
        assert parts.tools.input_schema("s", "t") is None
        await parts.tools.listing("s", client=own)
        assert json.loads(bytes(parts.tools.input_schema("s", "t") or b"null")) == schema
        assert parts.tools.input_schema("s", "other") is None
