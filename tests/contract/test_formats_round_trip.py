"""From a real server's definition to a provider's tool, to a call of it, and back: through a hub, for every format."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from tests.contract.json_schemas import MAX_CHECKED, levels
from tests.contract.recorded_definitions import recorded
from tests.fakes.hub_parts import HubParts, entry, hub_parts
from tests.fakes.scripted_server import ScriptedServer

from tooltray.foundation.snapshots.tools import MCPToolCall

PROVIDERS = ("openai_chat", "openai_responses", "anthropic", "gemini")
SERVERS = recorded()
MAX_DEPTH = 8  # of arguments that are made up

Tools = dict[str, dict[str, Any] | None]


async def tools_of(parts: HubParts, format: str) -> Tools:
    """The schema of every tool, as JSON schema where the format has that, by the provider's name."""
    presenter = parts.presenter
    if format == "openai_chat":
        return {each["function"]["name"]: each["function"]["parameters"] for each in await presenter.mcp_tools_to_openai_tools()}
    if format == "openai_responses":
        return {each["name"]: each["parameters"] for each in await presenter.mcp_tools_to_openai_tools(api="responses")}
    if format == "anthropic":
        return {each["name"]: each["input_schema"] for each in await presenter.mcp_tools_to_anthropic_tools()}
    (gemini,) = await presenter.mcp_tools_to_gemini_tools()
    return {each["name"]: None for each in gemini["functionDeclarations"]}


async def call_of(parts: HubParts, format: str, name: str, arguments: Mapping[str, Any]) -> MCPToolCall:
    presenter, text = parts.presenter, json.dumps(arguments)
    if format == "openai_chat":
        return await presenter.openai_tools_to_mcp_tool({"id": "1", "type": "function", "function": {"name": name, "arguments": text}})
    if format == "openai_responses":
        return await presenter.openai_tools_to_mcp_tool({"type": "function_call", "call_id": "1", "name": name, "arguments": text})
    if format == "anthropic":
        return await presenter.anthropic_tool_use_to_mcp_tool({"type": "tool_use", "id": "1", "name": name, "input": dict(arguments)})
    return await presenter.gemini_function_call_to_mcp_tool({"functionCall": {"id": "1", "name": name, "args": dict(arguments)}})


@pytest.mark.parametrize("format", PROVIDERS)
async def test_a_call_of_every_real_tool_comes_back_as_it_was_meant(tmp_path: Path, format: str) -> None:
    programs = {name: ScriptedServer(*tools) for name, tools in SERVERS.items()}
    async with hub_parts(tmp_path, servers={name: entry(name) for name in programs}, programs=programs) as parts:
        await parts.presenter.initialize()
        for name in programs:  # all of them together are waited for only until some are there
            await parts.listed(name)
        everything = await parts.tools.published()
        published = {name: route for name, route in everything if not route.definition.is_task_only}  # models of providers have no tasks
        assert {route.server for route in published.values()} == set(SERVERS)
        tools = await tools_of(parts, format)
        assert len(tools) == len(published)
        for (name, schema), (ours, route) in zip(tools.items(), published.items(), strict=True):
            own = json.loads(bytes(route.definition.renamed(ours)))["inputSchema"]
            arguments = made_up(own)
            call = await call_of(parts, format, name, arguments)
            assert (call.id, call.name, call.server, call.arguments) == ("1", ours, route.server, arguments)
            if schema is not None and levels(schema) <= MAX_CHECKED:
                Draft202012Validator(schema).validate(arguments)


async def test_a_call_that_came_back_reaches_the_server_under_its_own_name(tmp_path: Path) -> None:
    programs = {name: ScriptedServer({"name": "搜索 🔍", "inputSchema": {"type": "object"}}) for name in ("one", "two")}
    servers = {name: entry(name) for name in programs}
    async with hub_parts(tmp_path, servers=servers, default=tuple(servers), programs=programs) as parts:
        await parts.presenter.initialize()
        for name in await tools_of(parts, "gemini"):
            call = await call_of(parts, "gemini", name, {"text": "hello"})
            response = await parts.presenter.run_tool_call(call)
            assert response.outcome == "ok"
            assert (await programs[call.server].call("搜索 🔍")).params["arguments"] == {"text": "hello"}


def made_up(schema: Any, depth: int = 0) -> Any:
    """A value for a schema."""
    if not isinstance(schema, Mapping) or "$ref" in schema or depth > MAX_DEPTH:
        return {}
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return made_up(schema[key][0], depth + 1)
    if "enum" in schema:
        return schema["enum"][0]
    if schema.get("type") == "object" or "properties" in schema:
        return {name: made_up(each, depth + 1) for name, each in schema.get("properties", {}).items()}
    values: dict[Any, Callable[[], Any]] = {
        "string": lambda: {"uri": "https://example.org/"}.get(schema.get("format"), "天气"),
        "integer": lambda: int(schema.get("minimum", 3)),
        "number": lambda: schema.get("minimum", 3.5),
        "boolean": lambda: True,
        "array": lambda: [made_up(schema.get("items", {"type": "string"}), depth + 1)],
    }
    return values.get(schema.get("type"), lambda: "x")()
