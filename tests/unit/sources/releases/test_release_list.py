"""release_list.py: what a list of releases has for a version, whatever the list is."""

import json
from typing import Any

import pytest
from tests.fakes.release_list import listed, release

from tooltray.foundation.errors import TooltrayError
from tooltray.sources.releases.release_list import LONGEST_TEXT, MOST_CHANGES, Release, newer_release, read_releases, reason_withdrawn


def read(*releases: Any) -> tuple[Release, ...]:
    return read_releases(json.dumps(listed(*releases)).encode())


def newer(version: str, *releases: Any) -> str:
    found = newer_release(read(*releases), version)
    return found.version if found else ""


def test_a_newer_release_is_found_in_a_list_in_any_order() -> None:
    assert newer("1.2.0", release("1.1.0"), release("1.10.0"), release("1.9.0")) == "1.10.0"


@pytest.mark.parametrize("version", ["1.2.0", "1.1.9", "1.3.0rc1", "1.3.0b2", "0.9.0"])
def test_equal_older_and_pre_releases_are_not_newer(version: str) -> None:
    assert newer("1.2.0", release(version)) == ""


def test_a_pre_release_that_runs_is_followed_by_its_release() -> None:
    assert newer("1.3.0rc1", release("1.3.0rc2"), release("1.3.0")) == "1.3.0"


def test_a_withdrawn_release_is_passed_over_also_if_it_is_listed_twice() -> None:
    assert newer("1.2.0", release("1.4.0", withdrawn="It loses settings"), release("1.3.0"), release("1.4.0")) == "1.3.0"


def test_the_reason_is_that_of_the_version_that_runs() -> None:
    releases = read(release("1.2.0", withdrawn="It loses\nsettings"), release("1.1.0"))
    assert reason_withdrawn(releases, "1.2.0") == "It loses settings"
    assert reason_withdrawn(releases, "1.1.0") == ""


@pytest.mark.parametrize(
    "version", ["2", "2.0", "v2.0.0", "9" * 300, "2.0." + "0" * 300, "2.0.0+x", "2.0.0 ", "../2.0.0", "２.0.0", "<b>2.0.0</b>", 2.0, None]
)
def test_a_release_without_a_plain_version_is_skipped(version: Any) -> None:
    assert [each.version for each in read(release("1.3.0"), release(version))] == ["1.3.0"]


@pytest.mark.parametrize(
    "entry",
    [7, None, [], {}, {"version": "2.0.0", "withdrawn": True}, {"version": "2.0.0", "changes": "x"}, {"version": "2.0.0", "files": 1}],
)
def test_a_release_of_wrong_types_is_skipped(entry: Any) -> None:
    assert [each.version for each in read(entry, release("1.3.0"))] == ["1.3.0"]
    with pytest.raises(TooltrayError, match="not a list of releases"):
        read(entry)


def test_texts_are_cut_and_have_no_control_characters() -> None:
    hostile = ["\x1b[31mred\x07", "turned\u202eround", "two\r\nlines", " \t ", "x" * 1_000_000, *["more"] * 50]
    [found] = read(release("1.3.0", *hostile))
    assert found.changes[:3] == ("[31mred", "turned round", "two lines")
    assert found.changes[3] == "x" * (LONGEST_TEXT - 1) + "…"
    assert len(found.changes) == MOST_CHANGES - 1  # one was blank


@pytest.mark.parametrize("body", [b"[]", b"{}", b'{"releases": 3}', b'"x"', b"null"])
def test_another_document_is_no_list_of_releases(body: bytes) -> None:
    with pytest.raises(TooltrayError, match="not a list of releases"):
        read_releases(body)


@pytest.mark.parametrize("body", [b"", b'{"releases": [', b"<html>", b"\xff\xfe", b'{"releases": ' + b"[" * 100_000])
def test_broken_json_is_named(body: bytes) -> None:
    with pytest.raises(TooltrayError, match="not JSON, or was cut off"):
        read_releases(body)


def test_an_entry_that_is_nested_too_deeply_is_skipped() -> None:
    deep = b'{"version": "2.0.0", "more": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    with pytest.raises(TooltrayError):
        read_releases(b'{"releases": [' + deep + b"]}")


def test_an_empty_list_is_a_list() -> None:
    assert read() == ()


def test_files_are_found_by_their_whole_names() -> None:
    [found] = read(release("1.3.0", files=("a.deb",)))
    assert found.has_file("a.deb")
    assert not found.has_file("")
