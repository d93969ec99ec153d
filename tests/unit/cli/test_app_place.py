"""An app for macOS is refused where macOS keeps it only for a while; all other programs run where they are."""

import os
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.unit.cli.conftest import Tooltray

from tooltray.cli import app_place
from tooltray.cli.app_place import check_place, is_passing_place
from tooltray.cli.run import run
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.home.home import Home

TRANSLOCATED = "/private/var/folders/zz/x0/T/AppTranslocation/0A1B/d/Tooltray.app/Contents/MacOS/tooltray"


def program_in(folder: Path) -> str:
    place = folder / "Tooltray.app" / "Contents" / "MacOS"
    place.mkdir(parents=True)
    return str(place / "tooltray")


@pytest.fixture
def alerts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file with the words of the alert that was shown."""
    shown = tmp_path / "shown"
    alert = tmp_path / "alert"
    alert.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {shown}\n')
    alert.chmod(0o755)
    monkeypatch.setattr(app_place, "ALERT", (str(alert),))
    return shown


def test_a_downloaded_app_that_was_not_moved_is_in_a_passing_place() -> None:
    assert is_passing_place(TRANSLOCATED)


def test_an_app_in_a_disk_image_is_in_a_passing_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = program_in(tmp_path)
    assert not is_passing_place(program)
    monkeypatch.setattr(os, "statvfs", lambda folder: SimpleNamespace(f_flag=os.ST_RDONLY))
    assert is_passing_place(program)


@pytest.mark.parametrize(
    "program", ["/usr/lib/tooltray/tooltray", "/x/AppTranslocation/bin/python3", r"C:\Program Files\Tooltray\tooltray.exe"]
)
def test_programs_that_are_no_app_stay_where_they_are(program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "statvfs", lambda folder: pytest.fail("looked at the disk"))
    check_place(shows_alert=True, program=program)


def test_the_user_reads_how_to_move_it_in_an_alert_if_no_terminal_shows_it(alerts: Path) -> None:
    with pytest.raises(TooltrayError) as caught:
        check_place(shows_alert=True, program=TRANSLOCATED)
    title, text = alerts.read_text().splitlines()
    assert title == caught.value.problem.title == "Move Tooltray into Applications"
    assert text.endswith("Drag Tooltray into Applications in the Finder, and open it there.")


def test_at_a_terminal_no_alert_is_shown(alerts: Path) -> None:
    with pytest.raises(TooltrayError, match="Drag Tooltray into Applications"):
        check_place(shows_alert=False, program=TRANSLOCATED)
    assert not alerts.exists()


@pytest.mark.parametrize(("words", "is_shown"), [([], True), (["tooltray://open"], True), (["--background"], False)])
def test_the_desktop_does_not_open_there(
    words: list[str], is_shown: bool, alerts: Path, hub_home: Home, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(app_place, "is_passing_place", lambda program: True)
    assert run(words, open_desktop=lambda *_, **__: pytest.fail("opened"), environ=dict(os.environ) | {"DISPLAY": ":7"}) == 1
    assert "Move Tooltray into Applications" in capsys.readouterr().err
    assert alerts.exists() is is_shown


@pytest.mark.parametrize("words", [["serve"], ["bridge", "use"], ["bridge", "show"], ["autostart", "on"]])
def test_no_command_writes_its_path_from_there(
    words: list[str], tooltray: Tooltray, hub_home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app_place, "is_passing_place", lambda program: True)
    done = tooltray(*words)
    assert (done.code, "Move Tooltray into Applications" in done.err) == (1, True)
    assert not hub_home.installs.exists()
    assert not hub_home.bin.exists()


def test_the_version_is_told_from_anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app_place, "is_passing_place", lambda program: True)
    with pytest.raises(SystemExit, match="0"):
        run(["--version"], open_desktop=lambda *_, **__: pytest.fail("opened"))
