"""`tooltray http api ...`, with a running hub and without."""

import json
import stat
from typing import Any

import pytest
from tests.fakes.fake_control_hub import FakeControlHub, problem
from tests.unit.cli.conftest import Tooltray

from tooltray.config.home import Home

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


def test_that_programs_say_yes_needs_a_terminal(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"get_http_status": api_status(), "set_api_enabled": api_status()}) as hub:
        printed = tooltray("http", "api", "on", "--trusted")
        assert printed.code == 1
        assert "terminal" in printed.err
        assert not [method for method, _ in hub.calls if method == "set_api_enabled"]
        assert tooltray("http", "api", "on", "--no-trusted").code == 0
        assert hub.params_of("set_api_enabled") == {"enabled": True, "trusted": False}


def test_a_person_who_lets_programs_say_yes_reads_what_that_means(person: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"get_http_status": api_status(), "set_api_enabled": api_status(is_api_trusted=True)}) as hub:
        assert "in your place" in person("http", "api", "on", "--trusted").out
        assert hub.params_of("set_api_enabled") == {"enabled": True, "trusted": True}


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
