"""An export is there whole or not at all, and for its owner alone."""

import json
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fakes.full_disk import full_disk
from tests.fakes.journals import NOW

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.snapshots.activity import ActivityDetails, ActivityEntry, ActivityTimes
from tooltray.records.journal.activity_export import write_entries


def details(id: int, **fields: str) -> ActivityDetails:
    return ActivityDetails(ActivityEntry(id, "call", NOW, "ok", has_contents=bool(fields)), ActivityTimes(server_s=0.5), **fields)


def test_each_entry_is_a_line_with_what_is_known(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    path.write_text("what was there")
    path.chmod(0o644)
    assert write_entries(path, iter([details(1), details(2, arguments="{}", result="[]", allowed_by="rules")])) == 2
    first, second = map(json.loads, path.read_text().splitlines())
    assert (first["id"], first["kind"], first["server_s"], "person_s" in first, "arguments" in first) == (1, "call", 0.5, False, False)
    assert (second["arguments"], second["result"], second["is_cut"], second["allowed_by"]) == ("{}", "[]", False, "rules")
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.posix
def test_nobody_else_may_read_it(tmp_path: Path) -> None:
    write_entries(tmp_path / "out.jsonl", iter([]))
    assert stat.S_IMODE((tmp_path / "out.jsonl").stat().st_mode) == 0o600


def test_what_fails_leaves_what_was_there(tmp_path: Path) -> None:
    def failing() -> Iterator[ActivityDetails]:
        yield details(1)
        raise RuntimeError

    path = tmp_path / "out.jsonl"
    path.write_text("what was there")
    with pytest.raises(RuntimeError):
        write_entries(path, failing())
    assert (path.read_text(), list(tmp_path.iterdir())) == ("what was there", [path])


@pytest.mark.posix
def test_a_full_disk_is_said(tmp_path: Path) -> None:
    with full_disk(), pytest.raises(TooltrayError, match="cannot be exported"):
        write_entries(tmp_path / "out.jsonl", (details(id) for id in range(1000)))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("path", ["out.jsonl", "/no/such/folder/out.jsonl", "/tmp/a\0b"])
def test_a_place_that_is_none_is_refused(path: str) -> None:
    with pytest.raises(TooltrayError, match="cannot be exported"):
        write_entries(Path(path), iter([]))
