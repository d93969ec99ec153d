"""AI clients on the computer: their files are looked at."""

import json

from tests.end2end.verbs.hub_at_work import FEATURED, Checks


async def scan(hub):
    file = hub.world.home / ".cursor" / "mcp.json"
    file.parent.mkdir()
    file.write_text(json.dumps({"mcpServers": {"files": {"command": "npx", "args": ["-y", "files"], "env": {"FILES_TOKEN": "not-real"}}}}))
    try:
        found = await hub("scan_ai_clients", projects=[])
        cursor = next(each for each in found["clients"] if each["id"] == "cursor")
        assert (cursor["is_installed"], cursor["connection"], cursor["files"][0]["path"]) == (True, "none", str(file))
        assert cursor["files"][0]["servers"][0]["secrets"] == ["FILES_TOKEN"]
        assert (found["servers"], found["plain_secrets"]) == (1, 1)
        assert "not-real" not in json.dumps(found)
    finally:
        file.unlink()
        file.parent.rmdir()


async def take_in(hub):
    """A server of Cursor comes in, works, leaves Cursor's file, and comes back."""
    file = hub.world.home / ".cursor" / "mcp.json"
    file.parent.mkdir()
    entry = {key: FEATURED[key] for key in ("command", "args")} | {"env": {"KIT_TOKEN": "not-real"}}
    text = json.dumps({"mcpServers": {"imported": entry, "other": {"command": "other"}}}, indent=4)
    file.write_text(text)
    try:
        plan = await hub("preview_client_import", clients=["cursor"])
        one, other = plan["candidates"]
        assert (one["name"], one["state"], one["secrets"], other["name"]) == (
            "imported",
            "new",
            [{"key": "KIT_TOKEN", "because": "name"}],
            "other",
        )
        [done] = await hub("import_servers", choices=[one["id"]], clients=["cursor"], tidy=True)
        assert (done["state"], done["tools"] > 0, done["problem"]) == ("listed", True, None)
        assert list(json.loads(file.read_text())["mcpServers"]) == ["other"]
        assert "not-real" not in json.dumps([plan, done]) + (hub.world.root / "settings.json").read_text()
        [back] = await hub("put_back_moved_servers")
        assert (back["problem"], file.read_text()) == (None, text)
        await hub("cancel_import")
    finally:
        await hub("remove_mcp_server", name="imported")
        file.unlink()
        file.parent.rmdir()


IMPORT = ("preview_client_import", "import_servers", "cancel_import", "put_back_moved_servers")
CHECKS: Checks = {"scan_ai_clients": scan} | dict.fromkeys(IMPORT, take_in)
