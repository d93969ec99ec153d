"""A server as a bundle, at a real hub: installed with a command, called through a bridge, updated, removed without a trace."""

import json
import sys
from pathlib import Path

from tests.end2end.processes import World, wait_until
from tests.fakes.bundles import SERVER, write_bundle

HABITS = Path(__file__).parent / "servers" / "habits.py"
VALUE = "sk-ant-dummy-0123456789-of-a-bundle"


def bundle(path: Path, version: str) -> None:
    server = {**SERVER, "mcp_config": {"command": sys.executable, "args": ["server/main.py"], "env": {"API_KEY": "${user_config.key}"}}}
    asks = {"key": {"type": "string", "sensitive": True, "required": True}}
    write_bundle(path, {"server/main.py": HABITS.read_bytes()}, name="habits", version=version, server=server, user_config=asks)


def call_echo(world: World, text: str) -> str:
    bridge = world.start_bridge()
    bridge.initialize()
    bridge.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    tools = bridge.request("tools/list", id=2)["result"]["tools"]
    [name] = [tool["name"] for tool in tools if tool["name"].endswith("echo")]
    answer = bridge.request("tools/call", {"name": name, "arguments": {"text": text}}, id=3)
    bridge.end()
    return answer["result"]["content"][0]["text"]


def test_a_bundle_is_installed_called_updated_and_removed_without_a_trace(world: World) -> None:
    world.root.mkdir(mode=0o700)
    bundle(world.home / "one.mcpb", "1.0.0")
    bundle(world.home / "two.mcpb", "2.0.0")
    settings = {"version": 1, "mcpServers": {}, "defaultServers": [], "autoDetectNpmRegistry": False}
    (world.root / "settings.json").write_text(json.dumps({**settings, "secrets": {"backend": "memory"}}))
    world.start_hub()
    said: list[str] = []

    def cli(*words: str, input: str | None = None) -> str:
        done = world.tooltray(*words, input=input)
        said.append(done.stdout + done.stderr)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert "habits" in cli("bundle", "show", "one.mcpb")
    installed = json.loads(cli("bundle", "install", "one.mcpb", "--yes", "--secret-stdin", "--json", input=VALUE))
    assert (installed["server"], installed["started"], installed["version"]) == ("habits", True, "1.0.0")
    world.trust("habits")
    assert call_echo(world, "out of a bundle") == "out of a bundle"
    [before] = json.loads(cli("bundle", "list", "--json"))
    assert (before["author"], Path(before["folder"]).is_dir()) == ("Somebody", True)

    updated = json.loads(cli("bundle", "install", "two.mcpb", "--yes", "--json"))  # the secret stays
    assert (updated["server"], updated["updated"], updated["started"]) == ("habits", True, True)
    [after] = json.loads(cli("bundle", "list", "--json"))
    assert (after["version"], after["folder"] != before["folder"]) == ("2.0.0", True)
    wait_until(lambda: not Path(before["folder"]).exists(), "the old folder to go")
    assert call_echo(world, "again") == "again"

    cli("bundle", "remove", "habits", "--yes")
    bundles = world.root / "bundles"
    wait_until(lambda: not [path for path in bundles.iterdir() if not path.name.startswith((".", "installed"))], "the folders to go")
    assert json.loads(cli("secrets", "list", "--json")) == []
    assert json.loads(cli("bundle", "list", "--json")) == []
    world.stop_hub()
    assert [path.name for path in bundles.iterdir()] == ["installed.json"]
    assert json.loads((bundles / "installed.json").read_text())["bundles"] == []
    assert VALUE not in "".join(said)
    for path in world.root.rglob("*"):
        assert not path.is_file() or VALUE.encode() not in path.read_bytes()
