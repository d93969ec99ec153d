"""Start at login, with a double of each system's own way; every test runs on every platform."""

import configparser
import os
import plistlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.modes import has_mode

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.installs import start_at_login
from tooltray.foundation.installs.start_at_login import APPROVED, RUN, DesktopEntry, LaunchAgent, RunKey, command_line
from tooltray.foundation.programs import desktop_command

COMMAND = ["/opt/My Tools/tooltray", "--home", 'a$b`c"d\\e%f', "", "--background"]


def read_as_desktops_do(line: str) -> list[str]:
    """Undoes the escapes of a string, then the quotes of a command; these are the ones of a shell, but for `%`."""
    plain = line.replace("\\\\", "\\")
    words = subprocess.check_output(["/bin/sh", "-c", f'for each in {plain}; do printf "%s\\0" "$each"; done'], text=True)
    return [word.replace("%%", "%") for word in words.split("\0")[:-1]]


# the platform's own


def test_the_command_is_this_installation_s_in_the_background() -> None:
    assert start_at_login.command_at_login() == desktop_command("--background")


@pytest.mark.posix
def test_of_the_portable_archive_the_path_that_stays_is_started(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "1.0" / "tooltray"
    program.parent.mkdir()
    program.touch()
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "executable", str(program))
    assert start_at_login.command_at_login() == [str(program), "--background"]
    (tmp_path / "current").symlink_to("1.0")
    assert start_at_login.command_at_login() == [str(tmp_path / "current" / "tooltray"), "--background"]


def test_the_switch_asks_the_system_and_what_it_refuses_is_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[object] = []

    def refuse() -> None:
        raise OSError("the registry is locked")

    monkeypatch.setattr(start_at_login.system, "turn_on", done.append)
    start_at_login.switch(on=True)
    assert done == [start_at_login.command_at_login()]
    monkeypatch.setattr(start_at_login.system, "turn_off", refuse)
    with pytest.raises(TooltrayError, match="the registry is locked"):
        start_at_login.switch(on=False)
    monkeypatch.setattr(start_at_login.system, "is_on", lambda: True)
    assert start_at_login.is_on()


# Linux


@pytest.fixture
def entry(home: Path) -> Path:
    return home / ".config" / "autostart" / "tooltray.desktop"


@pytest.mark.posix
def test_the_entry_has_the_command_by_the_rules_of_desktop_entries(home: Path, entry: Path) -> None:
    DesktopEntry().turn_on(COMMAND)
    parser = configparser.RawConfigParser(strict=True)
    parser.optionxform = str  # type: ignore[assignment, method-assign]
    parser.read(entry)
    fields = parser["Desktop Entry"]
    assert read_as_desktops_do(fields["Exec"]) == COMMAND
    assert (fields["Type"], fields["TryExec"], fields["Terminal"]) == ("Application", COMMAND[0], "false")
    assert has_mode(entry, 0o644)


def test_a_plain_command_is_not_quoted() -> None:
    assert command_line(["/usr/bin/tooltray", "--background"]) == "/usr/bin/tooltray --background"


def test_a_dollar_is_escaped_for_quotes_and_that_for_strings() -> None:
    assert command_line(["a$b"]) == r'"a\\$b"'


def test_the_entry_goes_and_nothing_is_asked_of_one_that_is_gone(entry: Path) -> None:
    DesktopEntry().turn_on([sys.executable])
    assert DesktopEntry().is_on()
    DesktopEntry().turn_off()
    DesktopEntry().turn_off()
    assert not DesktopEntry().is_on()
    assert not entry.exists()


