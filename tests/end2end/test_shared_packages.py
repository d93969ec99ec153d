"""Packages that a real npm and a real uv install for sandboxed servers: one file on the disk for all of them, and none that an install
script can still change. The registries are on the loopback."""

import base64
import hashlib
import io
import json
import os
import sys
import tarfile
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from tests.end2end.conftest import UV
from tests.end2end.processes import World, wait_until
from tests.end2end.test_environment import TOY_SCRIPT
from tests.fakes.npm_registry import FakeRegistry, registries_in_thread

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nothing is shared")

VERSION = "1.0.0"
LIBRARY = "module.exports = 'of a library'".ljust(9000)
BEGINS = """
require('child_process').spawn(process.execPath, ['daemon.js'], {detached: true, stdio: 'ignore'}).unref()
const {existsSync} = require('fs')
while (!existsSync('begun')) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5)
"""
DAEMON = """
const fs = require('fs')
const file = fs.openSync('../library/index.js', 'r+')
for (let count = 0; ; count++) {
  fs.writeSync(file, String(count).padStart(12), 0)
  if (count === 100) fs.writeFileSync('begun', '')
}
"""
PACKAGES: dict[str, tuple[dict[str, Any], dict[str, str]]] = {
    "library": ({}, {"index.js": LIBRARY}),
    "daemon": ({"scripts": {"postinstall": "node begins.js"}}, {"begins.js": BEGINS, "daemon.js": DAEMON}),
    "good": ({"bin": "toy.js", "dependencies": {"library": VERSION}}, {"toy.js": TOY_SCRIPT}),
    "bad": ({"bin": "toy.js", "dependencies": {"library": VERSION, "daemon": VERSION}}, {"toy.js": TOY_SCRIPT}),
}


WHEEL = "toy-1.0.0-py3-none-any.whl"
PYTHON_TOY = """
import json, sys
def main():
    for line in sys.stdin:
        request = json.loads(line)
        answers = {
            "initialize": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "toy", "version": "1"}},
            "tools/list": {"tools": [{"name": "toy", "inputSchema": {"type": "object"}}]},
        }
        if "id" in request:
            answer = answers.get(request["method"])
            reply = {"result": answer} if answer else {"error": {"code": -32601, "message": request["method"]}}
            print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **reply}), flush=True)
""".ljust(9000, "#")


def wheel() -> bytes:
    info = "toy-1.0.0.dist-info"
    files = {
        "toy.py": PYTHON_TOY,
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: toy\nVersion: 1.0.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": "[console_scripts]\ntoy = toy:main\n",
    }
    files[f"{info}/RECORD"] = "".join(f"{name},,\n" for name in (*files, f"{info}/RECORD"))
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as opened:
        for name, text in files.items():
            opened.writestr(name, text)
    return packed.getvalue()


def archive(name: str) -> bytes:
    manifest, files = PACKAGES[name]
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as opened:
        for path, text in {"package.json": json.dumps({"name": name, "version": VERSION, **manifest}), **files}.items():
            member = tarfile.TarInfo(f"package/{path}")
            member.size, member.mode = len(text), 0o755
            opened.addfile(member, io.BytesIO(text.encode()))
    return packed.getvalue()


async def answer(request: web.BaseRequest, path: str) -> web.StreamResponse:
    if path == "pypi/toy/":
        return web.Response(text=f'<a href="{WHEEL}">{WHEEL}</a>', content_type="text/html")
    if path == f"pypi/toy/{WHEEL}":
        return web.Response(body=wheel())
    name = path.partition("/")[0]
    if name not in PACKAGES:
        return web.json_response({"error": "Not found"}, status=404)
    if path.endswith(".tgz"):
        return web.Response(body=ARCHIVES[name])
    integrity = f"sha512-{base64.b64encode(hashlib.sha512(ARCHIVES[name]).digest()).decode()}"
    dist = {"tarball": f"http://{request.host}/{name}/-/{name}-{VERSION}.tgz", "integrity": integrity}
    manifest = {"name": name, "version": VERSION, **PACKAGES[name][0], "dist": dist}
    return web.json_response({"name": name, "dist-tags": {"latest": VERSION}, "versions": {VERSION: manifest}})


