"""AI clients on the computer: their files are looked at, changed, and become again what they were."""

import json

from tests.end2end.verbs.hub_at_work import Checks


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


async def connect_and_undo(hub):
    """The way of a person: what would change is shown, made, listed and undone; and the other way round."""
    file = hub.world.home / ".cursor" / "mcp.json"
    file.parent.mkdir()
    file.write_text(before := '{"mcpServers": {"a": {"command": "x"} /* mine */}}\n')
    try:
        (edit,) = await hub("preview_connect", clients=["cursor"])
        assert (edit["action"], "tooltray" in edit["diff"]) == ("connect", True)
        (made,) = await hub("apply_client_edits", edits={edit["id"]: edit["revision"]})
        assert "tooltray" in file.read_text()
        (gone,) = await hub("preview_disconnect", clients=["cursor"])
        assert gone["action"] == "disconnect"
        newest, *_ = await hub("get_client_changes")
        assert (newest["id"], newest["undo"]) == (made["id"], "exact")
        await hub("undo_client_change", id=made["id"])
        assert file.read_text() == before
    finally:
        file.unlink()
        file.parent.rmdir()


CHECKS: Checks = {
    "scan_ai_clients": scan,
    "preview_connect": connect_and_undo,
    "preview_disconnect": connect_and_undo,
    "apply_client_edits": connect_and_undo,
    "get_client_changes": connect_and_undo,
    "undo_client_change": connect_and_undo,
}