@pytest.mark.parametrize(
    ("text", "is_on"),
    [
        ("[Desktop Entry]\nExec=tooltray\n", True),
        ("# ours\n[Desktop Entry]\n Exec = tooltray\nHidden=false\n", True),
        ("[Desktop Entry]\nExec=tooltray\nHidden=true\n", False),
        ("[Desktop Entry]\nExec=tooltray\n#Hidden=true\n", True),
        ("[Desktop Entry]\nExec=tooltray\nX-GNOME-Autostart-enabled=false\n", False),
        ("[Desktop Entry]\nExec=tooltray\n[Desktop Action quit]\nHidden=true\n", True),
        ("[Desktop Entry]\nExec=tooltray\nTryExec=/nowhere/tooltray\n", False),
        ("[Desktop Entry]\nExec=tooltray\nTryExec={}\n".format(sys.executable.replace("\\", "\\\\")), True),  # it is an escape there
        ("[Desktop Entry]\nName=Tooltray\n", False),
        ("", False),
    ],
)
def test_what_desktops_make_of_an_entry_counts(entry: Path, text: str, is_on: bool) -> None:
    entry.parent.mkdir(parents=True)
    entry.write_text(text)
    assert DesktopEntry().is_on() is is_on


@pytest.mark.posix
def test_a_program_whose_path_has_to_be_escaped_is_found(entry: Path, tmp_path: Path) -> None:
    program = tmp_path / "back\\slash" / "tool tray"
    program.parent.mkdir()
    program.touch(mode=0o755)
    DesktopEntry().turn_on([str(program)])
    assert DesktopEntry().is_on()
    program.unlink()
    assert not DesktopEntry().is_on()


