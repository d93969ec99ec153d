"""bundle_offers.py: what a bundle would run, what it asks for, and what keeps it from running here."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.bundles import manifest, sum_of, write_bundle

from tooltray.foundation.errors import TooltrayError
from tooltray.sources.bundles.archive import BundleFile
from tooltray.sources.bundles.bundle_offers import (
    BundleReader,
    BundleReading,
    ask_version,
    fits,
    version_in,
    warnings_of,
    why_not_here,
    with_python,
)
from tooltray.sources.bundles.manifest import BundleCommand, BundlePlace, command_of, read_manifest


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
    assert "It runs code from its arguments" in warned("node", "a.js", "node", "-e", "process.exit()")
    assert "It runs code from its arguments" in warned("python", "a.py", "python", "-c", "import os", "a.py")
    assert "downloads what it runs" in warned("node", "a.js", "npx", "-y", "package")
    assert "does not run the program that it declares" in warned("node", "a.js", "node", "b.js")
    assert "it sets LD_PRELOAD" in warned("binary", "tool", "tool", env={"LD_PRELOAD": "x.so", "A": "b"})


class Reader:
    """Reads bundles for a person who has the programs that a test says."""

    def __init__(self, root: Path, *programs: str) -> None:
        self.root, self.path = root, root / "programs"
        self.path.mkdir()
        for name in programs:
            (self.path / name).write_text("#!/bin/sh\n")
            (self.path / name).chmod(0o755)
        self.reader = BundleReader(root=root / "bundles", user_folder=root, environ=self.environ)

    async def environ(self) -> Mapping[str, str]:
        return {"PATH": str(self.path)}

    async def read(self, **more: Any) -> BundleReading:
        path = write_bundle(self.root / "a.mcpb", **more)
        return await self.reader.read(BundleFile(path, sum_of(path), path.stat().st_size))


async def test_a_bundle_is_read_and_would_be_in_a_folder_of_its_own(tmp_path: Path) -> None:
    reading = await Reader(tmp_path, "python3").read()
    assert (reading.manifest.name, reading.folder) == ("notes", f"notes/1.0.0-{reading.file.sha256[:12]}")
    assert reading.place.folder == str(tmp_path / "bundles" / reading.folder)
    assert not (tmp_path / "bundles").exists()


async def test_an_offer_says_what_it_is_and_what_would_run(tmp_path: Path) -> None:
    here = Reader(tmp_path, "python3")
    reading = await here.read(tools=[{"name": "add"}], license="MIT")
    offer = await here.reader.offer(reading, "/a.mcpb", (), "s", "0.9")
    assert (offer.name, offer.source, offer.sha256, offer.signature) == ("notes", "/a.mcpb", reading.file.sha256, "none")
    assert (offer.tools, offer.licence, offer.problems, offer.here, offer.here_version) == (("add",), "MIT", (), "s", "0.9")
    assert offer.command == ("python3", f"{reading.place.folder}/server/main.py")


async def test_why_it_cannot_run_here_is_said(tmp_path: Path) -> None:
    here = Reader(tmp_path)
    reading = await here.read()
    assert await here.reader.problems(reading, await here.reader.command(reading, {}))


async def test_what_is_no_bundle_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.mcpb"
    path.write_bytes(b"no archive")
    with pytest.raises(TooltrayError):
        await Reader(tmp_path).reader.read(BundleFile(path, sum_of(path), 10))
