"""Challenges and metadata of untrusted servers, and the search for the authorization server."""

import asyncio
import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.fake_clock import in_fake_time
from tests.fakes.web_answers import WebAnswers

from tooltray.servers.sign_ins.addresses import Reach
from tooltray.servers.sign_ins.authorization_servers import (
    FOUND_WITHIN_S,
    MAX_CHALLENGE_CHARACTERS,
    MAX_ISSUERS,
    MAX_SCOPES,
    Challenge,
    Discovery,
    Place,
    ResourceMetadata,
    ServerMetadata,
    assumed_metadata,
    read_challenge,
    read_resource_metadata,
    read_scopes,
    read_server_metadata,
    unsafe_endpoints,
    wanted_scopes,
    why_no_browser,
)
from tooltray.servers.sign_ins.web_requests import Answer, AuthorizationUnreachable, NoAuthorizationServer, NoResponse, WrongIssuer

WHERE = "https://a.example/.well-known/oauth-protected-resource"
GOOD = ServerMetadata(
    issuer="https://a.example",
    authorization_endpoint="https://a.example/authorize",
    token_endpoint="https://a.example/token",
    challenge_methods=("plain", "S256"),
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=10
)
URL = "https://mcp.example/team/mcp"
BELOW = "https://mcp.example/.well-known/oauth-protected-resource/team/mcp"
ROOT = "https://mcp.example/.well-known/oauth-protected-resource"
ISSUER = "https://auth.example/tenant"
INSERTED = "https://auth.example/.well-known/oauth-authorization-server/tenant"
OPENID_INSERTED = "https://auth.example/.well-known/openid-configuration/tenant"
OPENID_APPENDED = "https://auth.example/tenant/.well-known/openid-configuration"
ORIGIN = "https://mcp.example"
ORIGIN_TELLS = "https://mcp.example/.well-known/oauth-authorization-server"
PAGE = "<!doctype html><title>Welcome</title>"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f'Bearer resource_metadata="{WHERE}"', Challenge(WHERE)),
        (f"bearer resource_metadata={WHERE}", Challenge(WHERE)),
        (f'Bearer error="invalid_token", resource_metadata="{WHERE}", scope="a b"', Challenge(WHERE, ("a", "b"), "invalid_token")),
        (f'Basic realm="x, Bearer scope=no", BEARER scope = "a" , resource_metadata="{WHERE}"', Challenge(WHERE, ("a",))),
        (f'Bearer resource_metadata="{WHERE}", Basic realm="x", scope="not ours"', Challenge(WHERE)),
        ('Negotiate abc==, Bearer realm="a \\"quoted\\" one",scope=a', Challenge(None, ("a",))),
        ('Bearer scope="first", Bearer scope="second"', Challenge(None, ("first",))),
        ('Bearer scope="first", scope="second"', Challenge(None, ("first",))),
        ('Bearer scope="", resource_metadata=""', Challenge()),
        ("Bearer", Challenge()),
        ('Basic realm="x"', Challenge()),
        ('Bearer scope="never closed', Challenge()),
        ("", Challenge()),
        (None, Challenge()),
    ],
)
def test_the_first_bearer_challenge_is_read(text: str | None, expected: Challenge) -> None:
    assert read_challenge(text) == expected


def test_a_token_that_is_good_but_not_for_this_is_known() -> None:
    assert read_challenge('Bearer error="insufficient_scope", scope="files:write"').needs_more
    assert not read_challenge('Bearer error="invalid_token"').needs_more


@given(st.text(alphabet='Bearer ="\\,\t\nabcscope'))
def test_nothing_that_a_server_writes_breaks_the_reading(text: str) -> None:
    assert isinstance(read_challenge(text), Challenge)
    assert isinstance(read_challenge(f"Bearer {text}"), Challenge)


def test_an_endless_challenge_is_read_in_no_time_and_not_to_its_end() -> None:
    for piece in ('"', "\\", "a=", 'a="', ",", " ", "a", "a ,"):
        read_challenge("Bearer " + piece * 2_000_000)
    assert read_challenge("x" * MAX_CHALLENGE_CHARACTERS + ", Bearer scope=a") == Challenge()


