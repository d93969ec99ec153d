"""Every verb of the presenter and its six events, at a real hub with real servers, over the control channel.

`VERBS_AT_WORK` has one check per verb; a verb without one fails the test. Registries and the authorization server are of this machine.
"""

import asyncio
import contextlib
import json
import sys
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import pytest
from tests.end2end.processes import is_running, wait_until
from tests.fakes.authorization_server import authorizing, browse
from tests.fakes.npm_registry import FakeRegistry, listening

from tooltray.config.home import Home
from tooltray.errors import TooltrayError
from tooltray.presenter.verbs import VERBS
from tooltray.publish.control_client import ControlClient

SERVERS = Path(__file__).parent / "servers"
FEATURED = {"command": sys.executable, "args": [str(SERVERS / "featured.py"), "legacy", "kit"], "autoApprove": ["all"]}
HABITS = {"command": sys.executable, "args": [str(SERVERS / "habits.py")], "autoApprove": ["all"]}
SIX = {"ServerStarted", "ServerStopped", "ToolCallResult", "ConfigChanged", "ServerStatusChanged", "ClientListUpdated"}
SOON_S = 60.0  # for what starts a real server on a busy machine
NOWHERE = "http://127.0.0.1:9"  # a proxy that is not there: nothing leaves this machine


class Hub:
    """A running hub, by its control channel.

    Attributes:
        registry, gate: a npm registry, and a server that wants people to sign in.
    """

    def __init__(self, world, registry=None, gate=None):
        self.world, self.registry, self.gate = world, registry, gate
        self.channel = ControlClient.connect(Home(world.root), with_events=True)
        assert self.channel
        self.seen = []

    async def __call__(self, verb, /, **params):
        return await asyncio.to_thread(self.channel.call, verb, timeout_s=SOON_S, **params)

    async def refusal(self, verb, /, **params):
        with pytest.raises(TooltrayError) as raised:
            await self(verb, **params)
        return str(raised.value)

    async def server(self, name):
        return next(each for each in (await self("get_snapshot"))["servers"] if each["name"] == name)

    async def until(self, is_it):
        """Reads events up to the one that is waited for."""

        def read():
            for event in self.channel.events():
                self.seen.append(event)
                if is_it(*event):
                    return event
            raise EOFError("the hub has ended")

        return await asyncio.to_thread(read)

    async def six(self, count):
        """The next events of the six kinds, so many."""
        self.seen.clear()
        await self.until(lambda kind, data: sum(kind in SIX for kind, _ in self.seen) == count)
        return [event for event in self.seen if event[0] in SIX]


def write_settings(world, servers, **more):
    world.root.mkdir(exist_ok=True)
    document = {"version": 1, "mcpServers": servers, "defaultServers": [], "autoDetectNpmRegistry": False, **more}
    (world.root / "settings.json").write_text(json.dumps(document))


# what every verb is for


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


async def get_servers(hub):
    assert (await hub("get_mcp_servers"))["kit"] == FEATURED


async def get_entry(hub):
    assert await hub("get_server_entry", name="kit") == {"name": "kit", "entry": FEATURED, "counts": FEATURED}
    assert "comes with Tooltray" in await hub.refusal("get_server_entry", name="hub")


async def add_server(hub):
    await hub("add_mcp_server", name="new", config=HABITS, is_default=False)
    assert "there is a server 'new' already" in await hub.refusal("add_mcp_server", name="new", config=HABITS)
    assert "command" in await hub.refusal("add_mcp_server", name="bad", config={"note": 1})
    await hub("remove_mcp_server", name="new")


async def update_server(hub):
    await hub("add_mcp_server", name="changed", config=HABITS, is_default=False)
    await hub("update_mcp_server", name="changed", config={**HABITS, "descriptions": "mine"})
    assert (await hub("get_mcp_servers"))["changed"]["descriptions"] == "mine"
    await hub("remove_mcp_server", name="changed")


async def remove_server(hub):
    await hub("add_mcp_server", name="old", config=HABITS, is_default=False)
    await hub("remove_mcp_server", name="old")
    assert "old" not in await hub("get_mcp_servers")
    assert "comes with Tooltray" in await hub.refusal("remove_mcp_server", name="hub")


async def start_server(hub):
    await hub("start_server", name="habits")
    assert (await hub.server("habits"))["state"] == "running"
    assert "there is no server 'gone'" in await hub.refusal("start_server", name="gone")


async def stop_server(hub):
    await hub("start_server", name="habits")
    [pid] = (await hub.server("habits"))["pids"]
    await hub("stop_server", name="habits")
    assert ((await hub.server("habits"))["state"], is_running(pid)) == ("stopped", False)


async def restart_server(hub):
    await hub("start_server", name="habits")
    before = (await hub.server("habits"))["pids"]
    await hub("restart_server", name="habits")
    assert (await hub.server("habits"))["pids"] not in ([], before)


