"""portable_entry.py: no secret stays in an entry or a file."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tooltray.sources.entries.portable_entry import clean_text, filled_in, with_new_secrets_moved, without_secrets

KEY = "sk-ant-0123456789abcdef"


@pytest.mark.parametrize(
    ("entry", "expected", "replaced"),
    [
        ({"env": {"API_KEY": "hunter2"}}, {"env": {"API_KEY": "${secret:s/API_KEY}"}}, ["s/API_KEY"]),
        ({"env": {"MODE": "fast", "PORT": 5}}, {"env": {"MODE": "fast", "PORT": 5}}, []),
        ({"env": {"API_KEY": "${secret:mine}"}}, {"env": {"API_KEY": "${secret:mine}"}}, []),
        ({"env": {"ODD": KEY}}, {"env": {"ODD": "${secret:s/ODD}"}}, ["s/ODD"]),
        (
            {"headers": {"Authorization": "Bearer abc", "X-Api-Key": "k"}},
            {"headers": {"Authorization": "Bearer ${secret:s/Authorization}", "X-Api-Key": "${secret:s/X-Api-Key}"}},
            ["s/Authorization", "s/X-Api-Key"],
        ),
        ({"headers": {"Authorization": "Bearer ${secret:x}"}}, {"headers": {"Authorization": "Bearer ${secret:x}"}}, []),
        ({"args": ["--api-key", "k", "serve"]}, {"args": ["--api-key", "${secret:s/api-key}", "serve"]}, ["s/api-key"]),
        ({"args": ["--token=k", 7, "--flag"]}, {"args": ["--token=${secret:s/token}", 7, "--flag"]}, ["s/token"]),
        ({"args": ["run", KEY]}, {"args": ["run", "${secret:s/ARGUMENT}"]}, ["s/ARGUMENT"]),
        ({"startupArgsTemplate": ["--api-key", "k", 7]}, {"startupArgsTemplate": ["--api-key", "${secret:s/api-key}", 7]}, ["s/api-key"]),
        (
            {"toolOverrides": {"get_token": {"name": "get", "description": f"{KEY}"}}},
            {"toolOverrides": {"get_token": {"name": "get", "description": "${secret:s/description}"}}},
            None,
        ),
        ({"args": ["--token", "--verbose", "word"]}, {"args": ["--token", "--verbose", "word"]}, []),
        ({"url": "https://a.example/mcp?x=1&token=k"}, {"url": "https://a.example/mcp?x=1&token=${secret:s/token}"}, ["s/token"]),
        ({"baseUrl": "https://me:pw@a.example/"}, {"baseUrl": "https://me:${secret:s/PASSWORD}@a.example/"}, ["s/PASSWORD"]),
        ({"url": "https://me:${secret:p}@a.example/"}, {"url": "https://me:${secret:p}@a.example/"}, []),
        ({"url": f"https://a.example/s/{'a1' * 16}/mcp"}, {"url": "https://a.example/s/${secret:s/URL_KEY}/mcp"}, ["s/URL_KEY"]),
        ({"url": "https://["}, {"url": "${secret:s/URL}"}, ["s/URL"]),
        (
            {"oauth": {"clientId": "me", "clientSecret": "x"}},
            {"oauth": {"clientId": "me", "clientSecret": "${secret:s/clientSecret}"}},
            None,
        ),
        ({"odd": [{"password": "x"}], "n": None}, {"odd": [{"password": "${secret:s/password}"}], "n": None}, ["s/password"]),
        ({"env": {"PASSWORD": ""}}, {"env": {"PASSWORD": ""}}, []),
    ],
)
def test_what_looks_like_a_secret_becomes_a_placeholder(
    entry: dict[str, Any], expected: dict[str, Any], replaced: list[str] | None
) -> None:
    before = json.dumps(entry)
    found = without_secrets("s", entry)
    assert found.entry == expected
    assert replaced is None or list(found.values) == replaced
    assert json.dumps(entry) == before


def test_a_value_that_the_keyring_holds_is_found_wherever_it_stands() -> None:
    entry = {
        "command": "x",
        "args": ["--say", "a wordy value"],
        "url": "https://a.example/a%20wordy%20value/mcp",
        "note": "is a wordy value?",
    }
    found = without_secrets("s", entry, {"a wordy value", "x"})  # a value as short as the second stands in harmless words
    assert found.entry == {
        "command": "x",
        "args": ["--say", "${secret:s/say}"],
        "url": "https://a.example/${secret:s/URL_KEY}/mcp",
        "note": "${secret:s/note}",
    }


@given(
    secret=st.text(st.characters(categories=["L", "N"]), min_size=6, max_size=30),
    place=st.sampled_from(["command", "cwd", "env", "args", "headers", "odd"]),
)
def test_no_known_secret_leaves_from_any_place(secret: str, place: str) -> None:
    values: dict[str, Any] = {"env": {"V": f"a{secret}b"}, "args": ["x", secret], "headers": {"H": secret}, "odd": {"deep": [secret]}}
    found = without_secrets("s", {place: values.get(place, secret)}, {secret})
    assert secret not in json.dumps(found.entry, ensure_ascii=False).replace("${secret:s/", "").replace(place, "")
    assert secret in found.values.values() or any(secret in value for value in found.values.values())


def test_what_is_taken_out_can_be_filled_in_again() -> None:
    entry = {"args": ["sk-aaaaaaaaaaaa", "sk-bbbbbbbbbbbb", "sk-aaaaaaaaaaaa"], "url": "https://a.example/?token=a%26b"}
    found = without_secrets("s", entry)
    assert found.entry["args"] == ["${secret:s/ARGUMENT}", "${secret:s/ARGUMENT_2}", "${secret:s/ARGUMENT}"]
    assert found.values == {"s/ARGUMENT": "sk-aaaaaaaaaaaa", "s/ARGUMENT_2": "sk-bbbbbbbbbbbb", "s/token": "a%26b"}
    assert "sk-" not in repr(found)


@pytest.mark.parametrize(
    ("entry", "before", "saved", "values"),
    [
        ({"env": {"TOKEN": "hunter2"}}, {}, {"env": {"TOKEN": "${secret:s/TOKEN}"}}, {"s/TOKEN": "hunter2"}),
        (
            {"headers": {"Authorization": f"Bearer {KEY}"}},
            {},
            {"headers": {"Authorization": "Bearer ${secret:s/Authorization}"}},
            {"s/Authorization": KEY},
        ),
        ({"url": "https://a.example/?token=k"}, {}, {"url": "https://a.example/?token=${secret:s/token}"}, {"s/token": "k"}),
        ({"args": ["--api-key", "k"]}, {}, {"args": ["--api-key", "${secret:s/api-key}"]}, {"s/api-key": "k"}),
        ({"oauth": {"clientSecret": "k"}}, {}, {"oauth": {"clientSecret": "${secret:s/clientSecret}"}}, {"s/clientSecret": "k"}),
        ({"env": {"TOKEN": "old"}, "label": "x"}, {"env": {"TOKEN": "old"}}, {"env": {"TOKEN": "old"}, "label": "x"}, {}),
        ({"env": {"TOKEN": "chosen"}}, {}, {"env": {"TOKEN": "chosen"}}, {}),
        ({"env": {"TOKEN": ""}}, {}, {"env": {"TOKEN": ""}}, {}),
        ({"rules": {"password": "x"}}, {}, {"rules": {"password": "x"}}, {}),
        (
            {"env": {"TOKEN": "k", "USED": "${secret:s/TOKEN}"}},
            {},
            {"env": {"TOKEN": "${secret:s/TOKEN_3}", "USED": "${secret:s/TOKEN}"}},
            {"s/TOKEN_3": "k"},
        ),
    ],
)
def test_a_secret_that_was_typed_is_moved_out_of_an_entry_before_it_is_saved(
    entry: dict[str, Any], before: dict[str, Any], saved: dict[str, Any], values: dict[str, str]
) -> None:
    assert with_new_secrets_moved("s", entry, before, plain=["chosen"], taken=["s/TOKEN_2"]) == (saved, values)


def test_placeholders_are_filled_in_at_every_depth_and_all_else_stays() -> None:
    part = {"args": ["a-${x}", ("${x}${y}",)], "n": 1, "none": None, "${x}": True}
    assert filled_in(part, {"${x}": "1", "${y}": "2"}) == {"args": ["a-1", ["12"]], "n": 1, "none": None, "${x}": True}
    assert filled_in(part, {}) is part


def test_a_value_that_looks_like_a_placeholder_stays_as_it_is() -> None:
    values = {f"${{{number}}}": f"${{{number + 1}}}" * 2 for number in range(60)}
    assert filled_in("${0}", values) == "${1}${1}"


TYPED = "ghp_" + "a1B2" * 9


def test_a_text_without_secrets_is_kept_byte_by_byte() -> None:
    text = b'{ // mine\n  "mcpServers": {"a": {"command": "x", "env": {"TOKEN": "${secret:a/TOKEN}"},},},\r\n "n": 1.50 }'
    assert clean_text(text) == text


@pytest.mark.parametrize("holder", ["mcpServers", "servers", "a"])
def test_secrets_that_somebody_has_typed_are_taken_out_and_all_else_stays(holder: str) -> None:
    entry = {"command": "x", "args": ["--api-key", TYPED], "env": {"API_KEY": TYPED, "MODE": "1"}}
    text = '{\n  // mine\n  "note": 1.50,\n  ' + json.dumps({holder: {"a": entry} if holder != "a" else entry})[1:]
    cleaned = (clean_text(text.encode()) or b"").decode()
    assert TYPED not in cleaned
    assert all(part in cleaned for part in ("// mine", "1.50", '"MODE": "1"'))


def test_a_secret_beside_the_servers_is_taken_out_too() -> None:
    cleaned = clean_text(json.dumps({"mcpServers": {"a": 1}, "githubToken": TYPED}).encode())
    assert json.loads(cleaned or b"") == {"mcpServers": {"a": 1}, "githubToken": "${secret:githubToken/githubToken}"}


@pytest.mark.parametrize("content", [b"{half", b"[]", b"\xff", b"[" * 100_000])
def test_what_is_not_understood_is_not_kept(content: bytes) -> None:
    assert clean_text(content) is None
