"""npm registries with the real programs: a hub that measures registries on the loopback, and servers that ask there.

npm's own registry stands in the person's npmrc; a proxy on the loopback stands between the hub and the mirrors, and lets nothing out.
"""

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.end2end.processes import World, wait_until
from tests.fakes.npm_registry import SDK, FakeRegistry, answers, answers_html, document, redirects, registries_in_thread


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


def registry(world: World, *words: str, code: int = 0) -> Any:
    done = world.tooltray("registry", *words, "--json")
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout) if code == 0 else json.loads(done.stderr)["error"]


def by_url(status: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {each["url"]: each for each in status["measurements"]}


@pytest.mark.parametrize("with_hub", [True, False])
def test_registries_are_measured_chosen_and_remembered(world: World, network: Network, with_hub: bool) -> None:
    added = [{"url": each.url} for each in (network.quick, network.page, network.elsewhere)]
    network.own.packages[SDK] = network.quick.packages[SDK] = "1.2.3"
    write_settings(world, {}, npmRegistries=added)
    if with_hub:
        world.start_hub()
    assert registry(world, "status")["measurements"] == []
    found = by_url(registry(world, "measure"))
    assert (found[network.own.url]["origin"], found[network.own.url]["problem"]) == ("npm", "")
    assert "web page" in found[network.page.url]["problem"]
    assert "elsewhere.example" in found[network.elsewhere.url]["problem"]
    mirrors = [each for each in found.values() if each["origin"] == "mirror"]
    assert mirrors
    assert all("the proxy refused to connect" in each["problem"] for each in mirrors)
    assert len(network.proxy.asked.all) == len(mirrors)
    assert network.own.asked.all[0].headers["Authorization"] == "Bearer of-npmrc"
    assert "Authorization" not in network.quick.asked.all[0].headers
    status = registry(world, "auto", "on")
    fastest = min((network.own, network.quick), key=lambda each: found[each.url]["milliseconds"])
    assert status["url"] == ("" if fastest is network.own else network.quick.url)
    assert not [path for path in world.root.rglob("*") if path.is_file() and b"of-npmrc" in path.read_bytes()]
    if with_hub:
        world.stop_hub()
        world.start_hub()
    again = registry(world, "status")
    assert (again["is_from_cache"], again["url"]) == (True, status["url"])
    assert set(by_url(again)) == {network.own.url, network.quick.url}, "failures are not kept"


def test_a_custom_registry_is_tested_saved_and_reaches_the_server(
    world: World, network: Network, npm_server: Callable[..., list[str]]
) -> None:
    node, program = npm_server("everything")
    write_settings(world, {"s": {"command": node, "args": [program], "autoApprove": ["all"]}})
    world.start_hub()
    assert "a web page" in registry(world, "set", network.page.url, code=1)["message"]
    assert "customNpmRegistry" not in (world.root / "settings.json").read_text()
    assert npm_variable_of_server(world) is None
    assert registry(world, "set", network.quick.url.rstrip("/"))["url"] == network.quick.url
    assert json.loads((world.root / "settings.json").read_text())["customNpmRegistry"] == network.quick.url
    assert npm_variable_of_server(world) == network.quick.url
    assert registry(world, "clear")["url"] == ""
    assert npm_variable_of_server(world) is None


def npm_variable_of_server(world: World) -> str | None:
    """What a server has in its environment that was started anew."""
    assert world.tooltray("servers", "restart", "s").returncode == 0
    done = world.tooltray("tools", "call", "get-env", "--json")
    assert done.returncode == 0, done.stderr
    environ: dict[str, str] = json.loads(json.loads(done.stdout)["content"][0]["text"])
    return environ.get("npm_config_registry")


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


def test_a_hub_measures_by_itself_where_a_server_comes_from_npm_and_only_there(world: World, network: Network) -> None:
    npx = world.home / "bin" / "npx"
    npx.parent.mkdir()
    npx.write_text("#!/bin/sh\nexit 1\n")
    npx.chmod(0o755)
    world.environ["PATH"] = f"{npx.parent}:{world.environ['PATH']}"
    added = [{"url": network.quick.url}]
    write_settings(world, {"s": {"command": "npx", "args": ["tooltray-test-server"]}}, npmRegistries=added, autoDetectNpmRegistry=True)
    world.start_hub()
    wait_until(lambda: registry(world, "status")["measured_at"], "the registries to be measured")
    assert {each.path for each in network.quick.asked.all} == {"/@modelcontextprotocol%2fsdk"}
    assert network.proxy.asked.all == [], "a registry was chosen in npm's configuration, so no mirror may hear of anything"


def test_a_document_of_another_package_is_no_answer(world: World, network: Network) -> None:
    network.page.on_package = answers(document("another", "1.0.0"))
    write_settings(world, {})
    assert "another package" in registry(world, "set", network.page.url, code=1)["message"]
