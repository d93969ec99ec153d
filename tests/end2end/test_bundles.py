"""A server as a bundle, at a real hub: packed, installed with a command, called through a bridge, updated, removed without a trace."""

import json
import shutil
import sys
import zipfile
from pathlib import Path

from tests.end2end.processes import World, wait_until

HABITS = Path(__file__).parent / "servers" / "habits.py"
VALUE = "sk-ant-dummy-0123456789-of-a-bundle"


def project(folder: Path, version: str) -> Path:
    folder.mkdir(exist_ok=True)
    shutil.copy(HABITS, folder / "server.py")
    (folder / "pyproject.toml").write_text(f'[project]\nname = "habits"\nversion = "{version}"\nauthors = [{{name = "Somebody"}}]\n')
    return folder


def call_echo(world: World, text: str) -> str:
    bridge = world.start_bridge()
    bridge.initialize()
    bridge.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    tools = bridge.request("tools/list", id=2)["result"]["tools"]
    [name] = [tool["name"] for tool in tools if tool["name"].endswith("echo")]
    answer = bridge.request("tools/call", {"name": name, "arguments": {"text": text}}, id=3)
    bridge.end()
    return answer["result"]["content"][0]["text"]


def test_a_server_is_packed_installed_called_updated_and_removed_without_a_trace(world: World) -> None:
    world.root.mkdir(mode=0o700)
    folder = project(world.home / "habits", "1.0.0")
    entry = {"command": sys.executable, "args": ["server.py"], "cwd": str(folder), "env": {"API_KEY": VALUE}, "autoApprove": ["all"]}
    settings = {"version": 1, "mcpServers": {"origin": entry}, "defaultServers": [], "autoDetectNpmRegistry": False}
    (world.root / "settings.json").write_text(json.dumps({**settings, "secrets": {"backend": "memory"}}))
    world.start_hub()
    said: list[str] = []

    def cli(*words: str, input: str | None = None) -> str:
        done = world.tooltray(*words, input=input)
        said.append(done.stdout + done.stderr)
        assert done.returncode == 0, done.stderr
        return done.stdout

    cli("bundle", "pack", "origin", "--output", "one.mcpb")
    project(folder, "2.0.0")
    cli("bundle", "pack", "origin", "--output", "two.mcpb")
    cli("servers", "remove", "origin")
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
    for name in ("one.mcpb", "two.mcpb"):
        with zipfile.ZipFile(world.home / name) as archive:
            assert not [each for each in archive.namelist() if VALUE.encode() in archive.read(each)]
