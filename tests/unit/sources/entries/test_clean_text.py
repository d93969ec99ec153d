"""clean_text.py"""

import json

import pytest

from tooltray.sources.entries.clean_text import clean_text

KEY = "ghp_" + "a1B2" * 9


def test_a_text_without_secrets_is_kept_byte_by_byte() -> None:
    text = b'{ // mine\n  "mcpServers": {"a": {"command": "x", "env": {"TOKEN": "${secret:a/TOKEN}"},},},\r\n "n": 1.50 }'
    assert clean_text(text) == text


@pytest.mark.parametrize("holder", ["mcpServers", "servers", "a"])
def test_secrets_that_somebody_has_typed_are_taken_out_and_all_else_stays(holder: str) -> None:
    entry = {"command": "x", "args": ["--api-key", KEY], "env": {"API_KEY": KEY, "MODE": "1"}}
    text = '{\n  // mine\n  "note": 1.50,\n  ' + json.dumps({holder: {"a": entry} if holder != "a" else entry})[1:]
    cleaned = (clean_text(text.encode()) or b"").decode()
    assert KEY not in cleaned
    assert all(part in cleaned for part in ("// mine", "1.50", '"MODE": "1"'))


def test_a_secret_beside_the_servers_is_taken_out_too() -> None:
    cleaned = clean_text(json.dumps({"mcpServers": {"a": 1}, "githubToken": KEY}).encode())
    assert json.loads(cleaned or b"") == {"mcpServers": {"a": 1}, "githubToken": "${secret:githubToken/githubToken}"}


@pytest.mark.parametrize("content", [b"{half", b"[]", b"\xff", b"[" * 100_000])
def test_what_is_not_understood_is_not_kept(content: bytes) -> None:
    assert clean_text(content) is None