def test_scopes_stand_once_each_and_without_what_cannot_be_one() -> None:
    assert read_scopes('b a b  "c" d\\ ü e:f') == ("b", "a", "e:f")
    assert read_scopes(["a"]) == ()
    assert len(read_scopes(" ".join(map(str, range(MAX_SCOPES * 2))))) == MAX_SCOPES


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
    assert "no authorization endpoint" in why_no_browser(msgspec.structs.replace(GOOD, authorization_endpoint=None), is_client_known=False)


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


def about(issuer: str, **changes: Any) -> dict[str, Any]:
    at = issuer.rstrip("/")
    usual = {"issuer": issuer, "authorization_endpoint": f"{at}/authorize", "token_endpoint": f"{at}/token"}
    return {**usual, "code_challenge_methods_supported": ["S256"], **changes}


def protected(*issuers: str, **changes: Any) -> dict[str, Any]:
    return {"resource": URL, "authorization_servers": list(issuers), "scopes_supported": ["read"], **changes}


async def find(web: WebAnswers, *, url: str = URL, named: str | None = None, issuer: str | None = None) -> Place:
    return await Discovery(server="far", url=url, web=web, issuer=issuer).find(Challenge(resource_metadata=named))


# what the server says


async def test_the_address_in_the_refusal_is_asked_first() -> None:
    elsewhere = "https://cdn.example/about-mcp"
    web = WebAnswers({elsewhere: protected(ISSUER), INSERTED: about(ISSUER)})
    place = await find(web, named=elsewhere)
    assert web.asked == [elsewhere, INSERTED]
    assert (place.resource, place.scopes, place.server.issuer) == (URL, ("read",), ISSUER)


async def test_then_the_address_below_the_servers_path_and_then_the_root() -> None:
    web = WebAnswers({ROOT: protected(ISSUER, resource=ORIGIN), INSERTED: about(ISSUER)})
    place = await find(web, named=BELOW)
    assert web.asked == [BELOW, ROOT, INSERTED]
    assert place.resource == ORIGIN


@pytest.mark.parametrize("junk", [PAGE, [], "null", {"error": "not found"}, 403, 302])
async def test_what_is_no_metadata_is_passed_over(junk: Any) -> None:
    web = WebAnswers({BELOW: junk, ROOT: protected(ISSUER), INSERTED: junk, OPENID_INSERTED: about(ISSUER)})
    assert (await find(web)).server.token_endpoint == f"{ISSUER}/token"


@pytest.mark.parametrize("named", ["http://127.0.0.1:8080/secret", "http://10.0.0.1/latest/meta-data", "file:///etc/passwd", "x"])
async def test_a_server_elsewhere_cannot_send_us_to_places_that_are_ours_alone(named: str) -> None:
    web = WebAnswers({BELOW: protected(ISSUER), INSERTED: about(ISSUER)})
    await find(web, named=named)
    assert named not in web.asked


async def test_nor_can_it_do_so_with_its_authorization_server() -> None:
    for local in ("http://127.0.0.1:8080", "http://10.0.0.1"):
        web = WebAnswers({BELOW: protected(local)})
        with pytest.raises(NoAuthorizationServer, match="not reached over https"):
            await find(web)
        assert web.asked == [BELOW]


async def test_a_server_of_plain_http_may_tell_about_itself_at_its_own_address() -> None:
    there = "http://10.0.0.1:8080/tells"
    web = WebAnswers({there: protected(ISSUER, resource="http://10.0.0.1:8080/mcp"), INSERTED: about(ISSUER)})
    assert (await find(web, url="http://10.0.0.1:8080/mcp", named=there)).server.issuer == ISSUER


async def test_a_server_on_this_machine_may_have_its_authorization_server_here_too() -> None:
    here = "http://127.0.0.1:9000"
    tells = {"resource": "http://localhost:8000/mcp", "authorization_servers": [here]}
    web = WebAnswers(
        {
            "http://localhost:8000/.well-known/oauth-protected-resource/mcp": tells,
            f"{here}/.well-known/oauth-authorization-server": about(here),
        }
    )
    assert (await find(web, url="http://localhost:8000/mcp")).server.token_endpoint == f"{here}/token"


