"""Packages that a real npm installs for sandboxed servers: one file on the disk for all of them, and none that an install script can still
change. The registry is on the loopback."""

import base64
import hashlib
import io
import json
import shutil
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
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
def installed(world: World, node: str, registry: FakeRegistry) -> World:
    """Three sandboxed servers in a hub that has installed and started them."""
    beside = Path(node).with_name("npx")
    npx = str(beside) if beside.exists() else shutil.which("npx")
    world.environ["PATH"] = f"{Path(node).parent}:{world.environ['PATH']}"
    entry = {"command": npx, "confinement": {"files": "own", "network": "none"}, "autoApprove": ["all"]}
    servers = {name: {**entry, "args": ["-y", name.partition("-")[0]]} for name in ("good", "bad", "good-again")}
    world.write_settings(
        {"version": 1, "mcpServers": servers, "defaultServers": [], "autoDetectNpmRegistry": False, "customNpmRegistry": registry.url}
    )
    world.start_hub()
    for name in servers:
        start(world, name)
    return world


def start(world: World, name: str) -> None:
    world.ask("start_server", name=name)
    wait_until(lambda: world.servers()[name]["is_listed"], f"the tools of {name}")


def library_of(world: World, server: str) -> Path:
    """The library of a server; the last part of its folder's name is a hash."""
    [found] = (world.root / "confined").glob(f"{server}-{'[0-9a-f]' * 12}/packages/npm-*/node_modules/library/index.js")
    return found


def store(world: World) -> list[Path]:
    return list((world.root / "confined" / "shared").iterdir())


def test_servers_have_one_file_that_no_script_of_another_package_changes_and_it_goes_with_the_last(
    installed: World, registry: FakeRegistry
) -> None:
    good, bad, again = (library_of(installed, server) for server in ("good", "bad", "good-again"))
    assert good.samefile(again)
    assert good.read_text() == LIBRARY
    assert int(bad.read_text()[:12]) >= 100, "the daemon has not run, so this proves nothing"
    for file in store(installed):
        assert file.name.startswith(hashlib.sha256(file.read_bytes()).hexdigest()), "it was changed after it was shared"
    asked = len(registry.asked.all)
    installed.stop_hub()
    installed.start_hub()
    start(installed, "good")
    assert len(registry.asked.all) == asked, "it starts without its registry"
    assert not [*installed.root.glob("confined/*/packages/*/.installing")]
    for server in ("good", "bad"):
        installed.ask("remove_mcp_server", name=server)
        wait_until(lambda server=server: not [*installed.root.glob(f"confined/{server}-{'[0-9a-f]' * 12}")], f"{server}'s folder to go")
    assert again.read_text() == LIBRARY
    installed.ask("remove_mcp_server", name="good-again")
    wait_until(lambda: not store(installed), "the store to be empty")
