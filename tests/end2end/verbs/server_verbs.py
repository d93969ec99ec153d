"""Servers: their entries, starting and stopping them, who starts by itself."""

from tests.end2end.processes import is_running
from tests.end2end.verbs.hub_at_work import FEATURED, HABITS, Checks


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


async def inmemory(hub):
    assert await hub("get_inmemory_servers") == []


async def client_links(hub):
    assert "tooltray" in (await hub("get_client_links"))["Cursor"]
    assert set(await hub("get_client_links", server="kit")) == {"Cursor", "VS Code", "VS Code Insiders", "LM Studio", "Kiro", "Goose"}
    assert "no server" in await hub.refusal("get_client_links", server="nobody")


async def preview_update(hub):
    found = await hub("preview_server_update", name="habits", config={**HABITS, "descriptions": "mine", "args": "x"})
    assert (found["is_restarted"], [slip["path"] for slip in found["slips"]]) == (False, [["args"]])
    assert any(line.startswith("+") for line in found["diff"])
    assert (await hub("get_mcp_servers"))["habits"].get("descriptions") != "mine"


async def duplicate(hub):
    assert await hub("duplicate_mcp_server", name="habits", new_name="habits-2") == "habits-2"
    assert (await hub("get_mcp_servers"))["habits-2"]["command"] == HABITS["command"]
    assert "already" in await hub.refusal("duplicate_mcp_server", name="habits", new_name="habits-2")
    await hub("remove_mcp_server", name="habits-2")


async def try_one(hub):
    found = await hub("test_server", test="1", name="kit")
    assert (found["is_ok"], len(found["tools"]), found["tokens"] > 0) == (True, 9, True)
    assert "there is no server 'gone'" in await hub.refusal("test_server", test="2", name="gone")


async def cancel_test(hub):
    await hub("cancel_server_test", test="3")


CHECKS: Checks = {
    "preview_server_update": preview_update,
    "duplicate_mcp_server": duplicate,
    "test_server": try_one,
    "cancel_server_test": cancel_test,
    "get_client_links": client_links,
    "get_inmemory_servers": inmemory,
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
}
