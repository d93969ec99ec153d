"""runtimes.py: the system and the programs that a bundle needs."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.bundles import manifest

from tooltray.sources.bundles.bundle_start import BundleCommand, BundlePlace
from tooltray.sources.bundles.manifest import read_manifest
from tooltray.sources.bundles.runtimes import ask_version, why_not_here, with_python


def program(folder: Path, name: str) -> Path:
    path = folder / name
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def why(folder: Path, command: BundleCommand, version: str = "", **compatibility: Any) -> str:
    found = read_manifest(json.dumps(manifest(compatibility=compatibility)).encode())
    place = BundlePlace("/b", set(), {}, "linux")
    problems = why_not_here(found, place, command, {"PATH": str(folder)}, ask=lambda program, environ: version)
    return "; ".join(map(str, problems))


def runs(name: str, inside: str = "") -> BundleCommand:
    return BundleCommand(name, (), {}, inside)


@pytest.mark.posix
def test_a_bundle_runs_where_its_system_and_its_runtime_are(tmp_path: Path) -> None:
    for name in ("node", "python3", "uv"):
        program(tmp_path, name)
    assert why(tmp_path, runs("node"), "v20.1.0", runtimes={"node": ">=18"}, platforms=["linux"]) == ""
    assert why(tmp_path, runs("node")) == ""
    assert why(tmp_path, runs("node"), "", runtimes={"node": ">=18"}) == ""
    assert why(tmp_path, runs("uv"), "uv 0.4", runtimes={"python": ">=3.20"}) == ""
    assert why(tmp_path, runs("/b/tool", "tool"), platforms=["linux", "darwin"]) == ""
    assert why(tmp_path, runs(" ")) == ""
    assert "it is for macOS, Windows, haiku" in why(tmp_path, runs("node"), platforms=["darwin", "win32", "haiku"])
    assert "needs >=18" in why(tmp_path, runs("node"), "v16.0.1", runtimes={"node": ">=18"})
    assert "is 3.8.1" in why(tmp_path, runs("python3"), "Python 3.8.1", runtimes={"python": ">=3.10"})
    assert "Install Bun" in why(tmp_path, runs("bunx"))


@pytest.mark.posix
def test_python_is_python3_where_there_is_none_of_that_name(tmp_path: Path) -> None:
    environ = {"PATH": str(tmp_path)}
    assert with_python(runs("python"), environ, "/").command == "python"
    program(tmp_path, "python3")
    assert with_python(runs("python"), environ, "/").command == "python3"
    assert with_python(runs("node"), environ, "/").command == "node"
    program(tmp_path, "python")
    assert with_python(runs("python"), environ, "/").command == "python"


def test_a_program_is_asked_for_its_version() -> None:
    assert ask_version(sys.executable, {}).startswith("Python 3.")
    assert ask_version("/no/such/program", {}) == ""
