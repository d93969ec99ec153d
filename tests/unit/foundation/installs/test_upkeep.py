"""How each kind of installation is updated and removed, and where licences are."""

import importlib.metadata
import sys
from pathlib import Path

import pytest

from tooltray.foundation.installs import upkeep
from tooltray.foundation.installs.installation import KINDS, Installation
from tooltray.foundation.installs.upkeep import how_to_remove, how_to_update, licence_text, uninstaller


def of(kind: str) -> Installation:
    return Installation(kind, "1", ())


@pytest.fixture
def frozen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The folder of a frozen program, which this process seems to be."""
    folder = tmp_path / "1.0"
    folder.mkdir()
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "executable", str(folder / "tooltray"))
    return folder


@pytest.mark.parametrize("kind", KINDS)
def test_of_every_kind_it_is_said_how_it_is_updated_and_removed(kind: str) -> None:
    assert how_to_update(of(kind))
    assert how_to_remove(of(kind))


@pytest.mark.parametrize(("left_by", "tool"), [("uv-receipt.toml", "uv tool"), ("pipx_metadata.json", "pipx"), ("other", "pip")])
def test_a_python_package_is_updated_by_what_has_installed_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, left_by: str, tool: str
) -> None:
    (tmp_path / left_by).touch()
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert how_to_update(of("wheel")).startswith(f"Run: {tool} install ")
    assert how_to_remove(of("wheel")) == f"Run: {tool} uninstall tooltray"


@pytest.mark.posix
def test_only_an_archive_that_was_installed_has_a_script_that_removes_it(frozen: Path) -> None:
    script = frozen.parent / "install.sh"
    assert uninstaller(of("archive")) is None
    script.touch()
    assert uninstaller(of("archive")) is None
    (frozen.parent / "current").symlink_to("1.0")
    assert uninstaller(of("archive")) == script
    assert uninstaller(of("deb")) is None
    script.unlink()
    assert uninstaller(of("archive")) is None


def test_a_package_shows_the_licences_that_are_shipped(frozen: Path, tmp_path: Path) -> None:
    assert licence_text() == "Tooltray: MIT"
    (tmp_path / "Resources").mkdir()
    (tmp_path / "Resources" / "LICENCES.txt").write_text("of the app")
    assert licence_text() == "of the app"
    (frozen / "LICENCES.txt").write_text("of all")
    assert licence_text() == "of all"


def test_a_checkout_shows_its_own_and_says_where_the_others_are() -> None:
    text = licence_text()
    assert text.startswith("MIT License")
    assert "has its licence in its own folder, below " in text


def test_a_wheel_shows_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    class File:
        name = "LICENSE"

        def locate(self) -> Path:
            return tmp_path / "LICENSE"

    (tmp_path / "LICENSE").write_text("of the wheel")
    monkeypatch.setattr(upkeep, "ROOT", tmp_path / "nowhere")
    monkeypatch.setattr(importlib.metadata, "files", lambda name: [File()])
    assert licence_text().startswith("of the wheel")
    monkeypatch.setattr(importlib.metadata, "files", lambda name: None)
    assert licence_text().startswith("Tooltray: MIT")


def test_without_any_metadata_the_licence_has_its_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def missing(name: str) -> None:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(upkeep, "ROOT", tmp_path)
    monkeypatch.setattr(importlib.metadata, "files", missing)
    assert licence_text().startswith("Tooltray: MIT")
