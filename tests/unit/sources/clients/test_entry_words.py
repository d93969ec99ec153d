"""entry_words.py: what an entry says, and whether it is Tooltray."""

import pytest

from tooltray.sources.clients.entry_words import MAX_WORD, Entry, headers_of, is_off, is_server, kind_of, url_of, variables_of, words_of


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


def test_what_has_neither_a_command_nor_a_url_is_no_server() -> None:
    assert [is_server(entry) for entry in ({"command": "x"}, {"url": "x"}, {"type": "builtin"}, {})] == [True, True, False, False]  # type: ignore[arg-type]


@pytest.mark.parametrize("entry", [{"disabled": True}, {"disable": True}, {"enabled": False}, {"active": False}])
def test_a_server_can_be_switched_off_in_its_entry(entry: Entry) -> None:
    assert is_off(entry)
    assert not is_off({key: not value for key, value in entry.items()})
    assert not is_off(dict.fromkeys(entry, "true"))


OWN = "http://127.0.0.1:7717"


@pytest.mark.parametrize(
    "entry",
    [
        {"command": "/home/me/.tooltray/bin/tooltray-bridge"},
        {"command": "C:\\Users\\me\\.tooltray\\bin\\tooltray-bridge.exe"},
        {"command": "cmd", "args": ["/c", "tooltray-bridge"]},
        {"command": "/usr/bin/python3", "args": ["-I", "-S", "/opt/x/tooltray_bridge/__main__.py"]},
        {"command": "/usr/bin/python3", "args": ["-m", "tooltray_bridge"]},
        {"command": ["uvx", "tooltray-bridge"], "type": "local"},
        {"cmd": "tooltray", "args": ["serve", "--stdio"]},
        {"command": "/opt/Tooltray/tooltray", "args": ["serve", "--stdio"]},
        {"command": "env", "args": ["A=1", "tooltray-bridge"]},
        {"url": "http://127.0.0.1:7717/mcp"},
        {"httpUrl": "http://localhost:7717/mcp", "headers": {"Authorization": "Bearer x"}},
    ],
)
def test_the_bridge_is_recognised_in_every_form_that_it_ever_had(entry: Entry) -> None:
    assert kind_of(entry, OWN) == "bridge"


@pytest.mark.parametrize(
    "entry",
    [
        {"command": "npx", "args": ["-y", "mcp-remote", "http://localhost:7717/mcp"]},
        {"command": "npx", "args": ["-y", "supergateway", "--stdio", "/home/me/.tooltray/bin/tooltray-bridge --profile x"]},
        {"command": "other-hub", "args": ["run", "/home/me/.tooltray/bin/tooltray-bridge"]},
        {"command": "other-hub", "env": {"UPSTREAM": "see http://127.0.0.1:7717/mcp"}},
        {"command": "other-hub", "args": ["--server", "it's tooltray", "tooltray serve"]},
        {"command": "other-hub", "args": ["--", "tooltray", "serve", "--stdio"]},
        {"command": "other-hub", "args": ["python", "/x/tooltray_bridge/__main__.py"]},
        {"command": "npx", "args": ["supergateway", "--stdio", "python /x/tooltray_bridge/__main__.py"]},
    ],
)
def test_what_leads_to_us_through_another_program_is_a_loop(entry: Entry) -> None:
    assert kind_of(entry, OWN) == "loop"


@pytest.mark.parametrize(
    "entry",
    [
        {"command": "npx", "args": ["-y", "@scope/server", "/home/me/tooltray"]},
        {"command": "x", "args": ["it's tooltray"]},
        {"command": "x", "args": ["tooltray " + "x" * MAX_WORD]},
        {"url": "http://127.0.0.1:7718/mcp"},
        {"url": "http://[nonsense"},
        {},
    ],
)
def test_everything_else_is_a_server(entry: Entry) -> None:
    assert kind_of(entry, OWN) == "server"


def test_without_an_address_no_url_is_ours() -> None:
    assert kind_of({"url": "http://127.0.0.1:7717/mcp"}, None) == "server"
