"""A sign-in at the authorization server of the MCP SDK, which other people's servers are built with; without a network."""

import secrets
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest
from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    OAuthAuthorizationServerProvider,
    RefreshToken,
    construct_redirect_uri,
)
from mcp.server.auth.routes import create_auth_routes, create_protected_resource_routes
from mcp.server.auth.settings import ClientRegistrationOptions, RevocationOptions
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from pydantic import AnyHttpUrl
from starlette.applications import Starlette

from tooltray.servers.sign_ins.authorization_client import AuthorizationClient
from tooltray.servers.sign_ins.sign_in_flow import callback_params
from tooltray.servers.sign_ins.tokens import Tokens
from tooltray.servers.sign_ins.web_requests import Answer, SignInExpired

ORIGIN = "http://127.0.0.1:8000"
URL = f"{ORIGIN}/mcp"
BACK = "http://127.0.0.1:4321/callback"
SCOPES = ["notes"]


class Provider(OAuthAuthorizationServerProvider[AuthorizationCode, RefreshToken, AccessToken]):
    """Lets everybody in; the SDK checks the rest."""

    def __init__(self) -> None:
        self.clients: dict[str, OAuthClientInformationFull] = {}
        self.codes: dict[str, AuthorizationCode] = {}
        self.access: dict[str, AccessToken] = {}
        self.refresh: dict[str, RefreshToken] = {}

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        return self.clients.get(client_id)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        self.clients[str(client_info.client_id)] = client_info

    async def authorize(self, client: OAuthClientInformationFull, params: AuthorizationParams) -> str:
        code = AuthorizationCode(
            code=secrets.token_urlsafe(32),
            scopes=params.scopes or SCOPES,
            expires_at=time.time() + 60,
            client_id=str(client.client_id),
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=True,
            resource=params.resource,
        )
        self.codes[code.code] = code
        return construct_redirect_uri(str(params.redirect_uri), code=code.code, state=params.state)

    async def load_authorization_code(self, client: OAuthClientInformationFull, authorization_code: str) -> AuthorizationCode | None:
        return self.codes.get(authorization_code)

    async def exchange_authorization_code(self, client: OAuthClientInformationFull, authorization_code: AuthorizationCode) -> OAuthToken:
        del self.codes[authorization_code.code]
        return self._give(authorization_code.client_id, authorization_code.scopes, authorization_code.resource)

    async def load_refresh_token(self, client: OAuthClientInformationFull, refresh_token: str) -> RefreshToken | None:
        return self.refresh.get(refresh_token)

    async def exchange_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: RefreshToken, scopes: list[str]
    ) -> OAuthToken:
        del self.refresh[refresh_token.token]
        return self._give(refresh_token.client_id, scopes, refresh_token.resource)

    async def load_access_token(self, token: str) -> AccessToken | None:
        return self.access.get(token)

    async def revoke_token(self, token: AccessToken | RefreshToken) -> None:
        self.access.pop(token.token, None)
        self.refresh.pop(token.token, None)

    def _give(self, client_id: str, scopes: list[str], resource: str | None) -> OAuthToken:
        access, refresh = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        self.access[access] = AccessToken(token=access, client_id=client_id, scopes=scopes, resource=resource)
        self.refresh[refresh] = RefreshToken(token=refresh, client_id=client_id, scopes=scopes, resource=resource)
        return OAuthToken(access_token=access, refresh_token=refresh, expires_in=3600, scope=" ".join(scopes))


class AppWeb:
    """The web of a sign-in, with one application in it."""

    def __init__(self, http: httpx2.AsyncClient) -> None:
        self.http = http

    async def get(self, url: str) -> Answer:
        return _answer(await self.http.get(url))

    async def post(
        self, url: str, *, form: Mapping[str, str] | None = None, document: Any = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        return _answer(await self.http.post(url, data=form, json=document, headers=headers))


def _answer(response: httpx2.Response) -> Answer:
    return Answer(response.status_code, response.content)


@asynccontextmanager
async def served(provider: Provider) -> AsyncIterator[AppWeb]:
    registration = ClientRegistrationOptions(enabled=True, valid_scopes=SCOPES, default_scopes=SCOPES)
    told = create_protected_resource_routes(AnyHttpUrl(URL), [AnyHttpUrl(ORIGIN)], SCOPES)
    routes = create_auth_routes(provider, AnyHttpUrl(ORIGIN), None, registration, RevocationOptions(enabled=True))
    app = Starlette(routes=[*told, *routes])
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app)) as http:
        yield AppWeb(http)


def client_of(web: AppWeb) -> AuthorizationClient:
    return AuthorizationClient(server="far", url=URL, settings=None, http=web)


async def sign_in(web: AppWeb, client: AuthorizationClient) -> Tokens:
    pending = await client.begin(
        redirect_uri=BACK, challenge=f'Bearer resource_metadata="{ORIGIN}/.well-known/oauth-protected-resource/mcp"'
    )
    page = await web.http.get(pending.url)
    assert page.headers["Location"].startswith(BACK)
    return await client.finish(pending, callback_params("far", page.headers["Location"]))


async def test_a_person_signs_in_there_and_is_renewed_after_a_restart() -> None:
    provider = Provider()
    async with served(provider) as web:
        tokens = await sign_in(web, client_of(web))
        assert provider.access[tokens.access_token].resource == URL
        assert tokens.scopes == tuple(SCOPES)
        kept = Tokens.from_json(tokens.to_json())
        assert kept
        assert (await client_of(web).refresh(kept)).access_token in provider.access
        with pytest.raises(SignInExpired, match="'invalid_grant'"):
            await client_of(web).refresh(kept)


async def test_signing_out_ends_the_tokens_there() -> None:
    provider = Provider()
    async with served(provider) as web:
        client = client_of(web)
        await client.revoke(await sign_in(web, client))
        assert (provider.access, provider.refresh) == ({}, {})


async def test_a_registration_serves_for_the_next_sign_in() -> None:
    provider = Provider()
    async with served(provider) as web:
        client = client_of(web)
        await sign_in(web, client)
        await sign_in(web, client)
        assert len(provider.clients) == 1
