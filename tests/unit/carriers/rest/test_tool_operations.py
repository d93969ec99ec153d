"""tool_operations.py: tools in every format, called by what AI clients call them."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.hub_parts import entry
from tests.fakes.rest_hub import RestHub, rest_hub
from tests.fakes.scripted_server import ScriptedServer, tool

SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}}


def program() -> ScriptedServer:
    return ScriptedServer(tool("read_file", description="Reads a file.", inputSchema=SCHEMA))


async def tools(hub: RestHub, format: str) -> Any:
    await hub.ask("POST", "/servers/fs/start")
    return (await hub.ask("GET", f"/tools?format={format}")).json


@pytest.mark.parametrize(
    ("format", "path"),
    [
        ("openai", lambda found: found[0]["function"]["name"]),
        ("openai-responses", lambda found: found[0]["name"]),
        ("anthropic", lambda found: found[0]["name"]),
        ("gemini", lambda found: json.dumps(found).partition('"name": "')[2].partition('"')[0]),
        ("mcp", lambda found: found[0]["name"]),
    ],
)
async def test_tools_come_in_the_format_that_is_asked_for(tmp_path: Path, format: str, path: Any) -> None:
    async with rest_hub(tmp_path, servers={"fs": entry("p")}, programs={"p": program()}) as hub:
        assert path(await tools(hub, format)) == "read_file"


async def test_tools_for_copilot_are_called_by_server_and_tool(tmp_path: Path) -> None:
    async with rest_hub(tmp_path, servers={"fs": entry("p")}, programs={"p": program()}) as hub:
        expected = {"name": "mcp_fs_read_file", "description": "Reads a file.", "parameters": SCHEMA, "tool": "read_file"}
        assert await tools(hub, "copilot") == [expected]


async def test_a_tool_is_called_and_its_result_comes_as_the_server_gave_it(tmp_path: Path) -> None:
    async with rest_hub(tmp_path, servers={"fs": entry("p")}, programs={"p": program()}) as hub:
        await hub.ask("POST", "/servers/fs/start")
        answer = await hub.ask("POST", "/tools/call", {"name": "read_file", "arguments": {"text": "hello"}})
        assert (answer.status, answer.json["content"][0]["text"]) == (200, "hello")
        answer = await hub.ask("POST", "/tools/call", {"name": "nothing", "arguments": {}})
        assert answer.status == 422


async def test_a_models_call_goes_there_and_back_in_its_own_format(tmp_path: Path) -> None:
    async with rest_hub(tmp_path, servers={"fs": entry("p")}, programs={"p": program()}) as hub:
        await hub.ask("POST", "/servers/fs/start")
        use = {"type": "tool_use", "id": "u1", "name": "read_file", "input": {"text": "hello"}}
        call = (await hub.ask("POST", "/formats/anthropic/call", use)).json
        assert (call["name"], call["arguments"]) == ("read_file", {"text": "hello"})
        response = await hub.ask("POST", "/tools/run", call)
        assert (response.status, response.json["outcome"]) == (200, "ok")
        block = (await hub.ask("POST", "/formats/anthropic/response", response.json)).json
        assert (block["type"], block["tool_use_id"]) == ("tool_result", "u1")
        item = (await hub.ask("POST", "/formats/openai/response?api=responses", response.json)).json
        assert item["type"] == "function_call_output"


async def test_tools_come_in_pages_in_every_format(tmp_path: Path) -> None:
    many = ScriptedServer(*(tool(f"t{number}") for number in range(3)))
    async with rest_hub(tmp_path, servers={"fs": entry("p")}, programs={"p": many}) as hub:
        await hub.ask("POST", "/servers/fs/start")
        for format in ("", "&format=openai", "&format=mcp"):
            first = await hub.ask("GET", f"/tools?limit=2{format}")
            rest = await hub.ask("GET", first.headers["Link"].partition("<")[2].partition(">")[0])
            assert (len(first.json), len(rest.json), "Link" in rest.headers) == (2, 1, False)
