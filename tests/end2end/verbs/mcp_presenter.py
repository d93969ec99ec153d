"""The hub as a whole: what it knows of itself, whether it is paused, what ails its servers."""

from tests.end2end.verbs.hub_at_work import Checks


async def hub_itself(hub):
    snapshot = await hub("get_snapshot")
    assert snapshot["pid"] == hub.world.hub_pid()
    assert {"hub", "kit", "habits"} <= {server["name"] for server in snapshot["servers"]}


async def initialize(hub):
    before = (await hub.server("hub"))["pids"], (await hub.server("kit"))["pids"]
    for _ in range(2):
        await hub("initialize")
    assert ((await hub.server("hub"))["pids"], (await hub.server("kit"))["pids"]) == before


async def get_enabled(hub):
    assert await hub("get_mcp_enabled") is True


async def set_enabled(hub):
    await hub("set_mcp_enabled", enabled=False)
    assert "Tooltray is paused" in await hub.refusal("call_tool", name="about", arguments={})
    await hub("set_mcp_enabled", enabled=True)
    assert await hub("get_mcp_enabled") is True


async def diagnose(hub):
    [found] = await hub("diagnose", server="kit")
    assert (found["server"], found["is_ok"], found["transport"]) == ("kit", True, "stdio")
    assert {"kit", "habits"} <= {each["server"] for each in await hub("diagnose")}


CHECKS: Checks = {
    "get_snapshot": hub_itself,
    "initialize": initialize,
    "get_mcp_enabled": get_enabled,
    "set_mcp_enabled": set_enabled,
    "diagnose": diagnose,
}
