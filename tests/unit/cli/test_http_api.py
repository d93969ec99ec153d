"""`tooltray http api ...`, with a running hub and without."""

import json
import stat
from typing import Any

import pytest
from tests.fakes.fake_control_hub import FakeControlHub, problem
from tests.unit.cli.conftest import Tooltray

from tooltray.home.home import Home

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
            assert (printed.code, "A trusted token needs a person at a terminal" in printed.err) == (1, True)
        assert hub.calls == []


def test_a_person_who_lets_a_program_say_yes_gets_a_token_for_it_and_reads_what_that_means(person: Tooltray, hub_home: Home) -> None:
    answers = {"get_http_status": api_status(), "set_api_enabled": api_status(), "create_api_token": new_token()}
    with FakeControlHub(hub_home, answers) as hub:
        printed = person("http", "api", "on", "--trusted").out
        assert hub.params_of("set_api_enabled") == {"enabled": True, "trusted": None}
        assert hub.params_of("create_api_token") == {"name": "trusted", "scope": "manage", "expires_in_s": None, "trusted": True}
        assert hub.hellos[0]["terminal"] is True
    assert TOKEN in printed
    assert "in your place" in printed


def test_trust_of_all_tokens_is_taken_back_without_a_terminal(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"get_http_status": api_status(), "set_api_enabled": api_status()}) as hub:
        assert tooltray("http", "api", "on", "--no-trusted").code == 0
        assert hub.params_of("set_api_enabled") == {"enabled": True, "trusted": False}


def test_a_token_with_a_name_has_a_scope_and_an_end_and_stands_alone_on_standard_output(tooltray: Tooltray, hub_home: Home) -> None:
    made = new_token(name="ci", scope="read", expires_at=2e9, is_trusted=False)
    with FakeControlHub(hub_home, {"create_api_token": made}) as hub:
        printed = tooltray("http", "api", "token", "ci", "--scope", "read", "--for", "30d")
        assert printed.out == f"{TOKEN}\n"
        assert "shown this once" in printed.err
        assert "It ends at 2033-05-1" in printed.err
        assert hub.params_of("create_api_token") == {"name": "ci", "scope": "read", "expires_in_s": 30 * 86400.0, "trusted": False}
        assert tooltray("http", "api", "token", "ci", "--json").json == made


def test_that_a_trusted_token_does_not_outlive_the_hub_is_said(person: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"create_api_token": new_token(is_lasting=False)}):
        assert "until the hub ends" in person("http", "api", "token", "--trusted").err


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
        assert "opens nothing any more" in tooltray("http", "api", "revoke", "ci").out
        assert hub.params_of("revoke_api_token") == {"name": "ci"}
        assert tooltray("http", "api", "revoke", "ci", "--json").json == {"revoked": "ci"}
    with FakeControlHub(hub_home, {"list_api_tokens": []}):
        assert "No program has a token" in tooltray("http", "api", "tokens").out


def test_without_a_hub_tokens_are_made_listed_and_ended_in_the_files(tooltray: Tooltray, person: Tooltray, hub_home: Home) -> None:
    made = tooltray("http", "api", "token", "ci", "--scope", "call", "--for", "1h").out.strip()
    kept = (hub_home.root / "api-tokens.json").read_text()
    assert made not in kept
    assert stat.S_IMODE((hub_home.root / "api-tokens.json").stat().st_mode) == 0o600
    [listed] = tooltray("http", "api", "tokens", "--json").json
    assert (listed["name"], listed["scope"], listed["is_ended"]) == ("ci", "call", False)
    assert tooltray("http", "api", "revoke", "ci").code == 0
    assert tooltray("http", "api", "revoke", "ci").code == 1
    refused = person("http", "api", "token", "ci", "--trusted")  # no keyring is here, and no hub for whose time it could be
    assert (refused.code, "No token was made" in refused.err) == (1, True)
    assert tooltray("http", "api", "tokens", "--json").json == []


def test_off_says_so(tooltray: Tooltray, hub_home: Home) -> None:
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
        (api_status(is_open=False, api_url="", problem=problem("it is not open", "another program has port 7717")), "port 7717"),
    ],
)
def test_why_it_is_not_open_is_said(tooltray: Tooltray, hub_home: Home, status: dict[str, Any], words: str) -> None:
    with FakeControlHub(hub_home, {"get_http_status": status}):
        assert words in tooltray("http", "status").out


def test_without_a_hub_the_settings_and_the_token_are_written(tooltray: Tooltray, hub_home: Home) -> None:
    printed = tooltray("http", "api", "on")
    assert "HTTP was off and is on now too" in printed.out
    assert "opens when a hub runs" in printed.out
    assert json.loads(hub_home.settings.read_text())["publish"] == {"http": {"api": {"enabled": True}, "enabled": True}}
    token = tooltray("http", "api", "token").out.strip()
    assert hub_home.http_token.read_text().strip() == token
    assert stat.S_IMODE(hub_home.http_token.stat().st_mode) == 0o600
    other = tooltray("http", "api", "rotate").out.strip()
    assert tooltray("http", "api", "token").out.strip() == other != token
    assert tooltray("http", "status", "--json").json["is_api_enabled"] is True
    assert tooltray("http", "api", "off").code == 0
    assert json.loads(hub_home.settings.read_text())["publish"] == {"http": {"api": {"enabled": False}, "enabled": True}}
