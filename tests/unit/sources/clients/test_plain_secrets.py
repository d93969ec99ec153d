"""plain_secrets.py: what stands in plain text, and lines without it."""

import pytest

from tooltray.sources.clients.entry_words import Entry
from tooltray.sources.clients.plain_secrets import MAX_TARGET, plain_secrets_of, target_of

KEY = "sk-not-a-real-key-0123456789"
TOKEN = "ghp_notarealtoken0123456789"


@pytest.mark.parametrize(
    ("entry", "names"),
    [
        ({"command": "x", "env": {"API_KEY": "abc", "LOG": "debug", "OTHER": KEY}}, ("API_KEY", "OTHER")),
        ({"cmd": "x", "envs": {"MY_TOKEN": "abc"}}, ("MY_TOKEN",)),
        ({"command": ["x"], "environment": {"MY_TOKEN": "abc"}}, ("MY_TOKEN",)),
        ({"url": "https://x/mcp?api_key=abc&q=1"}, ("api_key",)),
        (
            {"uri": "https://x", "headers": {"Authorization": "Bearer abc", "X-Api-Key": "abc", "Accept": "json"}},
            ("Authorization", "X-Api-Key"),
        ),
        ({"url": "https://x", "http_headers": {"Authorization": "Bearer abc"}}, ("Authorization",)),
        ({"url": "https://x", "auth": {"CLIENT_ID": "me", "CLIENT_SECRET": "abc", "scopes": []}}, ("CLIENT_SECRET",)),
        ({"command": "x", "args": ["--api-key", "abc", "--log", "y"]}, ("--api-key",)),
        ({"command": "x", "args": ["--token=abc", "--log=y"]}, ("--token",)),
        ({"command": "docker", "args": ["run", "-e", "GITHUB_TOKEN=abc"]}, ("GITHUB_TOKEN",)),
        ({"command": "npx", "args": ["mcp-remote", "https://x", "--header", "Authorization: Bearer abc"]}, ("Authorization",)),
        ({"command": "npx", "args": ["mcp-remote", "https://x?key=abc"]}, ("key",)),
        ({"command": "x", "args": ["postgresql://me:abc@host/db"]}, ("password",)),
        ({"command": "x", "args": ["a", TOKEN]}, ("#2",)),
        ({"command": "x", "env": {"A_KEY": KEY}, "args": ["--a-key", KEY, KEY]}, ("A_KEY", "--a-key", "#3")),
    ],
)
def test_what_looks_secret_is_named_and_left_out(entry: Entry, names: tuple[str, ...]) -> None:
    assert plain_secrets_of(entry) == names
    shown = target_of(entry)
    assert "abc" not in shown
    assert KEY not in shown
    assert TOKEN not in shown


REFERENCES = ("${API}", "Bearer ${API}", "${env:API}", "$API", "{env:API}", "${input:api}", "{file:~/key}", "${{ secrets.API }}", "%API%")


@pytest.mark.parametrize("value", [*REFERENCES, "YOUR_API_KEY", "<key>", ""])
def test_what_only_names_a_secret_is_none(value: str) -> None:
    entry: Entry = {
        "command": "x",
        "env": {"API_KEY": value},
        "headers": {"X-Api-Key": value},
        "oauth": {"client_secret": value},
        "args": ["--api-key", value, f"--token={value}", "--header", f"Authorization: {value}"],
    }
    assert plain_secrets_of(entry) == ()


@pytest.mark.parametrize(
    ("entry", "target"),
    [
        ({"command": "npx", "args": ["-y", "@scope/server", "/my folder"]}, "npx -y @scope/server '/my folder'"),
        (
            {"command": "x", "args": ["--token", TOKEN, "--header", f"X-Token: {TOKEN}", "-H", "Accept: a", "b:c"]},
            "x --token … --header 'X-Token: …' -H 'Accept: a' b:c",
        ),
        ({"command": "x", "args": ["https://x/a?b=1", "https://me:pw@x/a?b=1", "--a=1"]}, "x 'https://x/a?b=1' https://x/a --a=1"),
        ({"url": "https://me:pw@x/mcp?key=1#f"}, "https://x/mcp"),
        ({"command": "a\nb"}, "'a b'"),
        ({}, ""),
    ],
)
def test_an_entry_is_said_in_one_line(entry: Entry, target: str) -> None:
    assert target_of(entry) == target


def test_a_line_has_an_end() -> None:
    assert len(target_of({"command": "x", "args": ["y"] * 1000})) == MAX_TARGET


def test_a_url_whose_key_stands_elsewhere_holds_none() -> None:
    assert plain_secrets_of({"command": "x", "env": {"URL": "https://${USER}:${PASSWORD}@host"}}) == ()
