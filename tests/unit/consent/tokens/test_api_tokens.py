"""api_tokens.py: the default token, and named ones with a scope and an expiry."""

import json
import os
from pathlib import Path

import pytest
from tests.fakes.modes import has_mode
from tests.fakes.set_clock import SetClock

from tooltray.consent.tokens.api_tokens import MOST_TOKENS, ApiToken, ApiTokens, TokenHolder
from tooltray.foundation.errors import NotFound, TooltrayError
from tooltray.foundation.snapshots.clients import ApiTokenSnapshot


class Clocks:
    """The wall's, which somebody may set, and one that nobody can."""

    def __init__(self) -> None:
        self.wall, self.elapsed = SetClock(1_000_000.0), SetClock(50.0)


def tokens(folder: Path, clocks: Clocks | None = None) -> ApiTokens:
    clocks = clocks or Clocks()
    return ApiTokens(ApiToken(folder / "http-token"), folder / "api-tokens.json", clock=clocks.wall, elapsed=clocks.elapsed)


def test_a_token_opens_what_its_scope_says_also_after_a_restart_and_is_kept_as_a_hash(tmp_path: Path) -> None:
    made = tokens(tmp_path)
    token = made.create("ci", "call")
    assert token.startswith("tooltray_api_")
    for known in (made, tokens(tmp_path)):
        holder = known.holder(token)
        assert holder is not None
        assert (holder.name, holder.scope, holder.may_be_trusted) == ("ci", "call", False)
        assert [holder.may(scope) for scope in ("read", "call", "manage")] == [True, True, False]
        assert known.holder(token[:-1]) is None
        assert known.holder("") is None
    assert token not in (tmp_path / "api-tokens.json").read_text()
    assert has_mode(tmp_path / "api-tokens.json", 0o600)


def test_the_default_token_goes_on_as_before_and_may_manage_without_trust(tmp_path: Path) -> None:
    before = ApiToken(tmp_path / "http-token").value()
    known = tokens(tmp_path)
    assert known.holder(before) == TokenHolder("default", "manage")
    assert known.list() == [ApiTokenSnapshot("default", "manage", is_default=True)]
    assert known.is_current(TokenHolder("default", "manage"))
    known.revoke("default")
    assert known.holder(before) is None
    assert not (tmp_path / "http-token").exists()
    assert known.default.value() != before


def test_tokens_are_listed_replaced_and_revoked_one_by_one(tmp_path: Path) -> None:
    known = tokens(tmp_path)
    first, other = known.create("ci", "read"), known.create("panel", "manage", is_trusted=True)
    holder = known.holder(first)
    assert holder is not None
    again = known.create("ci", "manage")
    assert known.holder(first) is None
    assert not known.is_current(holder)
    assert [(each.name, each.scope, each.is_trusted) for each in known.list()] == [("ci", "manage", False), ("panel", "manage", True)]
    known.revoke("ci")
    assert (known.holder(again), known.digest("ci")) == (None, "")
    assert known.holder(other) is not None
    assert known.has_trusted
    [digest] = known.distrust()
    assert digest == known.digest("panel")
    assert (known.has_trusted, known.distrust()) == (False, ())
    with pytest.raises(NotFound, match="token 'ci' not found"):
        known.revoke("ci")
    with pytest.raises(NotFound):
        known.revoke("default")


def test_a_token_ends_at_its_time_and_a_clock_that_is_set_back_does_not_bring_it_back(tmp_path: Path) -> None:
    clocks = Clocks()
    known = tokens(tmp_path, clocks)
    token = known.create("ci", "manage", lasts_s=60.0, is_trusted=True)
    clocks.wall.now += 59
    holder = known.holder(token)
    assert holder is not None
    assert known.has_trusted
    clocks.wall.now += 1
    assert (known.holder(token), known.is_current(holder), known.has_trusted, known.is_saved) == (None, False, False, False)
    clocks.wall.now -= 3600
    assert known.holder(token) is None
    assert known.list()[0].is_ended
    known.save()
    known.save()
    assert known.is_saved
    assert tokens(tmp_path, clocks).holder(token) is None


