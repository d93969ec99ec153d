"""A sign-in from its begin to its end, with an authorization server that checks what it is sent."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import msgspec
import pytest
from tests.fakes.authorization_server import (
    AuthorizationServer,
    Shown,
    authorizing,
    browse,
    query_of,
    says,
)
from tests.fakes.set_clock import SetClock

from tooltray.config.settings.server_config import OAuthSettings
from tooltray.servers.sign_ins.authorization_client import AuthorizationClient, PendingSignIn
from tooltray.servers.sign_ins.authorization_servers import INSUFFICIENT_SCOPE
from tooltray.servers.sign_ins.server_access import make_web_client
from tooltray.servers.sign_ins.sign_in_flow import CallbackListener
from tooltray.servers.sign_ins.tokens import Registration, Tokens
from tooltray.servers.sign_ins.web_requests import (
    AuthorizationFailed,
    AuthorizationRefused,
    NoAuthorizationServer,
    SignInExpired,
    WrongIssuer,
)

NOW = 1_000_000.0
SECRET = "the-secret-of-the-client"


@dataclass
class Desk:
    """A client, and a browser in front of it."""

    server: AuthorizationServer
    client: AuthorizationClient
    clock: SetClock
    registration: Registration | None = None

    async def begin(self, **options: Any) -> tuple[CallbackListener, PendingSignIn]:
        listener = CallbackListener(server="far")
        preferred = self.client.registration.redirect_port if self.client.registration else 0
        address = await listener.open(preferred=preferred)
        try:
            pending = await self.client.begin(redirect_uri=address, **options)
        except AuthorizationFailed:
            await listener.close()
            raise
        listener.expect(pending.state)
        return listener, pending

    async def come_back(self, **options: Any) -> tuple[PendingSignIn, dict[str, str], Shown]:
        """Until the browser has come back."""
        listener, pending = await self.begin(**options)
        try:
            page = await browse(pending.url)
            assert page.status == 200, page.text
            return pending, dict(await listener.wait(pending.state)), page
        finally:
            await listener.close()

    async def sign_in(self, **options: Any) -> Tokens:
        pending, params, _ = await self.come_back(**options)
        return await self.client.finish(pending, params)


@asynccontextmanager
async def desk(*, settings: dict[str, Any] | None = None, **changes: Any) -> AsyncIterator[Desk]:
    async with authorizing(**changes) as server:
        yield await another_desk(server, settings=settings)


@pytest.fixture
async def at() -> AsyncIterator[Desk]:
    async with desk() as at:
        yield at


async def another_desk(server: AuthorizationServer, *, settings: dict[str, Any] | None = None, **options: Any) -> Desk:
    clock, chosen = SetClock(NOW), OAuthSettings(**settings) if settings else None
    client = AuthorizationClient(server="far", url=server.mcp_url, settings=chosen, http=await make_web_client({}), clock=clock, **options)
    return Desk(server, client, clock)


# a person signs in


async def test_a_person_signs_in_to_a_server_that_nobody_configured() -> None:
    async with desk(sends_issuer=True) as at:
        tokens = await at.sign_in()
        assert at.server.access[tokens.access_token] == "notes:read notes:write"
        assert tokens.refresh_token in at.server.refresh
        assert tokens == msgspec.structs.replace(
            tokens,
            expires_at=NOW + 3600,
            scopes=("notes:read", "notes:write"),
            url=at.server.mcp_url,
            resource=at.server.mcp_url,
            issuer=at.server.issuer,
            token_endpoint=f"{at.server.origin}/token",
            revocation_endpoint=f"{at.server.origin}/revoke",
        )


async def test_the_page_is_asked_for_what_the_specification_wants(at: Desk) -> None:
    pending, _, _ = await at.come_back()
    wish = query_of(pending.url)
    assert wish["code_challenge"] != pending.verifier
    assert len(pending.verifier) >= 43
    assert len(pending.state) >= 43
    assert wish == {
        "response_type": "code",
        "client_id": "client-1",
        "redirect_uri": pending.redirect_uri,
        "state": pending.state,
        "code_challenge": wish["code_challenge"],
        "code_challenge_method": "S256",
        "resource": at.server.mcp_url,
        "scope": "notes:read notes:write",
    }


async def test_every_sign_in_has_its_own_state_and_verifier(at: Desk) -> None:
    (first, _, _), (second, _, _) = await at.come_back(), await at.come_back()
    assert first.state != second.state
    assert first.verifier != second.verifier


async def test_a_server_of_the_first_specification_is_signed_in_to_without_any_metadata() -> None:
    async with desk(has_resource_metadata=False, has_metadata=False) as at:
        tokens = await at.sign_in()
        assert tokens.issuer == at.server.origin
        assert tokens.revocation_endpoint is None
        assert "scope" not in query_of((await at.come_back())[0].url)


async def test_a_url_that_is_none_is_said_so() -> None:
    client = AuthorizationClient(server="far", url="http://host:port/", settings=None, http=await make_web_client({}))
    with pytest.raises(NoAuthorizationServer, match="its URL cannot be used"):
        await client.begin(redirect_uri="http://127.0.0.1:1/callback")


# what is asked for


@pytest.mark.parametrize(
    ("configured", "challenge", "held", "expected"),
    [
        ((), None, (), "notes:read notes:write"),
        ((), 'Bearer scope="notes:read"', (), "notes:read"),
        (("mine",), 'Bearer scope="notes:read"', (), "mine"),
        ((), f'Bearer error="{INSUFFICIENT_SCOPE}", scope="notes:write"', ("notes:read",), "notes:read notes:write"),
        (("mine",), f'Bearer error="{INSUFFICIENT_SCOPE}", scope="notes:write"', ("notes:read",), "notes:read mine notes:write"),
    ],
)
async def test_what_is_asked_for(configured: tuple[str, ...], challenge: str | None, held: tuple[str, ...], expected: str) -> None:
    async with desk(settings={"scopes": configured}) as at:
        pending, _, _ = await at.come_back(challenge=challenge, scopes=held)
        assert query_of(pending.url)["scope"] == expected
        assert at.server.at("/register")[0].document["scope"] == expected


async def test_a_server_that_lists_offline_access_is_asked_for_it() -> None:
    async with desk(metadata={"scopes_supported": ["offline_access"]}) as at:
        wish = query_of((await at.come_back(challenge='Bearer scope="a"'))[0].url)
        assert (wish["scope"], wish["prompt"]) == ("a offline_access", "consent")


async def test_it_is_not_asked_for_alone_since_that_would_be_less_than_the_usual() -> None:
    async with desk(metadata={"scopes_supported": ["offline_access"]}, resource_metadata={"scopes_supported": None}) as at:
        assert "scope" not in query_of((await at.come_back())[0].url)


async def test_what_was_granted_counts_and_not_what_was_asked_for(at: Desk) -> None:
    pending, params, _ = await at.come_back()
    at.server.answers["/token"] = says({"access_token": "t", "scope": "notes:read"})
    assert (await at.client.finish(pending, params)).scopes == ("notes:read",)
    at.server.answers["/token"] = says({"access_token": "t"})
    assert (await at.client.finish(pending, params)).scopes == ("notes:read", "notes:write")


# as whom


async def test_a_registration_serves_again_after_a_restart(at: Desk) -> None:
    tokens = await at.sign_in()
    again = await another_desk(at.server, registration=tokens.registration)
    assert (await again.sign_in()).registration == tokens.registration
    assert len(at.server.at("/register")) == 1


async def test_a_registration_for_another_address_is_made_anew(at: Desk) -> None:
    await at.sign_in()
    pending = await at.client.begin(redirect_uri="http://127.0.0.1:1/callback")
    assert pending.registration.client_id == "client-2"


async def test_a_registration_that_they_have_forgotten_is_made_anew_at_the_next_try(at: Desk) -> None:
    await at.sign_in()
    at.server.clients.clear()
    listener, pending = await at.begin()
    assert (await browse(pending.url)).status == 400
    await listener.close()
    assert await at.sign_in()


async def test_a_registration_that_the_token_endpoint_does_not_know_is_made_anew_at_the_next_try(at: Desk) -> None:
    pending, params, _ = await at.come_back()
    at.server.clients.clear()
    with pytest.raises(AuthorizationRefused, match="'invalid_client'"):
        await at.client.finish(pending, params)
    assert await at.sign_in()


async def test_a_registration_whose_secret_has_ended_is_made_anew() -> None:
    changes = {"token_endpoint_auth_method": "client_secret_post", "client_secret_expires_at": int(NOW) + 100}
    async with desk(registration=changes) as at:
        tokens = await at.sign_in()
        at.clock.now += 100
        with pytest.raises(SignInExpired):
            await at.client.refresh(tokens)
        await at.sign_in()
        assert len(at.server.at("/register")) == 2


@pytest.mark.parametrize("method", ["client_secret_basic", "client_secret_post", "none"])
async def test_a_client_of_the_settings_registers_nothing(method: str) -> None:
    secret = "" if method == "none" else SECRET
    async with desk(
        settings={"client_id": "me"} | ({"client_secret": secret} if secret else {}),
        metadata={"token_endpoint_auth_methods_supported": [method]},
    ) as at:
        at.server.know("me", secret=secret, method=method)
        tokens = await at.sign_in()
        assert not at.server.at("/register")
        assert SECRET not in tokens.to_json()
        back = Tokens.from_json(tokens.to_json())
        assert back
        assert (await at.client.refresh(back)).access_token in at.server.access


# without `resource`


async def test_a_token_endpoint_that_refuses_the_resource_is_asked_once_without_it_and_renewals_leave_it_out() -> None:
    async with desk(refuses_resource=("/token",)) as at:
        tokens = await at.sign_in()
        assert tokens.resource == ""
        assert ["resource" in form for form in at.server.forms("authorization_code")] == [True, False]
        renewed = await at.client.refresh(tokens)
        assert ["resource" in form for form in at.server.forms("refresh_token")] == [False]
        at.server.asked.all.clear()
        renewed = await at.client.refresh(msgspec.structs.replace(renewed, resource=at.server.mcp_url))
        assert (renewed.resource, len(at.server.forms("refresh_token"))) == ("", 2)


async def test_a_page_that_refuses_the_resource_names_the_setting_and_the_next_sign_in_leaves_it_out() -> None:
    async with desk(refuses_resource=("/authorize",)) as at:
        pending, params, _ = await at.come_back()
        with pytest.raises(AuthorizationRefused, match="AADSTS901002") as raised:
            await at.client.finish(pending, params)
        assert "`sendResource` of `oauth`" in raised.value.problem.hint
        tokens = await at.sign_in()
        assert (tokens.resource, "resource" in at.server.forms("authorization_code")[0]) == ("", False)


async def test_the_settings_leave_the_resource_out() -> None:
    async with desk(settings={"send_resource": False}, refuses_resource=("/authorize", "/token")) as at:
        assert (await at.sign_in()).resource == ""
        assert len(at.server.at("/token")) == 1


async def test_two_refusals_end_with_the_first_and_the_setting(at: Desk) -> None:
    pending, params, _ = await at.come_back()
    at.server.answers["/token"] = says({"error": "invalid_target"}, 400)
    with pytest.raises(AuthorizationRefused, match="'invalid_target'") as raised:
        await at.client.finish(pending, params)
    assert "sendResource" in raised.value.problem.hint
    assert len(at.server.at("/token")) == 2


async def test_a_client_that_signs_in_itself_leaves_out_a_resource_that_is_refused() -> None:
    settings = {"client_id": "me", "client_secret": SECRET, "grant": "client_credentials"}
    async with desk(settings=settings, refuses_resource=("/token",)) as at:
        at.server.know("me", secret=SECRET, method="client_secret_basic")
        assert (await at.client.client_credentials()).resource == ""
        at.server.answers["/token"] = says({"error": "invalid_target"}, 400)
        with pytest.raises(AuthorizationRefused) as raised:
            await at.client.client_credentials()
        assert "sendResource" in raised.value.problem.hint
        at.server.answers["/token"] = says({"error": "invalid_scope"}, 400)
        with pytest.raises(AuthorizationRefused) as raised:
            await at.client.client_credentials()
        assert "sendResource" not in raised.value.problem.hint


# whom not to trust


async def test_a_server_without_pkce_is_refused_before_anything_is_registered() -> None:
    async with desk(metadata={"code_challenge_methods_supported": ["plain"]}) as at:
        with pytest.raises(NoAuthorizationServer, match="PKCE"):
            await at.begin()
        assert not at.server.at("/register")


@pytest.mark.parametrize("changes", [{"iss": "https://evil.example"}, {"sends_issuer": True, "iss": "https://evil.example"}])
async def test_an_answer_from_another_issuer_is_refused_and_its_code_sent_nowhere(changes: dict[str, Any]) -> None:
    async with desk(**changes) as at:
        pending, params, _ = await at.come_back()
        with pytest.raises(WrongIssuer, match=r"the answer names https://evil\.example") as raised:
            await at.client.finish(pending, params)
        assert "set `issuer` of `oauth`" in raised.value.problem.hint
        assert not at.server.at("/token")


async def test_an_error_of_another_issuer_is_not_believed_either() -> None:
    async with desk(iss="https://evil.example", consents=False) as at:
        pending, params, _ = await at.come_back()
        with pytest.raises(WrongIssuer):
            await at.client.finish(pending, params)


# refusals


async def test_what_the_page_says_is_said_without_what_is_secret(at: Desk) -> None:
    pending, params, _ = await at.come_back()
    said = {
        "state": pending.state,
        "error": "server_error",
        "error_description": f"bad {params['code']} of {pending.state}",
        "code": params["code"],
    }
    with pytest.raises(AuthorizationRefused, match="'server_error': bad ••• of •••"):
        await at.client.finish(pending, said)
    with pytest.raises(AuthorizationRefused, match="without a code"):
        await at.client.finish(pending, {"state": pending.state})


# afterwards


async def test_tokens_are_renewed_after_a_restart_without_asking_where() -> None:
    async with desk(lifetime_s=30) as at:
        kept = (await at.sign_in()).to_json()
        at.server.asked.all.clear()
        again = await another_desk(at.server)
        old = Tokens.from_json(kept)
        assert old
        assert old.is_expired(NOW + 27)
        new = await again.client.refresh(old)
        assert [asked.path for asked in at.server.asked.all] == ["/token"]
        assert new.access_token in at.server.access
        assert (new.access_token != old.access_token, new.refresh_token != old.refresh_token) == (True, True)
        assert msgspec.structs.replace(new, access_token="", refresh_token="") == msgspec.structs.replace(
            old, access_token="", refresh_token=""
        )
        assert at.server.forms("refresh_token")[0]["resource"] == at.server.mcp_url
        assert again.client.registration == old.registration


async def test_a_refresh_token_that_is_not_replaced_stays() -> None:
    async with desk(rotates=False) as at:
        old = await at.sign_in()
        assert (await at.client.refresh(old)).refresh_token == old.refresh_token


async def test_what_is_granted_at_a_renewal_counts(at: Desk) -> None:
    old = await at.sign_in()
    at.server.answers["/token"] = says({"access_token": "t", "scope": "notes:read"})
    new = await at.client.refresh(old)
    assert (new.scopes, new.expires_at) == (("notes:read",), None)
    at.server.answers["/token"] = says({"access_token": "t"})
    assert (await at.client.refresh(new)).scopes == ("notes:read",)


async def test_a_client_that_they_have_forgotten_registers_anew_after_a_renewal_has_failed(at: Desk) -> None:
    tokens = await at.sign_in()
    at.server.clients.clear()
    again = await another_desk(at.server)
    with pytest.raises(SignInExpired):
        await again.client.refresh(tokens)
    at.server.know("another")
    assert (await again.sign_in()).registration.client_id == "client-2"


async def test_tokens_that_cannot_be_renewed_are_not_sent_anywhere() -> None:
    async with desk(settings={"client_id": "me"}) as at:
        at.server.know("me")
        tokens = await at.sign_in()
        asked = len(at.server.asked.all)
        itself = msgspec.structs.replace(tokens.registration, is_configured=False)
        for changed in (
            msgspec.structs.replace(tokens, refresh_token=None),
            msgspec.structs.replace(tokens, url="https://other.example/mcp"),
            msgspec.structs.replace(tokens, registration=msgspec.structs.replace(tokens.registration, client_id="somebody-else")),
            msgspec.structs.replace(tokens, registration=itself),
        ):
            with pytest.raises(SignInExpired):
                await at.client.refresh(changed)
        assert len(at.server.asked.all) == asked


# a client by itself


@pytest.mark.parametrize("method", ["client_secret_basic", "client_secret_post"])
async def test_a_client_signs_in_by_itself_with_its_secret(method: str) -> None:
    settings = {"client_id": "me", "client_secret": SECRET, "grant": "client_credentials"}
    told = {"token_endpoint_auth_methods_supported": [method], "authorization_endpoint": None, "code_challenge_methods_supported": None}
    async with desk(settings=settings, metadata=told) as at:
        at.server.know("me", secret=SECRET, method=method)
        tokens = await at.client.client_credentials('Bearer scope="notes:read"')
        assert at.server.access[tokens.access_token] == "notes:read"
        assert (tokens.refresh_token, tokens.scopes, tokens.expires_at) == (None, ("notes:read",), NOW + 3600)
        assert at.server.forms("client_credentials")[0]["resource"] == at.server.mcp_url


async def test_a_client_by_itself_asks_for_no_scopes_where_nobody_names_any() -> None:
    settings = {"client_id": "me", "client_secret": SECRET, "grant": "client_credentials"}
    async with desk(settings=settings, resource_metadata={"scopes_supported": None}) as at:
        at.server.know("me", secret=SECRET, method="client_secret_basic")
        await at.client.client_credentials()
        assert "scope" not in at.server.forms("client_credentials")[0]


# the end


async def test_signing_out_ends_both_tokens(at: Desk) -> None:
    tokens = await at.sign_in()
    await at.client.revoke(tokens)
    assert (at.server.access, at.server.refresh) == ({}, {})


@pytest.mark.parametrize("trouble", [says("no", 503), says({"error": "unsupported_token_type"}, 400)])
async def test_signing_out_works_whatever_the_server_says(at: Desk, trouble: Any) -> None:
    tokens = msgspec.structs.replace(await at.sign_in(), refresh_token=None)
    at.server.answers["/revoke"] = trouble
    await at.client.revoke(tokens)
    assert [asked.fields["token"] for asked in at.server.at("/revoke")] == [tokens.access_token]


async def test_signing_out_asks_nobody_where_there_is_nobody_to_tell() -> None:
    async with desk(metadata={"revocation_endpoint": None}) as at:
        tokens = await at.sign_in()
        await at.client.revoke(tokens)
        configured = msgspec.structs.replace(tokens.registration, is_configured=True)
        await at.client.revoke(msgspec.structs.replace(tokens, revocation_endpoint=f"{at.server.origin}/revoke", registration=configured))
        assert not at.server.at("/revoke")


# secrets


async def test_no_secret_is_in_a_repr_or_the_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with desk(settings={"client_id": "me", "client_secret": SECRET}) as at:
        at.server.know("me", secret=SECRET, method="client_secret_basic")
        pending, params, _ = await at.come_back()
        tokens = await at.client.finish(pending, params)
        new = await at.client.refresh(tokens)
        secrets = [SECRET, pending.state, pending.verifier, tokens.access_token, tokens.refresh_token, new.access_token, new.refresh_token]
        shown = repr([pending, tokens, new, at.client.registration]) + "".join(
            record.getMessage() for record in caplog.records if record.name.startswith("tooltray")
        )
        assert not [secret for secret in secrets if str(secret) in shown]


# a secret of the person's


@pytest.mark.parametrize("grant", ["authorization_code", "client_credentials"])
async def test_a_secret_goes_to_no_other_authorization_server_only_because_the_server_names_another(grant: str) -> None:
    settings = {"client_id": "me", "client_secret": SECRET, "grant": grant}
    async with desk(settings=settings) as at, authorizing() as other:
        for each in (at.server, other):
            each.know("me", secret=SECRET, method="client_secret_basic")
        signing_in = at.sign_in if grant == "authorization_code" else at.client.client_credentials
        tokens = await signing_in()
        await signing_in()
        at.server.resource_metadata["authorization_servers"] = [other.origin]
        after_restart = await another_desk(at.server, settings=settings, registration=tokens.registration)
        asked_before = len(other.at("/token"))
        for client in (at, after_restart):
            with pytest.raises(WrongIssuer, match="was registered with") as raised:
                await (client.sign_in() if grant == "authorization_code" else client.client.client_credentials())
            assert "oauth.issuer" in str(raised.value.problem.hint)
        assert len(other.at("/token")) == asked_before == 0
        told = await another_desk(at.server, settings=settings | {"issuer": other.origin}, registration=tokens.registration)
        assert (await (told.sign_in() if grant == "authorization_code" else told.client.client_credentials())).issuer == other.origin
