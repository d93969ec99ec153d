import os
from pathlib import Path

import pytest
from tests.fakes.full_disk import full_disk

from tooltray.files.atomic_file import all_set_aside, read_own, set_aside, write_atomically


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def test_a_new_file_is_private_and_nothing_else_appears(tmp_path: Path) -> None:
    write_atomically(tmp_path / "a.json", b"one")
    assert (tmp_path / "a.json").read_bytes() == b"one"
    assert (tmp_path / "a.json").stat().st_mode & 0o777 == 0o600
    assert names(tmp_path) == ["a.json"]


def test_a_reader_that_has_the_old_file_open_keeps_reading_it_whole(tmp_path: Path) -> None:
    write_atomically(tmp_path / "a", b"old")
    with open(tmp_path / "a", "rb") as reader:
        write_atomically(tmp_path / "a", b"new and longer")
        assert reader.read() == b"old"
    assert (tmp_path / "a").read_bytes() == b"new and longer"


def test_the_mode_is_what_was_asked_for(tmp_path: Path) -> None:
    write_atomically(tmp_path / "a", b"")
    write_atomically(tmp_path / "a", b"", mode=0o644)
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o644


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "dotfiles").mkdir()
    (tmp_path / "dotfiles/real").write_bytes(b"old")
    (tmp_path / "link").symlink_to("dotfiles/real")
    write_atomically(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "dotfiles/real").read_bytes() == b"new"
    assert names(tmp_path / "dotfiles") == ["real"]


def test_a_link_to_nothing_makes_its_target(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "target")
    write_atomically(tmp_path / "link", b"x")
    assert (tmp_path / "target").read_bytes() == b"x"


def test_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        write_atomically(tmp_path / "missing/a", b"x")


def test_where_a_folder_is_in_the_way_nothing_is_left(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    with pytest.raises(IsADirectoryError):
        write_atomically(tmp_path / "a", b"x")
    assert names(tmp_path) == ["a"]


def test_a_full_disk_keeps_the_old_content_and_leaves_nothing(tmp_path: Path) -> None:
    write_atomically(tmp_path / "a", b"old")
    with full_disk(), pytest.raises(OSError, match="File too large"):
        write_atomically(tmp_path / "a", b"x" * 100_000)
    assert (tmp_path / "a").read_bytes() == b"old"
    assert names(tmp_path) == ["a"]


def test_what_a_killed_writer_left_is_swept_and_what_a_living_one_has_is_not(tmp_path: Path) -> None:
    for name in (".a.dead.tmp", ".a.living.tmp", ".other.dead.tmp", ".a.dead.json"):
        (tmp_path / name).touch()
    for name in (".a.dead.tmp", ".other.dead.tmp", ".a.dead.json"):
        os.utime(tmp_path / name, (0, 0))
    write_atomically(tmp_path / "a", b"x")
    assert names(tmp_path) == [".a.dead.json", ".a.living.tmp", ".other.dead.tmp", "a"]


def test_a_leftover_that_cannot_be_removed_is_no_error(tmp_path: Path) -> None:
    (tmp_path / ".a.odd.tmp").mkdir()
    os.utime(tmp_path / ".a.odd.tmp", (0, 0))
    write_atomically(tmp_path / "a", b"x")
    assert names(tmp_path) == [".a.odd.tmp", "a"]


@pytest.mark.parametrize("name", ["x" * 255, "設" * 85])
def test_the_longest_possible_name_can_be_written(tmp_path: Path, name: str) -> None:
    write_atomically(tmp_path / name, b"x")
    assert names(tmp_path) == [name]


def test_one_of_our_files_is_read_whole(tmp_path: Path) -> None:
    write_atomically(tmp_path / "file", b"12345")
    assert read_own(tmp_path / "file", 5) == b"12345"


def test_what_is_larger_than_anything_of_ours_is_not_read(tmp_path: Path) -> None:
    write_atomically(tmp_path / "file", b"123456")
    with pytest.raises(ValueError, match="too large"):
        read_own(tmp_path / "file", 5)


def test_a_folder_in_the_place_of_a_file_of_ours_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OSError):
        read_own(tmp_path, 5)


def test_what_was_set_aside_is_found_again(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("x")
    (tmp_path / "a.json.v1.bak").write_text("y")
    assert all_set_aside(path) == []
    aside = set_aside(path)
    assert all_set_aside(path) == [aside]
    assert aside.read_text() == "x"
    assert all_set_aside(tmp_path / "no such folder/a.json") == []