async def server_running(hub):
    await hub("stop_server", name="habits")
    assert [await hub("is_server_running", name=name) for name in ("kit", "habits")] == [True, False]


async def clients(hub):
    [kit] = [each for each in await hub("get_mcp_clients") if each["server"] == "kit"]
    assert (kit["era"], kit["server_info"]["name"], kit["tool_count"], kit["prompt_count"], kit["resource_count"]) == (
        ("legacy", "kit", 9, 2, 2)
    )
    assert {"tools", "prompts", "resources"} <= set(kit["capabilities"])
    assert kit["pids"] == (await hub.server("kit"))["pids"]


async def server_log(hub):
    await hub("start_server", name="habits")
    assert "out of cheese" in await hub.refusal("call_tool", name="die", arguments={})
    assert await hub("get_server_log", name="habits", lines=1) == ["out of cheese"]


async def get_defaults(hub):
    assert await hub("get_mcp_default_servers") == ["kit"]


async def add_default(hub):
    await hub("add_mcp_default_server", name="habits")
    assert await hub("get_mcp_default_servers") == ["kit", "habits"]
    await hub("remove_mcp_default_server", name="habits")


async def remove_default(hub):
    await hub("remove_mcp_default_server", name="kit")
    assert await hub("get_mcp_default_servers") == []
    await hub("add_mcp_default_server", name="kit")


async def toggle_default(hub):
    assert await hub("toggle_mcp_default_server", name="habits") is True
    assert await hub("toggle_mcp_default_server", name="habits") is False


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
    assert "Unknown tool: gone" in await hub.refusal("call_tool", name="gone", arguments={})


async def run_tool_call(hub):
    response = await hub("run_tool_call", call={"id": "c1", "name": "about", "arguments": {}})
    assert (response["tool"], response["server"], response["outcome"], response["tool_call_id"]) == ("about", "kit", "ok", "c1")
    assert "kit" in response["result"]["content"][0]["text"]
    unknown = await hub("run_tool_call", call={"id": "c2", "name": "gone", "arguments": {}})
    assert (unknown["tool_call_id"], unknown["result"]["isError"]) == ("c2", True)


async def reset_names(hub):
    await hub("reset_tool_names")
    assert "about" in {each["name"] for each in await hub("get_all_tool_definitions")}


async def prompts(hub):
    assert [each["name"] for each in await hub("get_all_prompts", server="kit")] == ["greet", "kit-only"]
    assert len(await hub("get_all_prompts")) == 2


async def prompt(hub):
    got = await hub("get_prompt", name="greet", arguments={"who": "Ada"})
    assert got["messages"][0]["content"]["text"] == "greet of kit: Ada"
    assert "Unknown prompt: gone" in await hub.refusal("get_prompt", name="gone")


async def resources(hub):
    assert [each["uri"] for each in await hub("get_all_resources", server="kit")] == ["note://shared", "note://kit"]


async def templates(hub):
    assert [each["uriTemplate"] for each in await hub("get_all_resource_templates")] == ["note://item/{id}"]


async def read_resource(hub):
    read = await hub("read_resource", uri="note://item/7")
    assert read["contents"][0]["text"] == "note://item/7 of kit"
    assert "could not be read" in await hub.refusal("read_resource", uri="nothing://here")


async def secret_names(hub):
    assert isinstance(await hub("get_secret_names"), list)


async def set_secret(hub):
    await hub("set_secret_backend", kind="memory")
    await hub("set_secret", name="a/KEY", value="a value of mine")
    assert "a/KEY" in await hub("get_secret_names")


async def remove_secret(hub):
    await hub("set_secret_backend", kind="memory")
    await hub("set_secret", name="b/KEY", value="a value of mine")
    await hub("remove_secret", name="b/KEY")
    assert "b/KEY" not in await hub("get_secret_names")


async def unused_secrets(hub):
    await hub("set_secret_backend", kind="memory")
    await hub("add_mcp_server", name="leaving", config={"command": "x", "disable": True, "env": {"KEY": "${secret:leaving/KEY}"}})
    for name in ("leaving/KEY", "leaving/OLD"):
        await hub("set_secret", name=name, value="a value of mine")
    assert (await hub("preview_removal", name="leaving"))["secrets"] == ["leaving/KEY", "leaving/OLD"]
    assert "leaving/OLD" in await hub("get_unused_secrets")
    assert await hub("remove_unused_secrets", names=["leaving/KEY", "leaving/OLD"]) == ["leaving/OLD"]
    assert (await hub("remove_mcp_server", name="leaving"))["secrets"] == ["leaving/KEY"]
    assert "leaving/KEY" not in await hub("get_secret_names")


async def check_secrets(hub):
    await hub("set_secret_backend", kind="memory")
    assert await hub("check_secrets") == "memory"