ARCHIVES = {name: archive(name) for name in PACKAGES}


@pytest.fixture
def registry() -> Iterator[FakeRegistry]:
    fake = FakeRegistry(on_package=answer)
    with registries_in_thread(fake):
        yield fake


@pytest.fixture
def machine(world: World, node: str, registry: FakeRegistry) -> World:
    """One with npm and uv."""
    world.environ["PATH"] = os.pathsep.join([str(Path(node).parent), str(UV.parent), world.environ["PATH"]])
    return world


def start_all(world: World, registry: FakeRegistry, **servers: Sequence[str]) -> None:
    """Starts a hub with sandboxed servers, which installs their packages."""
    entry = {
        "confinement": {"files": "own", "network": "none"},
        "autoApprove": ["all"],
        "env": {"UV_DEFAULT_INDEX": f"{registry.url}pypi", "UV_PYTHON_DOWNLOADS": "never"},
    }
    entries = {name: {**entry, "command": command, "args": list(args)} for name, (command, *args) in servers.items()}
    settings = {"version": 1, "mcpServers": entries, "defaultServers": [], "autoDetectNpmRegistry": False}
    world.write_settings({**settings, "customNpmRegistry": registry.url})
    world.start_hub()
    for name in servers:
        start(world, name)


def start(world: World, name: str) -> None:
    world.ask("start_server", name=name)
    wait_until(lambda: world.servers()[name]["is_listed"], f"the tools of {name}")


def file_of(world: World, server: str, pattern: str) -> Path:
    """A file of a server's package; the last part of the name of the server's folder is a hash."""
    [found] = (world.root / "confined").glob(f"{server}-*/packages/{pattern}")
    return found


def store(world: World) -> list[Path]:
    return list((world.root / "confined" / "shared").iterdir())


def test_servers_have_one_file_that_no_script_of_another_package_changes_and_it_goes_with_the_last(
    machine: World, registry: FakeRegistry
) -> None:
    world = machine
    start_all(world, registry, good=("npx", "-y", "good"), bad=("npx", "-y", "bad"), again=("npx", "-y", "good"))
    good, bad, again = (file_of(world, server, "npm-*/node_modules/library/index.js") for server in ("good", "bad", "again"))
    assert good.samefile(again)
    assert good.read_text() == LIBRARY
    assert int(bad.read_text()[:12]) >= 100, "the daemon has not run, so this proves nothing"
    for file in store(world):
        assert file.name.startswith(hashlib.sha256(file.read_bytes()).hexdigest()), "it was changed after it was shared"
    asked = len(registry.asked.all)
    world.stop_hub()
    world.start_hub()
    start(world, "good")
    assert len(registry.asked.all) == asked, "it starts without its registry"
    assert not [*world.root.glob("confined/*/packages/*/.installing")]
    for server in ("good", "bad"):
        world.ask("remove_mcp_server", name=server)
        wait_until(lambda server=server: not [*world.root.glob(f"confined/{server}-*")], f"{server}'s folder to go")
    assert again.read_text() == LIBRARY
    world.ask("remove_mcp_server", name="again")
    wait_until(lambda: not store(world), "the store to be empty")


def test_tools_of_uv_share_what_came_out_of_its_archives(machine: World, registry: FakeRegistry) -> None:
    start_all(machine, registry, one=("uvx", "toy"), two=("uvx", "toy"))
    one, two = (file_of(machine, server, "uv-*/tools/toy/lib/python*/site-packages/toy.py") for server in ("one", "two"))
    assert one.samefile(two)
    assert [each.name[:64] for each in store(machine)] == [hashlib.sha256(PYTHON_TOY.encode()).hexdigest()]
    assert not [*machine.root.glob("confined/*/packages/*/.installing")]
