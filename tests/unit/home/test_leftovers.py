"""Temporary files of writers that were killed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tooltray.files import atomic_file
from tooltray.home.leftovers import remove_leftovers

KILLED_WHILE_WRITING = """
import os, pathlib, signal, sys
from tooltray.files import atomic_file
atomic_file.os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
atomic_file.write_atomically(pathlib.Path(sys.argv[1]), b"a token")
"""
NOBODY = 2**22 + 1  # beyond the largest pid that Linux gives


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if not path.is_dir())


def put(path: Path, *, is_old: bool = False) -> None:
    path.parent.mkdir(exist_ok=True)
    path.touch()
    if is_old:
        os.utime(path, (0, 0))


def test_what_a_killed_writer_left_is_gone_at_once(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    killed = subprocess.run([sys.executable, "-c", KILLED_WHILE_WRITING, str(tmp_path / "run" / "http-token")], check=False)
    assert killed.returncode == -9
    (left,) = (tmp_path / "run").iterdir()
    assert left.read_bytes() == b"a token"
    remove_leftovers(tmp_path)
    assert names(tmp_path) == []


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
    assert names(tmp_path) == sorted([*stay, f".settings.json.{os.getpid()}-abcd1234.tmp", "mine.tmp"])


def test_what_cannot_be_removed_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path / f".a.{NOBODY}-abcd1234.tmp")

    def deny(path: str) -> None:
        raise PermissionError(path)

    monkeypatch.setattr(atomic_file.os, "unlink", deny)
    remove_leftovers(tmp_path)
    assert len(names(tmp_path)) == 1


def test_a_process_of_another_user_counts_as_running(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def deny(pid: int, number: int) -> None:
        raise PermissionError(pid)

    monkeypatch.setattr(os, "kill", deny)
    put(tmp_path / ".a.1-abcd1234.tmp")
    remove_leftovers(tmp_path)
    assert len(names(tmp_path)) == 1
