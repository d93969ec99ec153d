"""tooltray.carriers.copilot as a person's program uses it: real servers behind a real hub, real objects of github-copilot-sdk."""

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from copilot import CopilotClient, RuntimeConnection, Tool, ToolInvocation, ToolResult
from copilot.session import PermissionHandler
from copilot.tools import tool_result_to_external_tool_text_result_for_llm
from tests.end2end.processes import World, wait_until
from tests.fakes.copilot_runtime import CopilotRuntime

from tooltray.carriers.control.control_client import ControlClient
from tooltray.carriers.copilot import CopilotTools, copilot_tools
from tooltray.foundation.home.home import Home

HABITS = [sys.executable, str(Path(__file__).parent / "servers" / "habits.py")]
SHORT_S = 1.0  # for a call that is to be given up

BARE = """
import json, sys
replies = {
    "initialize": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "bare", "version": "1"}},
    "tools/list": {"tools": [{"name": "now"}]},
}
for line in sys.stdin:
    message = json.loads(line)
    method = message.get("method")
    if method == "tools/call":
        reply = {"result": {"content": [{"type": "text", "text": json.dumps(message["params"]["arguments"])}]}}
    elif method in replies:
        reply = {"result": replies[method]}
    else:
        reply = {"error": {"code": -32601, "message": "Method not found"}}
    if "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **reply}), flush=True)
"""
"""Lists a tool without a schema."""