async def unlock_secrets(hub):
    await hub("set_secret_backend", kind="file")
    await hub("unlock_secrets", passphrase="open sesame")
    assert await hub("check_secrets") == "file"
    await hub("set_secret_backend", kind="memory")


async def secret_backend(hub):
    assert "is no place for secrets" in await hub.refusal("set_secret_backend", kind="drawer")


async def diagnose(hub):
    [found] = await hub("diagnose", server="kit")
    assert (found["server"], found["is_ok"], found["transport"]) == ("kit", True, "stdio")
    assert {"kit", "habits"} <= {each["server"] for each in await hub("diagnose")}


async def apply_remedy(hub):
    await hub("add_mcp_server", name="ill", config={"command": "tooltray-has-no-such-program"}, is_default=False)
    await hub.refusal("start_server", name="ill")
    [found] = await hub("diagnose", server="ill")
    assert "start" in {remedy["kind"] for remedy in found["remedies"] if remedy["is_automatic"]}
    assert "ill" in await hub("apply_remedy", server="ill", kind="start")
    assert "nothing that Tooltray can do" in await hub.refusal("apply_remedy", server="ill", kind="dance")
    await hub("remove_mcp_server", name="ill")


async def answer_question(hub):
    assert "has ended" in await hub.refusal("answer_elicitation", id="none", action="accept")


async def http_status(hub):
    assert (await hub("get_http_status"))["is_open"] is False


async def enable_http(hub):
    opened = await hub("set_http_enabled", enabled=True, port=0)
    assert opened["is_open"]
    assert opened["url"].startswith("http://127.0.0.1:")
    assert (await hub("set_http_enabled", enabled=False))["is_open"] is False


async def list_tokens(hub):
    await hub("create_client_token", name="listed")
    assert "listed" in {each["name"] for each in await hub("list_client_tokens")}


async def create_token(hub):
    assert len(await hub("create_client_token", name="made")) > 20


async def remove_token(hub):
    await hub("create_client_token", name="short-lived")
    await hub("remove_client_token", name="short-lived")
    assert "short-lived" not in {each["name"] for each in await hub("list_client_tokens")}


# formats of model providers


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


def gemini_names(tools):
    return {each["name"] for tool in tools for each in tool.get("functionDeclarations", tool.get("function_declarations", []))}


OPENAI_CALL = {"id": "c5", "type": "function", "function": {"name": "steps", "arguments": '{"n": 1}'}}
ANTHROPIC_CALL = {"type": "tool_use", "id": "c5", "name": "steps", "input": {"n": 1}}
GEMINI_CALL = {"name": "steps", "args": {"n": 1}}


# npm registries


async def registry_status(hub):
    status = await hub("get_npm_registry_status")
    assert (status["is_auto_detect"], status["is_measuring"]) == (False, False)


async def refresh_registry(hub):
    status = await hub("refresh_npm_registry")
    assert status["measured_at"] > 0
    assert all(each["problem"] for each in status["measurements"] if "127.0.0.1" not in each["url"])  # nothing leaves this machine


async def measure_registry(hub):
    good = await hub("test_npm_registry", url=hub.registry.url)
    assert (good["problem"], good["milliseconds"] > 0) == ("", True)
    assert (await hub("test_npm_registry", url=NOWHERE))["problem"]


async def custom_registry(hub):
    assert "cannot be used" in await hub.refusal("set_custom_npm_registry", url=NOWHERE)
    chosen = await hub("set_custom_npm_registry", url=hub.registry.url)
    assert (chosen["custom_url"].rstrip("/"), chosen["origin"]) == (hub.registry.url.rstrip("/"), "custom")
    assert (await hub("set_custom_npm_registry", url=""))["custom_url"] == ""


async def detect_registry(hub):
    assert (await hub("set_auto_detect_npm_registry", enabled=True))["is_auto_detect"] is True
    assert (await hub("set_auto_detect_npm_registry", enabled=False))["is_auto_detect"] is False


async def clear_registries(hub):
    await hub("refresh_npm_registry")
    await hub("clear_npm_registry_cache")
    assert (await hub("get_npm_registry_status"))["measured_at"] == 0


# signing in


async def sign_in_begun(hub):
    """Begins to sign in to the server that wants it, which is added for that."""
    await hub("add_mcp_server", name="gate", config={"type": "http", "url": hub.gate.mcp_url, "autoApprove": ["all"]}, is_default=False)
    return await hub("begin_sign_in", name="gate")


async def begin_sign_in(hub):
    begun = await sign_in_begun(hub)
    assert begun["url"].startswith(hub.gate.origin)
    assert await hub("begin_sign_in", name="gate") == begun
    assert (await hub.server("gate"))["has_sign_in_page"] is True
    assert await hub.refusal("begin_sign_in", name="kit")
    await hub("remove_mcp_server", name="gate")