def test_who_sets_the_clock_back_beforehand_gets_no_more_time(tmp_path: Path) -> None:
    clocks = Clocks()
    known = tokens(tmp_path, clocks)
    token = known.create("ci", "manage", lasts_s=60.0)
    clocks.wall.now -= 3600
    clocks.elapsed.now += 60
    assert known.holder(token) is None


@pytest.mark.parametrize(
    ("name", "scope", "lasts_s", "said"),
    [
        ("", "read", None, "cannot be the name"),
        ("default", "read", None, "cannot be the name"),
        ("a\n", "read", None, "cannot be the name"),
        ("a" * 65, "read", None, "cannot be the name"),
        ("a", "all", None, "scope 'all' not found"),
        ("a", "read", 0.0, "invalid end of a token"),
        ("a", "read", float("nan"), "invalid end of a token"),
        ("a", "read", 1e12, "invalid end of a token"),
    ],
)
def test_what_cannot_be_used_makes_no_token(tmp_path: Path, name: str, scope: str, lasts_s: float | None, said: str) -> None:
    known = tokens(tmp_path)
    with pytest.raises(TooltrayError, match=said):
        known.create(name, scope, lasts_s=lasts_s)  # type: ignore[arg-type]
    assert known.list() == []
    assert not (tmp_path / "api-tokens.json").exists()


def test_there_are_not_more_tokens_than_anybody_needs(tmp_path: Path) -> None:
    made = {f"t{number}": {"sha256": "ab", "scope": "read", "createdAt": 1.0} for number in range(MOST_TOKENS)}
    (tmp_path / "api-tokens.json").write_text(json.dumps({"version": 1, "tokens": made}))
    known = tokens(tmp_path)
    with pytest.raises(TooltrayError, match="200 tokens already"):
        known.create("more", "read")
    assert known.create("t1", "read")


def test_a_file_that_cannot_be_read_opens_nothing(tmp_path: Path) -> None:
    (tmp_path / "api-tokens.json").write_text('{"tokens": {"a": {"sha256": "ab", "scope": "all", "createdAt": 1}}}')
    known = tokens(tmp_path)
    assert known.list() == []
    assert "none of them opens it" in known.problems[0].title


@pytest.mark.parametrize(
    ("member", "value"), [("createdAt", -1), ("createdAt", 1e12), ("expiresAt", float("nan")), ("expiresAt", 1e12), ("sha256", "\ud800")]
)
def test_what_no_clock_shows_and_no_hash_has_was_not_written_by_us(tmp_path: Path, member: str, value: object) -> None:
    kept = {"sha256": "ab", "scope": "read", "createdAt": 1.0, member: value}
    (tmp_path / "api-tokens.json").write_text(json.dumps({"tokens": {"a": kept}}))
    assert tokens(tmp_path).problems


def test_where_nothing_can_be_read_or_written_nothing_changes(tmp_path: Path) -> None:
    known = tokens(tmp_path)
    (tmp_path / "api-tokens.json").mkdir()
    assert "Make it readable" in tokens(tmp_path).problems[0].hint
    with pytest.raises(TooltrayError, match="cannot be saved"):
        known.create("ci", "read")
    assert known.list() == []


def test_a_default_token_that_cannot_be_deleted_goes_on(tmp_path: Path) -> None:
    known = tokens(tmp_path)
    token = known.default.value()
    (tmp_path / "http-token").unlink()
    (tmp_path / "http-token").mkdir()
    with pytest.raises(TooltrayError, match="cannot be revoked"):
        known.revoke("default")
    assert known.holder(token) is not None


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
    assert "not a token" in token.problem.message
    value = token.value()
    assert ApiToken(path).is_right(value)


@pytest.mark.posix
def test_a_pipe_in_its_place_keeps_nobody_waiting_and_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "http-token"
    os.mkfifo(path, 0o600)
    token = ApiToken(path)
    assert token.problem
    assert not token.is_right("")
    with pytest.raises(TooltrayError, match=r"cannot be kept.*it is not a file, but a pipe or a device"):
        token.value()
    assert path.is_fifo()


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