async def test_metadata_about_another_server_are_refused() -> None:
    with pytest.raises(NoAuthorizationServer, match=r"metadata is for https://other\.example/mcp") as raised:
        await find(WebAnswers({BELOW: protected(ISSUER, resource="https://other.example/mcp")}))
    assert raised.value.problem.title == "'far' does not declare how to sign in"


async def test_metadata_that_do_not_say_what_they_are_about_are_about_the_server() -> None:
    tells = {"authorization_servers": [ISSUER]}
    assert (await find(WebAnswers({BELOW: tells, INSERTED: about(ISSUER)}))).resource == URL


# what the authorization server says


async def test_the_three_places_of_an_issuer_with_a_path_are_asked_in_order() -> None:
    web = WebAnswers({BELOW: protected(ISSUER), OPENID_APPENDED: about(ISSUER)})
    await find(web)
    assert web.asked == [BELOW, INSERTED, OPENID_INSERTED, OPENID_APPENDED]


async def test_of_several_authorization_servers_the_first_that_can_be_used_is() -> None:
    second = "https://second.example"
    web = WebAnswers({BELOW: protected(ISSUER, second), f"{second}/.well-known/oauth-authorization-server": about(second)})
    assert (await find(web)).server.issuer == second
    with pytest.raises(NoAuthorizationServer, match=ISSUER):
        await find(WebAnswers({BELOW: protected(ISSUER, second)}))


async def test_the_one_in_the_settings_is_asked_alone() -> None:
    mine = "https://mine.example"
    web = WebAnswers({BELOW: protected(ISSUER), f"{mine}/.well-known/openid-configuration": about(mine)})
    place = await find(web, issuer=mine)
    assert (place.server.issuer, place.scopes) == (mine, ("read",))
    assert INSERTED not in web.asked


async def test_the_one_in_the_settings_may_be_on_this_machine() -> None:
    here = "http://127.0.0.1:9000"
    assert (await find(WebAnswers({f"{here}/.well-known/oauth-authorization-server": about(here)}), issuer=here)).server.issuer == here


@pytest.mark.parametrize("issuer", ["https://evil.example", f"{ISSUER}/", "https://auth.example"])
async def test_an_authorization_server_that_says_it_is_another_is_not_trusted(issuer: Any) -> None:
    with pytest.raises(WrongIssuer, match=f"the metadata of {ISSUER} names") as raised:
        await find(WebAnswers({BELOW: protected(ISSUER), INSERTED: {**about(ISSUER), "issuer": issuer}}))
    assert "Otherwise do not sign in there" in raised.value.problem.hint


@pytest.mark.parametrize("issuer", ["", 5, None])
async def test_one_that_does_not_say_who_it_is_is_none(issuer: Any) -> None:
    with pytest.raises(NoAuthorizationServer, match="is not an authorization server"):
        await find(WebAnswers({BELOW: protected(ISSUER), INSERTED: {**about(ISSUER), "issuer": issuer}}))


async def test_it_is_trusted_if_it_is_the_right_one_at_a_later_address() -> None:
    web = WebAnswers({BELOW: protected(ISSUER), INSERTED: about("https://auth.example"), OPENID_APPENDED: about(ISSUER)})
    assert (await find(web)).server.issuer == ISSUER


async def test_a_slash_that_is_a_whole_path_makes_no_other_issuer_and_its_own_spelling_counts() -> None:
    web = WebAnswers(
        {
            BELOW: protected("https://auth.example/"),
            "https://auth.example/.well-known/oauth-authorization-server": about("https://auth.example"),
        }
    )
    assert (await find(web)).server.issuer == "https://auth.example"


@pytest.mark.parametrize("field", ["authorization_endpoint", "token_endpoint", "registration_endpoint", "revocation_endpoint"])
async def test_no_secret_goes_to_an_address_without_https(field: str) -> None:
    changed = {field: "http://auth.example/somewhere"}
    with pytest.raises(NoAuthorizationServer, match=r"http://auth\.example/somewhere, which is not reached over https.*developers"):
        await find(WebAnswers({BELOW: protected(ISSUER), INSERTED: about(ISSUER, **changed)}))


async def test_one_that_gives_no_tokens_is_said_so() -> None:
    with pytest.raises(NoAuthorizationServer, match="has no token endpoint"):
        await find(WebAnswers({BELOW: protected(ISSUER), INSERTED: about(ISSUER, token_endpoint=None)}))


