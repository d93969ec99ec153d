"""`tooltray http ...` and `tooltray clients token|list|remove`, with a running hub and without."""

import json
from typing import Any

import pytest
from tests.fakes.fake_control_hub import FakeControlHub, problem
from tests.fakes.modes import has_mode
from tests.unit.cli.conftest import Tooltray

from tooltray.consent.tokens.client_tokens import ClientTokens
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.home.home import Home

URL, API_URL = "http://127.0.0.1:7717/mcp", "http://127.0.0.1:7717/api/mcp"


def http_status(**changes: Any) -> dict[str, Any]:
    """An HttpStatus as the control channel carries it."""
    status = {"is_enabled": True, "is_open": True, "url": URL, "requires_token": True, "problem": None}
    return status | {"is_api_enabled": False, "api_url": "", "is_api_trusted": False} | changes


def test_on_prints_where_and_what_to_paste(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"set_http_enabled": http_status()}) as hub:
        printed = tooltray("http", "on", "--port", "7717")
    assert hub.params_of("set_http_enabled") == {"enabled": True, "port": 7717}
    entry = json.loads(printed.out[printed.out.index("{") : printed.out.rindex("}") + 1])
    assert entry["mcpServers"]["tooltray"] == {"type": "http", "url": URL, "headers": {"Authorization": "Bearer TOKEN"}}
    assert "http://127.0.0.1:7717/servers/NAME/mcp" in printed.out
    assert "tooltray clients token NAME" in printed.out


def test_without_a_port_the_one_of_the_settings_stays(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"set_http_enabled": http_status(requires_token=False)}) as hub:
        printed = tooltray("http", "on", "--json")
    assert hub.params_of("set_http_enabled") == {"enabled": True}
    assert printed.json["entry"] == {"mcpServers": {"tooltray": {"type": "http", "url": URL}}}


def test_off_says_so(tooltray: Tooltray, hub_home: Home) -> None:
    off = http_status(is_enabled=False, is_open=False, url="")
    with FakeControlHub(hub_home, {"set_http_enabled": off}) as hub:
        assert "cannot connect over HTTP" in tooltray("http", "off").out
    assert hub.params_of("set_http_enabled") == {"enabled": False}


def test_a_port_that_another_program_has_is_an_error(tooltray: Tooltray, hub_home: Home) -> None:
    def fails(**params: Any) -> None:
        raise TooltrayError("it is not open", "another program uses port 7717", "Choose another")

    with FakeControlHub(hub_home, {"set_http_enabled": fails}):
        printed = tooltray("http", "on")
    assert printed.code == 1
    assert "another program uses port 7717" in printed.err


def test_status_says_why_it_is_not_open(tooltray: Tooltray, hub_home: Home) -> None:
    closed = http_status(is_open=False, url="", problem=problem("it is not open", "another program uses port 7717"))
    with FakeControlHub(hub_home, {"get_http_status": closed}):
        printed = tooltray("http", "status").out
        assert "another program uses port 7717" in printed
        assert "TOKEN" not in printed  # there is nothing to put it into
        assert tooltray("http", "status", "--json").json["entry"] is None


def test_without_a_hub_the_settings_are_changed(tooltray: Tooltray, hub_home: Home) -> None:
    assert "Switch it on with" in tooltray("http", "status").out
    assert "opens when Tooltray runs" in tooltray("http", "on", "--port", "0").out
    assert json.loads(hub_home.settings.read_text())["publish"] == {"http": {"enabled": True, "port": 0}}
    assert tooltray("http", "status", "--json").json["is_enabled"] is True
    assert tooltray("http", "off").code == 0
    assert json.loads(hub_home.settings.read_text())["publish"] == {"http": {"enabled": False, "port": 0}}


@pytest.mark.parametrize("port", ["-1", "65536", "x", ""])
def test_a_port_is_a_number(tooltray: Tooltray, port: str) -> None:
    assert tooltray("http", "on", "--port", port).code == 2


