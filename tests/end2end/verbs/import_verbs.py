"""Servers of AI clients are brought in, leave their clients, and come back."""

import json

from tests.end2end.verbs.hub_at_work import FEATURED, Checks


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
CHECKS: Checks = dict.fromkeys(IMPORT, take_in)
