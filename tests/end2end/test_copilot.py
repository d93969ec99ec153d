"""tooltray.carriers.copilot as a person's program uses it: real servers behind a real hub, real objects of github-copilot-sdk."""

import sys
from pathlib import Path
from typing import Any

import pytest
from copilot import CopilotClient, RuntimeConnection, Tool, ToolInvocation, ToolResult
from copilot.session import PermissionHandler
from copilot.tools import tool_result_to_external_tool_text_result_for_llm
from tests.end2end.processes import World, wait_until
from tests.fakes.copilot_runtime import CopilotRuntime

from tooltray.carriers.copilot import CopilotTools, copilot_tools

HABITS = [sys.executable, str(Path(__file__).parent / "servers" / "habits.py")]
"""Lists a tool without a schema."""


@pytest.fixture
def machine(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """A world in which this very process is the person's program."""
    monkeypatch.setenv("HOME", str(world.home))
    monkeypatch.delenv("TOOLTRAY_HOME", raising=False)
    return world


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


async def test_a_real_session_calls_through_the_hub_and_its_stream_goes_on(machine: World) -> None:
    machine.add_server("habits", *HABITS)
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


async def test_a_program_starts_the_hub_and_another_when_that_has_ended(machine: World) -> None:
    machine.add_server("habits", *HABITS)
    tools = await copilot_tools()
    first = machine.hub_pid()
    assert first
    machine.stop_hub()
    assert (await call(tools, "mcp_habits_echo", text="still here")).text_result_for_llm == "still here"
    wait_until(lambda: machine.hub_pid() not in (None, first), "the record of the next hub")  # it is written behind the first answers
