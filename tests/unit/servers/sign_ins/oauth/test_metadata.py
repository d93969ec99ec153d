"""What servers tell about themselves, read with suspicion."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tooltray.servers.sign_ins.oauth.metadata import (
    MAX_ISSUERS,
    ResourceMetadata,
    ServerMetadata,
    assumed_metadata,
    read_resource_metadata,
    read_server_metadata,
    unsafe_endpoints,
    wanted_scopes,
    why_no_browser,
)
from tooltray.servers.sign_ins.oauth.reach import Reach

GOOD = ServerMetadata(
    issuer="https://a.example",
    authorization_endpoint="https://a.example/authorize",
    token_endpoint="https://a.example/token",
    challenge_methods=("plain", "S256"),
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=10
)


def test_what_a_server_tells_is_read() -> None:
    document = {"resource": "https://a.example/mcp", "authorization_servers": ["https://b.example"], "scopes_supported": ["x", "y"]}
    assert read_resource_metadata(document) == ResourceMetadata("https://a.example/mcp", ("https://b.example",), ("x", "y"))


def test_what_is_no_address_or_one_too_many_is_no_authorization_server() -> None:
    named = ["javascript:x", 5, "https://user@x.example", *(f"https://{number}.example" for number in range(20))]
    found = read_resource_metadata({"authorization_servers": named}).issuers
    assert found == tuple(f"https://{number}.example" for number in range(MAX_ISSUERS))


def test_what_an_authorization_server_tells_is_read() -> None:
    document = {
        "issuer": "https://a.example",
        "authorization_endpoint": "https://a.example/authorize",
        "token_endpoint": "https://a.example/token",
        "registration_endpoint": "https://a.example/register",
        "revocation_endpoint": "https://a.example/revoke",
        "scopes_supported": ["x"],
        "grant_types_supported": ["authorization_code"],
        "token_endpoint_auth_methods_supported": ["none"],
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": True,
    }
    assert msgspec.structs.astuple(read_server_metadata(document)) == (
        "https://a.example",
        *(f"https://a.example/{end}" for end in ("authorize", "token", "register", "revoke")),
        *(("x",), ("authorization_code",), ("none",), ("S256",)),
        True,
        False,
    )


FIELDS = [
    *("issuer", "authorization_endpoint", "token_endpoint", "registration_endpoint", "revocation_endpoint", "scopes_supported"),
    *("grant_types_supported", "token_endpoint_auth_methods_supported", "code_challenge_methods_supported"),
    *("authorization_response_iss_parameter_supported", "resource", "authorization_servers"),
]


@given(st.dictionaries(st.sampled_from(FIELDS), json_values, max_size=3))
def test_no_document_is_too_odd_to_be_read(document: dict[str, Any]) -> None:
    metadata = read_server_metadata(document)
    unsafe_endpoints(metadata, within=Reach.COMPUTER)
    why_no_browser(metadata, is_client_known=False)
    assert isinstance(metadata.renews, bool)
    read_resource_metadata(document)


def test_the_addresses_of_a_server_that_tells_nothing_are_those_of_the_specification() -> None:
    assumed = assumed_metadata("https://a.example")
    assert (assumed.authorization_endpoint, assumed.token_endpoint, assumed.registration_endpoint) == (
        "https://a.example/authorize",
        "https://a.example/token",
        "https://a.example/register",
    )
    assert why_no_browser(assumed, is_client_known=False) == ""


@pytest.mark.parametrize("field", ["authorization_endpoint", "token_endpoint", "registration_endpoint", "revocation_endpoint"])
@pytest.mark.parametrize("address", ["http://a.example/x", "http://127.0.0.1/x", "javascript:alert(1)", "x", "https://u:p@a.example/"])
def test_every_address_to_which_a_secret_would_go_is_looked_at(field: str, address: str) -> None:
    assert unsafe_endpoints(GOOD, within=Reach.INTERNET) == []
    changed: dict[str, Any] = {field: address}
    assert unsafe_endpoints(msgspec.structs.replace(GOOD, **changed), within=Reach.INTERNET) == [address]


def test_a_person_signs_in_only_where_it_cannot_be_stolen() -> None:
    assert why_no_browser(GOOD, is_client_known=False) == ""
    for methods in (None, (), ("plain",)):
        assert "PKCE" in why_no_browser(msgspec.structs.replace(GOOD, challenge_methods=methods), is_client_known=False)
    assert "no page" in why_no_browser(msgspec.structs.replace(GOOD, authorization_endpoint=None), is_client_known=False)


def test_who_registered_a_client_by_hand_may_go_where_nothing_is_said_about_that_but_not_where_it_is_denied() -> None:
    assert why_no_browser(msgspec.structs.replace(GOOD, challenge_methods=None), is_client_known=True) == ""
    assert why_no_browser(msgspec.structs.replace(GOOD, challenge_methods=("plain",)), is_client_known=True)


def test_offline_access_is_offered_where_it_is_listed_and_tokens_can_be_renewed() -> None:
    listed = msgspec.structs.replace(GOOD, scopes=("x", "offline_access"))
    assert listed.offers_offline
    assert not GOOD.offers_offline
    assert not msgspec.structs.replace(listed, grants=("authorization_code",)).offers_offline


def test_scopes_of_several_groups_stand_once_each_in_their_order() -> None:
    assert wanted_scopes(["b", "a"], ("a", "c"), ()) == ("b", "a", "c")
