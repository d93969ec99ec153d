"""installations.py"""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.home.home import Home, default_home
from tooltray.foundation.installs.bridge_file import bridge_file
from tooltray.foundation.installs.installation import Installation
from tooltray.foundation.installs.installations import VERSION, Installations, bridge_entry, bridge_entry_text

pytestmark = pytest.mark.posix  # the script of POSIX; tests/windows has the launcher


class Machine:
    """A home, and installations that say their name when the script starts them."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.home = folder, Home(folder / ".tooltray")
        self.home.root.mkdir(mode=0o700)

    @property
    def installs(self) -> Installations:
        """As another process sees them."""
        return Installations(self.home)

    def installed(self, name: str, version: str = "1.0", kind: str = "wheel") -> Installation:
        program = self.folder / name
        program.write_text(f"#!/bin/sh\necho {name}\n")
        program.chmod(0o755)
        return Installation(kind, version, (str(program),))

    def recorded(self, name: str, version: str = "1.0", kind: str = "wheel") -> Installation:
        self.installs.record(own := self.installed(name, version, kind))
        return own

    def removed(self, name: str) -> None:
        (self.folder / name).unlink()

    @property
    def started(self) -> str:
        """What an AI client starts."""
        return subprocess.run([self.installs.path], capture_output=True, text=True, input="", check=True, timeout=30).stdout.strip()


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_the_newest_packaged_installation_has_the_path(machine: Machine) -> None:
    machine.recorded("old", "1.9")
    machine.recorded("new", "1.10", "deb")
    machine.recorded("older", "1.2")
    assert machine.started == "new"
    assert [each.version for each in machine.installs.known()] == ["1.10", "1.9", "1.2"]


def test_of_two_of_one_version_the_one_that_was_started_last_has_it(machine: Machine) -> None:
    first = machine.recorded("first")
    machine.recorded("second")
    assert machine.started == "second"
    machine.installs.record(first)
    assert machine.started == "first"


def test_a_checkout_takes_the_path_only_where_a_person_says_so(machine: Machine) -> None:
    checkout = machine.recorded("checkout", "9.0", "checkout")
    assert machine.installs.owner is None
    assert not machine.installs.path.exists()
    machine.recorded("packaged")
    assert machine.started == "packaged"
    machine.installs.use(checkout)
    assert machine.started == "checkout"
    machine.recorded("newer", "2.0")
    assert machine.started == "checkout"


def test_removing_the_owner_hands_the_path_on_before_anybody_writes_anything(machine: Machine) -> None:
    machine.recorded("old", "1.0")
    machine.recorded("new", "2.0")
    machine.removed("new")
    assert machine.started == "old"
    machine.recorded("old", "1.0")
    assert b"new" not in machine.installs.path.read_bytes()


def test_what_was_chosen_counts_again_when_it_is_back(machine: Machine) -> None:
    machine.installs.use(machine.installed("chosen", "1.0"))
    machine.recorded("other", "2.0")
    machine.removed("chosen")
    assert machine.started == "other"
    machine.recorded("chosen", "1.0")
    assert machine.started == "chosen"


def test_an_update_in_place_is_one_installation(machine: Machine) -> None:
    machine.recorded("app", "1.0")
    machine.recorded("app", "1.1")
    assert [each.version for each in machine.installs.known()] == ["1.1"]


def test_the_script_may_be_run_and_the_same_is_not_written_again(machine: Machine) -> None:
    own = machine.recorded("app")
    before = machine.installs.path.stat()
    assert stat.S_IMODE(before.st_mode) == 0o755
    machine.installs.record(own)
    assert not machine.installs.mend()
    assert machine.installs.path.stat().st_ino == before.st_ino


def test_what_happened_to_the_script_is_mended(machine: Machine) -> None:
    machine.recorded("app")
    path = machine.installs.path
    for harm in (path.unlink, lambda: path.chmod(0o644), lambda: path.write_text("other"), lambda: path.write_bytes(b"\xff")):
        harm()
        assert machine.installs.mend()
        assert machine.started == "app"
        assert not machine.installs.mend()


def test_a_link_in_its_place_is_replaced_and_not_followed(machine: Machine) -> None:
    machine.recorded("app")
    (other := machine.folder / "other").write_text("a person's own")
    machine.installs.path.unlink()
    machine.installs.path.symlink_to(other)
    assert machine.installs.mend()
    assert other.read_text() == "a person's own"
    assert not machine.installs.path.is_symlink()


def test_when_none_is_left_the_script_answers_for_them(machine: Machine) -> None:
    machine.recorded("app")
    machine.removed("app")
    assert machine.installs.mend()
    done = subprocess.run([machine.installs.path], capture_output=True, input=b'{"id":1,"method":"initialize"}\n', check=True, timeout=30)
    assert json.loads(done.stdout)["id"] == 1


@pytest.mark.parametrize("content", [b"", b"no JSON", b"[]", b'{"installations": 5}', b"\xff\xfe", b"[" * 100_000])
def test_a_damaged_file_is_made_anew(machine: Machine, content: bytes) -> None:
    machine.home.installs.write_bytes(content)
    assert machine.installs.known() == []
    machine.recorded("app")
    assert machine.started == "app"


@pytest.mark.expected_warnings("newer version")
def test_a_file_of_a_newer_version_is_read_and_left_alone(machine: Machine) -> None:
    machine.recorded("app")
    newer = {**json.loads(machine.home.installs.read_bytes()), "version": VERSION + 1, "later": True}
    machine.home.installs.write_text(json.dumps(newer))
    machine.recorded("other")
    assert [each.bridge for each in machine.installs.known()] == [(str(machine.folder / "app"),)]
    with pytest.raises(TooltrayError, match="newer version"):
        machine.installs.use(machine.installed("other"))
    assert json.loads(machine.home.installs.read_bytes()) == newer


@pytest.mark.expected_warnings("cannot be written")
def test_a_disk_that_takes_nothing_fails_no_start_and_is_reported_to_who_asks(machine: Machine) -> None:
    machine.home.bin.write_text("a file where the folder should be")
    machine.recorded("app")
    with pytest.raises(TooltrayError, match="cannot be written") as refused:
        machine.installs.use(machine.installed("app"))
    assert str(machine.home.bin) in refused.value.problem.message
    with pytest.raises(TooltrayError, match="cannot be written"):
        machine.installs.mend()


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
    monkeypatch.setattr(bridge_file, "can_write", lambda: False)  # a Python package on Windows
    assert words_of(Home(home / ".tooltray"), {"HOME": str(home)}) == [bridge]


def test_the_text_is_the_entry_as_json(home: Path) -> None:
    text = bridge_entry_text(Home(home / ".tooltray"))
    assert json.loads(text) == bridge_entry(Home(home / ".tooltray"))
    assert text.startswith('{\n  "mcpServers"')
