"""Tools called over REST, by their names and in the format of a model provider."""

from pathlib import Path

from tests.fakes.hub_parts import entry
from tests.fakes.rest_hub import rest_hub
from tests.fakes.scripted_server import ScriptedServer, tool

SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}}


def program() -> ScriptedServer:
    return ScriptedServer(tool("read_file", description="Reads a file.", inputSchema=SCHEMA))


async def test_a_tool_is_called_and_its_result_comes_as_the_server_gave_it(tmp_path: Path) -> None:
    async with rest_hub(tmp_path, servers={"fs": entry("p")}, programs={"p": program()}) as hub:
        await hub.ask("POST", "/api/servers/start_server", {"name": "fs"})
        answer = await hub.ask("POST", "/api/tools/call_tool", {"name": "read_file", "arguments": {"text": "hello"}})
        assert (answer.status, answer.json["content"][0]["text"]) == (200, "hello")
        answer = await hub.ask("POST", "/api/tools/call_tool", {"name": "nothing", "arguments": {}})
        assert answer.status == 422


async def test_a_models_call_goes_there_and_back_in_its_own_format(tmp_path: Path) -> None:
    async with rest_hub(tmp_path, servers={"fs": entry("p")}, programs={"p": program()}) as hub:
        await hub.ask("POST", "/api/servers/start_server", {"name": "fs"})
        use = {"type": "tool_use", "id": "u1", "name": "read_file", "input": {"text": "hello"}}
        call = (await hub.ask("POST", "/api/formats/anthropic_tool_use_to_mcp_tool", {"toolUse": use})).json
        assert (call["name"], call["arguments"]) == ("read_file", {"text": "hello"})
        response = await hub.ask("POST", "/api/tools/run_tool_call", {"call": call})
        assert (response.status, response.json["outcome"]) == (200, "ok")
        block = (await hub.ask("POST", "/api/formats/mcp_response_to_anthropic", {"response": response.json})).json
        assert (block["type"], block["tool_use_id"]) == ("tool_result", "u1")
        item = (await hub.ask("POST", "/api/formats/mcp_response_to_openai", {"response": response.json, "api": "responses"})).json
        assert item["type"] == "function_call_output"
