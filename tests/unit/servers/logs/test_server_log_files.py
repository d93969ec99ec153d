import os
import stat
import sys
from pathlib import Path

import pytest

from tooltray.servers.logs import server_log_files
from tooltray.servers.logs.server_log_files import ServerLogFiles, file_stem

DAY_S = 86400.0
NOW = 1_795_600_000.0


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_lines_of_a_server_go_to_its_own_file_for_this_user_alone(tmp_path: Path) -> None:
    files = ServerLogFiles(tmp_path / "servers")
    files.append("files", b"one\n")
    files.append("files", b"two\n")
    files.append("檔案", b"other\n")
    [segment] = files.segments("files")
    assert (segment.key, segment.path.read_bytes()) == ("000001", b"one\ntwo\n")
    if sys.platform != "win32":
        assert stat.S_IMODE(segment.path.stat().st_mode) == 0o600
        assert stat.S_IMODE(segment.path.parent.stat().st_mode) == 0o700


def test_every_name_makes_a_file_name_of_its_own() -> None:
    odd = ["a/b", "a\\b", "a b", "..", "", "CON", "x" * 300, "x" * 299, "🎉\u202e", "half \ud800"]
    stems = {file_stem(name) for name in odd}
    assert len(stems) == len(odd)
    assert all(stem.replace("-", "").replace("_", "").isalnum() and len(stem) < 60 for stem in stems)


def test_a_full_file_has_a_successor_and_the_oldest_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_log_files, "MAX_FILE_BYTES", 10)
    files = ServerLogFiles(tmp_path)
    for number in range(4):
        files.append("s", b"line %d of it\n" % number)
    assert [segment.path.read_bytes() for segment in files.segments("s")] == [b"line 2 of it\n", b"line 3 of it\n"]
    assert [segment.key for segment in files.segments("s")] == ["000003", "000004"]


def test_a_cut_line_is_not_gone_on_with(tmp_path: Path) -> None:
    files = ServerLogFiles(tmp_path)
    files.append("s", b"half")
    files.append("s", b"whole\n")
    assert files.segments("s")[0].path.read_bytes() == b"half\nwhole\n"


def test_old_files_go_and_the_oldest_beyond_the_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_log_files, "MAX_TOTAL_BYTES", 25)
    files = ServerLogFiles(tmp_path, clock=lambda: NOW)
    for days, server in ((0, "new"), (1, "yesterday"), (2, "too much")):
        files.append(server, b"0123456789\n")
        os.utime(files.segments(server)[0].path, (NOW - days * DAY_S,) * 2)
    (tmp_path / "notes.txt").write_text("somebody's own")
    files.remove_old()
    assert [len(files.segments(server)) for server in ("new", "yesterday", "too much")] == [1, 1, 0]
    assert "notes.txt" in names(tmp_path)


def test_days_without_a_line_make_nothing_old_and_a_clock_that_jumps_removes_nothing(tmp_path: Path) -> None:
    files = ServerLogFiles(tmp_path, clock=lambda: NOW + 1000 * DAY_S)
    files.append("s", b"long ago\n")
    os.utime(files.segments("s")[0].path, (NOW,) * 2)
    files.remove_old()
    assert files.segments("s")
    for day in range(20):
        files.append(f"s{day}", b"x\n")
        os.utime(files.segments(f"s{day}")[0].path, (NOW + (day + 1) * DAY_S,) * 2)
    files.remove_old()
    assert not files.segments("s")


def test_without_a_folder_there_are_no_files(tmp_path: Path) -> None:
    assert ServerLogFiles(tmp_path / "none").segments("s") == []
