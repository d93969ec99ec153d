"""tool_manager.py: a healthy server beside one whose definitions no strict client could read, in both eras."""

from pathlib import Path
from typing import Any

import pytest
from tests.contract.odd_definitions import LEGACY, MODERN, check_is_read
from tests.fakes.hub_parts import HubParts, hub_parts, one_server, started, two_servers
from tests.fakes.lazy_hub import answered, ready_parts
from tests.fakes.offering import OfferingServer, prompt, resource
from tests.fakes.scripted_server import ScriptedServer, text, tool

from tooltray.catalogue.offer import PROMPTS, RESOURCES, TEMPLATES, TOOLS
from tooltray.foundation.events import ServerChanged
from tooltray.foundation.snapshots.servers import LEFT_OUT, MENDED
from tooltray.protocol.envelope import INTERNAL_ERROR, dump, failure

KINDS = (TOOLS, PROMPTS, RESOURCES, TEMPLATES)
ODD_TOOL = tool("odd", inputSchema={"properties": {"a": None}}, annotations={"title": None}, execution=None)
ARRAY = {"type": "array", "items": {"$ref": "#/$defs/n"}, "$defs": {"n": {"type": "integer"}}}
OF_ARRAY = {"type": "object", "properties": {"result": {**ARRAY, "items": {"$ref": "#/properties/result/$defs/n"}}}, "required": ["result"]}


def sick() -> OfferingServer:
    """Lists one flawed definition of each kind, one that cannot be mended, and one that is well."""
    resources = [{"uri": "no uri", "name": "n"}, {"uri": "x://odd", "size": None, "annotations": {"priority": 2}}, resource("x://well")]
    program = OfferingServer(prompts=[prompt("well_prompt"), {"name": "p", "arguments": [{"name": None}]}], resources=resources)
    program.tools = [ODD_TOOL, {"title": "no name"}, tool("well")]
    return program


def healthy() -> OfferingServer:
    program = OfferingServer(prompts=[prompt("hp")], resources=[resource("h://1")])
    program.tools = [tool("h1"), tool("h2")]
    return program


async def listed(parts: HubParts, kind: Any, *, is_modern: bool = False, server: str | None = None) -> list[Any]:
    client = parts.client()
    client.state.server = server
    reply = await answered(parts, kind.method, client, is_modern=is_modern)
    return list(reply["result"][kind.member])


@pytest.mark.parametrize("is_modern", [False, True])
async def test_the_lists_of_a_healthy_server_are_whole_for_a_strict_client_beside_a_sick_one(tmp_path: Path, is_modern: bool) -> None:
    async with ready_parts(tmp_path, "a", "b", **two_servers(healthy(), sick())) as parts:
        found = {kind.name: await listed(parts, kind, is_modern=is_modern) for kind in KINDS}
        for kind in KINDS:
            check_is_read(kind, [dump(each) for each in found[kind.name]], MODERN if is_modern else LEGACY)
        assert [each["name"] for each in found["tools"]] == ["h1", "h2", "odd", "well"]
        assert [each["name"] for each in found["prompts"]] == ["hp", "p", "well_prompt"]
        assert [each["uri"] for each in found["resources"]] == ["h://1", "x://odd", "x://well"]


async def test_a_client_of_one_server_gets_the_bytes_of_the_server(tmp_path: Path) -> None:
    async with ready_parts(tmp_path, **one_server(sick())) as parts:
        assert (await listed(parts, TOOLS, server="s"))[0] == ODD_TOOL
        assert (await listed(parts, RESOURCES, server="s"))[0] == {"uri": "no uri", "name": "n"}


async def test_the_card_the_doctor_and_the_tool_say_what_was_mended_and_what_is_held_back(tmp_path: Path) -> None:
    async with ready_parts(tmp_path, **one_server(sick())) as parts:
        [card] = [each for each in (await parts.presenter.get_snapshot()).servers if each.name == "s"]
        [diagnosis] = await parts.presenter.diagnose("s")
        assert card.flaws == diagnosis.flaws
        assert card.flaws == (
            "tool 'odd': inputSchema.properties.a is null, not an object ({} is used)",
            """tool 'odd': inputSchema has no "type", which has to be "object" (added)""",
            "tool 'odd': annotations.title is null, not a string (left out)",
            "tool 'odd': execution is null, not an object (left out)",
            "tool 2 of the list is left out: its definition has no name",
            "prompts: 'p': arguments[0] has no name that is a string (left out)",
            """resources: 'no uri': it is left out of the lists of all servers: its uri is invalid; it must begin with a scheme, such as "file:///\"""",
            "resources: 'x://odd': annotations.priority is 2, not a number from 0 to 1 (left out)",
            "resources: 'x://odd': size is null, not an integer (left out)",
            """resources: 'x://odd': name is missing ("x://odd" is used)""",
        )
        assert card.flaw_counts == {MENDED: 3, LEFT_OUT: 2}
        [odd, well] = await parts.tools.snapshots("s")
        assert (odd.flaws, well.flaws) == (tuple(each.removeprefix("tool 'odd': ") for each in card.flaws[:4]), ())


