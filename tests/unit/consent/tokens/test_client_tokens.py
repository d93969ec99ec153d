"""client_tokens.py: tokens that are shown once and kept as hashes."""

from pathlib import Path

import pytest
from tests.fakes.modes import has_mode
from tests.fakes.set_clock import SetClock

from tooltray.consent.tokens.client_tokens import UNDO_S, ClientTokens
from tooltray.foundation.errors import Conflict, NotFound, TooltrayError


def test_a_token_is_its_client_s_also_after_a_restart_and_is_written_nowhere(tmp_path: Path) -> None:
    path = tmp_path / "clients.json"
    token = ClientTokens(path).create("my client")
    again = ClientTokens(path)
    assert again.owner(token) == "my client"
    assert [client.name for client in again.list()] == ["my client"]
    assert token not in path.read_text()
    assert token.removeprefix("tooltray_") not in path.read_text()
    assert has_mode(path, 0o600)


@pytest.mark.parametrize("wrong", ["", "tooltray_", "x", "ü", "\udcff"])
def test_what_is_nobody_s_token_opens_nothing(tmp_path: Path, wrong: str) -> None:
    tokens = ClientTokens(tmp_path / "clients.json")
    token = tokens.create("a")
    assert tokens.owner(wrong) is None
    assert tokens.owner(token[:-1]) is None
    assert tokens.owner(token + "x") is None


def test_a_new_token_ends_the_one_before_and_leaves_those_of_others(tmp_path: Path) -> None:
    tokens = ClientTokens(tmp_path / "clients.json")
    first, other = tokens.create("a"), tokens.create("b")
    second = tokens.create("a")
    assert [tokens.owner(token) for token in (first, second, other)] == [None, "a", "b"]


def test_a_removed_client_s_token_opens_nothing(tmp_path: Path) -> None:
    tokens = ClientTokens(tmp_path / "clients.json")
    token = tokens.create("a")
    tokens.remove("a")
    assert tokens.owner(token) is None
    assert tokens.list() == []
    with pytest.raises(TooltrayError, match="no client 'a'"):
        tokens.remove("a")


def test_when_a_token_was_last_used_is_known(tmp_path: Path) -> None:
    clock = SetClock()
    tokens = ClientTokens(tmp_path / "clients.json", clock=clock)
    token = tokens.create("a")
    tokens.owner("other")
    assert [each.used_at for each in tokens.list()] == [0.0]
    clock.now += 5
    tokens.owner(token)
    assert [(each.created_at, each.used_at) for each in tokens.list()] == [(1000.0, 1005.0)]
    tokens.create("a")
    assert [each.used_at for each in tokens.list()] == [0.0]


def test_a_token_that_was_just_revoked_counts_again(tmp_path: Path) -> None:
    clock = SetClock()
    tokens = ClientTokens(tmp_path / "clients.json", clock=clock)
    token = tokens.create("a")
    tokens.remove("a")
    tokens.restore("a")
    assert tokens.owner(token) == "a"
    for is_late in (False, True):
        tokens.remove("a")
        if is_late:
            clock.now += UNDO_S
        else:
            tokens.create("a")
        with pytest.raises(NotFound if is_late else Conflict):
            tokens.restore("a")
    with pytest.raises(NotFound, match="cannot be undone"):
        tokens.restore("never there")


@pytest.mark.parametrize("name", ["", " a", "a\n", "x" * 65])
def test_a_name_has_to_be_one(tmp_path: Path, name: str) -> None:
    with pytest.raises(TooltrayError, match="cannot be the name"):
        ClientTokens(tmp_path / "clients.json").create(name)


@pytest.mark.parametrize(
    "content",
    [
        '{"clients": {"a": {"sha256": 5, "createdAt": 1}}}',
        '{"clients": {"a": {"sha256": "\\ud800", "createdAt": 1}}}',
        '{"clients": {"a": {"sha256": "ab", "createdAt": NaN}}}',
        '{"version": 2, "clients": {"a": {"sha256": "ab", "createdAt": 1}}}',
    ],
)
def test_a_file_that_makes_no_sense_opens_nothing_and_is_reported(tmp_path: Path, content: str) -> None:
    path = tmp_path / "clients.json"
    path.write_text(content)
    tokens = ClientTokens(path)
    assert tokens.problem
    assert tokens.list() == []
    assert tokens.owner(tokens.create("a")) == "a"