@pytest.mark.parametrize(("chosen", "is_used"), [("/{home}/else", True), ("else", False), ("", False)])
@pytest.mark.posix
def test_the_folder_for_settings_is_the_one_that_was_chosen(
    home: Path, monkeypatch: pytest.MonkeyPatch, chosen: str, is_used: bool
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", chosen.replace("/{home}", str(home)))
    DesktopEntry().turn_on(["tooltray"])
    folder = home / "else" if is_used else home / ".config"
    assert (folder / "autostart" / "tooltray.desktop").exists()


# macOS


class Launchctl:
    """Answers as launchctl does, and keeps what was asked."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []
        self.disabled = "disabled services = {\n}\n"
        self.failure: Exception | None = None

    def run(self, command: list[str], **_: Any) -> "subprocess.CompletedProcess[str]":
        self.asked.append(command[1:])
        if self.failure:
            raise self.failure
        return subprocess.CompletedProcess(command, 0, self.disabled, "")


@pytest.fixture
def launchctl(monkeypatch: pytest.MonkeyPatch) -> Iterator[Launchctl]:
    double = Launchctl()
    monkeypatch.setattr(subprocess, "run", double.run)
    monkeypatch.setattr(os, "getuid", lambda: 501, raising=False)
    return double


@pytest.fixture
def agent(home: Path) -> Path:
    return home / "Library" / "LaunchAgents" / "dev.tooltray.Tooltray.plist"


@pytest.mark.posix
def test_an_agent_is_written_that_launchd_reads_at_the_next_login(launchctl: Launchctl, agent: Path) -> None:
    LaunchAgent().turn_on(COMMAND)
    written = plistlib.loads(agent.read_bytes())
    assert (written["Label"], written["ProgramArguments"], written["RunAtLoad"]) == (agent.stem, COMMAND, True)
    assert "KeepAlive" not in written
    assert LaunchAgent().is_on()
    LaunchAgent().turn_off()
    LaunchAgent().turn_off()
    assert not LaunchAgent().is_on()
    assert {words[0] for words in launchctl.asked} == {"print-disabled"}  # nothing is started or ended by it


@pytest.mark.parametrize(
    ("line", "is_on"),
    [
        ('"dev.tooltray.Tooltray" => disabled', False),
        ('"dev.tooltray.Tooltray" => true', False),
        ('"dev.tooltray.Tooltray" => enabled', True),
        ('"dev.tooltray.Tooltray" => false', True),
        ('"dev.tooltray.Tooltray.other" => disabled', True),
    ],
)
def test_an_agent_that_was_disabled_is_off_until_it_is_switched_on(launchctl: Launchctl, agent: Path, line: str, is_on: bool) -> None:
    launchctl.disabled = f"disabled services = {{\n\t{line}\n}}\n"
    LaunchAgent().turn_on(COMMAND)
    assert LaunchAgent().is_on() is is_on
    assert (["enable", "gui/501/dev.tooltray.Tooltray"] in launchctl.asked) is not is_on


@pytest.mark.parametrize("failure", [FileNotFoundError("launchctl"), subprocess.TimeoutExpired("launchctl", 5.0)])
def test_where_launchctl_does_not_answer_the_agent_counts(launchctl: Launchctl, agent: Path, failure: Exception) -> None:
    launchctl.failure = failure
    LaunchAgent().turn_on(COMMAND)
    assert LaunchAgent().is_on()


# Windows


class Winreg:
    """The person's registry, as the module winreg shows it."""

    HKEY_CURRENT_USER, KEY_READ, KEY_SET_VALUE, REG_SZ = 1, 0x20019, 2, 1

    class Key:
        def __init__(self, values: dict[str, object], access: int) -> None:
            self.values, self.access = values, access

        def __enter__(self) -> "Winreg.Key":
            return self

        def __exit__(self, *_: object) -> None:
            self.values = {}

    def __init__(self) -> None:
        self.keys: dict[str, dict[str, object]] = {}

    def OpenKey(self, key: int, sub_key: str, reserved: int = 0, access: int = KEY_READ) -> Key:
        if sub_key not in self.keys:
            raise FileNotFoundError(2, "no such key")
        return self.Key(self.keys[sub_key], access)

    def CreateKey(self, key: int, sub_key: str) -> Key:
        return self.Key(self.keys.setdefault(sub_key, {}), self.KEY_SET_VALUE)

    def QueryValueEx(self, key: Key, name: str) -> tuple[object, int]:
        if name not in key.values:
            raise FileNotFoundError(2, "no such value")
        return key.values[name], 1

    def SetValueEx(self, key: Key, name: str, reserved: int, kind: int, value: str) -> None:
        assert key.access == self.KEY_SET_VALUE
        key.values[name] = value

    def DeleteValue(self, key: Key, name: str) -> None:
        assert key.access == self.KEY_SET_VALUE
        if name not in key.values:
            raise FileNotFoundError(2, "no such value")
        del key.values[name]


@pytest.fixture
def winreg(monkeypatch: pytest.MonkeyPatch) -> Winreg:
    double = Winreg()
    monkeypatch.setitem(sys.modules, "winreg", double)  # type: ignore[arg-type]
    return double


def test_the_run_key_has_the_command_as_windows_programs_read_it(winreg: Winreg) -> None:
    assert not RunKey().is_on()
    RunKey().turn_on([r"C:\Program Files\Tooltray\tooltray.exe", "--background"])
    assert winreg.keys[RUN] == {"Tooltray": r'"C:\Program Files\Tooltray\tooltray.exe" --background'}
    assert RunKey().is_on()
    RunKey().turn_off()
    RunKey().turn_off()
    assert not RunKey().is_on()
    assert winreg.keys == {RUN: {}}


@pytest.mark.parametrize(
    ("noted", "is_on"), [(b"\x02" + bytes(11), True), (b"\x03" + bytes(11), False), (b"\x06", True), (b"\x07", False), (b"", True)]
)
def test_task_manager_s_switch_counts_until_it_is_switched_on_here(winreg: Winreg, noted: bytes, is_on: bool) -> None:
    RunKey().turn_on(["tooltray"])
    winreg.keys[APPROVED] = {"Tooltray": noted, "Other": b"\x03"}
    assert RunKey().is_on() is is_on
    RunKey().turn_on(["tooltray"])
    assert RunKey().is_on()
    assert winreg.keys[APPROVED] == {"Other": b"\x03"}


def test_what_task_manager_notes_of_a_value_that_is_gone_does_not_count(winreg: Winreg) -> None:
    winreg.keys[APPROVED] = {"Tooltray": b"\x02"}
    assert not RunKey().is_on()
    RunKey().turn_off()
    assert winreg.keys[APPROVED] == {}
