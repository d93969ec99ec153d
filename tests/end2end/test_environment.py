"""Servers start for a person whose Node.js comes from nvm, though the hub was launched without a shell; and without npx where that is safe.

The Node.js is the one of the tests, laid out below a HOME as nvm does it; npx is npm's real one, and its registry is on the loopback.
"""

import json
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.end2end.processes import World
from tests.end2end.raw_client import RawClient
from tests.fakes.npm_cache import unpack
from tests.fakes.npm_registry import FakeRegistry, answers, registries_in_thread

VERSION = "v20.11.0"
TOY, TOY_VERSION = "tooltray-toy-server", "1.0.0"
TOY_SPEC = f"{TOY}@{TOY_VERSION}"
TOY_SCRIPT = """#!/usr/bin/env node
const answers = {
  initialize: () => ({protocolVersion: '2025-06-18', capabilities: {tools: {}}, serverInfo: {name: 'toy', version: '1'}}),
  'tools/list': () => ({tools: [{name: 'where', inputSchema: {type: 'object'}}]}),
  'tools/call': () => ({content: [{type: 'text', text: JSON.stringify({argv: process.argv, env: process.env, cwd: process.cwd()})}]}),
}
require('readline').createInterface({input: process.stdin}).on('line', line => {
  const {id, method} = JSON.parse(line)
  if (id === undefined) return
  const answer = answers[method]
  const body = answer ? {result: answer()} : {error: {code: -32601, message: method}}
  process.stdout.write(JSON.stringify({jsonrpc: '2.0', id, ...body}) + '\\n')
})
"""
TOLD_BY_NPX = (
    *("PWD", "INIT_CWD", "NODE", "npm_command", "npm_config_cache", "npm_config_prefix", "npm_execpath", "npm_lifecycle_event"),
    *("npm_lifecycle_script", "npm_node_execpath", "npm_config_registry"),
)


@pytest.fixture
def without_shell(world: World) -> World:
    """A machine on which a desktop starts the hub: nothing in its environment but what a session has."""
    world.environ |= {"PATH": "/usr/bin:/bin", "SHELL": "/bin/bash"}
    return world


def install_with_nvm(world: World, node: str, *programs: str) -> Path:
    """Node.js as nvm lays it out, and programs that `npm install -g` put beside it; returns their folder."""
    places = (
        Path(node).resolve().parents[1] / "lib" / "node_modules" / "npm",
        Path(shutil.which("npm") or "/no/such/x").resolve().parents[1],
    )
    npm = next((place for place in places if (place / "bin" / "npx-cli.js").is_file()), None)
    assert npm, "npm is missing; `make test` installs what tests need"
    prefix = world.home / ".nvm" / "versions" / "node" / VERSION
    (prefix / "bin").mkdir(parents=True)
    (prefix / "lib" / "node_modules").mkdir(parents=True)
    (prefix / "bin" / "node").symlink_to(Path(node).resolve())
    (prefix / "lib" / "node_modules" / "npm").symlink_to(npm)
    (prefix / "bin" / "npx").symlink_to("../lib/node_modules/npm/bin/npx-cli.js")
    for each in programs:
        (prefix / "bin" / Path(each).name.replace("index.js", "mcp-server-everything")).symlink_to(each)
    return prefix / "bin"


def write_settings(world: World, **server: Any) -> None:
    world.root.mkdir(mode=0o700, exist_ok=True)
    document = {"version": 1, "mcpServers": {"s": {"autoApprove": ["all"], **server}}, "autoDetectNpmRegistry": False}
    (world.root / "settings.json").write_text(json.dumps(document))


def snapshot(world: World) -> dict[str, Any]:
    return world.servers()["s"]


def start(world: World) -> dict[str, Any]:
    world.ask("start_server", name="s")
    return snapshot(world)


def process_of(found: dict[str, Any]) -> psutil.Process:
    return psutil.Process(found["pids"][0])


def test_a_server_that_needs_nvms_node_starts_though_only_the_rc_file_of_a_terminal_knows_nvm(
    without_shell: World, node: str, npm_server: Callable[..., list[str]]
) -> None:
    world = without_shell
    folder = install_with_nvm(world, node, npm_server("everything")[1])
    (world.home / ".nvm" / "nvm.sh").write_text(f'export PATH="$NVM_DIR/versions/node/{VERSION}/bin:$PATH"\n')
    (world.home / ".bashrc").write_text('export NVM_DIR="$HOME/.nvm"\n[ -s "$NVM_DIR/nvm.sh" ] && . "$NVM_DIR/nvm.sh"\n')
    write_settings(world, command="mcp-server-everything")
    world.start_hub()
    command_line = process_of(start(world)).cmdline()
    assert command_line[1] == str(folder / "mcp-server-everything")
    assert world.tooltray("tools", "call", "echo", '{"message": "hello"}').returncode == 0
    assert environ_of(world)["PATH"].startswith(f"{folder}:")


def test_a_hub_that_a_bridge_starts_has_nothing_of_the_ai_clients_variables(world: World) -> None:
    server = Path(__file__).parent / "servers" / "in_project.py"
    write_settings(world, command=sys.executable, args=[str(server), "${ONLY_TYPED:-nothing}"])
    bridge = world.start_bridge(environ={"ONLY_TYPED": "of the client"})
    assert json.loads(RawClient(bridge).call("where"))["args"] == ["nothing"]
    bridge.end()


