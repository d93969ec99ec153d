"""file_swap.py"""

import ctypes
import errno
import fcntl
import signal
from pathlib import Path
from types import SimpleNamespace

import pytest

from tooltray.foundation.files.file_swap import exchange, is_open_for_writing


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_text("1")
    other.write_text("2")
    return one, other


def test_two_files_change_places(pair: tuple[Path, Path]) -> None:
    one, other = pair
    assert exchange(str(one), str(other))
    assert (one.read_text(), other.read_text()) == ("2", "1")


def test_a_file_that_is_not_there_is_an_error(pair: tuple[Path, Path]) -> None:
    one, other = pair
    other.unlink()
    with pytest.raises(FileNotFoundError):
        exchange(str(one), str(other))
    assert one.read_text() == "1"


def test_a_file_system_that_cannot_do_it_is_said(pair: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: SimpleNamespace(renameat2=lambda *_: -1))
    monkeypatch.setattr(ctypes, "get_errno", lambda: errno.EINVAL)
    assert not exchange(*map(str, pair))


def test_a_file_is_open_for_writing_while_somebody_may_write_into_it(pair: tuple[Path, Path]) -> None:
    file, _ = pair
    with file.open("rb"):
        assert not is_open_for_writing(str(file))
    with file.open("ab"):
        assert is_open_for_writing(str(file))
    assert not is_open_for_writing(str(file))


def test_where_the_system_does_not_know_nobody_writes(pair: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    def no_leases(*_: object) -> int:
        raise OSError(errno.EINVAL, "Invalid argument")

    monkeypatch.setattr(fcntl, "fcntl", no_leases)
    with pair[0].open("ab"):
        assert not is_open_for_writing(str(pair[0]))


def test_the_signal_that_tells_of_the_end_of_a_lease_ends_no_process() -> None:
    assert signal.getsignal(signal.SIGURG) is signal.SIG_DFL  # which ignores it