def test_status_tells_of_the_rest_interface_where_it_is_on(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"get_http_status": http_status(is_api_enabled=True, api_url=API_URL)}):
        assert API_URL in tooltray("http", "status").out
    with FakeControlHub(hub_home, {"get_http_status": http_status()}):
        assert "REST" not in tooltray("http", "status").out


API_URL = "http://127.0.0.1:7717/api/mcp"
TOKEN = "tooltray_api_of-a-test"


def api_status(**changes: Any) -> dict[str, Any]:
    """An HttpStatus as the control channel carries it."""
    http = {"is_enabled": True, "is_open": True, "url": "http://127.0.0.1:7717/mcp", "requires_token": True, "problem": None}
    return http | {"is_api_enabled": True, "api_url": API_URL, "is_api_trusted": False} | changes


def test_on_says_where_it_is_and_shows_no_token(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"get_http_status": api_status(), "set_api_enabled": api_status(), "get_api_token": TOKEN}) as hub:
        printed = tooltray("http", "api", "on")
    assert hub.params_of("set_api_enabled") == {"enabled": True, "trusted": None}
    assert API_URL in printed.out
    assert "tooltray http api token" in printed.out
    assert TOKEN not in printed.out + printed.err
    assert "HTTP was off" not in printed.out


def test_on_says_that_it_has_switched_http_on_too(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"get_http_status": api_status(is_enabled=False), "set_api_enabled": api_status()}):
        assert "HTTP was off and is on now too" in tooltray("http", "api", "on").out
        assert tooltray("http", "api", "on", "--json").json["api_url"] == API_URL


def new_token(**changes: Any) -> dict[str, Any]:
    """A NewApiToken as the control channel carries it."""
    made = {"token": TOKEN, "name": "trusted", "scope": "manage", "expires_at": None, "is_trusted": True, "is_lasting": True}
    return made | changes


@pytest.mark.parametrize("words", [("on", "--trusted"), ("token", "--trusted"), ("token", "ci", "--trusted")])
def test_a_trusted_token_needs_a_terminal(tooltray: Tooltray, person: Tooltray, hub_home: Home, words: tuple[str, ...]) -> None:
    with FakeControlHub(hub_home) as hub:
        for printed in (tooltray("http", "api", *words), person("http", "api", *words, sees=False)):
            assert (printed.code, "Creating a trusted token needs a person at a terminal" in printed.err) == (1, True)
        assert hub.calls == []


def test_a_person_who_lets_a_program_say_yes_gets_a_token_for_it_and_reads_what_that_means(person: Tooltray, hub_home: Home) -> None:
    answers = {"get_http_status": api_status(is_api_trusted=True), "set_api_enabled": api_status(), "create_api_token": new_token()}
    with FakeControlHub(hub_home, answers) as hub:
        printed = person("http", "api", "on", "--trusted").out
        assert hub.params_of("set_api_enabled") == {"enabled": True, "trusted": None}
        assert hub.params_of("create_api_token") == {"name": "trusted", "scope": "manage", "expires_in_s": None, "trusted": True}
        assert hub.hellos[0]["terminal"] is True
    assert TOKEN in printed
    assert printed.count("in your place") == 1


def test_trust_of_all_tokens_is_taken_back_without_a_terminal(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"get_http_status": api_status(), "set_api_enabled": api_status()}) as hub:
        assert tooltray("http", "api", "on", "--no-trusted").code == 0
        assert hub.params_of("set_api_enabled") == {"enabled": True, "trusted": False}


def test_a_token_with_a_name_has_a_scope_and_an_end_and_stands_alone_on_standard_output(tooltray: Tooltray, hub_home: Home) -> None:
    made = new_token(name="ci", scope="read", expires_at=2e9, is_trusted=False)
    with FakeControlHub(hub_home, {"create_api_token": made}) as hub:
        printed = tooltray("http", "api", "token", "ci", "--scope", "read", "--for", "30d")
        assert printed.out == f"{TOKEN}\n"
        assert "It is shown only once." in printed.err
        assert "It expires at 2033-05-1" in printed.err
        assert hub.params_of("create_api_token") == {"name": "ci", "scope": "read", "expires_in_s": 30 * 86400.0, "trusted": False}
        assert tooltray("http", "api", "token", "ci", "--json").json == made


