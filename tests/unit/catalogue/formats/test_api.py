"""api.py"""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw
from tests.fakes.hub_parts import HubParts, entry, hub_parts
from tests.fakes.nesting import TOO_DEEP
from tests.fakes.refusal import refusal
from tests.fakes.scripted_server import ScriptedServer, tool

from tooltray.catalogue import auto_approve
from tooltray.catalogue.definition import ToolDefinition
from tooltray.catalogue.formats.api import FormatsApi
from tooltray.catalogue.tool_routes import Route
from tooltray.foundation.snapshots.tools import MCPToolCall, MCPToolResponse

WEATHER = {"type": "object", "properties": {"城市": {"type": "string"}, "days": {"type": "integer"}}, "required": ["城市"]}
RESULT = {"content": [{"type": "text", "text": "sunny"}]}


def response(tool: str, **members: Any) -> MCPToolResponse:
    return MCPToolResponse(tool, "s", "tooltray", "ok", 0.1, 1, 1, "call_1", RESULT)


@pytest.fixture
async def parts(tmp_path: Path) -> AsyncIterator[HubParts]:
    """A hub whose servers `s` and `t` both have a tool `get_weather`; they were listed."""
    programs = {
        "s": ScriptedServer(tool("get_weather", description="Weather", inputSchema=WEATHER), tool("drop")),
        "t": ScriptedServer(tool("get_weather", inputSchema=WEATHER)),
    }
    async with hub_parts(tmp_path, servers={name: entry(name) for name in programs}, programs=programs) as parts:
        await parts.presenter.initialize()
        await parts.tools.published()
        yield parts


async def test_tools_of_all_servers_are_given_under_the_names_that_ai_clients_see(parts: HubParts) -> None:
    verbs = parts.presenter
    names = [each["name"] for each in await verbs.get_all_tool_definitions()]
    assert names == ["drop", "s_get_weather", "t_get_weather"]
    assert [each["function"]["name"] for each in await verbs.mcp_tools_to_openai_tools()] == names
    assert [each["name"] for each in await verbs.mcp_tools_to_openai_tools(api="responses")] == names
    assert [each["name"] for each in await verbs.mcp_tools_to_anthropic_tools()] == names
    assert [each["name"] for (gemini,) in [await verbs.mcp_tools_to_gemini_tools()] for each in gemini["functionDeclarations"]] == names


async def test_tools_for_copilot_are_called_by_server_and_tool(parts: HubParts) -> None:
    [found] = await parts.presenter.mcp_tools_to_copilot_tools("t")
    parameters = {"type": "object", "properties": WEATHER["properties"], "required": WEATHER["required"]}
    assert found == {
        "name": "mcp_t_get_weather",
        "description": "The tool get_weather of the MCP server t.",
        "parameters": parameters,
        "tool": "t_get_weather",
    }
    assert [each["name"] for each in await parts.presenter.mcp_tools_to_copilot_tools()] == [
        "mcp_s_drop",
        "mcp_s_get_weather",
        "mcp_t_get_weather",
    ]
    assert (await refusal(parts.presenter.mcp_tools_to_copilot_tools("gone"))).startswith("server 'gone' not found")


async def test_tools_of_one_server_are_given_alone(parts: HubParts) -> None:
    assert [each["name"] for each in await parts.presenter.mcp_tools_to_anthropic_tools("t")] == ["t_get_weather"]
    assert (await refusal(parts.presenter.mcp_tools_to_gemini_tools("gone"))).startswith("server 'gone' not found")


async def test_an_api_that_there_is_not_is_refused_in_the_words_of_the_argument(parts: HubParts) -> None:
    said = "OpenAI has no API 'x' that takes tools: available: chat and responses"
    assert await refusal(parts.presenter.mcp_tools_to_openai_tools(api="x")) == said
    assert await refusal(parts.presenter.mcp_response_to_openai(response("drop"), "x")) == said


async def test_a_call_in_any_format_says_whose_tool_is_meant(parts: HubParts) -> None:
    verbs, arguments = parts.presenter, '{"城市": "北京",}'
    expected = MCPToolCall("1", "t_get_weather", {"城市": "北京"}, "t")
    chat = {"id": "1", "type": "function", "function": {"name": "t_get_weather", "arguments": arguments}}
    assert await verbs.openai_tools_to_mcp_tool(chat) == expected
    item = {"type": "function_call", "call_id": "1", "name": "t_get_weather", "arguments": arguments}
    assert await verbs.openai_tools_to_mcp_tool(item) == expected
    (declared,) = await verbs.mcp_tools_to_anthropic_tools("t")
    city = next(iter(declared["input_schema"]["properties"]))
    assert city != "城市"
    use = {"type": "tool_use", "id": "1", "name": "t_get_weather", "input": {city: "北京"}}
    assert await verbs.anthropic_tool_use_to_mcp_tool(use) == expected
    assert await verbs.gemini_function_call_to_mcp_tool({"id": "1", "name": "t_get_weather", "args": {city: "北京"}}) == expected


async def test_a_call_of_a_tool_that_there_is_not_is_refused(parts: HubParts) -> None:
    said = await refusal(parts.presenter.gemini_function_call_to_mcp_tool({"name": "gone"}))
    assert said == "tool 'gone' not found. It may have been switched off, or its server removed"


async def test_a_result_goes_back_in_every_format(parts: HubParts) -> None:
    verbs, given = parts.presenter, response("s_get_weather")
    assert await verbs.mcp_response_to_openai(given) == {"role": "tool", "tool_call_id": "call_1", "content": "sunny"}
    assert (await verbs.mcp_response_to_openai(given, "responses"))["output"] == "sunny"
    assert (await verbs.mcp_response_to_anthropic(given))["content"] == [{"type": "text", "text": "sunny"}]
    assert (await verbs.mcp_response_to_gemini(given))["functionResponse"]["response"] == {"result": "sunny"}


async def test_a_tool_whose_schema_is_nested_too_deeply_is_given_without_it() -> None:
    deep = b'{"items":' * TOO_DEEP + b"{}" + b"}" * TOO_DEEP
    definition = ToolDefinition("a", "A", None, Raw(b'{"name":"a","description":"A","inputSchema":%b}' % deep))
    route = Route("s", definition, auto_approve.decide("s", "a", None, ("all",)))

    class Tools:
        async def published(self, server: str | None = None) -> list[tuple[str, Route]]:
            return [("a", route)]

    formats = FormatsApi(servers=None, tools=Tools())  # type: ignore[arg-type]
    assert await formats.mcp_tools_to_anthropic_tools() == [
        {"name": "a", "description": "A", "input_schema": {"type": "object", "properties": {}}}
    ]
    call = await formats.anthropic_tool_use_to_mcp_tool({"type": "tool_use", "id": "1", "name": "a", "input": {"x": 1}})
    assert call.arguments == {"x": 1}