async def test_what_was_mended_is_known_of_a_server_that_does_not_run(tmp_path: Path) -> None:
    async with ready_parts(tmp_path, **one_server(sick())) as parts:
        known = parts.tools.list_flaws("s")
    async with hub_parts(tmp_path, **one_server(sick(), lazyLoad=True)) as parts:
        assert parts.tools.list_flaws("s") == tuple(each for each in known if "tool 2 of the list" not in each)
        assert parts.tools.flaw_counts("s") == {MENDED: 3, LEFT_OUT: 1}
        assert (parts.tools.list_flaws("nobody"), parts.tools.flaw_counts("nobody")) == ((), {})
        await started(parts)
        counts = {MENDED: 3, LEFT_OUT: 2}
        await parts.heard.wait(lambda event: isinstance(event, ServerChanged) and event.server.flaw_counts == counts)


# results that are no objects


def lists(*contents: Any, eras: tuple[str, ...] = ("modern",), **members: Any) -> ScriptedServer:
    """A server with a tool `t`, which answers with structured content, beside one that is as any other."""
    program = ScriptedServer(tool("t", **members), tool("plain"), eras=eras)
    answers = iter(contents)
    program.calls["t"] = lambda copy, params: {**text("as it is"), "structuredContent": next(answers)}
    return program


async def schema_of(parts: HubParts, *, is_modern: bool = False, server: str | None = None) -> Any:
    [found] = [each for each in await listed(parts, TOOLS, is_modern=is_modern, server=server) if each["name"] == "t"]
    return found.get("outputSchema")


@pytest.mark.parametrize("server", [None, "s"])
async def test_a_legacy_client_of_a_modern_server_gets_an_object_for_what_is_none(tmp_path: Path, server: str | None) -> None:
    async with ready_parts(tmp_path, **one_server(lists([1, 2], {"a": 1}, None, [1], outputSchema=ARRAY))) as parts:
        assert await schema_of(parts, server=server) == OF_ARRAY
        assert await schema_of(parts, server=server, is_modern=True) == ARRAY
        for content in ([1, 2], {"a": 1}, None):
            result = (await parts.call("t", server=server))["result"]
            assert (result["structuredContent"], result["content"]) == ({"result": content}, text("as it is")["content"])
        assert (await parts.call("t", server=server, is_modern=True))["result"]["structuredContent"] == [1]


@pytest.mark.parametrize("members", [{}, {"outputSchema": {"type": "object"}}])
async def test_of_other_tools_only_what_is_no_object_becomes_one(tmp_path: Path, members: Any) -> None:
    async with ready_parts(tmp_path, **one_server(lists({"a": 1}, "text", None, **members))) as parts:
        assert await schema_of(parts) == members.get("outputSchema")
        found = [(await parts.call("t"))["result"]["structuredContent"] for _ in range(3)]
        assert found == [{"a": 1}, {"result": "text"}, {"result": None}]


async def test_a_schema_of_objects_without_a_type_gets_one_and_its_results_stay(tmp_path: Path) -> None:
    either = {"anyOf": [{"$ref": "#/$defs/a"}, {"type": "object"}], "$defs": {"a": {"properties": {}}}}
    async with ready_parts(tmp_path, **one_server(lists({"a": 1}, outputSchema=either))) as parts:
        assert await schema_of(parts) == {**either, "type": "object"}
        assert await schema_of(parts, is_modern=True) == either
        assert (await parts.call("t"))["result"]["structuredContent"] == {"a": 1}


async def test_a_legacy_server_promises_nothing_by_a_schema_that_no_legacy_client_reads(tmp_path: Path) -> None:
    async with ready_parts(tmp_path, **one_server(lists([1], {"a": 1}, [1], eras=("legacy",), outputSchema=ARRAY))) as parts:
        assert await schema_of(parts) is None
        assert await schema_of(parts, is_modern=True) == await schema_of(parts, server="s") == ARRAY
        assert [(await parts.call("t"))["result"]["structuredContent"] for _ in range(2)] == [{"result": [1]}, {"a": 1}]
        assert (await parts.call("t", server="s"))["result"]["structuredContent"] == [1]


async def test_an_error_in_the_place_of_a_result_stays_one(tmp_path: Path) -> None:
    for eras in (("legacy",), ("modern",)):
        program = lists(eras=eras, outputSchema=ARRAY)
        program.calls["t"] = lambda copy, params: failure(INTERNAL_ERROR, "no luck")
        async with ready_parts(tmp_path / eras[0], "s", **one_server(program)) as parts:
            assert (await parts.call("t"))["error"]["message"] == "no luck"


async def test_a_modern_server_that_is_first_known_from_the_disk_is_listed_anew_with_its_projection(tmp_path: Path) -> None:
    async with ready_parts(tmp_path, **one_server(lists(outputSchema=ARRAY))):
        pass
    async with hub_parts(tmp_path, **one_server(lists([1], outputSchema=ARRAY), lazyLoad=False)) as parts:
        assert await schema_of(parts) is None
        await parts.servers.start("s")
        await parts.tool_lists.look(parts.servers.get("s"))
        assert await schema_of(parts) == OF_ARRAY
