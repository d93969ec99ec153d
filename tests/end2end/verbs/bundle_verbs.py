"""Bundles: read, shown, installed, listed, removed."""

import sys
from pathlib import Path

from tests.end2end.verbs.hub_at_work import SERVERS, Checks
from tests.fakes.bundles import SERVER, write_bundle

CONFIG = {"command": sys.executable, "args": ["server/main.py", "${user_config.extra}"], "env": {"KEY": "${user_config.key}"}}
ASKS = {"key": {"type": "string", "sensitive": True, "required": True}, "extra": {"type": "string"}}
VALUES = {"key": "dummy-value-of-a-bundle"}


def bundle(hub):
    path = hub.world.home / "packed.mcpb"
    if not path.exists():
        files = {"server/main.py": (SERVERS / "habits.py").read_bytes()}
        write_bundle(path, files, name="packed", server={**SERVER, "mcp_config": CONFIG}, user_config=ASKS)
    return str(path)


async def installed(hub):
    offer = await hub("read_bundle", source=bundle(hub))
    return await hub("install_bundle", source=offer["source"], sha256=offer["sha256"], values=VALUES)


async def read(hub):
    offer = await hub("read_bundle", source=bundle(hub))
    assert (offer["name"], offer["problems"], [field["key"] for field in offer["fields"]]) == ("packed", [], ["key", "extra"])
    assert "cannot be read" in await hub.refusal("read_bundle", source=str(hub.world.home / "none.mcpb"))


async def preview(hub):
    offer = await hub("read_bundle", source=bundle(hub))
    shown = await hub("preview_bundle", source=offer["source"], sha256=offer["sha256"], values=VALUES)
    assert (shown["name"], shown["secrets"], shown["entry"]["env"]) == ("packed", ["packed/key"], {"KEY": "${secret:packed/key}"})
    assert "missing" in await hub.refusal("preview_bundle", source=offer["source"], sha256=offer["sha256"], values={})


async def install(hub):
    assert await installed(hub) == "packed"
    await hub("start_server", name="packed")
    assert (await hub.server("packed"))["state"] == "running"
    await hub("remove_bundle", server="packed")


async def listed(hub):
    assert await hub("get_bundles") == []
    await installed(hub)
    [found] = await hub("get_bundles")
    assert (found["server"], found["author"], Path(found["folder"]).is_dir()) == ("packed", "Somebody", True)
    await hub("remove_bundle", server="packed")


async def remove(hub):
    await installed(hub)
    await hub("remove_bundle", server="packed")
    assert "packed/key" not in await hub("get_secret_names")
    assert "no bundle" in await hub.refusal("remove_bundle", server="kit")


CHECKS: Checks = {
    "get_bundles": listed,
    "install_bundle": install,
    "preview_bundle": preview,
    "read_bundle": read,
    "remove_bundle": remove,
}
