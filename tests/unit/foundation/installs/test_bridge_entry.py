"""The entry for an AI client's config."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tooltray.foundation.home.home import Home, default_home
from tooltray.foundation.installs import bridge_file_posix
from tooltray.foundation.installs.bridge_entry import bridge_entry, bridge_entry_text
from tooltray.foundation.installs.installations import Installations

pytestmark = pytest.mark.posix  # its paths and users


def words_of(home: Home, environ: dict[str, str]) -> list[str]:
    entry = bridge_entry(home, environ)["mcpServers"]["tooltray"]
    return [entry["command"], *entry["args"]]


def test_the_entry_names_interpreter_and_script_by_absolute_paths_that_exist(home: Path) -> None:
    command, isolated, no_site, script = words_of(Home(home / ".tooltray"), {"HOME": str(home)})
    assert (isolated, no_site) == ("-I", "-S")
    assert os.path.isabs(command)
    assert os.access(command, os.X_OK)
    assert script.endswith(os.path.join("tooltray_bridge", "__main__.py"))
    assert os.path.isabs(script)
    assert os.path.isfile(script)


def test_the_command_of_the_entry_is_the_bridge(home: Path) -> None:
    words = words_of(Home(home / ".tooltray"), {"HOME": str(home)})
    done = subprocess.run([*words, "--help"], capture_output=True, text=True, timeout=30, check=False, cwd=home)
    assert done.returncode == 0
    assert "tooltray-bridge" in done.stdout


def test_another_home_is_named(home: Path) -> None:
    environ = {"HOME": str(home), "TOOLTRAY_HOME": "/elsewhere"}
    assert words_of(Home(Path("/elsewhere")), environ)[-2:] == ["--home", "/elsewhere"]
    assert "--home" not in words_of(Home(home / ".tooltray"), environ)


def test_a_home_is_named_where_nobody_knows_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody(uid: int) -> None:
        raise KeyError(uid)

    monkeypatch.setattr("pwd.getpwuid", nobody)
    assert default_home({}) is None
    assert words_of(Home(Path("/named")), {})[-2:] == ["--home", "/named"]


def test_an_installed_app_gives_the_path_before_its_first_hub_has_written_it(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    own = Home(home / ".tooltray")
    assert words_of(own, {"HOME": str(home)}) == [str(Installations(own).path)]
    assert not own.root.exists()


@pytest.mark.parametrize("suffix", ["", ".exe"])
def test_an_installed_app_names_the_bridge_beside_it_where_nobody_writes_the_path(
    home: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "executable", f"/opt/tooltray/tooltray{suffix}")
    bridge = f"/opt/tooltray/tooltray-bridge{suffix}"
    assert words_of(Home(home / "other"), {"HOME": str(home)}) == [bridge, "--home", str(home / "other")]
    monkeypatch.setattr(bridge_file_posix, "can_write", lambda: False)  # a Python package on Windows
    assert words_of(Home(home / ".tooltray"), {"HOME": str(home)}) == [bridge]


def test_the_text_is_the_entry_as_json(home: Path) -> None:
    text = bridge_entry_text(Home(home / ".tooltray"))
    assert json.loads(text) == bridge_entry(Home(home / ".tooltray"))
    assert text.startswith('{\n  "mcpServers"')