def test_that_a_trusted_token_does_not_outlive_the_hub_is_said(person: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"create_api_token": new_token(is_lasting=False)}):
        assert "until Tooltray ends" in person("http", "api", "token", "--trusted").err


@pytest.mark.parametrize(
    "words",
    [("--scope", "read"), ("--for", "1h"), ("ci", "--trusted", "--scope", "read"), ("ci", "--scope", "all"), ("ci", "--for", "soon")],
)
def test_words_about_a_token_that_mean_nothing_are_refused(tooltray: Tooltray, hub_home: Home, words: tuple[str, ...]) -> None:
    assert tooltray("http", "api", "token", *words).code == 2


def test_tokens_are_listed_and_ended_one_by_one(tooltray: Tooltray, hub_home: Home) -> None:
    listed = [
        {"name": "default", "scope": "manage", "created_at": 0.0, "expires_at": None},
        {"name": "ci\x1b[1m", "scope": "read", "created_at": 1e9, "expires_at": 2e9, "is_ended": True},
        {"name": "panel", "scope": "manage", "created_at": 1e9, "expires_at": None, "is_trusted": True},
    ]
    rows = [{"is_ended": False, "is_trusted": False, "is_default": each["name"] == "default"} | each for each in listed]
    with FakeControlHub(hub_home, {"list_api_tokens": rows, "revoke_api_token": None}) as hub:
        out = tooltray("http", "api", "tokens").out
        assert "(over)" in out
        assert "manage, trusted" in out
        assert "\x1b" not in out
        assert tooltray("http", "api", "tokens", "--json").json == rows
        assert "is revoked" in tooltray("http", "api", "revoke", "ci").out
        assert hub.params_of("revoke_api_token") == {"name": "ci"}
        assert tooltray("http", "api", "revoke", "ci", "--json").json == {"revoked": "ci"}
    with FakeControlHub(hub_home, {"list_api_tokens": []}):
        assert "No program has a token" in tooltray("http", "api", "tokens").out


def test_without_a_hub_tokens_are_made_listed_and_ended_in_the_files(tooltray: Tooltray, person: Tooltray, hub_home: Home) -> None:
    made = tooltray("http", "api", "token", "ci", "--scope", "call", "--for", "1h").out.strip()
    kept = (hub_home.root / "api-tokens.json").read_text()
    assert made not in kept
    assert has_mode(hub_home.root / "api-tokens.json", 0o600)
    [listed] = tooltray("http", "api", "tokens", "--json").json
    assert (listed["name"], listed["scope"], listed["is_ended"]) == ("ci", "call", False)
    assert tooltray("http", "api", "revoke", "ci").code == 0
    assert tooltray("http", "api", "revoke", "ci").code == 1
    refused = person("http", "api", "token", "ci", "--trusted")  # no keyring is here, and no hub for whose time it could be
    assert (refused.code, "No token was created" in refused.err) == (1, True)
    assert tooltray("http", "api", "tokens", "--json").json == []


def test_off_says_so_of_http_api(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"set_api_enabled": api_status(is_api_enabled=False, api_url="")}) as hub:
        assert "cannot use the REST interface" in tooltray("http", "api", "off").out
    assert hub.params_of("set_api_enabled") == {"enabled": False}


