"""What the desktop looks at before it loads a window system."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.fakes.fake_control_hub import FakeControlHub

from tooltray import __version__
from tooltray.app.desktop import OneTimeNotices, Opening, check_display, is_running
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.home.home import Home


@pytest.mark.parametrize(
    "environ",
    [
        {"WAYLAND_DISPLAY": "wayland-0", "DISPLAY": ":65000"},  # X is only second choice there
        {"QT_QPA_PLATFORM": "offscreen", "DISPLAY": ":65000"},
        {"DISPLAY": "elsewhere:65000"},  # another computer's; Qt says what is wrong with the network
        {},
    ],
)
def test_only_an_x_server_of_this_computer_is_asked(environ: dict[str, str]) -> None:
    check_display(environ)


def test_a_display_that_is_not_there_is_said_in_words_with_a_way_out() -> None:
    with pytest.raises(TooltrayError, match="DISPLAY is :65000"):
        check_display({"DISPLAY": ":65000"})


@pytest.mark.parametrize(
    ("kind", "version", "stays"),
    [("desktop", __version__, True), ("desktop", "999.0", True), ("desktop", "0.0.1", False), ("serve", __version__, False)],
)
def test_the_window_of_a_desktop_that_runs_is_shown_unless_we_are_newer(hub_home: Home, kind: str, version: str, stays: bool) -> None:
    link = "tooltray://add?name=x"
    with FakeControlHub(hub_home, {"hub/info": {"kind": kind, "version": version}, "hub/raise_window": {}}) as hub:
        assert is_running(hub_home, Opening(link=link)) is stays
    assert ("hub/raise_window", {"link": link}) in hub.calls or not stays
    assert len(hub.calls) == (2 if stays else 1)


def test_it_is_said_once_also_after_a_restart(tmp_path: Path) -> None:
    said = OneTimeNotices(tmp_path / "told.json")
    assert [said.is_first("closed"), said.is_first("closed"), said.is_first("other")] == [True, False, True]
    again = OneTimeNotices(tmp_path / "told.json")
    assert [again.is_first("closed"), again.is_first("other"), again.is_first("new")] == [False, False, True]


@pytest.mark.parametrize("content", [b"{", b"{}", b"[1, null]", b"[" * 100_000, b"\xff"])
def test_a_file_that_means_nothing_is_written_anew(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "told.json"
    path.write_bytes(content)
    assert OneTimeNotices(path).is_first("closed")
    assert not OneTimeNotices(path).is_first("closed")


def test_what_cannot_be_written_is_said_again_by_the_next_start_only(tmp_path: Path) -> None:
    path = tmp_path / "told.json"
    path.mkdir()
    said = OneTimeNotices(path)
    assert [said.is_first("closed"), said.is_first("closed")] == [True, False]
    assert OneTimeNotices(path).is_first("closed")


def test_pyside_reads_no_source_of_what_is_imported_after_it() -> None:
    code = "import linecache, PySide6.QtCore; from tooltray.app import desktop; desktop.skip_sources(); linecache.clearcache()"
    left = subprocess.run(
        [sys.executable, "-c", f"{code}; import wave; print(len(linecache.cache))"], capture_output=True, text=True, check=True
    )

    assert left.stdout == "0\n"
