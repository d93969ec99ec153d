"""AI clients over HTTP that say on which folder they work: both eras, with the SDK's own client, have what a bridge in that folder has."""

import json
import sys
from pathlib import Path
from typing import Any

from tests.end2end.processes import World

HERE = Path(__file__).parent
CLIENT, SERVERS = HERE / "clients" / "sdk_roots_client.py", HERE / "servers"
LIST, WHERE, ECHO = ["list_servers", {}], ["where", {}], ["echo", {"text": "hello"}]


def start_hub(world: World, **servers: Any) -> str:
    """A hub that asks for no token, but knows those that it gave; returns the URL of all servers."""
    world.root.mkdir(mode=0o700)
    settings = {"version": 1, "autoDetectNpmRegistry": False, "mcpServers": servers, "defaultServers": list(servers)}
    (world.root / "settings.json").write_text(json.dumps({**settings, "publish": {"http": {"requireToken": False}}}))
    world.start_hub()
    return str(world.ask("set_http_enabled", enabled=True, port=0)["url"])


def used_in(world: World, folder: Path, mode: str, url: str, client: str, *calls: Any) -> dict[str, Any]:
    """What the calls of a client in a folder came to. `client`: by whose token it is known; empty: it has none."""
    token = world.ask("create_client_token", name=client) if client else ""
    program = world.start(sys.executable, str(CLIENT), mode, url, token, str(folder), json.dumps(calls))
    try:
        return dict(program.read(timeout_s=90.0))
    finally:
        program.end()


def folder(world: World, name: str) -> Path:
    made = world.home.resolve() / name
    made.mkdir()
    return made


def test_clients_of_both_eras_reach_what_starts_for_their_folder_and_what_its_own_file_says(world: World) -> None:
    in_project = str(SERVERS / "in_project.py")
    started = {"args": [in_project, "nowhere"], "deferredStartup": True, "startupArgsTemplate": [in_project, "{project_path}"]}
    url = start_hub(world, s={"command": sys.executable, "autoApprove": ["all"], **started})
    one, two = folder(world, "one"), folder(world, "two")
    world.ask("allow_folder", path=str(one))
    entry = {"command": sys.executable, "args": [str(SERVERS / "habits.py")], "autoApprove": ["all"]}
    world.ask("add_mcp_server", name="habits", config=entry, project=str(one))
    for mode, era in (("auto", "modern"), ("legacy", "legacy")):
        seen = used_in(world, one, mode, url, f"client-{mode}", LIST, WHERE, ECHO)
        assert seen["era"] == era
        assert json.loads(seen["results"][1])["args"] == [str(one)]
        assert seen["results"][2] == "hello"
    # nothing ties the requests of a client without a token together, and each call finds its way all the same
    seen = used_in(world, two, "auto", url, "", LIST, WHERE)
    assert json.loads(seen["results"][1])["args"] == [str(two)]
    assert seen["asked"] == 2
    assert "habits" not in seen["results"][0]
