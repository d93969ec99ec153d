"""npm registries, remedies, and the set-up as a whole: taken along, brought in, put back."""

import json

from tests.end2end.verbs.hub_at_work import FEATURED, HABITS, NOWHERE, Checks

# remedies


async def apply_remedy(hub):
    await hub("add_mcp_server", name="ill", config={"command": "tooltray-has-no-such-program"}, is_default=False)
    await hub.refusal("start_server", name="ill")
    [found] = await hub("diagnose", server="ill")
    assert "start" in {remedy["kind"] for remedy in found["remedies"] if remedy["is_automatic"]}
    assert "ill" in await hub("apply_remedy", server="ill", kind="start")
    assert "nothing that Tooltray can do" in await hub.refusal("apply_remedy", server="ill", kind="dance")
    await hub("remove_mcp_server", name="ill")


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


# the whole set-up


async def export(hub):
    exported = await hub("export_setup")
    assert exported["mcpServers"]["kit"]["command"] == FEATURED["command"]
    assert "a value of mine" not in json.dumps(exported)


BROUGHT = {**HABITS, "env": {"OF": "another one"}}  # what runs here already under another name is not brought in
IMPORTED = {"version": 1, "mcpServers": {"brought": BROUGHT, "kit": HABITS}, "defaultServers": []}


async def preview_import(hub):
    changes = {each["name"]: each["kind"] for each in await hub("preview_import", setup=IMPORTED) if each["subject"] == "server"}
    assert changes == {"brought": "add", "kit": "keep"}
    assert "brought" not in await hub("get_mcp_servers")
    assert "no backup" in await hub.refusal("preview_import", setup={"servers": 7})


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


CHECKS: Checks = {
    "apply_remedy": apply_remedy,
    "get_npm_registry_status": registry_status,
    "refresh_npm_registry": refresh_registry,
    "test_npm_registry": measure_registry,
    "set_custom_npm_registry": custom_registry,
    "set_auto_detect_npm_registry": detect_registry,
    "clear_npm_registry_cache": clear_registries,
    "export_setup": export,
    "preview_import": preview_import,
    "import_setup": take_over,
    "preview_reset": preview_reset,
    "reset_to_default_servers": reset,
}
