"""own_calls.py, through the verb `run_tool_call`"""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.hub_parts import HubParts, entry, hub_parts
from tests.fakes.nesting import TOO_DEEP
from tests.fakes.scripted_server import ScriptedServer, error, never, raw, tool

from tooltray.catalogue.formats.contents import failed
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.events import ToolCallResult
from tooltray.foundation.snapshots.calls import MCPToolCall, MCPToolResponse
from tooltray.gateway.calls.own_calls import result_of


@pytest.fixture
def program() -> ScriptedServer:
    return ScriptedServer(tool("get_it"), tool("drop_it"))


@pytest.fixture
async def parts(tmp_path: Path, program: ScriptedServer) -> AsyncIterator[HubParts]:
    """A hub with a server `s` that runs, of which only reading tools are approved."""
    servers = {"s": entry("program", autoApprove=["read"])}
    async with hub_parts(tmp_path, servers=servers, default=("s",), programs={"program": program}) as parts:
        await parts.presenter.start_server("s")
        await parts.tools.published()
        yield parts


async def run(parts: HubParts, name: str = "get_it", **arguments: Any) -> MCPToolResponse:
    return await parts.presenter.run_tool_call(MCPToolCall("call_1", name, arguments))


def said(response: MCPToolResponse) -> str:
    assert response.result
    assert response.result["isError"] is True
    (block,) = response.result["content"]
    return str(block["text"])


async def test_a_call_gives_the_result_with_all_that_is_known_of_it(parts: HubParts) -> None:
    response = await run(parts, text="hello")
    assert (response.tool, response.server, response.client, response.outcome) == ("get_it", "s", "tooltray", "ok")
    assert (response.tool_call_id, response.result) == ("call_1", {"content": [{"type": "text", "text": "hello"}]})
    assert response.duration_s > 0
    assert response.argument_bytes > 0
    assert response.result_bytes > 0


async def test_the_event_of_a_call_has_its_id_and_not_its_result(parts: HubParts) -> None:
    response = await run(parts, text="hello")
    event = parts.heard.of(ToolCallResult)[-1].response
    assert (event.tool_call_id, event.result) == (response.tool_call_id, None) == ("call_1", None)
    assert (event.tool, event.outcome, event.duration_s) == ("get_it", "ok", response.duration_s)


async def test_calls_of_ai_clients_get_ids_of_which_there_are_no_two(parts: HubParts) -> None:
    for _ in range(2):
        await parts.call("get_it")
    one, other = (event.response.tool_call_id for event in parts.heard.of(ToolCallResult)[-2:])
    assert one
    assert one != other


async def test_a_tool_that_says_it_failed_is_an_error_with_its_own_words(parts: HubParts, program: ScriptedServer) -> None:
    program.calls["get_it"] = lambda copy, params: {"content": [{"type": "text", "text": "no"}], "isError": True}
    response = await run(parts)
    assert (response.outcome, said(response)) == ("error", "no")


async def test_an_unknown_tool_is_a_response_that_says_so(parts: HubParts) -> None:
    response = await run(parts, "gone", a=1)
    assert (response.tool, response.server, response.outcome, response.tool_call_id) == ("gone", "", "error", "call_1")
    assert said(response) == "Unknown tool: gone"
    assert response.argument_bytes == len('{"a":1}')
    assert response.result_bytes > 0
    assert response.duration_s > 0


async def test_a_tool_that_is_not_approved_is_refused_in_words(parts: HubParts) -> None:
    response = await run(parts, "drop_it")
    assert (response.server, response.outcome) == ("s", "refused")
    assert "drop_it" in said(response)


async def test_an_error_of_the_protocol_becomes_words(parts: HubParts, program: ScriptedServer) -> None:
    program.calls["get_it"] = lambda copy, params: error(-32602, "wrong arguments")
    response = await run(parts)
    assert (response.outcome, said(response)) == ("error", "wrong arguments")


async def test_a_server_that_dies_in_the_middle_becomes_words(parts: HubParts, program: ScriptedServer) -> None:
    program.calls["get_it"] = never
    running = asyncio.ensure_future(run(parts))
    await program.call("get_it")
    program.running[0].die()
    response = await running
    assert response.outcome == "error"
    assert "out of cheese" in said(response)


def test_a_result_that_cannot_be_read_becomes_words() -> None:
    found = result_of(raw(b'{"content":[],"x":' + b"[" * TOO_DEEP + b"]" * TOO_DEEP + b"}"))
    assert found == failed("The tool's result is nested too deeply to be read.")


async def test_a_call_that_is_given_up_is_given_up_by_the_server_too(parts: HubParts, program: ScriptedServer) -> None:
    program.calls["get_it"] = never
    running = asyncio.ensure_future(run(parts))
    await program.call("get_it")
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await program.cancelled.wait()
    assert parts.heard.of(ToolCallResult)[-1].response.outcome == "cancelled"


async def test_call_tool_still_raises_what_a_program_should_handle(parts: HubParts) -> None:
    with pytest.raises(TooltrayError, match=r"There is no tool 'gone'\. See which there are: tooltray tools list"):
        await parts.presenter.call_tool("gone", {})
