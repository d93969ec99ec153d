"""api_token.py: the token of the REST interface, which stays the same and is the person's alone."""

import os
from pathlib import Path

import pytest
from tests.fakes.modes import has_mode

from tooltray.consent.tokens.api_tokens import ApiToken
from tooltray.foundation.errors import TooltrayError


def test_the_token_is_made_when_it_is_wanted_and_stays_the_same_after_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "http-token"
    token = ApiToken(path)
    assert not path.exists()
    assert token.known == frozenset()
    value = token.value()
    again = ApiToken(path)
    assert again.value() == token.value() == value
    assert again.is_right(value)
    assert again.known == {value}
    assert again.problem is None


def test_the_token_has_256_bits_and_a_mark_and_its_file_is_the_person_s_alone(tmp_path: Path) -> None:
    path = tmp_path / "http-token"
    value = ApiToken(path).value()
    assert value.startswith("tooltray_api_")
    assert len(value.removeprefix("tooltray_api_")) == 43
    assert has_mode(path, 0o600)


@pytest.mark.parametrize("wrong", ["", "tooltray_api_", "x", "ü", "\udcff"])
def test_what_is_not_the_token_opens_nothing(tmp_path: Path, wrong: str) -> None:
    token = ApiToken(tmp_path / "http-token")
    assert not token.is_right(wrong)  # there is none yet
    value = token.value()
    assert not token.is_right(wrong)
    assert not token.is_right(value[:-1])
    assert not token.is_right(value + "x")


def test_another_token_ends_the_one_before(tmp_path: Path) -> None:
    token = ApiToken(tmp_path / "http-token")
    first = token.value()
    second = token.rotate()
    assert [token.is_right(each) for each in (first, second)] == [False, True]
    assert [ApiToken(tmp_path / "http-token").is_right(each) for each in (first, second)] == [False, True]


@pytest.mark.posix
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o666, 0o610])
def test_a_token_that_others_could_read_is_replaced_and_that_is_said(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "http-token"
    seen = ApiToken(path).value()
    path.chmod(mode)
    token = ApiToken(path)
    assert not token.is_right(seen)
    assert token.problem
    assert "could read" in token.problem.message
    assert seen not in str(token.problem)
    assert token.is_right(token.value())
    assert token.problem is None
    assert has_mode(path, 0o600)
    assert ApiToken(path).is_right(token.value())


@pytest.mark.parametrize("content", [b"", b"x", b"tooltray_api_short", b"\xff" * 56, b"y" * 5000])
def test_a_file_with_something_else_in_it_is_replaced_and_that_is_said(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "http-token"
    path.write_bytes(content)
    path.chmod(0o600)
    token = ApiToken(path)
    assert not token.is_right(content.decode("utf-8", "replace"))
    assert token.problem
    assert "no token" in token.problem.message
    value = token.value()
    assert ApiToken(path).is_right(value)


@pytest.mark.posix
def test_a_pipe_in_its_place_keeps_nobody_waiting(tmp_path: Path) -> None:
    path = tmp_path / "http-token"
    os.mkfifo(path, 0o600)
    token = ApiToken(path)
    assert token.problem
    assert token.is_right(token.value())
    assert path.is_file()


def test_a_folder_in_its_place_opens_nothing_and_is_said(tmp_path: Path) -> None:
    path = tmp_path / "http-token"
    path.mkdir()
    token = ApiToken(path)
    assert token.problem
    assert not token.is_right("")
    with pytest.raises(TooltrayError, match="cannot be kept"):
        token.value()


def test_a_token_that_cannot_be_written_leaves_the_one_before(tmp_path: Path) -> None:
    path = tmp_path / "run" / "http-token"
    path.parent.mkdir()
    token = ApiToken(path)
    value = token.value()
    path.unlink()
    path.parent.rmdir()
    with pytest.raises(TooltrayError, match="cannot be kept"):
        token.rotate()
    assert token.is_right(value)
