"""Formats of model providers."""

import json
from functools import partial

from tests.end2end.verbs.hub_at_work import Checks


async def to_format(hub, verb, name_of):
    tools = await hub(verb, server="kit")
    assert "about" in name_of(tools)
    assert "there is no server 'gone'" in await hub.refusal(verb, server="gone")


async def from_format(hub, verb, argument, call):
    parsed = await hub(verb, **{argument: call})
    assert (parsed["name"], parsed["arguments"]) == ("steps", {"n": 1})
    assert (await hub("run_tool_call", call=parsed))["result"]["content"][0]["text"] == "steps done"


async def to_response(hub, verb):
    response = await hub("run_tool_call", call={"id": "c7", "name": "steps", "arguments": {"n": 1}})
    assert "steps done" in json.dumps(await hub(verb, response=response))


def openai_names(tools):
    return {each["function"]["name"] for each in tools}


def anthropic_names(tools):
    return {each["name"] for each in tools}


def copilot_names(tools):
    return {each["tool"] for each in tools}


def gemini_names(tools):
    return {each["name"] for tool in tools for each in tool.get("functionDeclarations", tool.get("function_declarations", []))}


OPENAI_CALL = {"id": "c5", "type": "function", "function": {"name": "steps", "arguments": '{"n": 1}'}}
ANTHROPIC_CALL = {"type": "tool_use", "id": "c5", "name": "steps", "input": {"n": 1}}
GEMINI_CALL = {"name": "steps", "args": {"n": 1}}


CHECKS: Checks = {
    "mcp_tools_to_openai_tools": partial(to_format, verb="mcp_tools_to_openai_tools", name_of=openai_names),
    "mcp_tools_to_anthropic_tools": partial(to_format, verb="mcp_tools_to_anthropic_tools", name_of=anthropic_names),
    "mcp_tools_to_copilot_tools": partial(to_format, verb="mcp_tools_to_copilot_tools", name_of=copilot_names),
    "mcp_tools_to_gemini_tools": partial(to_format, verb="mcp_tools_to_gemini_tools", name_of=gemini_names),
    "openai_tools_to_mcp_tool": partial(from_format, verb="openai_tools_to_mcp_tool", argument="call", call=OPENAI_CALL),
    "anthropic_tool_use_to_mcp_tool": partial(from_format, verb="anthropic_tool_use_to_mcp_tool", argument="tool_use", call=ANTHROPIC_CALL),
    "gemini_function_call_to_mcp_tool": partial(
        from_format, verb="gemini_function_call_to_mcp_tool", argument="function_call", call=GEMINI_CALL
    ),
    "mcp_response_to_openai": partial(to_response, verb="mcp_response_to_openai"),
    "mcp_response_to_anthropic": partial(to_response, verb="mcp_response_to_anthropic"),
    "mcp_response_to_gemini": partial(to_response, verb="mcp_response_to_gemini"),
}
