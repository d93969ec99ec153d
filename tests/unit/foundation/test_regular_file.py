import os
from pathlib import Path

import pytest

from tooltray.foundation.regular_file import NotRegular, open_regular, read_regular


def test_a_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"content\r\n")
    assert read_regular(tmp_path / "file") == b"content\r\n"


def test_a_file_is_made_where_the_flags_say_so(tmp_path: Path) -> None:
    os.close(open_regular(tmp_path / "file", os.O_RDWR | os.O_CREAT))
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o600


def test_a_missing_file_is_missing(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_regular(tmp_path / "file")


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(NotRegular, match="Is a directory"):
        read_regular(tmp_path)


@pytest.mark.posix
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(NotRegular, match="a pipe or a device"):
        read_regular(tmp_path / "pipe")


@pytest.mark.posix
def test_a_pipe_that_comes_into_the_place_of_a_file_in_that_moment_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    path.touch()
    as_it_was = path.stat()
    path.unlink()
    os.mkfifo(path)
    before = len(os.listdir("/dev/fd"))
    with monkeypatch.context() as patched:
        patched.setattr(os, "stat", lambda _: as_it_was)
        with pytest.raises(NotRegular):
            open_regular(path)
    assert len(os.listdir("/dev/fd")) == before