# servers that tell nothing


async def test_a_server_that_names_nobody_may_be_its_own_authorization_server() -> None:
    web = WebAnswers({ORIGIN_TELLS: about(ORIGIN, token_endpoint="https://mcp.example/t")})
    place = await find(web)
    assert (place.resource, place.scopes, place.server.token_endpoint) == (URL, (), "https://mcp.example/t")
    assert web.asked == [BELOW, ROOT, ORIGIN_TELLS]


async def test_one_that_tells_nothing_at_all_has_the_addresses_of_the_specification() -> None:
    assert (await find(WebAnswers({BELOW: PAGE, ORIGIN_TELLS: PAGE}))).server == assumed_metadata(ORIGIN)


async def test_one_that_tells_nothing_over_plain_http_is_not_signed_in_to() -> None:
    with pytest.raises(NoAuthorizationServer, match="plain http"):
        await find(WebAnswers(), url="http://10.0.0.1/mcp")


# those that do not answer


@pytest.mark.parametrize("address", [BELOW, INSERTED])
async def test_no_answer_is_not_taken_for_nothing(address: str) -> None:
    answers = {BELOW: protected(ISSUER), INSERTED: about(ISSUER), address: NoResponse("nothing answers there")}
    with pytest.raises(AuthorizationUnreachable, match="nothing answers there"):
        await find(WebAnswers(answers))


@pytest.mark.parametrize("status", [500, 503, 429])
async def test_a_server_that_cannot_answer_now_is_asked_elsewhere_too_and_then_not_taken_for_an_old_one(status: int) -> None:
    assert (await find(WebAnswers({BELOW: status, ROOT: protected(ISSUER), INSERTED: about(ISSUER)}))).server.issuer == ISSUER
    with pytest.raises(AuthorizationUnreachable, match=f"HTTP {status}"):
        await find(WebAnswers({BELOW: status, ORIGIN_TELLS: about(ORIGIN)}))


async def test_a_good_answer_to_an_error_is_none() -> None:
    web = WebAnswers({BELOW: Answer(404, json.dumps(protected("https://evil.example")).encode()), ORIGIN_TELLS: about(ORIGIN)})
    assert (await find(web)).server.issuer == ORIGIN


@pytest.mark.parametrize("odd", [f"https://{'a' * 64}.example", "https://xn--/x", "https://a..example/x"])
async def test_places_whose_names_cannot_be_looked_up_are_passed_over(odd: str) -> None:
    web = WebAnswers({BELOW: protected(odd, ISSUER), INSERTED: about(ISSUER)})
    assert (await find(web, named=odd)).server.issuer == ISSUER
    assert odd not in web.asked


class SlowAnswers(WebAnswers):
    """Each comes just in time."""

    async def get(self, url: str) -> Answer:
        await asyncio.sleep(19)
        return await super().get(url)


@in_fake_time
async def test_a_search_ends_however_many_places_are_named() -> None:
    web = SlowAnswers({BELOW: protected(*(f"https://auth{number}.example/tenant" for number in range(5)))})
    begun = asyncio.get_running_loop().time()
    with pytest.raises(AuthorizationUnreachable, match=f"within {FOUND_WITHIN_S:g} s"):
        await find(web)
    assert asyncio.get_running_loop().time() - begun == pytest.approx(FOUND_WITHIN_S)


async def test_a_server_elsewhere_cannot_send_us_to_this_machine_over_https_either() -> None:
    for near in ("https://localhost:8443", "https://10.0.0.1", "https://169.254.169.254", "https://[64:ff9b::7f00:1]", "https://127.1"):
        web = WebAnswers({BELOW: protected(near)})
        with pytest.raises(NoAuthorizationServer, match=r"on this computer or its network, and the server is not.*oauth\.issuer"):
            await find(web, named=f"{near}/tells")
        assert web.asked == [BELOW]


async def test_a_private_authorization_server_that_the_user_has_named_is_used() -> None:
    private = "https://10.0.0.1"
    web = WebAnswers({BELOW: protected(ISSUER), f"{private}/.well-known/oauth-authorization-server": about(private)})
    assert (await find(web, issuer=private)).server.token_endpoint == f"{private}/token"
