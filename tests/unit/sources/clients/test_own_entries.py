"""own_entries.py: entries that are Tooltray, and those that lead to it."""

import pytest

from tooltray.sources.clients.entry_words import Entry
from tooltray.sources.clients.own_entries import MAX_WORD, kind_of

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