def environ_of(world: World) -> dict[str, str]:
    """What the server itself sees."""
    done = world.tooltray("tools", "call", "get-env", "--json")
    assert done.returncode == 0, done.stderr
    found: dict[str, str] = json.loads(json.loads(done.stdout)["content"][0]["text"])
    return found


# without the launcher


@pytest.fixture
def registry() -> Iterator[FakeRegistry]:
    """A registry that knows the toy, and has nothing of it to download."""
    manifest = {"name": TOY, "version": TOY_VERSION, "bin": {TOY: "dist/index.js"}, "dist": {"tarball": "http://127.0.0.1:9/toy.tgz"}}
    document = {"name": TOY, "dist-tags": {"latest": TOY_VERSION}, "versions": {TOY_VERSION: manifest}}
    fake = FakeRegistry(on_package=answers(document))
    with registries_in_thread(fake):
        yield fake


@pytest.fixture
def toy(without_shell: World, node: str, registry: FakeRegistry) -> Callable[..., None]:
    """Writes the settings of a server by npx whose package is unpacked."""
    world = without_shell
    folder = install_with_nvm(world, node)
    settings = f"npm_config_registry={registry.url} npm_config_fetch_retries=0 NODE_DISABLE_COMPILE_CACHE=1"  # else npm leaves it in TMPDIR
    (world.home / ".profile").write_text(f'export PATH="{folder}:/usr/bin:/bin" {settings}\n')
    unpack(world.home / ".npm", spec=TOY_SPEC, package=TOY, version=TOY_VERSION, script=TOY_SCRIPT)

    def write(**fields: Any) -> None:
        write_settings(world, command="npx", args=["-y", TOY_SPEC, "--flag", "a b"], **fields)

    return write


def where(world: World) -> dict[str, Any]:
    """What the toy says of itself."""
    done = world.tooltray("tools", "call", "where", "--json")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(json.loads(done.stdout)["content"][0]["text"])
    return found


def run_toy(world: World) -> tuple[dict[str, Any], dict[str, Any], int]:
    """What is seen of it, what it says itself, and how many processes it has."""
    world.start_hub()
    seen, told = start(world), where(world)
    count = 1 + len(process_of(seen).children(recursive=True))
    world.stop_hub()
    return seen, told, count


def test_a_server_that_runs_without_npx_is_the_one_that_npx_runs_with_fewer_processes(
    without_shell: World, toy: Callable[..., None], registry: FakeRegistry
) -> None:
    toy(directStart=False)
    seen_with, told_with, count_with = run_toy(without_shell)
    assert (seen_with["saved_processes"], registry.asked.all != []) == (0, True)
    asked_before = len(registry.asked.all)
    toy()
    seen, told, count = run_toy(without_shell)
    assert len(registry.asked.all) == asked_before, "the network is not asked"
    assert (count, seen["saved_processes"]) == (1, count_with - 1)
    assert (told["argv"], told["cwd"]) == (told_with["argv"], told_with["cwd"])
    assert {name: told["env"].get(name) for name in TOLD_BY_NPX} == {name: told_with["env"].get(name) for name in TOLD_BY_NPX}
    assert told["env"]["PATH"].split(":")[0] == told_with["env"]["PATH"].split(":")[0]
    assert not set(told["env"]["PATH"].split(":")) - set(told_with["env"]["PATH"].split(":"))


# of a hub that a bridge started


def at_bridge(world: World) -> dict[str, str]:
    """What a server has whose hub a bridge started for an AI client with an empty environment."""
    bridge = world.start_bridge(environ={"API_KEY": "of the client"})
    found: dict[str, str] = json.loads(RawClient(bridge).call("environment"))
    bridge.end()
    return found


@pytest.fixture
def needy(world: World) -> Path:
    """A server that needs what only this person's terminal knows; returns the certificates."""
    bundle = world.home / "company.pem"
    bundle.touch()
    write_settings(world, command=sys.executable, args=[str(Path(__file__).parent / "servers" / "needy.py")])
    document = json.loads((world.root / "settings.json").read_text()) | {"defaultServers": ["s"]}
    (world.root / "settings.json").write_text(json.dumps(document))
    return bundle


def test_a_server_runs_from_a_bridge_in_an_empty_environment_once_a_person_started_the_hub(world: World, needy: Path) -> None:
    proxies = {"HTTPS_PROXY": "http://127.0.0.1:9", "http_proxy": "http://me:hunter2@127.0.0.1:9"}
    world.start_hub(environ={"SSL_CERT_FILE": str(needy), "SSH_AUTH_SOCK": str(needy), **proxies})
    start(world)
    world.stop_hub()
    found = at_bridge(world)
    assert (found["SSL_CERT_FILE"], found["HTTPS_PROXY"]) == (str(needy), "http://127.0.0.1:9")
    assert not {"http_proxy", "SSH_AUTH_SOCK", "API_KEY"} & found.keys()
    kept = world.root / "environment.json"
    assert (kept.stat().st_mode & 0o777, "hunter2" in kept.read_text()) == (0o600, False)
    assert f"SSL_CERT_FILE={needy} (remembered since " in world.tooltray("doctor").stdout
    world.stop_hub()
    needy.unlink()
    said = world.tooltray("doctor").stdout
    assert f"SSL_CERT_FILE={needy} (remembered since " in said
    assert "not used: its file is gone" in said
    assert f"s last worked with SSL_CERT_FILE={needy}; now it is missing" in said
    assert world.tooltray("doctor", "--forget-environment").returncode == 0
    assert not kept.exists()
    world.stop_hub()
