"""AI clients on the computer: their files are looked at."""

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


CHECKS: Checks = {"scan_ai_clients": scan}
