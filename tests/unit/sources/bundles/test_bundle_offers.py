"""bundle_offers.py: a bundle is read, and said to be what it would be here."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.bundles import manifest, sum_of, write_bundle

from tooltray.foundation.errors import TooltrayError
from tooltray.sources.bundles.bundle_command import BundlePlace, command_of
from tooltray.sources.bundles.bundle_offers import BundleReader, BundleReading, warnings_of
from tooltray.sources.bundles.manifest import read_manifest
from tooltray.sources.bundles.sources import BundleFile


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
