"""packing.py and api.py: packed the same each time, read again as what it was, and no secret in it."""

import json
import os
import zipfile
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.full_disk import full_disk
from tests.fakes.hub_parts import hub_parts

from tooltray.foundation.errors import NotFound, TooltrayError
from tooltray.sources.bundles import packing
from tooltray.sources.bundles.archive import read_archive
from tooltray.sources.bundles.manifest import read_manifest

VALUE = "sk-ant-dummy-0123456789-to-be-packed"


def project(tmp_path: Path, files: dict[str, str] | None = None) -> Path:
    folder = tmp_path / "notes"
    for name, text in {"main.py": "print()", "lib/a.py": "a", ".env": "A=b", "left.txt": "x", **(files or {})}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / ".mcpbignore").write_text("left.txt\n")
    return folder


def entry(folder: Path, **more: Any) -> dict[str, Any]:
    return {"command": "python3", "args": ["main.py"], "cwd": str(folder), "disable": True, **more}


async def test_a_server_is_packed_the_same_to_the_byte_and_read_as_what_it_is(tmp_path: Path) -> None:
    folder, files = project(tmp_path, {"tool.sh": "#!/bin/sh"}), (tmp_path / "one.mcpb", tmp_path / "notes" / "two.mcpb")
    (folder / "tool.sh").chmod(0o755)
    env = {"API_KEY": VALUE, "OTHER": "${secret:notes/OTHER}"}
    async with hub_parts(tmp_path / "home", servers={"notes": entry(folder, env=env, descriptions="Keeps notes.")}) as parts:
        await parts.secrets.set("notes/OTHER", "dummy-other-value")
        for at, path in enumerate(files):
            os.utime(folder / "main.py", (at, at))
            assert await parts.bundles_api.pack_bundle("notes", str(path)) == str(path)
    assert files[0].read_bytes() == files[1].read_bytes()
    found = read_archive(files[0])
    assert found.files == {"manifest.json", "main.py", "lib/a.py", "tool.sh"}
    made = read_manifest(found.manifest)
    assert (made.name, made.version, made.description, made.author.name) == ("notes", "1.0.0", "Keeps notes.", "unknown")
    assert {key: each.sensitive for key, each in made.user_config.items()} == {"api_key": True, "other": True}
    with zipfile.ZipFile(files[0]) as archive:
        content = b"".join(archive.read(name) for name in archive.namelist())
        assert {info.date_time for info in archive.infolist()} == {packing.DATE}
        assert archive.namelist() == ["manifest.json", *sorted(found.files - {"manifest.json"})]
        assert archive.getinfo("tool.sh").external_attr >> 16 & 0o111
    assert VALUE.encode() not in content
    assert b"dummy-other-value" not in content


@pytest.mark.parametrize(
    ("name", "text", "author"),
    [
        ("package.json", '{"name": "p", "version": "3.0.0", "author": "Me <me@example.com>"}', "Me"),
        ("package.json", '{"name": "p", "version": "3.0.0", "author": {"name": "Me"}}', "Me"),
        ("pyproject.toml", '[project]\nname = "p"\nversion = "3.0.0"\nauthors = [{name = "Me"}]', "Me"),
        ("pyproject.toml", '[project]\nname = "p"\nversion = "3.0.0"\nauthors = [{email = "a"}]', "unknown"),
        ("pyproject.toml", "[[broken", "unknown"),
        ("pyproject.toml", "project = 1", "unknown"),
        ("package.json", "[]", "unknown"),
    ],
)
async def test_what_the_project_says_of_itself_stands_in_the_manifest(tmp_path: Path, name: str, text: str, author: str) -> None:
    folder = project(tmp_path, {name: text})
    async with hub_parts(tmp_path / "home", servers={"notes": entry(folder)}) as parts:
        await parts.bundles_api.pack_bundle("notes", str(tmp_path / "a.mcpb"))
    made = read_manifest(read_archive(tmp_path / "a.mcpb").manifest)
    assert made.author.name == author
    assert (made.name, made.version) == (("p", "3.0.0") if '"p"' in text else ("notes", "1.0.0"))


async def test_a_file_with_a_secret_in_it_stops_it_all(tmp_path: Path) -> None:
    folder = project(tmp_path, {"config.json": json.dumps({"key": "dummy-other-value"})})
    async with hub_parts(tmp_path / "home", servers={"notes": entry(folder, env={"A": "${secret:notes/A}"})}) as parts:
        await parts.secrets.set("notes/A", "dummy-other-value")
        with pytest.raises(TooltrayError, match=r"config\.json") as raised:
            await parts.bundles_api.pack_bundle("notes", str(tmp_path / "a.mcpb"))
        assert "dummy-other-value" not in str(raised.value)
        assert not (tmp_path / "a.mcpb").exists()


async def test_what_cannot_be_packed_or_written_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = project(tmp_path, {"big.bin": "x"})
    (folder / "big.bin").write_bytes(os.urandom(100_000))
    async with hub_parts(tmp_path / "home", servers={"notes": entry(folder)}) as parts:
        with pytest.raises(NotFound):
            await parts.bundles_api.pack_bundle("none", str(tmp_path / "a.mcpb"))
        with pytest.raises(TooltrayError, match="whole path"):
            await parts.bundles_api.pack_bundle("notes", "a.mcpb")
        with pytest.raises(TooltrayError, match="could not be written"):
            await parts.bundles_api.pack_bundle("notes", str(tmp_path / "none" / "a.mcpb"))
        with full_disk(), pytest.raises(TooltrayError, match="could not be written"):
            await parts.bundles_api.pack_bundle("notes", str(tmp_path / "a.mcpb"))
        monkeypatch.setattr(packing, "MAX_FILES", 2)
        with pytest.raises(TooltrayError, match="too much"):
            await parts.bundles_api.pack_bundle("notes", str(tmp_path / "a.mcpb"))
    assert not (tmp_path / "a.mcpb").exists()


@pytest.mark.posix
async def test_links_that_lead_out_and_what_is_no_file_stay_out(tmp_path: Path) -> None:
    folder = project(tmp_path)
    (tmp_path / "outside").write_text("x")
    (folder / "out").symlink_to(tmp_path / "outside")
    (folder / "in").symlink_to(folder / "main.py")
    os.mkfifo(folder / "pipe")
    (folder / ".mcpbignore").unlink()
    async with hub_parts(tmp_path / "home", servers={"notes": entry(folder)}) as parts:
        await parts.bundles_api.pack_bundle("notes", str(tmp_path / "a.mcpb"))
    assert read_archive(tmp_path / "a.mcpb").files == {"manifest.json", "main.py", "in", "lib/a.py", "left.txt"}
