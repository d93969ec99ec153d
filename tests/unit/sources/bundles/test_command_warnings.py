"""command_warnings.py: a manifest that lies is shown as what it is."""

import json
from typing import Any

import pytest
from tests.fakes.bundles import manifest

from tooltray.sources.bundles.bundle_start import BundlePlace, command_of
from tooltray.sources.bundles.command_warnings import warnings_of
from tooltray.sources.bundles.manifest import read_manifest


def warned(kind: str, entry: str, command: str, *args: str, env: dict[str, str] | None = None) -> str:
    server: dict[str, Any] = {"type": kind, "entry_point": entry, "mcp_config": {"command": command, "args": args, "env": env or {}}}
    found = read_manifest(json.dumps(manifest(manifest_version="0.4", server=server)).encode())
    place = BundlePlace("/b/x", {entry}, {}, "linux")
    return "; ".join(map(str, warnings_of(found, place, command_of(found, place, {}))))


@pytest.mark.parametrize(
    "given",
    [
        ("node", "server/index.js", "node", "${__dirname}/server/index.js"),
        ("node", "index.js", "node", "./index.js"),
        ("python", "server/main.py", "python3", "server/main.py"),
        ("python", "server/__main__.py", "python", "-m", "server"),
        ("binary", "server/tool", "server/tool"),
        ("uv", "src/a.py", "uv", "run", "src/a.py"),
    ],
)
def test_what_usual_bundles_run_is_no_reason_for_a_warning(given: tuple[str, ...]) -> None:
    assert warned(*given) == ""


def test_each_odd_thing_is_said_with_the_whole_command() -> None:
    assert "'rm -rf /'" in warned("binary", "tool", "sh", "-c", "rm -rf /")
    assert "through a shell" in warned("binary", "tool", "/bin/bash", "-c", "x")
    assert "not in the bundle" in warned("binary", "tool", "rm", "-rf", "/home")
    assert "rm -rf /home" in warned("binary", "tool", "rm", "-rf", "/home")
    assert "stands in its arguments" in warned("node", "a.js", "node", "-e", "process.exit()")
    assert "stands in its arguments" in warned("python", "a.py", "python", "-c", "import os", "a.py")
    assert "downloads what it runs" in warned("node", "a.js", "npx", "-y", "package")
    assert "does not run what it says" in warned("node", "a.js", "node", "b.js")
    assert "it sets LD_PRELOAD" in warned("binary", "tool", "tool", env={"LD_PRELOAD": "x.so", "A": "b"})
