"""sign_in_target.py; why nobody can sign in is in test_sign_ins.py, where it is said."""

from typing import Any

import pytest

from tooltray.config.settings.expansion import ResolvedServer
from tooltray.config.settings.server_config import MCPServerConfig
from tooltray.servers.sign_ins.sign_in_target import binding_of, target_of, why_no_sign_in

URL = "https://far.example/mcp"


def config(**fields: Any) -> MCPServerConfig:
    return MCPServerConfig.model_validate({"url": URL, **fields})


def resolved(url: str, **headers: str) -> ResolvedServer:
    return ResolvedServer(None, (), {}, None, url, headers, ())


@pytest.mark.parametrize(
    "url", [URL, " https://far.example ", "https://far.example/@team?mail=a@b", "https://far.example?a@b", "http://[::1]:8/"]
)
def test_a_server_elsewhere_can_have_a_sign_in(url: str) -> None:
    assert why_no_sign_in("far", config(), resolved(url, **{"X-Team": "a"})) is None


@pytest.mark.parametrize("url", ["https://ann@far.example/mcp", "https://ann:pw@far.example", "http://10.0.0.1/", "nonsense", ""])
def test_a_url_that_signs_in_itself_or_is_read_by_others_cannot(url: str) -> None:
    assert why_no_sign_in("far", config(), resolved(url))


def test_a_binding_is_of_where_and_as_whom_and_of_nothing_else() -> None:
    usual = binding_of(config())
    assert binding_of(config(descriptions="x", headers={"A": "b"}, isolation="session")) == usual
    assert len({usual, binding_of(config(url=URL + "2")), binding_of(config(oauth={"clientId": "c"})), binding_of(config(oauth={}))}) == 4


def test_a_target_has_everything_filled_in() -> None:
    target = target_of("far", config(), resolved(f" {URL} "), {"A": "b"})
    assert (target.url, target.environ, target.signs_in_itself) == (URL, {"A": "b"}, False)


def test_tokens_of_older_versions_stay_bound_and_those_for_another_resource_do_not() -> None:
    assert binding_of(config(oauth={"clientId": "me"})) == "2ea7b8b112cbcd23d117618e0294dd5f"
    assert binding_of(config(oauth={"clientId": "me", "sendResource": False})) != "2ea7b8b112cbcd23d117618e0294dd5f"
