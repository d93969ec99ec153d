"""file_text.py: a file's text, whatever stands in its place."""

import os
import socket
from pathlib import Path

import pytest

from tooltray.foundation.files.file_text import MAX_FILE_BYTES, CannotOpen, FileText, read_text


def reason_of(path: Path) -> CannotOpen:
    with pytest.raises(CannotOpen) as error:
        read_text(path)
    return error.value


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b'{"a": "\xc3\xa9"}', '{"a": "é"}'),
        (b"\xef\xbb\xbf{}\r\n", "\ufeff{}\r\n"),
        ("\ufeff{é}".encode("utf-16-le"), "\ufeff{é}"),
        ("\ufeff{é}".encode("utf-16-be"), "\ufeff{é}"),
        ("\ufeff{é}".encode("utf-32-le"), "\ufeff{é}"),
        ('{"é": 1}'.encode("utf-16-le"), '{"é": 1}'),
        ('{"é": 1}'.encode("utf-16-be"), '{"é": 1}'),
        (b"", ""),
    ],
)
def test_a_text_is_read_in_its_encoding_and_written_back_in_it(tmp_path: Path, data: bytes, text: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(data)
    file = read_text(path)
    assert file.text == text
    assert file.digest
    assert file.to_bytes(text) == data


def test_two_contents_have_two_digests(tmp_path: Path) -> None:
    path = tmp_path / "file"
    digests = set()
    for data in (b"", b"{}", b"{} "):
        path.write_bytes(data)
        digests.add(read_text(path).digest)
    assert len(digests) == 3


@pytest.mark.parametrize("name", ["missing", "folder/missing", "file/inside", "link"])
def test_what_is_not_there_is_no_file(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("{}")
    (tmp_path / "link").symlink_to(tmp_path / "nothing")
    assert read_text(tmp_path / name) == FileText()


@pytest.mark.posix
def test_a_link_leads_to_its_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("{}")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    assert read_text(tmp_path / "link").text == "{}"


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    assert reason_of(tmp_path).reason == "it is a folder"


@pytest.mark.posix
def test_a_pipe_that_nobody_writes_to_and_a_device_without_end_are_no_files(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert "a pipe or a device" in reason_of(tmp_path / "pipe").reason
    assert "a pipe or a device" in reason_of(Path("/dev/zero")).reason


@pytest.mark.posix
def test_a_socket_is_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # the address of a socket is short
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
        assert "a pipe or a device" in reason_of(tmp_path / "socket").reason


@pytest.mark.posix
def test_links_in_a_circle_are_told(tmp_path: Path) -> None:
    (tmp_path / "one").symlink_to(tmp_path / "two")
    (tmp_path / "two").symlink_to(tmp_path / "one")
    assert reason_of(tmp_path / "one").reason.startswith("it cannot be read: ")


def test_a_name_that_no_file_can_have_is_told() -> None:
    assert reason_of(Path("/a\0b")).reason == "a file cannot have this name"


def test_a_file_that_is_too_large_is_not_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with path.open("wb") as file:
        file.truncate(MAX_FILE_BYTES + 1)
    assert reason_of(path).reason == "it is larger than 8 MB"
    with path.open("wb") as file:
        file.truncate(MAX_FILE_BYTES)
    assert len(read_text(path).text) > 0


@pytest.mark.parametrize(
    ("data", "reason", "line"),
    [(b'{\n"a": "\xff"}', "byte 9 is not UTF-8", 2), (b"\xff\xfe{\0\n\0}\0\0\xd8", "byte 9 is not UTF-16", 2)],
)
def test_what_is_no_text_is_told_with_its_line(tmp_path: Path, data: bytes, reason: str, line: int) -> None:
    path = tmp_path / "file"
    path.write_bytes(data)
    error = reason_of(path)
    assert (error.reason, error.line) == (reason, line)
    assert error.digest
