"""old_versions.py"""

import shutil
import subprocess
from pathlib import Path

import pytest

from tooltray.foundation.installs.old_versions import SUPERSEDED, remove_old_versions


def version(place: Path, name: str, *, superseded_by: str = "") -> Path:
    folder = place / name
    (folder / "_internal" / "base").mkdir(parents=True)
    for file in ("tooltray.exe", "tooltray-bridge.exe", "install.json", "_internal/base/data"):
        (folder / file).write_text("x")
    if superseded_by:
        (folder / SUPERSEDED).write_text(superseded_by)
    return folder


def test_marked_folders_beside_this_version_are_removed_and_no_others(tmp_path: Path) -> None:
    own, unmarked = version(tmp_path, "0.3.0"), version(tmp_path, "notes")
    for name in ("0.1.0", "0.2.0"):
        version(tmp_path, name, superseded_by="0.3.0")
    (tmp_path / "uninstall.exe").touch()

    assert not remove_old_versions(own)

    assert sorted(tmp_path.iterdir()) == [own, unmarked, tmp_path / "uninstall.exe"]
    assert len(list(own.rglob("*"))) == 6


@pytest.mark.posix
def test_a_folder_stays_whole_while_one_of_its_programs_runs_and_goes_afterwards(tmp_path: Path) -> None:
    own, old, unused = version(tmp_path, "0.3.0"), *(version(tmp_path, each, superseded_by="0.3.0") for each in ("0.1.0", "0.2.0"))
    bridge = old / "tooltray-bridge.exe"
    shutil.copy("/bin/cat", bridge)
    files = sorted(old.rglob("*"))
    with subprocess.Popen([bridge], stdin=subprocess.PIPE) as running:
        assert remove_old_versions(own)
        assert sorted(old.rglob("*")) == files
        assert not unused.exists()
        assert running.stdin
        running.stdin.close()

    assert not remove_old_versions(own)
    assert not old.exists()


def test_what_could_not_be_removed_is_found_the_next_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own, old = version(tmp_path, "0.3.0"), version(tmp_path, "0.1.0", superseded_by="0.3.0")

    def refuse(_: object) -> None:
        raise PermissionError

    with monkeypatch.context() as patched:
        patched.setattr(shutil, "rmtree", refuse)
        assert remove_old_versions(own)
    assert (old / SUPERSEDED).exists()

    assert not remove_old_versions(own)
    assert not old.exists()


def test_a_version_that_is_superseded_itself_removes_nothing(tmp_path: Path) -> None:
    own, other = version(tmp_path, "0.2.0", superseded_by="0.3.0"), version(tmp_path, "0.1.0", superseded_by="0.3.0")

    assert not remove_old_versions(own)
    assert other.exists()
