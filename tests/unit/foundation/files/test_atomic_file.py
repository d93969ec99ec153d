import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.fakes.full_disk import full_disk
from tests.fakes.modes import has_mode

from tooltray.foundation.files import atomic_file
from tooltray.foundation.files.atomic_file import all_set_aside, read_own, remove_leftovers, set_aside, write_atomically
from tooltray.foundation.regular_file import NotRegular


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def test_a_new_file_is_private_and_nothing_else_appears(tmp_path: Path) -> None:
    write_atomically(tmp_path / "a.json", b"one")
    assert (tmp_path / "a.json").read_bytes() == b"one"
    assert has_mode(tmp_path / "a.json", 0o600)
    assert names(tmp_path) == ["a.json"]


@pytest.mark.posix
def test_a_reader_that_has_the_old_file_open_keeps_reading_it_whole(tmp_path: Path) -> None:
    write_atomically(tmp_path / "a", b"old")
    with open(tmp_path / "a", "rb") as reader:
        write_atomically(tmp_path / "a", b"new and longer")
        assert reader.read() == b"old"
    assert (tmp_path / "a").read_bytes() == b"new and longer"


def test_the_mode_is_what_was_asked_for(tmp_path: Path) -> None:
    write_atomically(tmp_path / "a", b"")
    write_atomically(tmp_path / "a", b"", mode=0o644)
    assert has_mode(tmp_path / "a", 0o644)


@pytest.mark.posix
def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "dotfiles").mkdir()
    (tmp_path / "dotfiles/real").write_bytes(b"old")
    (tmp_path / "link").symlink_to("dotfiles/real")
    write_atomically(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "dotfiles/real").read_bytes() == b"new"
    assert names(tmp_path / "dotfiles") == ["real"]


@pytest.mark.posix
def test_a_link_to_nothing_makes_its_target(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "target")
    write_atomically(tmp_path / "link", b"x")
    assert (tmp_path / "target").read_bytes() == b"x"


@pytest.mark.posix
def test_a_pipe_or_a_folder_is_not_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name in ("pipe", "folder"):
        with pytest.raises(NotRegular):
            write_atomically(tmp_path / name, b"x")
    assert (tmp_path / "pipe").is_fifo()
    assert names(tmp_path) == ["folder", "pipe"]


def test_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        write_atomically(tmp_path / "missing/a", b"x")


@pytest.mark.posix
def test_where_a_folder_is_in_the_way_nothing_is_left(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    with pytest.raises(NotRegular, match="directory"):
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


def test_what_cannot_be_set_aside_stays_where_it_is(tmp_path: Path) -> None:
    assert set_aside(tmp_path / "gone.json") == tmp_path / "gone.json"
    assert names(tmp_path) == []


def test_what_was_set_aside_is_found_again(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("x")
    (tmp_path / "a.json.v1.bak").write_text("y")
    assert all_set_aside(path) == []
    aside = set_aside(path)
    assert all_set_aside(path) == [aside]
    assert aside.read_text() == "x"
    assert all_set_aside(tmp_path / "no such folder/a.json") == []


KILLED_WHILE_WRITING = """
import os, pathlib, signal, sys
from tooltray.foundation.files import atomic_file
atomic_file.os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
atomic_file.write_atomically(pathlib.Path(sys.argv[1]), b"a token")
"""
NOBODY = 2**22 + 1  # beyond the largest pid that Linux gives


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if not path.is_dir())


def put(path: Path, *, is_old: bool = False) -> None:
    path.parent.mkdir(exist_ok=True)
    path.touch()
    if is_old:
        os.utime(path, (0, 0))


@pytest.mark.posix
def test_what_a_killed_writer_left_is_gone_at_once(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    killed = subprocess.run([sys.executable, "-c", KILLED_WHILE_WRITING, str(tmp_path / "run" / "http-token")], check=False)
    assert killed.returncode == -9
    (left,) = (tmp_path / "run").iterdir()
    assert left.read_bytes() == b"a token"
    remove_leftovers(tmp_path)
    assert names_in(tmp_path) == []


@pytest.mark.posix
def test_only_temporary_files_whose_writer_is_gone_are_removed(tmp_path: Path) -> None:
    put(tmp_path / "run" / f".http-token.{NOBODY}-abcd1234.tmp")
    put(tmp_path / f".settings.json.{os.getpid()}-abcd1234.tmp")
    put(tmp_path / ".settings.json.abcd1234.tmp")  # of a version that did not name the writer
    put(tmp_path / "a" / ".names.json.abcd1234.tmp", is_old=True)
    put(tmp_path / f".b.{os.getpid()}-abcd1234.tmp", is_old=True)
    put(tmp_path / f".c.{2**70}-abcd1234.tmp")
    put(tmp_path / ".d.1-abcd1234.tmp")  # runs, and may be another user's
    put(tmp_path / "mine.tmp", is_old=True)
    (tmp_path / f".e.{NOBODY}-abcd1234.tmp").symlink_to(tmp_path / "mine.tmp")
    remove_leftovers(tmp_path)
    stay = [f".c.{2**70}-abcd1234.tmp", ".d.1-abcd1234.tmp", f".e.{NOBODY}-abcd1234.tmp", ".settings.json.abcd1234.tmp"]
    assert names_in(tmp_path) == sorted([*stay, f".settings.json.{os.getpid()}-abcd1234.tmp", "mine.tmp"])


def test_a_folder_with_files_of_others_is_not_looked_into(tmp_path: Path) -> None:
    put(tmp_path / "bundles" / f".a.{NOBODY}-abcd1234.tmp")
    put(tmp_path / "run" / f".a.{NOBODY}-abcd1234.tmp")
    remove_leftovers(tmp_path, tmp_path / "bundles")
    assert names_in(tmp_path) == [f".a.{NOBODY}-abcd1234.tmp"]


def test_what_cannot_be_removed_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path / f".a.{NOBODY}-abcd1234.tmp")

    def deny(path: str) -> None:
        raise PermissionError(path)

    monkeypatch.setattr(atomic_file.os, "unlink", deny)
    remove_leftovers(tmp_path)
    assert len(names_in(tmp_path)) == 1


@pytest.mark.posix
def test_a_process_of_another_user_counts_as_running(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def deny(pid: int, number: int) -> None:
        raise PermissionError(pid)

    monkeypatch.setattr(os, "kill", deny)
    put(tmp_path / ".a.1-abcd1234.tmp")
    remove_leftovers(tmp_path)
    assert len(names_in(tmp_path)) == 1


@pytest.mark.posix
def test_something_else_in_the_place_of_an_own_file_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="it is not a file, but a pipe or a device"):
        read_own(tmp_path / "pipe", 10)
