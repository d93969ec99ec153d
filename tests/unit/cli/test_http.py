"""`tooltray http ...`, with a running hub and without."""

import json
from typing import Any

import pytest
from tests.fakes.fake_control_hub import FakeControlHub, problem
from tests.unit.cli.conftest import Tooltray

from tooltray.errors import TooltrayError
from tooltray.home.home import Home

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
        raise TooltrayError("it is not open", "another program has port 7717", "Choose another")

    with FakeControlHub(hub_home, {"set_http_enabled": fails}):
        printed = tooltray("http", "on")
    assert printed.code == 1
    assert "another program has port 7717" in printed.err


def test_status_says_why_it_is_not_open(tooltray: Tooltray, hub_home: Home) -> None:
    closed = http_status(is_open=False, url="", problem=problem("it is not open", "another program has port 7717"))
    with FakeControlHub(hub_home, {"get_http_status": closed}):
        printed = tooltray("http", "status").out
        assert "another program has port 7717" in printed
        assert "TOKEN" not in printed  # there is nothing to put it into
        assert tooltray("http", "status", "--json").json["entry"] is None


def test_without_a_hub_the_settings_are_changed(tooltray: Tooltray, hub_home: Home) -> None:
    assert "Switch it on with" in tooltray("http", "status").out
    assert "opens when a hub runs" in tooltray("http", "on", "--port", "0").out
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
