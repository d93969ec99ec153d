"""npm registries with the real programs: a hub that measures registries on the loopback, and servers that ask there.

npm's own registry stands in the person's npmrc; a proxy on the loopback stands between the hub and the mirrors, and lets nothing out.
"""

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.end2end.processes import World
from tests.fakes.npm_registry import FakeRegistry, answers, answers_html, redirects, registries_in_thread


@dataclass
class Network:
    own: FakeRegistry
    quick: FakeRegistry
    page: FakeRegistry
    elsewhere: FakeRegistry
    proxy: FakeRegistry

    @property
    def environ(self) -> dict[str, str]:
        return {"https_proxy": self.proxy.url, "no_proxy": "127.0.0.1"}  # npm has its own idea of loopbacks and proxies


@pytest.fixture
def network(world: World) -> Iterator[Network]:
    closed = answers({}, status=502)
    every = Network(FakeRegistry(), FakeRegistry(), FakeRegistry(), FakeRegistry(), FakeRegistry(on_package=closed))
    every.page.on_package, every.elsewhere.on_package = answers_html(), redirects(lambda name: "https://elsewhere.example/")
    with registries_in_thread(every.own, every.quick, every.page, every.elsewhere, every.proxy):
        (world.home / ".npmrc").write_text(f"registry={every.own.url}\n//{every.own.url.split('/')[2]}/:_authToken=of-npmrc\n")
        world.environ |= every.environ
        yield every


def write_settings(world: World, servers: dict[str, Any], **settings: Any) -> None:
    world.root.mkdir(mode=0o700, exist_ok=True)
    document = {"version": 1, "mcpServers": servers, "defaultServers": [], "autoDetectNpmRegistry": False, **settings}
    (world.root / "settings.json").write_text(json.dumps(document))


def test_a_real_npx_asks_the_registry_that_was_chosen(world: World, network: Network, node: str) -> None:
    beside = Path(node).with_name("npx")
    npx = str(beside) if beside.exists() else shutil.which("npx")
    world.environ["PATH"] = f"{Path(node).parent}:{world.environ['PATH']}"
    network.quick.packages["tooltray-test-server"] = "1.0.0"
    variables = {"npm_config_fetch_retries": "0", "NODE_DISABLE_COMPILE_CACHE": "1"}  # else npm leaves it in TMPDIR
    server = {"command": npx, "args": ["-y", "tooltray-test-server"], "env": variables}
    write_settings(world, {"s": server}, customNpmRegistry=network.quick.url)
    world.start_hub()
    world.tooltray("servers", "start", "s")  # there is nothing to unpack; what counts is whom npx has asked
    assert "/tooltray-test-server" in [each.path for each in network.quick.asked.all]
    assert not [each for each in network.own.asked.all if "tooltray-test-server" in each.path]
