"""`oauth` in a server's entry: settings/settings.py."""

from typing import Any

import pytest

from tooltray.errors import TooltrayError
from tooltray.settings.server_config import MCPServerConfig, OAuthSettings, config_hash
from tooltray.settings.settings import read_entry


def read(oauth: Any) -> OAuthSettings | None:
    return read_entry("far", {"url": "https://far.example/mcp", "oauth": oauth}).oauth


def test_nothing_need_be_said() -> None:
    assert read(None) is None
    assert read({}) == read(True) == OAuthSettings()


def test_false_switches_it_off() -> None:
    off = read(False)
    assert off
    assert (off.enabled, read({"enabled": False})) == (False, off)


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ({"clientId": "c", "callbackPort": 33418}, {"clientId": "c", "redirectPort": 33418}),
        ({"callbackPort": 1, "redirectPort": 2}, {"redirectPort": 2}),
        ({"scope": "read write"}, {"scopes": ["read", "write"]}),
        ({"scopes": " read  write "}, {"scopes": ["read", "write"]}),
        ({"clientId": " ", "scopes": None, "callbackPort": None}, {}),
    ],
)
def test_what_other_programs_write_is_understood(theirs: dict[str, Any], ours: dict[str, Any]) -> None:
    assert read(theirs) == read(ours)


def test_what_is_not_known_is_kept() -> None:
    entry = {"url": "https://far.example/mcp", "oauth": {"authServerMetadataUrl": "https://a.example"}}
    assert read_entry("far", entry).to_entry() == entry


@pytest.mark.parametrize(
    ("oauth", "said"),
    [
        ("yes", "oauth: must be an object"),
        ({"redirectPort": 70000}, "oauth.redirectPort: is too large"),
        ({"clientSecret": "dummy"}, "clientSecret needs clientId"),
        ({"grant": "client_credentials", "clientId": "c"}, "needs clientId and clientSecret"),
    ],
)
def test_what_cannot_be_used_is_refused_without_its_value(oauth: Any, said: str) -> None:
    with pytest.raises(TooltrayError, match=said) as refused:
        read(oauth)
    assert "dummy" not in str(refused.value)


def test_another_way_to_sign_in_is_another_server() -> None:
    configs = [MCPServerConfig.model_validate({"url": "https://far.example/", "oauth": each}) for each in (None, False, {"clientId": "c"})]
    assert len({config_hash(config) for config in configs}) == 3
