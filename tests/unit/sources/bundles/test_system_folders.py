"""system_folders.py: where a person's folders are."""

from pathlib import Path

import pytest

from tooltray.sources.bundles.system_folders import system_folders


@pytest.mark.posix
def test_the_desktop_s_own_file_says_where_folders_are(tmp_path: Path) -> None:
    (tmp_path / "user-dirs.dirs").write_text(
        'XDG_DESKTOP_DIR="$HOME/桌面"\nXDG_DOWNLOAD_DIR="/data/in"\nXDG_DOCUMENTS_DIR="odd"\n', "utf-8"
    )
    found = system_folders(Path("/home/me"), tmp_path)
    assert found == {"HOME": "/home/me", "DESKTOP": "/home/me/桌面", "DOWNLOADS": "/data/in", "DOCUMENTS": "/home/me/Documents"}


@pytest.mark.posix
def test_without_one_they_have_their_usual_names(tmp_path: Path) -> None:
    assert system_folders(tmp_path)["DOWNLOADS"] == str(tmp_path / "Downloads")


def test_other_systems_have_no_such_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "darwin")
    assert system_folders(tmp_path)["DESKTOP"] == str(tmp_path / "Desktop")
