"""`tooltray diagnostics` and `tooltray licences`."""

import json
import os
from pathlib import Path

import pytest
from tests.fakes.fake_control_hub import FakeControlHub
from tests.unit.cli.conftest import Tooltray

from tooltray.foundation.home.home import Home
from tooltray.foundation.installs.installation import Installation, this_installation
from tooltray.foundation.installs.installations import Installations


def test_diagnostics_are_the_hub_s_without_what_could_move_the_cursor(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"get_diagnostics": "Tooltray\n  stderr: \x1b[31mred\n"}):
        assert tooltray("diagnostics").out == "Tooltray\n  stderr: red\n"
        assert "stderr" in tooltray("diagnostics", "--json").json["text"]


def test_licences_need_no_hub(tooltray: Tooltray) -> None:
    assert tooltray("licences").out.startswith("MIT License")
    assert tooltray("licences", "--json").json["text"].startswith("MIT License")


def test_it_is_switched_on_and_off_and_says_what_the_system_says(tooltray: Tooltray, home: Path) -> None:
    entry = home / ".config" / "autostart" / "tooltray.desktop"
    assert tooltray("autostart", "status").out == "Tooltray does not start when you log in.\n"
    assert tooltray("autostart", "on").out == "Tooltray starts when you log in.\n"
    entry.write_text(entry.read_text() + "Hidden=true\n")
    assert tooltray("autostart", "status", "--json").json == {"on": False}
    assert tooltray("autostart", "on", "--json").json == {"on": True}
    assert tooltray("autostart", "off").code == 0
    assert not entry.exists()


def test_what_the_system_refuses_is_an_error_in_words(tooltray: Tooltray, home: Path) -> None:
    (home / ".config").write_text("no folder")
    refused = tooltray("autostart", "on")
    assert refused.code == 1
    assert "Start at login could not be changed" in refused.err
    assert os.fspath(home / ".config") in refused.err


@pytest.fixture
def packaged(hub_home: Home, tmp_path: Path) -> Installation:
    """An installation whose hub has run once."""
    hub_home.prepare()
    (program := tmp_path / "tooltray-bridge").touch(mode=0o755)
    installed = Installation("deb", "0.0.1", (str(program),))
    Installations(hub_home).record(installed)
    return installed


def test_a_checkout_names_its_own_program_until_it_takes_the_path(tooltray: Tooltray, hub_home: Home) -> None:
    path = str(hub_home.bin / "tooltray-bridge")
    before = tooltray("bridge", "show", "--json").json
    assert (before["path"], before["owner"], before["installations"]) == (path, None, [])
    assert before["entry"]["mcpServers"]["tooltray"]["command"] == this_installation().bridge[0]
    assert f"{path} is not in use yet.\nTo let it start this installation: tooltray bridge use\n" in tooltray("bridge", "show").out
    assert tooltray("bridge", "use").out == f"{path} starts {this_installation().words}.\n"
    after = tooltray("bridge", "show", "--json").json
    assert after["owner"]["kind"] == "checkout"
    assert after["entry"] == {"mcpServers": {"tooltray": {"command": path, "args": []}}}


def test_the_installation_in_use_is_shown_with_the_others(tooltray: Tooltray, packaged: Installation, hub_home: Home) -> None:
    shown = tooltray("bridge", "show").out
    path, words = hub_home.bin / "tooltray-bridge", packaged.words
    assert f"{path} starts version 0.0.1, Debian package\n  in use: {words}: {packaged.bridge[0]}\n" in shown
    tooltray("bridge", "use")
    lines = tooltray("bridge", "show").out.splitlines()
    assert lines[1].startswith("  in use: ")
    assert lines[1].endswith(" ".join(this_installation().bridge))
    assert lines[2] == f"  installed: {packaged.words}: {packaged.bridge[0]}"


def test_the_path_is_the_persons_and_another_home_stands_behind_it(tooltray: Tooltray, packaged: Installation, hub_home: Home) -> None:
    shown = tooltray("--home", "/elsewhere", "bridge", "show", "--json").json
    assert shown["path"] == str(hub_home.bin / "tooltray-bridge")
    assert shown["entry"]["mcpServers"]["tooltray"] == {"command": shown["path"], "args": ["--home", "/elsewhere"]}


def test_a_path_that_cannot_be_taken_is_an_error_in_words(tooltray: Tooltray, hub_home: Home) -> None:
    hub_home.prepare()
    hub_home.installs.write_text(json.dumps({"version": 9}))
    refused = tooltray("bridge", "use")
    assert refused.code == 1
    assert "newer version of Tooltray" in refused.err
    assert not hub_home.bin.exists()


def test_without_a_home_folder_there_is_no_path(tooltray: Tooltray, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tooltray.cli.commands.program_command.default_home", lambda: None)
    assert "No home folder found" in tooltray("bridge", "show").err
