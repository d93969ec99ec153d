"""What becomes of a server's secrets when it is removed by each front, at a real hub; and tokens of a served config that are secrets."""

import json
import sys
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

from tests.end2end.at_terminal import at_terminal
from tests.end2end.processes import World, wait_until
from tests.end2end.test_served_configs import base_url, initialize

HABITS = Path(__file__).parent / "servers" / "habits.py"
VALUE, DOOR, NEW_DOOR = "sk-ant-dummy-0123456789-of-a-server", "dummy-door-token-4c1f0b", "dummy-door-token-92ee7d"
START_S = 60.0


def uses(*secrets: str) -> dict:
    return {"command": sys.executable, "args": [str(HABITS)], "env": {f"V{at}": f"${{secret:{name}}}" for at, name in enumerate(secrets)}}


def test_nothing_of_a_removed_server_stays_among_the_secrets_and_nothing_else_goes(world: World) -> None:
    world.root.mkdir(mode=0o700)
    names = ("by-cli", "by-rest", "by-hand")
    servers = {name: uses(f"{name}/KEY", "team") for name in names} | {"stays": uses("team")}
    http = {"enabled": True, "port": 0, "api": {"enabled": True}}
    settings = {"version": 1, "mcpServers": servers, "defaultServers": [], "autoDetectNpmRegistry": False}
    settings |= {"publish": {"http": http}, "secrets": {"backend": "memory"}}
    (world.root / "settings.json").write_text(json.dumps(settings))
    shop = world.home / "shop"
    shop.mkdir()
    config = {"mcpProxy": {"addr": ":0", "options": {"authTokens": ["${secret:door}"]}}, "mcpServers": {"fetch": uses()}}
    (world.home / "config.json").write_text(json.dumps(config))
    hub = world.start_hub("--config", "config.json")
    said: list[str] = []

    def cli(*words: str, input: str | None = None) -> str:
        done = world.tooltray(*words, input=input)
        assert done.returncode == 0, done.stderr
        said.append(done.stdout + done.stderr)
        return done.stdout

    def stored() -> list[str]:
        return json.loads(cli("secrets", "list", "--json"))

    assert at_terminal(world, "projects", "allow", str(shop))[0] == 0
    secrets = ["team", *(f"{name}/KEY" for name in (*names, "by-project"))]
    for name in secrets:
        cli("secrets", "set", name, input=VALUE)
    cli("servers", "add", "by-project", "--project", str(shop), "--env", "A=${secret:by-project/KEY}", "--", sys.executable, str(HABITS))
    # a token that is a secret
    url = f"{base_url(hub)}/fetch/"
    assert initialize(url, {"Authorization": "Bearer ${secret:door}"}) == 401
    cli("secrets", "set", "door", input=DOOR)
    wait_until(lambda: initialize(url, {"Authorization": f"Bearer {DOOR}"}) == 200, "the door to open")
    cli("secrets", "set", "door", input=NEW_DOOR)
    wait_until(lambda: initialize(url, {"Authorization": f"Bearer {DOOR}"}) == 401, "the old token to open nothing")
    assert initialize(url, {"Authorization": NEW_DOOR}) == 200
    # removed while it runs
    cli("servers", "start", "by-cli")
    assert cli("servers", "remove", "by-cli").splitlines() == [
        "Removed by-cli.",
        "Its secret by-cli/KEY is removed, too.",
        "Secret team stays: by-hand, by-rest, stays still use it.",
    ]
    assert "Its secret by-project/KEY is removed, too." in cli("servers", "remove", "by-project")
    assert removed_over_rest(world, cli, "by-rest") == 204
    assert stored() == ["by-hand/KEY", "door", "team"]
    # an edit of the file removes no secret; what is left is named, and removed on a yes
    path = world.root / "settings.json"
    document = json.loads(path.read_bytes())
    del document["mcpServers"]["by-hand"]
    path.write_text(json.dumps(document))
    cli("reload")
    assert stored() == ["by-hand/KEY", "door", "team"]
    assert "no server uses by-hand/KEY; to forget them: tooltray secrets remove --unused" in world.tooltray("doctor").stdout
    assert world.tooltray("secrets", "remove", "--unused").returncode == 1
    assert cli("secrets", "remove", "--unused", "--yes").splitlines()[1:] == ["  by-hand/KEY", "Forgot 1 secret."]
    assert stored() == ["door", "team"]
    cli("stop")
    hub.wait()
    kept = [
        each.read_bytes().decode("utf-8", "replace") for folder in (world.root, world.home) for each in folder.rglob("*") if each.is_file()
    ]
    assert not [text[:300] for text in (*kept, *said, hub.error_text) for value in (VALUE, DOOR, NEW_DOOR) if value in text]


def removed_over_rest(world: World, cli, server: str) -> int:
    url = urlsplit(json.loads(cli("http", "status", "--json"))["api_url"])
    token = world.tooltray("http", "api", "token").stdout.strip()
    connection = HTTPConnection(url.netloc, timeout=START_S)
    connection.request("DELETE", f"/api/mcp/servers/{server}", headers={"Authorization": f"Bearer {token}"})
    status = connection.getresponse().status
    connection.close()
    return status
