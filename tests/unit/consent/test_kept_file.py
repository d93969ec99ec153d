"""kept_file.py: what is decided is there again after a restart, and what cannot be read counts as nothing, is set aside and reported."""

import os
from pathlib import Path

import msgspec
import pytest
from tests.fakes.modes import has_mode

from tooltray.consent.kept_file import KeptFile
from tooltray.foundation.errors import TooltrayError

MOST_BYTES = 10_000


class Names(msgspec.Struct):
    names: list[str] = []


def kept(path: Path) -> KeptFile[Names]:
    return KeptFile(path, Names, most_bytes=MOST_BYTES, unread="names cannot be read", remedy="Name them.", unsaved="names cannot be saved")


def test_what_is_written_is_there_again_and_no_other_user_can_read_it(tmp_path: Path) -> None:
    path = tmp_path / "names.json"
    odd = Names(["one", "\ud800"])
    file = kept(path)
    file.write(odd)
    again = kept(path)
    assert file.content == again.content == odd
    assert again.problem is None
    assert has_mode(path, 0o600)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"names": [7]}', "[" * 5000, " " * (MOST_BYTES + 1)])
def test_what_cannot_be_read_is_set_aside_and_counts_as_nothing(tmp_path: Path, content: str) -> None:
    path = tmp_path / "names.json"
    path.write_text(content)
    file = kept(path)
    [aside] = tmp_path.glob("names.json.broken-*")
    assert (file.content, aside.read_text()) == (Names(), content)
    assert file.problem
    assert (file.problem.title, file.problem.hint) == ("names cannot be read", "Name them.")
    assert file.problem.message == f"what was in names.json is now in {aside}"
    file.write(Names(["new"]))
    assert kept(path).content == Names(["new"])


def test_a_damaged_file_that_cannot_be_moved_stays(tmp_path: Path) -> None:
    path = tmp_path / ("x" * 250)  # with anything behind it, the name is too long
    path.write_bytes(b"{")
    assert kept(path).problem
    assert path.read_bytes() == b"{"


@pytest.mark.posix
def test_what_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "names.json"
    os.mkfifo(path)
    file = kept(path)
    assert file.problem
    assert "it is not a file" in file.problem.message
    assert path.exists()
    assert file.lost == (str(path),)


def test_what_could_not_be_read_is_still_there_after_the_next_write(tmp_path: Path) -> None:
    path = tmp_path / "names.json"
    path.mkdir()
    (path / "old").touch()
    file = kept(path)
    assert file.problem
    assert (str(path) in file.problem.message, "Make it readable" in file.problem.hint) == (True, True)
    assert file.lost == (str(path),)
    file.write(Names(["one"]))
    assert kept(path).content == file.content == Names(["one"])
    [aside] = tmp_path.glob("names.json.broken-*")
    assert (aside / "old").exists()
    assert file.lost == (str(aside),)


def test_where_nothing_is_kept_and_nothing_can_be_written_nothing_changes(tmp_path: Path) -> None:
    file = kept(tmp_path / "no such folder/names.json")
    with pytest.raises(TooltrayError, match="names cannot be saved"):
        file.write(Names(["one"]))
    assert (file.content, file.problem, file.lost) == (Names(), None, ())
