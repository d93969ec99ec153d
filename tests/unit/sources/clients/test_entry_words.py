"""entry_words.py: what an entry says in any client's spelling."""

import pytest

from tooltray.sources.clients.entry_words import Entry, headers_of, is_off, is_server, url_of, variables_of, words_of


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"command": "npx", "args": ["-y", "p"]}, ("npx", "-y", "p")),
        ({"cmd": "npx", "args": ["-y", 1, True, None, 1.5]}, ("npx", "-y", "1", "true", "1.5")),
        ({"command": ["npx", "-y", "p"], "type": "local"}, ("npx", "-y", "p")),
        ({"command": {"path": "x", "args": ["a"]}, "source": "custom"}, ("x", "a")),
        ({"command": "", "cmd": "x", "arguments": ["a"]}, ("x", "a")),
        ({"command": "x", "args": "a b"}, ("x",)),
        ({"command": " ", "args": ["a"]}, ()),
        ({"command": 1}, ()),
        ({"command": []}, ()),
        ({"url": "http://x"}, ()),
    ],
)
def test_the_command_line(entry: Entry, words: tuple[str, ...]) -> None:
    assert words_of(entry) == words


@pytest.mark.parametrize("key", ["url", "uri", "serverUrl", "httpUrl", "baseUrl"])
def test_the_url_of_a_server_elsewhere(key: str) -> None:
    assert url_of({key: " http://x "}) == "http://x"
    assert url_of({key: "http://x", "command": "y"}) == ""
    assert url_of({key: 1}) == ""


def test_variables_and_headers_are_texts() -> None:
    assert variables_of({"envs": {"A": 1, "B": None, "C": False}}) == {"A": "1", "C": "false"}
    assert variables_of({"environment": ["A=1"]}) == {}
    assert headers_of({"http_headers": {"X": "y"}}) == {"X": "y"}


def test_what_says_neither_what_to_start_nor_what_to_call_is_no_server() -> None:
    assert [is_server(entry) for entry in ({"command": "x"}, {"url": "x"}, {"type": "builtin"}, {})] == [True, True, False, False]  # type: ignore[arg-type]


@pytest.mark.parametrize("entry", [{"disabled": True}, {"disable": True}, {"enabled": False}, {"active": False}])
def test_a_server_can_be_switched_off_in_its_entry(entry: Entry) -> None:
    assert is_off(entry)
    assert not is_off({key: not value for key, value in entry.items()})
    assert not is_off(dict.fromkeys(entry, "true"))
