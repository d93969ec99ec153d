"""Tools: which there are, which are offered, calling them."""

import json

from tests.end2end.verbs.hub_at_work import Checks


async def definitions(hub):
    found = await hub("get_all_tool_definitions", server="kit")
    assert {"about", "ask", "wait"} <= {each["name"] for each in found}
    assert all(each["inputSchema"]["type"] == "object" for each in found)


async def tools(hub):
    [about] = [each for each in await hub("get_tools", server="kit") if each["original_name"] == "about"]
    assert (about["name"], about["is_enabled"], about["is_approved"]) == ("about", True, True)


async def enable_tool(hub):
    await hub("set_tool_enabled", server="kit", tool="log", enabled=False)
    assert "log" not in {each["name"] for each in await hub("get_all_tool_definitions")}
    await hub("set_tool_enabled", server="kit", tool="log", enabled=True)
    assert "log" in {each["name"] for each in await hub("get_all_tool_definitions")}


async def call_tool(hub):
    result = await hub("call_tool", name="about", arguments={})
    assert json.loads(result["content"][0]["text"])["name"] == "kit"
    assert "There is no tool 'gone'" in await hub.refusal("call_tool", name="gone", arguments={})


async def run_tool_call(hub):
    response = await hub("run_tool_call", call={"id": "c1", "name": "about", "arguments": {}})
    assert (response["tool"], response["server"], response["outcome"], response["tool_call_id"]) == ("about", "kit", "ok", "c1")
    assert "kit" in response["result"]["content"][0]["text"]
    unknown = await hub("run_tool_call", call={"id": "c2", "name": "gone", "arguments": {}})
    assert (unknown["tool_call_id"], unknown["result"]["isError"]) == ("c2", True)


async def try_tool(hub):
    response = await hub("try_tool", attempt="t1", name="about", arguments={})
    assert (response["tool"], response["server"], response["outcome"], response["tool_call_id"]) == ("about", "kit", "ok", "t1")


async def cancel_try(hub):
    await hub("cancel_try", attempt="nobody's")  # one that has ended is none


async def reset_names(hub):
    await hub("reset_tool_names")
    assert "about" in {each["name"] for each in await hub("get_all_tool_definitions")}


CHECKS: Checks = {
    "get_all_tool_definitions": definitions,
    "get_tools": tools,
    "set_tool_enabled": enable_tool,
    "call_tool": call_tool,
    "run_tool_call": run_tool_call,
    "try_tool": try_tool,
    "cancel_try": cancel_try,
    "reset_tool_names": reset_names,
}
