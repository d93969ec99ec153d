"""runtimes.py: the system and the programs that a bundle needs."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.bundles import manifest

from tooltray.sources.bundles.bundle_command import BundleCommand, BundlePlace
from tooltray.sources.bundles.manifest import read_manifest
from tooltray.sources.bundles.runtimes import ask_version, fits, version_in, why_not_here, with_python


@pytest.mark.parametrize(
    ("wanted", "inside", "outside"),
    [
        (">=16.0.0", (16, 0, 0), (15, 9, 9)),
        (">=3.8,<4.0", (3, 11, 2), (4, 0, 0)),
        (">=16 <20", (18, 0, 0), (20, 0, 0)),
        ("^1.2.3", (1, 9, 0), (2, 0, 0)),
        ("^0.2.3", (0, 2, 9), (0, 3, 0)),
        ("^0.0.3", (0, 0, 3), (0, 0, 4)),
        ("^0", (0, 5, 0), (1, 0, 0)),
        ("~1.2.3", (1, 2, 9), (1, 3, 0)),
        ("~1", (1, 9, 0), (2, 0, 0)),
        ("~=3.8", (3, 9, 0), (4, 0, 0)),
        ("~=3.8.1", (3, 8, 5), (3, 9, 0)),
        ("18.x", (18, 3, 0), (19, 0, 0)),
        ("v20", (20, 1, 0), (21, 0, 0)),
        ("==3.11", (3, 11, 7), (3, 12, 0)),
        (">3.11", (3, 12, 0), (3, 11, 9)),
        ("<=3.11", (3, 11, 9), (3, 12, 0)),
        ("!=3.11", (3, 12, 0), (3, 11, 9)),
        ("16 - 18", (18, 5, 0), (19, 0, 0)),
        ("<16 || >=20", (22, 0, 0), (18, 0, 0)),
        (">= 18.0.0-rc.1", (18, 0, 0), (17, 0, 0)),
    ],
)
def test_a_version_is_in_a_range_or_not(wanted: str, inside: tuple[int, int, int], outside: tuple[int, int, int]) -> None:
    assert fits(inside, wanted)
    assert not fits(outside, wanted)


@pytest.mark.parametrize("wanted", ["", "*", "x", "latest", "a lot"])
def test_what_is_not_understood_excludes_nothing(wanted: str) -> None:
    assert fits((0, 1, 0), wanted)


def test_a_version_is_found_in_what_a_program_prints() -> None:
    assert version_in("v22.1.0\n") == (22, 1, 0)
    assert version_in("Python 3.12") == (3, 12, 0)
    assert version_in("none") is None


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