@pytest.mark.parametrize(("words", "verb"), [(("token",), "get_api_token"), (("rotate",), "rotate_api_token")])
def test_the_token_stands_alone_on_standard_output(tooltray: Tooltray, hub_home: Home, words: tuple[str, ...], verb: str) -> None:
    with FakeControlHub(hub_home, {verb: TOKEN}):
        printed = tooltray("http", "api", *words)
        assert printed.out == f"{TOKEN}\n"
        assert "token" in printed.err.lower()
        assert tooltray("http", "api", *words, "--json").json == {"token": TOKEN}


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (api_status(is_enabled=False, is_open=False, api_url=""), "HTTP is not"),
        (api_status(is_open=False, api_url="", problem=problem("it is not open", "another program uses port 7717")), "port 7717"),
    ],
)
def test_why_it_is_not_open_is_said(tooltray: Tooltray, hub_home: Home, status: dict[str, Any], words: str) -> None:
    with FakeControlHub(hub_home, {"get_http_status": status}):
        assert words in tooltray("http", "status").out


def test_without_a_hub_the_settings_and_the_token_are_written(tooltray: Tooltray, hub_home: Home) -> None:
    printed = tooltray("http", "api", "on")
    assert "HTTP was off and is on now too" in printed.out
    assert "opens when Tooltray runs" in printed.out
    assert json.loads(hub_home.settings.read_text())["publish"] == {"http": {"api": {"enabled": True}, "enabled": True}}
    token = tooltray("http", "api", "token").out.strip()
    assert hub_home.http_token.read_text().strip() == token
    assert has_mode(hub_home.http_token, 0o600)
    other = tooltray("http", "api", "rotate").out.strip()
    assert tooltray("http", "api", "token").out.strip() == other != token
    assert tooltray("http", "status", "--json").json["is_api_enabled"] is True
    assert tooltray("http", "api", "off").code == 0
    assert json.loads(hub_home.settings.read_text())["publish"] == {"http": {"api": {"enabled": False}, "enabled": True}}


def test_a_hub_makes_lists_and_removes(tooltray: Tooltray, hub_home: Home) -> None:
    answers = {
        "create_client_token": "secret",
        "list_client_tokens": [{"name": "a\x1b[1m", "created_at": 0.0}],
        "remove_client_token": None,
    }
    with FakeControlHub(hub_home, answers) as hub:
        made = tooltray("clients", "token", "my client")
        assert made.out == "secret\n"
        assert "cannot be shown again" in made.err
        assert "had before" not in made.err
        assert tooltray("clients", "list").out.splitlines()[1].startswith("a  ")
        assert "cannot connect" in tooltray("clients", "remove", "a").out
    assert hub.params_of("create_client_token") == hub.params_of("remove_client_token") | {"name": "my client"}


def test_every_answer_exists_in_json(tooltray: Tooltray, hub_home: Home) -> None:
    assert tooltray("clients", "list").out.startswith("No AI client has a token yet")
    made = tooltray("clients", "token", "a", "--json").json
    assert (made["client"], made["replaced"]) == ("a", False)
    assert tooltray("clients", "token", "a", "--json").json["replaced"] is True
    (listed,) = tooltray("clients", "list", "--json").json
    assert listed.keys() == {"name", "created_at", "used_at"}
    assert tooltray("clients", "remove", "a", "--json").json == {"client": "a", "removed": True}


def test_a_token_made_without_a_hub_opens_one_later(tooltray: Tooltray, hub_home: Home) -> None:
    token = tooltray("clients", "token", "a").out.strip()
    assert ClientTokens(hub_home.clients).owner(token) == "a"
    assert tooltray("clients", "remove", "a").code == 0
    assert ClientTokens(hub_home.clients).owner(token) is None


def test_who_has_a_token_is_told_that_another_one_ends_it(tooltray: Tooltray, hub_home: Home) -> None:
    before = tooltray("clients", "token", "a").out.strip()
    again = tooltray("clients", "token", "a")
    assert again.err.splitlines()[0] == "The previous token of a no longer works."
    assert ClientTokens(hub_home.clients).owner(before) is None
    assert ClientTokens(hub_home.clients).owner(again.out.strip()) == "a"


def test_a_client_that_there_is_not_is_an_error(tooltray: Tooltray, hub_home: Home) -> None:
    assert tooltray("clients", "remove", "a").code == 1
    assert tooltray("clients", "token", " ").code == 1
