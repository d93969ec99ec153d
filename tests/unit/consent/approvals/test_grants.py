"""grants.py"""

import json
import os
from pathlib import Path

import pytest
from tests.fakes.modes import has_mode

from tooltray.consent.approvals.grants import LARGEST_BYTES, LONGEST_DEFINITION, Grant, GrantStore
from tooltray.foundation.errors import TooltrayError

ONE = Grant(id="1", kind="tool", server="s", tool="t", client="c", created_at=1.0, expires_at=2.0, tools={"t": "f1"})
TWO = Grant(id="2", kind="reads", server="s", tools={"a": "f1", "b": "f2"})


def test_grants_are_there_again_after_a_restart_and_nobody_else_can_read_them(tmp_path: Path) -> None:
    path = tmp_path / "grants.json"
    GrantStore(path).write([ONE, TWO], {"f1": "one", "f2": "two"})
    again = GrantStore(path)
    assert again.grants == (ONE, TWO)
    assert (again.definition("f1"), again.definition("f2"), again.definition("f3")) == ("one", "two", "")
    assert has_mode(path, 0o600)
    assert again.problem is None


def test_a_definition_that_no_grant_needs_is_left_out_and_one_that_is_very_long(tmp_path: Path) -> None:
    store = GrantStore(tmp_path / "grants.json")
    store.write([TWO], {"f1": "one", "f2": "x" * (LONGEST_DEFINITION + 1)})
    store.write([ONE], {})
    assert (store.definition("f1"), store.definition("f2")) == ("one", "")
    store.write([], {})
    assert store.definition("f1") == ""


def test_names_that_are_no_whole_characters_are_kept(tmp_path: Path) -> None:
    odd = Grant(id="3", kind="tool", server="s", tool="\ud800", tools={"\ud800": "f"})
    GrantStore(tmp_path / "grants.json").write([odd], {"f": "\udfff"})
    assert GrantStore(tmp_path / "grants.json").grants == (odd,)


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", '{"version": 2}', '{"grants": [{"id": 1}]}', '{"grants": [{"id": "1", "kind": "all", "server": "s"}]}', "[" * 100_000],
)
def test_what_cannot_be_read_is_set_aside_and_allows_nothing(tmp_path: Path, content: str) -> None:
    path = tmp_path / "grants.json"
    path.write_text(content)
    store = GrantStore(path)
    assert store.grants == ()
    assert store.problem
    assert "is now in" in store.problem.message
    [aside] = tmp_path.glob("grants.json.broken-*")
    assert aside.read_text() == content
    store.write([ONE], {})
    assert GrantStore(path).grants == (ONE,)


def test_a_file_that_cannot_be_opened_allows_nothing(tmp_path: Path) -> None:
    path = tmp_path / "grants.json"
    path.mkdir()
    store = GrantStore(path)
    assert store.problem
    assert store.grants == ()
    with pytest.raises(TooltrayError, match="cannot be saved"):
        store.write([ONE], {})
    assert store.grants == ()


def test_a_broken_file_that_cannot_be_moved_stays_and_allows_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "grants.json"
    path.write_text("{")

    def refuse(source: Path, target: Path) -> None:
        raise OSError("no")

    monkeypatch.setattr(os, "replace", refuse)
    store = GrantStore(path)
    assert store.problem
    assert str(path) in store.problem.message
    assert store.grants == ()


def test_the_file_has_the_spelling_of_the_other_files(tmp_path: Path) -> None:
    GrantStore(tmp_path / "grants.json").write([ONE], {})
    [grant] = json.loads((tmp_path / "grants.json").read_bytes())["grants"]
    assert grant["createdAt"] == 1.0


@pytest.mark.parametrize("written", ["NaN", "Infinity", "-1", "1e300"])
@pytest.mark.parametrize("member", ["createdAt", "expiresAt"])
def test_a_time_that_no_clock_shows_allows_nothing(tmp_path: Path, member: str, written: str) -> None:
    path = tmp_path / "grants.json"
    path.write_text(f'{{"grants": [{{"id": "1", "kind": "tool", "server": "s", "{member}": {written}}}]}}')
    store = GrantStore(path)
    assert (store.grants, bool(store.problem)) == ((), True)


def test_a_file_that_is_larger_than_any_of_ours_allows_nothing(tmp_path: Path) -> None:
    path = tmp_path / "grants.json"
    path.write_text('{"grants": []}')
    os.truncate(path, LARGEST_BYTES + 1)
    store = GrantStore(path)
    assert (store.grants, bool(store.problem)) == ((), True)


@pytest.mark.posix
def test_what_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "grants.json"
    os.mkfifo(path)
    store = GrantStore(path)
    assert store.problem
    assert "it is no file" in store.problem.message
