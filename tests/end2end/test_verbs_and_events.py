"""Every verb of the API and its six events, at a real hub with real servers, over the control channel.

What a verb does is proved by the unit tests of its class; here, that the hub has it, and answers as it is declared.
"""

import json

import pytest
from tests.end2end.hub_at_work import FEATURED, HABITS, NOWHERE, Hub, write_settings
from tests.end2end.processes import is_running, wait_until
from tests.fakes.mcp_registry import FakeMcpRegistry, listening_registry
from tests.fakes.npm_registry import FakeRegistry, listening
from tests.fakes.verb_table import VERBS

from tooltray.carriers.control.control_client import typed_result, verb_entries
from tooltray.foundation.errors import TooltrayError

CALL = {"id": "1", "name": "about", "arguments": {}}
RESPONSE = {"tool": "about", "server": "kit", "client": "acme", "outcome": "ok", "duration_s": 0.1, "argument_bytes": 2, "result_bytes": 2}
GIVEN = {
    "name": "kit",
    "server": "kit",
    "tool": "about",
    "queries": ["about"],
    "config": HABITS,
    "arguments": {},
    "attempt": "1",
    "test": "1",
    "rules": ["all"],
    "enabled": True,
    "values": {},
    "source": "server:kit",
    "value": "x",
    "uri": "note://kit",
    "client": "acme",
    "skill": "none",
    "rule": {"tool": "about"},
    "text": "x",
    "version": "",
    "option": "",
    "sha256": "",
    "setup": {"version": 1, "mcpServers": {}},
    "new_name": "copy",
    "for_s": 1.0,
    "argument": "who",
    "template": "note://item/{id}",
    "variable": "id",
    "names": [],
    "edits": {},
    "choices": [],
    "action": "accept",
    "answer": "once",
    "approval": "ask",
    "is_locked": None,
    "profile": {},
    "deferred": False,
    "session": "none",
    "answers": [],
    "entry": "none",
    "entries": {},
    "changes": {},
    "choice": "free",
    "by": "server",
    "yes": False,
    "id": "none",
    "passphrase": "correct horse battery",
    "call": CALL,
    "tool_use": CALL,
    "function_call": CALL,
    "kind": "start",
    "response": RESPONSE,
}
"""What a verb is given that must be given something, by the name of the parameter."""
BROKEN = (
    "Tooltray could not do this",
    "The running Tooltray does not know this command",
    "Tooltray sent an answer that cannot be read",
)
"""Titles of what is never a refusal in words: a bug in the hub, a verb that it lacks, an answer of another type than declared."""
OTHERWISE = {
    "call_tool": {"name": "about"},
    "describe_tools": {"names": ["about"]},
    "set_secret_backend": {"kind": "memory"},
    "allow_refused": {"kind": "host"},
    "add_mcp_server": {"name": "spare"},
    "remove_mcp_server": {"name": "copy"},
    "restart_server": {"name": "spare"},
    "test_server": {"name": "spare"},
    "update_mcp_server": {"name": "spare"},
    "stop_server": {"name": "spare"},
    "rename_mcp_server": {"name": "spare"},
    "set_mcp_enabled": {"enabled": False},
    "set_http_enabled": {"port": 0},
}
LAST = (
    "rename_mcp_server",
    "watch_server",
    "set_confinement",
    "set_access",
    "set_mcp_enabled",
    "add_starter_server",
    "reset_to_default_servers",
    "set_passphrase",
)
"""What takes a name away, or restarts the server; a paused hub downloads nothing; a passphrase has to be typed from then on."""
REFUSED = {
    *("accept_tool_change", "add_grant", "add_registry_server", "add_starter_server", "allow_refused", "answer_approval"),
    *("answer_confirmation", "answer_elicitation", "answer_feedback", "apply_proposal", "begin_sign_in", "cancel_server_task"),
    *("complete_prompt", "confirm_with_passphrase", "dismiss_feedback", "distrust_entries", "finish_sign_in", "get_activity_entry"),
    *(
        "get_approval_form",
        "get_confirmations",
        "get_prompt",
        "get_registry_server",
        "get_skill",
        "install_bundle",
        "keep_approval_open",
        "mcp_response_to_anthropic",
    ),
    *("mcp_response_to_gemini", "mcp_response_to_openai", "openai_tools_to_mcp_tool", "preview_approval"),
    *(
        "preview_bundle",
        "preview_grant",
        "preview_registry_server",
        "preview_starter_server",
        "read_bundle",
        "remove_bundle",
        "remove_grant",
        "remove_profile",
        "remove_secret",
        "restore_grant",
    ),
    *("restore_secret", "restore_trust", "set_csv_tables", "set_result_limit", "set_session_project", "set_skill_enabled", "sign_out"),
    *("start_for_project", "start_without_project", "stop_watching", "undo_client_change", "update_registry_server"),
}
"""Verbs that refuse what they are given here, in words."""


@pytest.mark.timeout(400)
async def test_a_real_hub_answers_every_verb_as_it_is_declared_or_refuses_in_words(world):
    failed, refused = {}, set()
    async with listening(registry := FakeRegistry()), listening_registry(FakeMcpRegistry()) as mcp_registry:
        keep_inside(world, registry)
        more = {"secrets": {"backend": "memory"}, "discovery": {"registry": mcp_registry.url}}
        write_settings(world, {"kit": FEATURED}, defaultServers=["kit"], **more)
        world.start_hub()
        hub = Hub(world)
        await hub("start_server", name="kit")
        folder = world.home / "project"
        folder.mkdir()
        given = {**GIVEN, "path": str(folder), "project": str(folder), "url": registry.url}
        special = {**OTHERWISE, "export_activity": {"path": str(world.home / "activity.jsonl")}}  # what a verb writes stays in this world
        for verb in [*(verb for verb in VERBS if verb not in LAST), *LAST]:
            needed = [name for name, declared in verb_entries()[verb].takes.items() if "=" not in declared]
            try:
                answer = await hub(verb, **{name: given[name] for name in needed} | special.get(verb, {}))
                typed_result(verb, answer)
            except TooltrayError as error:
                refused.add(verb)
                if error.problem.title in BROKEN:
                    failed[verb] = str(error)
        hub.channel.close()
    assert failed == {}
    assert refused == REFUSED


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
    assert "when used, up to 1 s idle" in world.tooltray("servers", "list").stdout
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