async def finish_sign_in(hub):
    begun = await sign_in_begun(hub)
    await asyncio.gather(hub("finish_sign_in", name="gate"), browse(begun["url"]))
    assert (await hub.server("gate"))["is_signed_in"] is True
    await hub("start_server", name="gate")
    assert await hub("get_all_tool_definitions", server="gate")
    await hub("remove_mcp_server", name="gate")


async def cancel_sign_in(hub):
    await sign_in_begun(hub)
    await hub("cancel_sign_in", name="gate")
    assert (await hub.server("gate"))["has_sign_in_page"] is False
    assert "sign-in to 'gate'" in await hub.refusal("finish_sign_in", name="gate")
    await hub("remove_mcp_server", name="gate")


async def sign_out(hub):
    begun = await sign_in_begun(hub)
    await asyncio.gather(hub("finish_sign_in", name="gate"), browse(begun["url"]))
    await hub("sign_out", name="gate")
    assert (await hub.server("gate"))["is_signed_in"] is False
    await hub("remove_mcp_server", name="gate")


# the whole set-up


async def export(hub):
    exported = await hub("export_setup")
    assert exported["mcpServers"]["kit"]["command"] == FEATURED["command"]
    assert "a value of mine" not in json.dumps(exported)


IMPORTED = {"version": 1, "mcpServers": {"brought": HABITS, "kit": HABITS}, "defaultServers": []}


async def preview_import(hub):
    changes = {each["name"]: each["kind"] for each in await hub("preview_import", setup=IMPORTED) if each["subject"] == "server"}
    assert changes == {"brought": "add", "kit": "keep"}
    assert "brought" not in await hub("get_mcp_servers")
    assert "no set-up" in await hub.refusal("preview_import", setup={"servers": 7})


async def take_over(hub):
    expected, kit = await hub("preview_import", setup=IMPORTED), (await hub("get_mcp_servers"))["kit"]
    assert await hub("import_setup", setup=IMPORTED) == expected
    assert (await hub("get_mcp_servers"))["kit"] == kit
    await hub("remove_mcp_server", name="brought")


async def preview_reset(hub):
    before = await hub("get_mcp_servers")
    changes = [each for each in await hub("preview_reset") if each["subject"] == "server"]
    assert {each["kind"] for each in changes if each["name"] not in before} == {"add"}
    assert {each["kind"] for each in changes if each["name"] in before} <= {"keep"}
    assert await hub("get_mcp_servers") == before


async def reset(hub):
    await hub("set_mcp_enabled", enabled=False)  # so that nothing is downloaded
    expected, mine = await hub("preview_reset"), await hub("get_mcp_servers")
    assert await hub("reset_to_default_servers") == expected
    now = await hub("get_mcp_servers")
    assert {name: now[name] for name in mine} == mine
    for name in now.keys() - mine.keys():
        await hub("remove_mcp_server", name=name)
    await hub("set_mcp_enabled", enabled=True)


# what AI clients see


