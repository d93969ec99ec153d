"""Every verb of the presenter and its six events, at a real hub with real servers, over the control channel.

`VERBS_AT_WORK` has one check per verb; a verb without one fails the test. The checks stand in verbs/, by subject. Registries and the
authorization server are of this machine.
"""

import json

import pytest
from tests.end2end.processes import is_running, wait_until
from tests.end2end.verbs import (
    access_verbs,
    activity_verbs,
    ai_client_verbs,
    approval_verbs,
    bundle_verbs,
    confinement_verbs,
    confirmation_verbs,
    discovery_verbs,
    feedback_verbs,
    file_verbs,
    format_verbs,
    import_verbs,
    log_verbs,
    mcp_presenter,
    offer_verbs,
    program_verbs,
    project_verbs,
    server_task_verbs,
    server_verbs,
    settings_verbs,
    setup_verbs,
    sign_in_verbs,
    tool_verbs,
    view_verbs,
)
from tests.end2end.verbs.hub_at_work import FEATURED, HABITS, NOWHERE, Checks, Hub, write_settings
from tests.fakes.authorization_server import authorizing
from tests.fakes.mcp_registry import FakeMcpRegistry, listening_registry
from tests.fakes.npm_registry import FakeRegistry, listening
from tests.fakes.verb_table import VERBS

from tooltray.foundation.errors import TooltrayError

MODULES = (
    access_verbs,
    activity_verbs,
    ai_client_verbs,
    approval_verbs,
    bundle_verbs,
    confirmation_verbs,
    confinement_verbs,
    discovery_verbs,
    feedback_verbs,
    file_verbs,
    format_verbs,
    import_verbs,
    log_verbs,
    mcp_presenter,
    offer_verbs,
    program_verbs,
    project_verbs,
    server_task_verbs,
    server_verbs,
    settings_verbs,
    setup_verbs,
    sign_in_verbs,
    tool_verbs,
    view_verbs,
)
VERBS_AT_WORK: Checks = {verb: check for module in MODULES for verb, check in module.CHECKS.items()}


def test_there_is_a_check_for_every_verb():
    assert set(VERBS_AT_WORK) == set(VERBS)


def test_no_check_is_hidden_by_another_of_the_same_verb():
    assert sum(len(module.CHECKS) for module in MODULES) == len(VERBS)


@pytest.mark.timeout(400)
async def test_every_verb_does_its_work_at_a_real_hub(world):
    """One after the other at one hub; each leaves it as it was, so that all that fail are named."""
    failed = {}
    async with authorizing() as gate, listening(registry := FakeRegistry()), listening_registry(FakeMcpRegistry()) as mcp_registry:
        keep_inside(world, registry)
        more = {"secrets": {"backend": "memory"}, "discovery": {"registry": mcp_registry.url}}
        write_settings(world, {"kit": FEATURED, "habits": HABITS}, defaultServers=["kit"], **more)
        world.start_hub()
        hub = Hub(world, registry, gate, mcp_registry)
        await hub("start_server", name="kit")
        await hub("start_server", name="habits")
        for verb in VERBS:
            try:
                await VERBS_AT_WORK[verb](hub)
            except (AssertionError, TooltrayError, pytest.fail.Exception, LookupError, TypeError) as error:
                failed[verb] = f"{type(error).__name__}: {error}"
        hub.channel.close()
    assert not failed, "\n".join(f"{verb}: {why}" for verb, why in failed.items())


