"""installation.py"""

import importlib.metadata
import json
import os
import platform
import sys
from pathlib import Path

import pytest

import tooltray
from tooltray import __version__
from tooltray.foundation.installs import installation
from tooltray.foundation.installs.installation import (
    CHECKOUT,
    KINDS,
    SETTLED_S,
    WHEEL,
    Installation,
    OwnProgram,
    file_of,
    how_to_remove,
    how_to_update,
    licence_text,
    this_installation,
    uninstaller,
)


def of(version: str, kind: str = "wheel", *bridge: str) -> Installation:
    return Installation(kind, version, bridge)


def test_versions_are_sorted_as_numbers_and_what_comes_before_a_version_before_it() -> None:
    versions = ["0.2.0", "0.10.0rc1", "0.10.0", "0.10.0+local", "1", "1.0.1"]
    assert sorted(versions, key=lambda version: of(version).age) == versions
    assert of("none").age < of("0.1").age


@pytest.mark.posix
def test_an_installation_is_there_while_its_program_and_script_are(tmp_path: Path) -> None:
    program, script = tmp_path / "python", tmp_path / "bridge.py"
    program.touch(mode=0o755)
    script.touch()
    assert of("1", "wheel", str(program), "-I", str(script)).is_there
    assert not of("1", "wheel", str(program), "-I", str(tmp_path / "gone.py")).is_there
    program.chmod(0o644)
    assert not of("1", "wheel", str(program), "-I", str(script)).is_there
    assert not of("1", "wheel").is_there


def test_this_one_is_a_checkout() -> None:
    this = this_installation()
    assert (this.kind, this.version, this.is_packaged, this.is_there) == ("checkout", __version__, False, True)
    assert __version__ in this.words


def test_without_a_source_around_it_it_is_a_wheel(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(installation, "ROOT", tmp_path)
    assert this_installation().kind == "wheel"


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        (json.dumps({"kind": "deb"}), "deb"),
        (json.dumps({"kind": "macos-app"}), "macos-app"),
        (json.dumps({"kind": "unknown"}), "archive"),
        ("[]", "archive"),
        ("{}", "archive"),
        ("no JSON", "archive"),
        (None, "archive"),
    ],
)
def test_a_package_says_its_kind(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, said: str | None, kind: str) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "tooltray"))
    if said is not None:
        (tmp_path / "install.json").write_text(said)
    assert this_installation().kind == kind
    assert kind in KINDS


def test_an_app_for_macos_has_its_kind_among_the_resources(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("MacOS", "Resources"):
        (tmp_path / name).mkdir()
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "MacOS" / "tooltray"))
    (tmp_path / "Resources" / "install.json").write_text(json.dumps({"kind": "macos-app"}))
    assert this_installation().kind == "macos-app"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "tooltray"
    file.write_text("version 1")
    return file