async def sessions(hub):
    client = hub.world.start_bridge("--no-start")
    try:
        client.request("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "acme", "version": "7"}})
        (found,) = [each for each in await hub("get_sessions") if each["client"] == "acme" and each["is_connected"]]
        assert (found["version"], found["mode"], found["reason"]) == ("7", "everything", "nothing is set to be hidden")
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


async def server_approvals(hub):
    assert "means nothing" in await hub.refusal("set_server_auto_approve", server="kit", rules=["hint:loud"])
    assert "no server 'nobody'" in await hub.refusal("set_server_auto_approve", server="nobody", rules=["read"])
    before = (await hub("get_server_entry", name="kit"))["entry"].get("autoApprove", ["read"])
    await hub("set_server_auto_approve", server="kit", rules=["names:get_*"])
    assert (await hub("get_server_entry", name="kit"))["counts"]["autoApprove"] == ["names:get_*"]
    await hub("set_server_auto_approve", server="kit", rules=before)


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


async def tool_costs(hub):
    costs = await hub("get_tool_costs", client="claude-code")
    assert costs["tokenizer"] == "o200k_base"
    assert costs["tokens"] == costs["shown_tokens"] == sum(server["tokens"] for server in costs["servers"]) > 100


# what a person allows


@contextlib.asynccontextmanager
async def notes(hub):
    """A server with one tool, which writes and is not approved; gives the file that says how it is defined."""
    file = hub.world.home / "notes.txt"
    file.write_text("Saves a note.")
    config = {"command": sys.executable, "args": [str(SERVERS / "notes.py"), str(file)], "autoApprove": []}
    await hub("add_mcp_server", name="notes", config=config, is_default=False)
    await hub("start_server", name="notes")
    yield file
    await hub("remove_mcp_server", name="notes")
    file.unlink()


async def refused_note(hub):
    """Calls the tool, which is refused; returns the id under which that is remembered."""
    assert "tooltray approve " in await hub.refusal("call_tool", name="save_note", arguments={"text": "a"})
    return next(each["id"] for each in await hub("get_approvals") if each["tool"] == "save_note")


async def waiting_approvals(hub):
    async with notes(hub):
        id = await refused_note(hub)
        await hub("answer_approval", id=id, answer="refuse")
        assert id not in [each["id"] for each in await hub("get_approvals")]


async def approve(hub):
    async with notes(hub):
        assert "waits no longer" in await hub.refusal("answer_approval", id="none", answer="once")
        await hub("answer_approval", id=await refused_note(hub), answer="once")
        assert (await hub("call_tool", name="save_note", arguments={"text": "a"}))["content"][0]["text"] == "saved a"
        await refused_note(hub)


async def grants(hub):
    async with notes(hub):
        made = await hub("add_grant", server="notes", tool="save_note", expires_in_s=60.0)
        assert made in await hub("get_grants")


async def preview_grant(hub):
    async with notes(hub):
        assert [each["name"] for each in await hub("preview_grant", server="notes", tool="save_note")] == ["save_note"]
        assert "has no tools that read" in await hub.refusal("preview_grant", server="notes", kind="reads")


async def add_grant(hub):
    async with notes(hub):
        assert "offers no tool 'gone'" in await hub.refusal("add_grant", server="notes", tool="gone")
        await hub("add_grant", server="notes", tool="save_note", client="other")
        await refused_note(hub)
        await hub("add_grant", server="notes", tool="save_note", client="tooltray")
        assert "content" in await hub("call_tool", name="save_note", arguments={"text": "a"})


async def remove_grant(hub):
    async with notes(hub):
        made = await hub("add_grant", server="notes", tool="save_note")
        await hub("remove_grant", id=made["id"])
        assert made not in await hub("get_grants")
        await refused_note(hub)


async def redefined(hub, file):
    """The server comes back with another definition; waits until the hub has seen it."""
    file.write_text("Sends a note.")
    await hub("restart_server", name="notes")
    while not await hub("get_tool_changes"):
        await hub.until(lambda kind, data: kind == "ToolListChanged")


async def tool_changes(hub):
    async with notes(hub) as file:
        await hub("add_grant", server="notes", tool="save_note")
        assert await hub("get_tool_changes") == []
        await redefined(hub, file)
        (change,) = await hub("get_tool_changes")
        assert {"-description: Saves a note.", "+description: Sends a note."} <= set(change["diff"])
        assert [each["is_held"] for each in await hub("get_tools", server="notes")] == [True]


async def accept_change(hub):
    async with notes(hub) as file:
        await hub("add_grant", server="notes", tool="save_note")
        await redefined(hub, file)
        await refused_note(hub)
        await hub("accept_tool_change", server="notes", tool="save_note")
        assert "content" in await hub("call_tool", name="save_note", arguments={"text": "a"})
        assert "has not changed" in await hub.refusal("accept_tool_change", server="notes", tool="save_note")


# what models report


@contextlib.asynccontextmanager
async def reported(hub, summary):
    """A model's report that waits; gives its id and the call."""
    asking = ControlClient.connect(Home(hub.world.root))
    arguments = {"work_summary": summary}
    call = asyncio.create_task(asyncio.to_thread(asking.call, "call_tool", timeout_s=SOON_S, name="collect_feedback", arguments=arguments))
    await hub.until(lambda kind, data: kind == "FeedbackAsked" and data["request"]["summary"] == summary)
    yield next(each["id"] for each in await hub("get_feedback_requests") if each["summary"] == summary), call
    await call
    asking.close()


async def answer_report(hub):
    async with reported(hub, "answer me") as (id, call):
        assert "is empty" in await hub.refusal("answer_feedback", id=id, text=" ")
        await hub("answer_feedback", id=id, text="Yes")
        assert (await call)["content"][0]["text"] == "Yes"
    assert "has ended" in await hub.refusal("answer_feedback", id=id, text="Yes")


async def dismiss_report(hub):
    async with reported(hub, "close me") as (id, call):
        await hub("dismiss_feedback", id=id)
        assert "without an answer" in (await call)["content"][0]["text"]
    assert await hub("get_feedback_requests") == []


async def report_history(hub):
    await dismiss_report(hub)
    entries = await hub("get_feedback_history", limit=1)
    assert [(each["summary"], each["outcome"]) for each in entries] == [("close me", "dismissed")]


async def ready_answers(hub):
    shipped = await hub("get_ready_answers")
    await hub("set_ready_answers", answers=["Ship it"])
    assert await hub("get_ready_answers") == ["Ship it"]
    await hub("set_ready_answers", answers=[])
    assert await hub("get_ready_answers") == shipped


# which project


@contextlib.asynccontextmanager
async def in_project(hub, **fields):
    """A server `here` that starts for a project; gives a folder that may be one."""
    folder = hub.world.home / "a project"
    folder.mkdir()
    config = {"command": sys.executable, "args": [str(SERVERS / "in_project.py")], "autoApprove": ["all"], "deferredStartup": True}
    await hub("add_mcp_server", name="here", config={**config, **fields}, is_default=False)
    yield str(folder.resolve())
    await hub("remove_mcp_server", name="here")
    folder.rmdir()


async def allowed_folders(hub):
    assert await hub("get_allowed_folders") == []


async def allow_folder(hub):
    async with in_project(hub) as folder:
        assert await hub("allow_folder", path=folder) == folder
        assert await hub("get_allowed_folders") == [folder]
        assert "the root of everything" in await hub.refusal("allow_folder", path="/")
        await hub("disallow_folder", path=folder)


async def disallow_folder(hub):
    async with in_project(hub) as folder:
        assert "not allowed" in await hub.refusal("disallow_folder", path=folder)
        await hub("start_for_project", server="here", path=folder)
        await hub("disallow_folder", path=folder)
        assert ((await hub.server("here"))["copies"], await hub("get_allowed_folders")) == ([], [])


async def start_for_project(hub):
    async with in_project(hub, startupArgsTemplate=[str(SERVERS / "in_project.py"), "{project_name}"]) as folder:
        await hub("start_for_project", server="here", path=folder)
        said = await hub("call_tool", name="where", arguments={})
        assert json.loads(said["content"][0]["text"])["args"] == ["a project"]
        assert [copy["path"] for copy in (await hub.server("here"))["copies"]] == [folder]
        assert "no server that starts for a project" in await hub.refusal("start_for_project", server="kit", path=folder)
        await hub("disallow_folder", path=folder)


async def start_without_project(hub):
    async with in_project(hub):
        assert "waits for a project" in await hub.refusal("start_server", name="here")
        await hub("start_without_project", server="here")
        assert (await hub.server("here"))["state"] == "running"


async def session_project(hub):
    async with in_project(hub) as folder:
        bridge = hub.world.start_bridge("--no-start")
        await asyncio.to_thread(bridge.initialize)
        (session,) = [each for each in await hub("get_sessions") if each["client"] == "end2end" and each["is_connected"]]
        await hub("set_session_project", session=session["id"], path=folder)
        (session,) = [each for each in await hub("get_sessions") if each["id"] == session["id"]]
        assert session["project"] == {"path": folder, "name": "a project", "source": "person"}
        await asyncio.to_thread(bridge.end)
    assert "there is no session" in await hub.refusal("set_session_project", session="nobody", path="/")


async def reset_deferred(hub):
    async with in_project(hub):
        await hub("start_without_project", server="here")
        await hub("reset_deferred_state")
        assert ((await hub.server("here"))["state"], (await hub.server("here"))["copies"]) == ("waiting", [])


async def defer(hub):
    async with in_project(hub):
        await hub("set_deferred", server="here", deferred=True, template=["{project_path}"])
        assert (await hub("get_mcp_servers"))["here"]["startupArgsTemplate"] == ["{project_path}"]
        await hub("set_deferred", server="here", deferred=False)
        assert (await hub.server("here"))["is_deferred"] is False


# programs over HTTP, and the settings


async def enable_api(hub):
    await hub("set_http_enabled", enabled=False, port=0)
    opened = await hub("set_api_enabled", enabled=True, trusted=False)
    assert (opened["is_open"], opened["is_api_enabled"], opened["is_api_trusted"]) == (True, True, False)
    assert opened["api_url"] == opened["url"].removesuffix("/mcp") + "/api/mcp"
    assert (await hub("set_api_enabled", enabled=False))["api_url"] == ""
    assert (await hub("set_http_enabled", enabled=False))["is_open"] is False


async def api_token(hub):
    token = await hub("get_api_token")
    assert token.startswith("tooltray_api_")
    assert await hub("get_api_token") == token


async def rotate_token(hub):
    before = await hub("get_api_token")
    assert before != await hub("rotate_api_token") == await hub("get_api_token")


async def settings(hub):
    said = await hub("get_settings")
    assert "mcpServers" not in said["settings"]
    assert said["revision"]


async def change_settings(hub):
    seen = await hub("get_settings")
    changed = await hub("change_settings", changes={"readyAnswers": ["Go on"]}, revision=seen["revision"])
    assert changed["settings"]["readyAnswers"] == ["Go on"]
    assert "others by now" in await hub.refusal("change_settings", changes={"readyAnswers": None}, revision=seen["revision"])
    assert "must be true or false" in await hub.refusal("change_settings", changes={"hotReload": "no"})
    assert await hub("change_settings", changes={"readyAnswers": None}) == seen


async def recent_calls(hub):
    await hub("call_tool", name="about", arguments={})
    (last,) = await hub("get_recent_calls", limit=1)
    assert (last["tool"], last["server"], last["outcome"]) == ("about", "kit", "ok")


@contextlib.asynccontextmanager
async def edited_by_hand(hub):
    """Somebody has written a server into settings.json, and nobody reads the file by itself."""
    await hub("change_settings", changes={"hotReload": False})
    path = hub.world.root / "settings.json"
    before = path.read_text()
    document = json.loads(before)
    document["mcpServers"]["by-hand"] = {"command": "no-such-command-anywhere"}
    path.write_text(json.dumps(document))
    try:
        yield [{"kind": "add", "name": "by-hand", "file": str(path), "detail": "stdio"}]
    finally:
        path.write_text(before)
        await hub("reload")
        await hub("change_settings", changes={"hotReload": None})


async def preview_of_reload(hub):
    async with edited_by_hand(hub) as changes:
        assert await hub("preview_reload") == changes
        assert "by-hand" not in await hub("get_mcp_servers")


async def reload(hub):
    async with edited_by_hand(hub) as changes:
        assert await hub("reload") == changes
        assert "by-hand" in await hub("get_mcp_servers")
    assert await hub("reload") == []
    assert "by-hand" not in await hub("get_mcp_servers")


# servers of projects' own files


@contextlib.asynccontextmanager
async def asking_project(hub):
    """A folder whose own file has a server that nobody has said yes to."""
    folder = hub.world.home / "a project that asks"
    folder.mkdir(exist_ok=True)
    entry = {"command": "no-such-command-anywhere", "args": ["${secret:K}"]}
    (folder / ".mcp.json").write_text(json.dumps({"mcpServers": {"asks": entry}}))
    yield str(folder)
    with contextlib.suppress(TooltrayError):
        await hub("distrust_entries", project=str(folder))


async def say_yes(hub, folder):
    (request,) = await hub("get_trust_requests", project=folder)
    return await hub("trust_entries", project=folder, entries={"asks": request["digest"]})


async def server_files(hub):
    (settings, *_) = await hub("get_server_files")
    assert (settings["kind"], settings["path"]) == ("settings", str(hub.world.root / "settings.json"))
    assert {"name": "kit", "server": "kit", "state": "used", "line": 0} in settings["entries"]


async def trust_requests(hub):
    async with asking_project(hub) as folder:
        (request,) = await hub("get_trust_requests", project=folder)
        assert (request["entry"], request["secrets"], request["is_change"]) == ("asks", ["K"], False)
        assert await hub("get_trust_requests") == []  # nobody works on it


async def trust_entries(hub):
    async with asking_project(hub) as folder:
        assert "another one by now" in await hub.refusal("trust_entries", project=folder, entries={"asks": "other"})
        assert await say_yes(hub, folder) == ["asks"]
        assert await hub("get_trust_requests", project=folder) == []


async def distrust_entries(hub):
    async with asking_project(hub) as folder:
        await say_yes(hub, folder)
        await hub("distrust_entries", project=folder, entry="asks")
        assert len(await hub("get_trust_requests", project=folder)) == 1
        assert "is not trusted" in await hub.refusal("distrust_entries", project=folder, entry="asks")


async def trusted_entries(hub):
    async with asking_project(hub) as folder:
        await say_yes(hub, folder)
        (trusted,) = await hub("get_trusted_entries")
        assert (trusted["project"], trusted["entry"], trusted["server"], trusted["is_own"]) == (folder, "asks", "asks", False)


VERBS_AT_WORK: dict[str, Callable[[Hub], Awaitable[None]]] = {
    "get_snapshot": hub_itself,
    "initialize": initialize,
    "get_mcp_enabled": get_enabled,
    "set_mcp_enabled": set_enabled,
    "get_mcp_servers": get_servers,
    "get_server_entry": get_entry,
    "add_mcp_server": add_server,
    "update_mcp_server": update_server,
    "remove_mcp_server": remove_server,
    "start_server": start_server,
    "stop_server": stop_server,
    "restart_server": restart_server,
    "is_server_running": server_running,
    "get_mcp_clients": clients,
    "get_server_log": server_log,
    "get_mcp_default_servers": get_defaults,
    "add_mcp_default_server": add_default,
    "remove_mcp_default_server": remove_default,
    "toggle_mcp_default_server": toggle_default,
    "get_all_tool_definitions": definitions,
    "get_tools": tools,
    "set_tool_enabled": enable_tool,
    "call_tool": call_tool,
    "run_tool_call": run_tool_call,
    "reset_tool_names": reset_names,
    "get_all_prompts": prompts,
    "get_prompt": prompt,
    "get_all_resources": resources,
    "get_all_resource_templates": templates,
    "read_resource": read_resource,
    "get_secret_names": secret_names,
    "set_secret": set_secret,
    "remove_secret": remove_secret,
    "preview_removal": unused_secrets,
    "get_unused_secrets": unused_secrets,
    "remove_unused_secrets": unused_secrets,
    "check_secrets": check_secrets,
    "unlock_secrets": unlock_secrets,
    "set_secret_backend": secret_backend,
    "diagnose": diagnose,
    "apply_remedy": apply_remedy,
    "answer_elicitation": answer_question,
    "get_http_status": http_status,
    "set_http_enabled": enable_http,
    "set_api_enabled": enable_api,
    "get_api_token": api_token,
    "rotate_api_token": rotate_token,
    "get_settings": settings,
    "change_settings": change_settings,
    "get_recent_calls": recent_calls,
    "list_client_tokens": list_tokens,
    "create_client_token": create_token,
    "remove_client_token": remove_token,
    "mcp_tools_to_openai_tools": partial(to_format, verb="mcp_tools_to_openai_tools", name_of=openai_names),
    "mcp_tools_to_anthropic_tools": partial(to_format, verb="mcp_tools_to_anthropic_tools", name_of=anthropic_names),
    "mcp_tools_to_gemini_tools": partial(to_format, verb="mcp_tools_to_gemini_tools", name_of=gemini_names),
    "openai_tools_to_mcp_tool": partial(from_format, verb="openai_tools_to_mcp_tool", argument="call", call=OPENAI_CALL),
    "anthropic_tool_use_to_mcp_tool": partial(from_format, verb="anthropic_tool_use_to_mcp_tool", argument="tool_use", call=ANTHROPIC_CALL),
    "gemini_function_call_to_mcp_tool": partial(
        from_format, verb="gemini_function_call_to_mcp_tool", argument="function_call", call=GEMINI_CALL
    ),
    "mcp_response_to_openai": partial(to_response, verb="mcp_response_to_openai"),
    "mcp_response_to_anthropic": partial(to_response, verb="mcp_response_to_anthropic"),
    "mcp_response_to_gemini": partial(to_response, verb="mcp_response_to_gemini"),
    "get_npm_registry_status": registry_status,
    "refresh_npm_registry": refresh_registry,
    "test_npm_registry": measure_registry,
    "set_custom_npm_registry": custom_registry,
    "set_auto_detect_npm_registry": detect_registry,
    "clear_npm_registry_cache": clear_registries,
    "begin_sign_in": begin_sign_in,
    "finish_sign_in": finish_sign_in,
    "cancel_sign_in": cancel_sign_in,
    "sign_out": sign_out,
    "export_setup": export,
    "preview_import": preview_import,
    "import_setup": take_over,
    "preview_reset": preview_reset,
    "reset_to_default_servers": reset,
    "get_sessions": sessions,
    "get_allowed_folders": allowed_folders,
    "allow_folder": allow_folder,
    "disallow_folder": disallow_folder,
    "start_for_project": start_for_project,
    "start_without_project": start_without_project,
    "set_session_project": session_project,
    "reset_deferred_state": reset_deferred,
    "set_deferred": defer,
    "get_client_modes": client_modes,
    "set_client_mode": choose_mode,
    "set_client_profile": give_profile,
    "set_client_auto_approve": client_approvals,
    "set_server_auto_approve": server_approvals,
    "get_profiles": profiles,
    "set_profile": make_profile,
    "remove_profile": remove_profile,
    "set_lazy_load": make_lazy,
    "set_tool_override": show_otherwise,
    "get_tool_costs": tool_costs,
    "get_approvals": waiting_approvals,
    "answer_approval": approve,
    "get_grants": grants,
    "preview_grant": preview_grant,
    "add_grant": add_grant,
    "remove_grant": remove_grant,
    "get_tool_changes": tool_changes,
    "accept_tool_change": accept_change,
    "get_feedback_requests": dismiss_report,
    "answer_feedback": answer_report,
    "dismiss_feedback": dismiss_report,
    "get_feedback_history": report_history,
    "get_ready_answers": ready_answers,
    "set_ready_answers": ready_answers,
    "get_server_files": server_files,
    "get_trust_requests": trust_requests,
    "trust_entries": trust_entries,
    "distrust_entries": distrust_entries,
    "get_trusted_entries": trusted_entries,
    "preview_reload": preview_of_reload,
    "reload": reload,
}


def test_there_is_a_check_for_every_verb():
    assert set(VERBS_AT_WORK) == set(VERBS)


@pytest.mark.timeout(400)
async def test_every_verb_does_its_work_at_a_real_hub(world):
    """One after the other at one hub; each leaves it as it was, so that all that fail are named."""
    failed = {}
    async with authorizing() as gate, listening(registry := FakeRegistry()):
        keep_inside(world, registry)
        write_settings(world, {"kit": FEATURED, "habits": HABITS}, defaultServers=["kit"], secrets={"backend": "memory"})
        world.start_hub()
        hub = Hub(world, registry, gate)
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
    assert (ok["tool"], ok["server"], ok["client"], ok["tool_call_id"], ok["result"]) == ("about", "s", "tooltray", "", None)
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
