"""Links to other AI clients: what they carry is what the reader of such links finds, and no secret is in them."""

from urllib.parse import unquote

import pytest

from tooltray.foundation.errors import TooltrayError
from tooltray.sources.entries.outgoing_links import client_links
from tooltray.sources.entries.pasted import parse_pasted

CLIENTS = ["Cursor", "VS Code", "VS Code Insiders", "LM Studio", "Kiro", "Goose"]
KEY = "sk-dummy-0123456789abcdef"


@pytest.mark.parametrize("client", CLIENTS)
def test_each_link_is_understood_by_the_reader_of_links(client: str) -> None:
    args = ["-y", "@scope/some server", "--flag=a&b", "ü+/?", "%41"]
    (server,) = parse_pasted(client_links("my thing", {"command": "npx", "args": args})[client])
    assert server.argv == ["npx", *args]
    assert server.name == ("my-thing" if client == "Goose" else "my thing")
    assert client in server.origin


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize(("type", "transport"), [("http", "http"), ("sse", "sse")])
def test_a_server_elsewhere_is_one_there_too(client: str, type: str, transport: str) -> None:
    (server,) = parse_pasted(client_links("far", {"url": "https://h.example/mcp?x=1", "type": type})[client])
    assert server.config["url"] == "https://h.example/mcp?x=1"
    if client not in ("Cursor", "LM Studio", "Kiro"):  # those find it out themselves
        assert server.transport == transport


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("value", [KEY, "${secret:thing/API_KEY}"])
def test_no_link_has_a_secret_and_each_asks_for_it(client: str, value: str) -> None:
    link = client_links("thing", {"command": "npx", "args": ["-y", "x", "--token", value], "env": {"API_KEY": value, "MODE": "fast"}})[
        client
    ]
    assert KEY not in unquote(unquote(link))
    (server,) = parse_pasted(link)
    assert KEY not in str(server.config)
    assert "API_KEY" in server.config["env"]
    if client in ("VS Code", "VS Code Insiders", "LM Studio", "Goose"):
        assert server.secrets["API_KEY"] == ""


def test_headers_ask_for_their_secret_and_where_there_are_none_there_is_no_link() -> None:
    links = client_links("far", {"url": "https://h.example/mcp", "headers": {"Authorization": f"Bearer {KEY}"}})
    assert "Goose" not in links
    for link in links.values():
        (server,) = parse_pasted(link)
        assert KEY not in str(server.config)
        assert server.config["headers"]["Authorization"].startswith("Bearer ")


def test_variables_are_spelled_as_each_client_does() -> None:
    links = client_links("thing", {"command": "npx", "args": ["${HOME}/x", "${PORT:-80}"], "env": {"WHERE": "${PLACE}"}})
    spelled = {client: parse_pasted(link)[0] for client, link in links.items()}
    assert "${env:HOME}/x" in unquote(links["VS Code"])
    assert spelled["VS Code"].config["args"] == ["${HOME}/x", "80"]
    assert spelled["Cursor"].config["env"] == {"WHERE": "${PLACE}"}
    assert spelled["Kiro"].config["env"] == {"WHERE": "${PLACE}"}
    assert spelled["LM Studio"].config["args"][0] == "<HOME>/x"


@pytest.mark.parametrize(
    ("entry", "says"), [({"type": "inmemory", "command": "x"}, "inside Tooltray"), ({"command": "x", "deferredStartup": True}, "a project")]
)
def test_what_no_other_program_can_run_has_no_links(entry: dict[str, object], says: str) -> None:
    with pytest.raises(TooltrayError, match=says):
        client_links("x", entry)