def keep_inside(world, registry):
    """npm's own configuration names a registry of this machine, and everything else goes by a proxy that is not there."""
    (world.home / ".npmrc").write_text(f"registry={registry.url}\n")
    proxies = "".join(f"export {name}={NOWHERE}\n" for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"))
    (world.home / ".profile").write_text(proxies + "export no_proxy=127.0.0.1 NO_PROXY=127.0.0.1\n")


# the six events


UP = [("ServerStarted", {"server_name": "s"}), ("ServerStatusChanged", {"name": "s", "status": "running"}), ("ClientListUpdated", {})]
DOWN = [("ServerStopped", {"server_name": "s"}), ("ServerStatusChanged", {"name": "s", "status": "stopped"}), ("ClientListUpdated", {})]


async def event_hub(world, entry):
    """A hub with one server `s`, which runs, and nothing more to tell of how it came to that."""
    write_settings(world, {"s": entry}, defaultServers=["s"])
    world.start_hub()
    hub = Hub(world)
    for name in ("hub", "s"):
        await hub("start_server", name=name)
    await hub("get_tools")
    for defaults in ([], ["s"]):
        await hub("toggle_mcp_default_server", name="s")
        await hub.until(lambda kind, data, defaults=defaults: kind == "ConfigChanged" and data["default_servers"] == defaults)
    return hub


async def test_starts_stops_restarts_and_crashes_are_told_in_order(world):
    hub = await event_hub(world, HABITS)
    await hub("stop_server", name="s")
    assert await hub.six(3) == DOWN
    await hub("start_server", name="s")
    assert await hub.six(3) == UP
    await hub("restart_server", name="s")
    assert await hub.six(6) == DOWN + UP
    assert "out of cheese" in await hub.refusal("call_tool", name="die", arguments={})
    crash = await hub.six(7)
    assert [event for event in crash if event[0] != "ToolCallResult"] == DOWN + UP
    assert sum(event[0] == "ToolCallResult" for event in crash) == 1
    hub.channel.close()


async def test_every_end_of_a_tool_call_is_told_with_its_numbers_and_without_its_contents(world):
    hub = await event_hub(world, FEATURED)

    async def told(outcome):
        _, data = await hub.until(lambda kind, data: kind == "ToolCallResult" and data["response"]["outcome"] == outcome)
        return data["response"]

    await hub("call_tool", name="about", arguments={"note": "a thing that nobody else may read"})
    ok = await told("ok")
    assert (ok["tool"], ok["server"], ok["client"], ok["result"]) == ("about", "s", "tooltray", None)
    assert (await hub("get_activity_entry", id=ok["tool_call_id"]))["entry"]["tool"] == "about"
    assert ok["duration_s"] > 0
    assert ok["argument_bytes"] > len("a thing that nobody else may read")
    assert ok["result_bytes"] > 0
    assert "nobody else" not in str(hub.seen)
    await hub.refusal("call_tool", name="steps", arguments={})  # it lacks its `n`
    assert (await told("error"))["tool"] == "steps"
    bridge = world.start_bridge()
    bridge.initialize()
    params = {"name": "wait", "arguments": {}, "_meta": {"progressToken": 1}}
    bridge.send_request("tools/call", params, id="w")
    bridge.next_of("notifications/progress")
    bridge.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "w"}})
    cancelled = await told("cancelled")
    assert (cancelled["tool"], cancelled["server"], cancelled["result_bytes"]) == ("wait", "s", 0)
    assert cancelled["client"] == "end2end 1"
    bridge.end()
    await hub("update_mcp_server", name="s", config={**FEATURED, "autoApprove": []})
    await hub.refusal("call_tool", name="about", arguments={})
    assert (await told("refused"))["server"] == "s"
    hub.channel.close()


async def test_each_change_of_the_settings_is_told_once_and_whole(world):
    hub = await event_hub(world, HABITS)
    hub.seen.clear()
    other = {"command": "other", "disable": True, "autoApprove": ["all"]}
    changes = [
        ("add_mcp_server", {"name": "new", "config": other, "is_default": False}),
        ("add_mcp_server", {"name": "first", "config": other}),
        ("update_mcp_server", {"name": "new", "config": {**other, "args": ["x"]}}),
        ("add_mcp_default_server", {"name": "new"}),
        ("remove_mcp_default_server", {"name": "new"}),
        ("toggle_mcp_default_server", {"name": "new"}),
        ("set_tool_enabled", {"server": "s", "tool": "echo", "enabled": False}),
        ("set_mcp_enabled", {"enabled": False}),
        ("set_mcp_enabled", {"enabled": True}),
        ("remove_mcp_server", {"name": "first"}),
        ("set_secret_backend", {"kind": "memory"}),
        ("set_http_enabled", {"enabled": True, "port": 0}),
        ("set_http_enabled", {"enabled": False}),
        ("set_auto_detect_npm_registry", {"enabled": False}),
        ("import_setup", {"setup": {"version": 1, "mcpServers": {"brought": other}}}),
    ]
    for verb, params in changes:
        await hub(verb, **params)
        servers, defaults, enabled = [await hub(each) for each in ("get_mcp_servers", "get_mcp_default_servers", "get_mcp_enabled")]
        expected = ("ConfigChanged", {"mcp_servers": servers, "default_servers": defaults, "mcp_enabled": enabled})
        assert await hub.until(lambda kind, data: kind == "ConfigChanged") == expected, verb
    assert [kind for kind, _ in hub.seen].count("ConfigChanged") == len(changes)
    hub.channel.close()


# stopping by itself


def is_card(state, name="s"):
    return lambda kind, data: kind == "ServerChanged" and (data["server"]["name"], data["server"]["state"]) == (name, state)


async def test_a_server_that_nobody_uses_stops_by_itself_stays_listed_and_comes_back_with_the_next_call(world):
    world.root.mkdir()
    added = world.tooltray("servers", "add", "s", "--on-demand", "--idle-stop", "1", "--", HABITS["command"], *HABITS["args"])
    assert added.stdout.startswith("Added s; it starts when it is first used and stops after 1 s without a call.")
    assert "on demand, up to 1 s idle" in world.tooltray("servers", "list").stdout
    world.trust("s")
    world.start_hub()
    hub = Hub(world)
    bridge = world.start_bridge()
    bridge.initialize()
    assert "echo" in {tool["name"] for tool in bridge.request("tools/list")["result"]["tools"]}
    for text in ("first", "again"):
        reply = bridge.request("tools/call", {"name": "echo", "arguments": {"text": text}})
        assert text in json.dumps(reply["result"])
        [pid] = (await hub.server("s"))["pids"] or [0]
        await hub.until(is_card("running"))
        await hub.until(is_card("on_demand"))
        wait_until(lambda pid=pid: not is_running(pid), "the process to go")
        assert "echo" in {tool["name"] for tool in bridge.request("tools/list")["result"]["tools"]}
    bridge.end()
    hub.channel.close()
