"""What AI clients see: modes, profiles, lists that come when they are wanted, names and costs of tools."""

from tests.end2end.verbs.hub_at_work import Checks


async def sessions(hub):
    client = hub.world.start_bridge("--no-start")
    try:
        client.request("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "acme", "version": "7"}})
        (found,) = [each for each in await hub("get_sessions") if each["client"] == "acme" and each["is_connected"]]
        assert (found["version"], found["mode"]) == ("7", "everything")
        assert found["reason"].endswith(" tokens, so that all fit")
    finally:
        client.end()


async def mode_of(hub, client):
    return next(each for each in await hub("get_client_modes") if each["client"] == client)


async def client_modes(hub):
    assert (await mode_of(hub, "claude-code"))["title"] == "Claude Code"
    assert (await mode_of(hub, "claude-code"))["shown_mode"] == "everything"


async def choose_mode(hub):
    assert "no mode 'loud'" in await hub.refusal("set_client_mode", client="acme", mode="loud")
    await hub("set_client_mode", client="acme", mode="search")
    assert (await mode_of(hub, "acme"))["shown_mode"] == "search"
    await hub("set_client_mode", client="acme")


async def profiles(hub):
    assert await hub("get_profiles") == []


async def make_profile(hub):
    await hub("set_profile", name="one", profile={"servers": ["kit"], "tools": {"kit": ["about"], "hub": []}})
    (made,) = await hub("get_profiles")
    assert (made["name"], made["servers"], made["tool_count"]) == ("one", ["kit"], 1)
    await hub("remove_profile", name="one")


async def remove_profile(hub):
    assert "There is no profile" in await hub.refusal("remove_profile", name="one")
    await make_profile(hub)
    assert await hub("get_profiles") == []


async def give_profile(hub):
    assert "There is no profile" in await hub.refusal("set_client_profile", client="acme", profile="one")
    await hub("set_profile", name="one", profile={})
    await hub("set_client_profile", client="acme", profile="one")
    assert (await mode_of(hub, "acme"))["profile"] == "one"
    assert "in use" in await hub.refusal("remove_profile", name="one")
    await hub("set_client_profile", client="acme")
    await hub("remove_profile", name="one")


async def client_approvals(hub):
    assert "means nothing" in await hub.refusal("set_client_auto_approve", client="acme", rules=["hint:loud"])
    await hub("set_client_auto_approve", client="acme", rules=["read"])
    assert (await mode_of(hub, "acme"))["auto_approve"] == ["read"]
    await hub("set_client_auto_approve", client="acme")


async def make_lazy(hub):
    await hub("set_lazy_load", enabled=True, server="kit")
    assert (await mode_of(hub, "claude-code"))["shown_mode"] == "lazy"
    assert (await hub.server("kit"))["is_lazy"] is True
    await hub("set_lazy_load", server="kit")
    assert "lazyLoad" not in (await hub("get_mcp_servers"))["kit"]


async def show_otherwise(hub):
    await hub("set_tool_override", server="kit", tool="about", name="who_is_it", description="Says who it is")
    assert {each["name"]: each["description"] for each in await hub("get_tools", server="kit")}["who_is_it"] == "Says who it is"
    assert not (await hub("call_tool", name="who_is_it", arguments={})).get("isError")
    await hub("set_tool_override", server="kit", tool="about")
    assert "toolOverrides" not in (await hub("get_mcp_servers"))["kit"]


async def limit_results(hub):
    await hub("set_result_limit", tokens=500, server="kit", tool="about")
    assert (await hub("get_mcp_servers"))["kit"]["toolOverrides"] == {"about": {"resultLimit": 500}}
    await hub("set_result_limit", server="kit", tool="about")
    assert "toolOverrides" not in (await hub("get_mcp_servers"))["kit"]
    assert "whose results" in await hub.refusal("set_result_limit", tokens=500)


async def tool_costs(hub):
    costs = await hub("get_tool_costs", client="claude-code")
    assert costs["tokenizer"] == "o200k_base"
    assert costs["tokens"] == costs["shown_tokens"] == sum(server["tokens"] for server in costs["servers"]) > 100


CHECKS: Checks = {
    "get_sessions": sessions,
    "get_client_modes": client_modes,
    "set_client_mode": choose_mode,
    "set_client_profile": give_profile,
    "set_client_auto_approve": client_approvals,
    "get_profiles": profiles,
    "set_profile": make_profile,
    "remove_profile": remove_profile,
    "set_lazy_load": make_lazy,
    "set_tool_override": show_otherwise,
    "get_tool_costs": tool_costs,
    "set_result_limit": limit_results,
}
