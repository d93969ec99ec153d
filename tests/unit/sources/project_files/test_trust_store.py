"""trust_store.py"""

import os
from pathlib import Path

import pytest
from tests.fakes.modes import has_mode

from tooltray.foundation.errors import TooltrayError
from tooltray.sources.project_files.trust_store import LARGEST_BYTES, KeptEntry, TrustStore

KEPT = {"/p": {"one": KeptEntry("one", "d1", 5.0, True), "two": KeptEntry("two-p")}, "/q": {}}


def test_what_is_trusted_is_there_again_after_a_restart_and_nobody_else_can_read_it(tmp_path: Path) -> None:
    path = tmp_path / "trust.json"
    TrustStore(path).write(KEPT)
    again = TrustStore(path)
    assert again.kept == {"/p": KEPT["/p"]}
    assert again.problem is None
    assert has_mode(path, 0o600)


def test_what_an_entry_does_not_say_is_what_a_person_has_not_done(tmp_path: Path) -> None:
    path = tmp_path / "trust.json"
    path.write_text('{"projects": {"/p": {"one": {"server": "one"}}}}')
    assert TrustStore(path).kept == {"/p": {"one": KeptEntry("one", digest="", trusted_at=0.0, is_own=False)}}


def test_without_a_file_nothing_is_trusted_and_nothing_is_wrong(tmp_path: Path) -> None:
    store = TrustStore(tmp_path / "trust.json")
    assert (store.kept, store.problem) == ({}, None)


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        '{"version": 2}',
        '{"projects": {"/p": {"one": {}}}}',
        '{"projects": {"/p": {"one": {"server": "one", "trustedAt": -1}}}}',
        "[" * 100_000,
        " " * (LARGEST_BYTES + 1),
    ],
    ids=["empty", "half", "list", "newer", "no name", "odd time", "deep", "large"],
)
def test_what_cannot_be_read_is_set_aside_and_trusts_nothing(tmp_path: Path, content: str) -> None:
    path = tmp_path / "trust.json"
    path.write_text(content)
    store = TrustStore(path)
    assert store.kept == {}
    assert store.problem
    assert "is now in" in store.problem.message
    [aside] = tmp_path.glob("trust.json.broken-*")
    assert aside.read_text() == content
    assert store.lost == (str(aside),)
    store.write(KEPT)
    assert TrustStore(path).kept == {"/p": KEPT["/p"]}
    aside.unlink()
    assert TrustStore(path).lost == ()


@pytest.mark.posix
def test_what_is_no_file_trusts_nothing_and_stays_where_it_is(tmp_path: Path) -> None:
    path = tmp_path / "trust.json"
    os.mkfifo(path)
    store = TrustStore(path)
    assert store.problem
    assert "it is no file" in store.problem.message
    assert path.exists()
    assert store.lost == (str(path),)


def test_what_cannot_be_written_says_so(tmp_path: Path) -> None:
    store = TrustStore(tmp_path / "no such folder/trust.json")
    with pytest.raises(TooltrayError, match=r"cannot be saved.*No such file"):
        store.write(KEPT)