@pytest.fixture
def machine(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """A world in which this very process is the person's program."""
    monkeypatch.setenv("HOME", str(world.home))
    monkeypatch.delenv("TOOLTRAY_HOME", raising=False)
    return world


def add(world: World, name: str, *command: str, approve: str = "all") -> None:
    added = world.tooltray("servers", "add", name, "--", *command)
    assert added.returncode == 0, added.stderr
    world.trust(name, approve)


async def call(tools: list[Tool], name: str, **arguments: Any) -> ToolResult:
    """As a session calls a handler, and as it sends the result on."""
    tool = next(each for each in tools if each.name == name)
    assert tool.handler
    result = tool.handler(ToolInvocation(session_id="s1", tool_call_id="c1", tool_name=name, arguments=arguments))
    result = result if isinstance(result, ToolResult) else await result
    assert tool_result_to_external_tool_text_result_for_llm(result).to_dict()
    return result


def by_name(tools: CopilotTools) -> dict[str, Tool]:
    return {tool.name: tool for tool in tools}


async def test_a_session_gets_the_tools_of_real_servers_together_with_its_own(machine: World, npm_server: Callable[..., list[str]]) -> None:
    add(machine, "everything", *npm_server("everything"))
    add(machine, "files", *npm_server("filesystem", str(machine.home)))
    machine.start_hub()
    (machine.home / "note.txt").write_text("remember the milk")
    tools = await copilot_tools()
    known = by_name(tools)
    assert {"mcp_everything_get-sum", "mcp_files_read_text_file", "mcp_hub_list_servers"} <= known.keys()
    reader = known["mcp_files_read_text_file"]
    assert reader.parameters
    assert reader.parameters["required"] == ["path"]
    assert "Read the complete contents of a file" in reader.description

    merged = tools.merge([own_tool()])
    assert [tool.name for tool in merged] == ["tell_time", *known]
    assert "5" in (await call(merged, "mcp_everything_get-sum", a=2, b=3)).text_result_for_llm
    read = await call(merged, "mcp_files_read_text_file", path=str(machine.home / "note.txt"))
    assert (read.result_type, read.text_result_for_llm) == ("success", "remember the milk")
    refused = await call(merged, "mcp_files_read_text_file", path="/etc/passwd")
    assert (refused.result_type, refused.error) == ("failure", refused.text_result_for_llm)
    assert "denied" in refused.text_result_for_llm
    picture = await call(merged, "mcp_everything_get-tiny-image")
    assert picture.binary_results_for_llm
    assert picture.binary_results_for_llm[0].mime_type == "image/png"


async def test_a_real_session_calls_through_the_hub_and_its_stream_goes_on(machine: World) -> None:
    add(machine, "habits", *HABITS)
    machine.start_hub()
    tools = await copilot_tools(servers=["habits"])
    async with (
        CopilotRuntime() as runtime,
        CopilotClient(connection=RuntimeConnection.for_uri(runtime.address)) as client,
        await client.create_session(tools=tools.merge([own_tool()]), on_permission_request=PermissionHandler.approve_all),
    ):
        declared = {tool["name"]: tool for tool in runtime.created["tools"]}
        assert declared.keys() == {"tell_time", *by_name(tools)}
        assert declared["mcp_habits_echo"]["description"] == "The tool echo."
        died = await runtime.call_tool("mcp_habits_die")
        assert died["result"]["resultType"] == "failure"
        assert "exit code 7" in died["result"]["textResultForLlm"]
        spoken = await runtime.call_tool("mcp_habits_echo", text="still here")
        assert (spoken["result"]["resultType"], spoken["result"]["textResultForLlm"]) == ("success", "still here")
        assert (await runtime.call_tool("tell_time"))["result"]["textResultForLlm"] == "noon"


def own_tool() -> Tool:
    return Tool(name="tell_time", description="The time.", handler=lambda invocation: ToolResult(text_result_for_llm="noon"))


async def test_a_slow_tool_is_given_up_and_the_next_call_goes_through(machine: World) -> None:
    add(machine, "habits", *HABITS)
    machine.start_hub()
    hasty, patient = await copilot_tools(servers=["habits"], timeout_s=SHORT_S), await copilot_tools(servers=["habits"])
    listener = ControlClient.connect(Home(machine.root), with_events=True)
    assert listener
    with listener:
        slow, slower = await asyncio.gather(call(hasty, "mcp_habits_hang"), call(patient, "mcp_habits_slow", ms=1500))
        assert (slow.result_type, slow.error) == ("timeout", "'hang' gave no result within 1 s and was given up")
        assert slower.text_result_for_llm == "slow"
        assert (await call(patient, "mcp_habits_echo", text="on")).text_result_for_llm == "on"
        outcomes = await asyncio.to_thread(outcomes_until, listener, "echo")
    assert outcomes == {"hang": "cancelled", "slow": "ok", "echo": "ok"}


def outcomes_until(listener: ControlClient, last: str) -> dict[str, str]:
    """How the calls of tools ended, up to the first of the tool `last`."""
    found: dict[str, str] = {}
    for kind, event in listener.events():
        if kind == "ToolCallResult":
            found[event["response"]["tool"]] = event["response"]["outcome"]
            if event["response"]["tool"] == last:
                break
    return found


async def test_a_tool_that_is_not_approved_says_that_it_waits_for_the_user(machine: World) -> None:
    add(machine, "habits", *HABITS, approve="read")
    machine.start_hub()
    result = await call(await copilot_tools(), "mcp_habits_echo", text="x")
    assert result.result_type == "failure"
    assert "Ask the user" in result.text_result_for_llm


async def test_a_tool_without_a_schema_can_be_called(machine: World) -> None:
    server = machine.home / "bare.py"
    server.write_text(BARE)
    add(machine, "bare", sys.executable, str(server))
    machine.start_hub()
    tools = await copilot_tools(servers=["bare"])
    assert by_name(tools)["mcp_bare_now"].parameters == {"type": "object", "properties": {}}
    assert (await call(tools, "mcp_bare_now")).text_result_for_llm == "{}"


async def test_a_program_starts_the_hub_and_another_when_that_has_ended(machine: World) -> None:
    add(machine, "habits", *HABITS)
    tools = await copilot_tools()
    first = machine.hub_pid()
    assert first
    machine.stop_hub()
    assert (await call(tools, "mcp_habits_echo", text="still here")).text_result_for_llm == "still here"
    wait_until(lambda: machine.hub_pid() not in (None, first), "the record of the next hub")  # it is written behind the first answers
