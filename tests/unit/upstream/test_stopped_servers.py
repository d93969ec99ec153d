"""upstream/stopped_servers.py"""

import stat
from pathlib import Path

import pytest

from tooltray.errors import TooltrayError
from tooltray.upstream.stopped_servers import LARGEST_BYTES, MOST_KEPT, StoppedServers


def test_what_was_stopped_is_known_again_after_a_restart_and_to_nobody_else(tmp_path: Path) -> None:
    path, file = tmp_path / "stopped.json", tmp_path / ".mcp.json"
    file.touch()
    store = StoppedServers(path)
    store.add("s", at=5.0)
    store.add("db", str(file), at=6.0)
    store.save()
    again = StoppedServers(path)
    assert (again.since("s"), again.since("db", str(file)), again.of_settings()) == (5.0, 6.0, ["s"])
    assert (again.since("db"), again.since("s", str(file)), again.problem) == (None, None, None)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert again.discard("s")
    assert not again.discard("s")
    again.save()
    assert StoppedServers(path).since("s") is None


def test_a_server_of_a_file_that_is_gone_is_forgotten(tmp_path: Path) -> None:
    store = StoppedServers(tmp_path / "stopped.json")
    store.add("db", str(tmp_path / ".mcp.json"), at=6.0)
    store.save()
    assert StoppedServers(tmp_path / "stopped.json").since("db", str(tmp_path / ".mcp.json")) is None


def test_of_too_many_the_oldest_go(tmp_path: Path) -> None:
    store = StoppedServers(tmp_path / "stopped.json")
    for number in range(MOST_KEPT + 1):
        store.add(str(number), at=1.0)
    store.save()
    again = StoppedServers(tmp_path / "stopped.json")
    assert (again.since("0"), again.since("1"), len(again.of_settings())) == (None, 1.0, MOST_KEPT)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"servers": ["s"]}', "[" * 100_000, " " * (LARGEST_BYTES + 1)])
def test_a_file_that_cannot_be_used_is_set_aside_and_nothing_counts_as_stopped(tmp_path: Path, content: str) -> None:
    path = tmp_path / "stopped.json"
    path.write_text(content)
    store = StoppedServers(path)
    assert store.of_settings() == []
    assert store.problem
    assert "is now in" in store.problem.message
    [aside] = tmp_path.glob("stopped.json.broken-*")
    assert aside.read_text() == content


def test_a_file_that_cannot_be_opened_is_left_and_told(tmp_path: Path) -> None:
    (tmp_path / "stopped.json").mkdir()
    problem = StoppedServers(tmp_path / "stopped.json").problem
    assert problem
    assert problem.hint == "Make it readable."


def test_a_file_that_cannot_be_written_says_what_still_counts(tmp_path: Path) -> None:
    store = StoppedServers(tmp_path / "gone" / "stopped.json")
    store.add("s", at=1.0)
    with pytest.raises(TooltrayError, match=r"cannot be saved. .* It counts until Tooltray ends"):
        store.save()
    assert store.since("s") == 1.0
