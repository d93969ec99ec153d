"""MCP Apps in a browser: a host of the reference packages renders views of several servers behind one hub."""

import json
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from tests.conformance.apps.loopback import Loopback, serving
from tests.end2end.conftest import NPM_SERVERS
from tests.end2end.processes import World, new_world, wait_until

pytestmark = pytest.mark.timeout(120)
PACKAGES = NPM_SERVERS.parent
SDK = PACKAGES / "@modelcontextprotocol" / "ext-apps" / "dist" / "src" / "app-with-deps.js"
CLOCK = PACKAGES / "@modelcontextprotocol" / "server-basic-vanillajs" / "dist" / "index.js"
APP_SERVER = Path(__file__).parent / "apps" / "app_server.py"
FLAGS = ["headless", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run", "disable-background-networking"]
FLAGS += ["disable-component-update", "disable-sync", "disable-dev-shm-usage", "disable-breakpad", "no-proxy-server"]
REPORTED_S = 60.0
HTML = "text/html;profile=mcp-app"


@pytest.fixture
def world() -> Iterator[World]:
    with new_world() as fresh:
        yield fresh


@pytest.fixture
def sandbox() -> Iterator[Loopback]:
    """Another origin than the host's."""
    with serving(PACKAGES) as server:
        yield server


def hub_of(world: World, servers: Mapping[str, Any]) -> str:
    """A hub with these servers; returns its address."""
    document = {
        "version": 1,
        "mcpServers": {name: {**entry, "autoApprove": ["all"]} for name, entry in servers.items()},
        "defaultServers": [*servers],
        "publish": {"http": {"enabled": True, "port": 0, "requireToken": False}},
    }
    world.root.mkdir(mode=0o700)
    (world.root / "settings.json").write_text(json.dumps(document))
    world.start_hub()
    return str(wait_until(lambda: json.loads((world.root / "run" / "hub.json").read_bytes()).get("http"), "the HTTP endpoints")).rstrip("/")


def rendered(world: World, hub: str, sandbox: Loopback, steps: list[dict[str, Any]]) -> list[Any]:
    """What came of each step in a browser."""
    chromium = shutil.which("chromium")
    assert chromium, "Chromium is missing; `make conformance` installs it"
    with serving(PACKAGES, hub) as host:
        query = urlencode({"sandbox": sandbox.origin, "steps": json.dumps(steps)})
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as own:  # it leaves its socket, however it ends
            flags = [*(f"--{flag}" for flag in FLAGS), f"--user-data-dir={own}/profile"]
            browser = world.start(
                chromium, *flags, f"{host.origin}/apps/host.html?{query}", environ={"TMPDIR": own, "XDG_CONFIG_HOME": own}
            )
            browser.heeds_stdin = False
            try:
                report: list[Any] = host.reports.get(timeout=REPORTED_S)
            finally:
                browser.end()
                wait_until(lambda: not [each for each in world.processes() if "chrom" in each.name()], "the browser to go")
    return report


def test_two_servers_with_one_uri_show_their_own_views_and_are_called_by_these_alone(world: World, sandbox: Loopback) -> None:
    probe = f"{sandbox.origin}/ping"
    allowed = {"one": [sandbox.origin], "two": []}
    servers = {
        name: {"command": sys.executable, "args": [str(APP_SERVER), name, str(SDK), probe, *origins]} for name, origins in allowed.items()
    }
    steps = [
        {"session": "first", "tool": "one_show", "waits": True},
        {"session": "second", "tool": "two_show", "waits": True},
        {"session": "first", "tool": "two_show", "waits": True},
    ]
    first, second, both = rendered(world, hub_of(world, servers), sandbox, steps)
    for name, seen, fetched in (("one", first, "fetched"), ("two", second, "blocked")):
        uri = f"ui://{name}/ui%3A%2F%2Fshared%2Fview.html"
        assert (seen["uri"], seen["contentUri"], seen["mimeType"], seen["ui"]) == (uri, uri, HTML, {"resourceUri": uri})
        assert seen["meta"] == {"ui": {"csp": {"connectDomains": allowed[name]}, "prefersBorder": True}}
        assert seen["told"] == {"view": name, "shown": f"show of {name}", "called": f"refresh of {name}", "fetched": fetched}
        assert seen["hidden"] == ["one_refresh", "two_refresh"]
    assert (both["told"]["view"], both["told"]["shown"]) == ("two", "show of two")
    assert "the request does not name a view" in both["told"]["called"]


def test_the_view_of_a_reference_server_calls_its_own_of_two_that_are_alike(world: World, sandbox: Loopback, node: str) -> None:
    servers = {name: {"command": node, "args": [str(CLOCK), "--stdio"]} for name in ("clock", "watch")}
    steps = [
        {"session": "first", "tool": "watch_get-time"},
        {"click": "#get-time-btn", "look": "#server-time", "unlike": "Loading..."},
    ]
    shown, seen = rendered(world, hub_of(world, servers), sandbox, steps)
    assert shown["uri"] == "ui://watch/ui%3A%2F%2Fget-time%2Fmcp-app.html"
    assert seen.startswith("20")
    wanted = [("watch", "get-time")] * 2
    assert wait_until(lambda: len(calls := calls_of(world)) >= len(wanted) and calls, "the calls in the journal") == wanted


def calls_of(world: World) -> list[tuple[str, str]]:
    """The journal's calls, as servers and tools; it gathers entries for a moment before it writes them."""
    entries = [each["entry"] for each in json.loads(world.tooltray("activity", "--json").stdout)]
    return [(each["server"], each["tool"]) for each in entries if each["kind"] == "call"]
