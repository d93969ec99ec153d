"""Files with servers: which there are, whom a person trusts in them, reading them again."""

import contextlib
import json

from tests.end2end.verbs.hub_at_work import Checks

from tooltray.foundation.errors import TooltrayError

# reading files again


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


async def restore_trust(hub):
    async with asking_project(hub) as folder:
        await say_yes(hub, folder)
        await hub("distrust_entries", project=folder, entry="asks")
        assert await hub("restore_trust", project=folder, entry="asks") == ["asks"]
        assert await hub("get_trust_requests", project=folder) == []


async def trusted_entries(hub):
    async with asking_project(hub) as folder:
        await say_yes(hub, folder)
        (trusted,) = await hub("get_trusted_entries")
        assert (trusted["project"], trusted["entry"], trusted["server"], trusted["is_own"]) == (folder, "asks", "asks", False)


CHECKS: Checks = {
    "get_server_files": server_files,
    "get_trust_requests": trust_requests,
    "trust_entries": trust_entries,
    "distrust_entries": distrust_entries,
    "restore_trust": restore_trust,
    "get_trusted_entries": trusted_entries,
    "preview_reload": preview_of_reload,
    "reload": reload,
}