def replace(file: Path) -> None:
    newer = file.with_name("newer")
    newer.write_text("version 2")
    newer.rename(file)


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some time after the last change of a file."""
    now = installation.time.time()
    monkeypatch.setattr(installation.time, "time", lambda: now + SETTLED_S + 5.0)


@pytest.mark.posix  # Windows replaces no running program
@pytest.mark.usefixtures("later")
def test_a_program_is_replaced_when_another_file_has_its_place(file: Path) -> None:
    program = OwnProgram(file)
    assert not program.is_replaced()
    replace(file)
    assert program.is_replaced()


@pytest.mark.posix  # Windows replaces no running program
def test_a_package_manager_gets_time_for_the_other_files(file: Path) -> None:
    program = OwnProgram(file)
    replace(file)
    assert not program.is_replaced()


@pytest.mark.posix
@pytest.mark.usefixtures("later")
def test_a_version_in_a_folder_of_its_own_is_replaced_when_the_link_leads_to_another_one(frozen: Path) -> None:
    newer, current = frozen.with_name("2.0"), frozen.with_name("current")
    newer.mkdir()
    for version in (frozen, newer):
        (version / "tooltray").write_text(version.name)
    current.symlink_to("1.0")
    program = OwnProgram.of(Installation("deb", "1", ()))
    assert not program.is_replaced()
    current.unlink()
    current.symlink_to("2.0")
    assert program.is_replaced()
    assert OwnProgram.of(Installation("deb", "1", ())).is_replaced()  # of a process that was started from the older folder
    current.unlink()
    current.symlink_to("removed")
    assert not program.is_replaced()


@pytest.mark.usefixtures("later")
def test_a_program_that_is_gone_was_removed(file: Path) -> None:
    program = OwnProgram(file)
    file.unlink()
    assert not program.is_replaced()


@pytest.mark.usefixtures("later")
def test_one_that_was_gone_at_the_start_tells_nothing(file: Path) -> None:
    file.unlink()
    program = OwnProgram(file)
    file.write_text("version 2")
    assert not program.is_replaced()


@pytest.mark.posix  # Windows replaces no running program
@pytest.mark.parametrize(
    ("kind", "is_frozen", "looks_at"),
    [(CHECKOUT, False, None), ("deb", True, sys.executable), (WHEEL, False, tooltray.__file__)],
)
@pytest.mark.usefixtures("later")
def test_which_file_is_looked_at(kind: str, is_frozen: bool, looks_at: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "frozen", is_frozen, raising=False)
    looked: list[str] = []
    stat = os.stat
    monkeypatch.setattr(installation.os, "stat", lambda path, **options: (looked.append(str(path)), stat(path, **options))[1])
    OwnProgram.of(Installation(kind, "1", ())).is_replaced()
    assert set(looked) == ({looks_at} if looks_at else set())


def of_kind(kind: str) -> Installation:
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
    assert how_to_update(of_kind(kind))
    assert how_to_remove(of_kind(kind))


@pytest.mark.parametrize("kind", KINDS)
def test_a_known_version_is_named_in_the_way_to_it(kind: str) -> None:
    assert "VERSION" not in how_to_update(of_kind(kind), "1.3.0")
    assert file_of(of_kind(kind), "1.3.0").count("1.3.0") == (kind not in ("checkout", "pacman"))


@pytest.mark.parametrize(
    ("machine", "deb", "archive"),
    [
        ("x86_64", "tooltray_1.3.0_amd64.deb", "tooltray-1.3.0-linux-x86_64.tar.gz"),
        ("aarch64", "tooltray_1.3.0_arm64.deb", "tooltray-1.3.0-linux-aarch64.tar.gz"),
    ],
)
def test_the_file_is_that_for_this_processor(monkeypatch: pytest.MonkeyPatch, machine: str, deb: str, archive: str) -> None:
    monkeypatch.setattr(platform, "machine", lambda: machine)
    assert (file_of(of_kind("deb"), "1.3.0"), file_of(of_kind("archive"), "1.3.0")) == (deb, archive)
    assert how_to_update(of_kind("deb"), "1.3.0").endswith(f"sudo apt install ./{deb}")


@pytest.mark.parametrize(("left_by", "tool"), [("uv-receipt.toml", "uv tool"), ("pipx_metadata.json", "pipx"), ("other", "pip")])
def test_a_python_package_is_updated_by_what_has_installed_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, left_by: str, tool: str
) -> None:
    (tmp_path / left_by).touch()
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert how_to_update(of_kind("wheel")).startswith(f"Run: {tool} install ")
    assert how_to_remove(of_kind("wheel")) == f"Run: {tool} uninstall tooltray"


@pytest.mark.posix
def test_only_an_archive_that_was_installed_has_a_script_that_removes_it(frozen: Path) -> None:
    script = frozen.parent / "install.sh"
    assert uninstaller(of_kind("archive")) is None
    script.touch()
    assert uninstaller(of_kind("archive")) is None
    (frozen.parent / "current").symlink_to("1.0")
    assert uninstaller(of_kind("archive")) == script
    assert uninstaller(of_kind("deb")) is None
    script.unlink()
    assert uninstaller(of_kind("archive")) is None


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
    monkeypatch.setattr(installation, "ROOT", tmp_path / "nowhere")
    monkeypatch.setattr(importlib.metadata, "files", lambda name: [File()])
    assert licence_text().startswith("of the wheel")
    monkeypatch.setattr(importlib.metadata, "files", lambda name: None)
    assert licence_text().startswith("Tooltray: MIT")


def test_without_any_metadata_the_licence_has_its_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def missing(name: str) -> None:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(installation, "ROOT", tmp_path)
    monkeypatch.setattr(importlib.metadata, "files", missing)
    assert licence_text().startswith("Tooltray: MIT")
