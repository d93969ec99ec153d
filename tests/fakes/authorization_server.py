"""An authorization server and an MCP server that it protects, on one port of the loopback; and a browser that signs in there.

It is strict where a real one is: registered addresses, PKCE, clients' secrets, codes that serve once, tokens that were given. What it tells
of itself, and what it answers anywhere, can be changed by a test.
"""

import asyncio
import base64
import hashlib
import json
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, unquote_plus, urlencode, urlsplit

import aiohttp
from aiohttp import web
from tests.fakes.heard import Record
from tests.fakes.http_server import Hit, HttpServer

SCOPES = ("notes:read", "notes:write")
RESOURCE_WELL_KNOWN = "/.well-known/oauth-protected-resource"
SERVER_WELL_KNOWN = "/.well-known/oauth-authorization-server"
OPENID_WELL_KNOWN = "/.well-known/openid-configuration"
MCP_PATH = "/mcp"
RESOURCE_REFUSED = {"error": "invalid_request", "error_description": "AADSTS901002: The 'resource' request parameter is not supported."}


@dataclass
class Asked:
    """One request that it got."""

    method: str
    path: str
    fields: dict[str, str]  # of the query or the form
    document: Any
    headers: Mapping[str, str]


@dataclass
class KnownClient:
    client_id: str
    secret: str = ""
    method: str = "none"
    redirect_uris: tuple[str, ...] = ()


@dataclass
class Code:
    client_id: str
    redirect_uri: str
    challenge: str
    resource: str
    scopes: str


Answerer = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass
class AuthorizationServer:
    """
    Attributes:
        asked: every request, in its order.
        path: of the issuer.
        lifetime_s: what it says how long access tokens live; it takes them until `end_access_tokens` all the same.
        rotates: whether a refresh gives a new refresh token and ends the old one.
        has_resource_metadata, has_metadata: whether it tells.
        metadata_path: where it tells about itself; None: where RFC 8414 says.
        metadata, resource_metadata: laid over what it tells; a value None takes a field away.
        answers: what is answered at a path in place of the usual.
        sends_issuer: puts `iss` into what the browser brings back, and says so.
        iss: in the place of the issuer there.
        refuses_resource: the paths at which a request that has `resource` is refused, as by Entra.
        consents: whether the person at the browser says yes.
        needs_scope: what the MCP server wants a token to be good for, beside being valid.
        mcp: the MCP server behind the check; it has one tool, `whoami`.
        access, refresh: the tokens that are good, and what for.
    """

    asked: Record[Asked] = field(default_factory=Record)
    path: str = ""
    lifetime_s: Any = 3600
    rotates: bool = True
    gives_refresh: bool = True
    has_resource_metadata: bool = True
    has_metadata: bool = True
    metadata_path: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    resource_metadata: dict[str, Any] = field(default_factory=dict)
    registration: dict[str, Any] = field(default_factory=dict)
    answers: dict[str, Answerer] = field(default_factory=dict)
    sends_issuer: bool = False
    iss: str = ""
    consents: bool = True
    refuses_resource: tuple[str, ...] = ()
    needs_scope: str = ""
    has_challenge: bool = True
    mcp: HttpServer = field(default_factory=HttpServer)
    clients: dict[str, KnownClient] = field(default_factory=dict)
    codes: dict[str, Code] = field(default_factory=dict)
    access: dict[str, str] = field(default_factory=dict)
    refresh: dict[str, str] = field(default_factory=dict)
    port: int = 0

    def __post_init__(self) -> None:
        self.mcp.on |= {"initialize": _initialize, "tools/list": _list_tools, "tools/call": self._call_tool}

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def issuer(self) -> str:
        return self.origin + self.path

    @property
    def mcp_url(self) -> str:
        return self.origin + MCP_PATH

    def at(self, path: str) -> list[Asked]:
        return [asked for asked in self.asked.all if asked.path == path]

    def forms(self, grant: str) -> list[dict[str, str]]:
        """What was asked at the token endpoint."""
        return [asked.fields for asked in self.at("/token") if asked.fields.get("grant_type") == grant]

    def know(self, client_id: str, *, secret: str = "", method: str = "none", redirect_uris: tuple[str, ...] = ()) -> None:
        """Registers a client by hand. Without redirect_uris any address on this machine will do."""
        self.clients[client_id] = KnownClient(client_id, secret, method, redirect_uris)

    def end_access_tokens(self) -> None:
        self.access.clear()

    def end_refresh_tokens(self) -> None:
        self.refresh.clear()

    # requests

    async def handle(self, request: web.Request) -> web.StreamResponse:
        path = request.path
        if path == MCP_PATH and path not in self.answers:
            return await self._protect(request)
        text = await request.text()
        is_json = request.content_type == "application/json"
        fields = dict(request.query) | ({} if is_json else dict(parse_qsl(text)))
        asked = Asked(request.method, path, fields, json.loads(text) if is_json and text else None, request.headers)
        self.asked.add(asked)
        if answer := self.answers.get(path):
            return await answer(request)
        return self._answer(asked)

    def _answer(self, asked: Asked) -> web.Response:
        told = {
            f"{RESOURCE_WELL_KNOWN}{MCP_PATH}": self._tell_resource,
            self.metadata_path or f"{SERVER_WELL_KNOWN}{self.path}": self._tell,
            "/register": self._register,
            "/authorize": self._authorize,
            "/token": self._token,
            "/revoke": self._revoke,
        }
        return told[asked.path](asked) if asked.path in told else _nothing()

    def _tell_resource(self, asked: Asked) -> web.Response:
        usual = {"resource": self.mcp_url, "authorization_servers": [self.issuer], "scopes_supported": list(SCOPES)}
        return _json(_laid_over(usual, self.resource_metadata)) if self.has_resource_metadata else _nothing()

    def _tell(self, asked: Asked) -> web.Response:
        usual = {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.origin}/authorize",
            "token_endpoint": f"{self.origin}/token",
            "registration_endpoint": f"{self.origin}/register",
            "revocation_endpoint": f"{self.origin}/revoke",
            "response_types_supported": ["code"],
            "grant_types_supported": ["authorization_code", "refresh_token", "client_credentials"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none", "client_secret_basic", "client_secret_post"],
            "authorization_response_iss_parameter_supported": self.sends_issuer,
        }
        return _json(_laid_over(usual, self.metadata)) if self.has_metadata else _nothing()

    def _register(self, asked: Asked) -> web.Response:
        wish = asked.document
        method = self.registration.get("token_endpoint_auth_method", wish["token_endpoint_auth_method"])
        client = KnownClient(f"client-{len(self.clients) + 1}", "", method, tuple(wish["redirect_uris"]))
        client.secret = "" if method == "none" else secrets.token_urlsafe(16)
        self.clients[client.client_id] = client
        made = {**wish, "client_id": client.client_id} | ({"client_secret": client.secret} if client.secret else {})
        return _json(_laid_over(made, self.registration), 201)

    # the page

    def _authorize(self, asked: Asked) -> web.Response:
        wish, client = asked.fields, self.clients.get(asked.fields.get("client_id", ""))
        back = wish.get("redirect_uri", "")
        if not client or (client.redirect_uris and back not in client.redirect_uris) or not back.startswith("http://127.0.0.1:"):
            return web.Response(status=400, text="<h1>unknown client or address</h1>", content_type="text/html")
        answer = self._consented(client, wish) if self.consents else {"error": "access_denied", "error_description": "the person said no"}
        if "/authorize" in self.refuses_resource and "resource" in wish:
            answer = dict(RESOURCE_REFUSED)
        if wish.get("code_challenge_method") != "S256" or not wish.get("code_challenge") or wish.get("response_type") != "code":
            answer = {"error": "invalid_request"}
        answer["state"] = wish.get("state", "")
        if self.sends_issuer or self.iss:
            answer["iss"] = self.iss or self.issuer
        return web.Response(status=302, headers={"Location": f"{back}?{urlencode(answer)}"})

    def _consented(self, client: KnownClient, wish: Mapping[str, str]) -> dict[str, str]:
        code = secrets.token_urlsafe(16)
        made = Code(client.client_id, wish["redirect_uri"], wish.get("code_challenge", ""), wish.get("resource", ""), wish.get("scope", ""))
        self.codes[code] = made
        return {"code": code}

    # tokens

    def _token(self, asked: Asked) -> web.Response:
        client = self._authenticated(asked)
        if client is None:
            return _json({"error": "invalid_client"}, 401)
        if "/token" in self.refuses_resource and "resource" in asked.fields:
            return _json(RESOURCE_REFUSED, 400)
        match asked.fields.get("grant_type"):
            case "authorization_code":
                return self._change_code(client, asked.fields)
            case "refresh_token":
                return self._renew(asked.fields)
            case "client_credentials" if client.secret:
                return self._give(asked.fields.get("scope", ""), is_renewable=False)
        return _json({"error": "unsupported_grant_type"}, 400)

    def _authenticated(self, asked: Asked) -> KnownClient | None:
        kind, _, value = asked.headers.get("Authorization", "").partition(" ")
        if kind == "Basic":
            name, _, secret = base64.b64decode(value).decode().partition(":")
            given = ("client_secret_basic", unquote_plus(name), unquote_plus(secret))
        else:
            secret = asked.fields.get("client_secret", "")
            given = ("client_secret_post" if secret else "none", asked.fields.get("client_id", ""), secret)
        client = self.clients.get(given[1])
        return client if client and (client.method, client.client_id, client.secret) == given else None

    def _change_code(self, client: KnownClient, wish: Mapping[str, str]) -> web.Response:
        code = self.codes.pop(wish.get("code", ""), None)
        digest = hashlib.sha256(wish.get("code_verifier", "").encode()).digest()
        proof = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if not code or (client.client_id, wish.get("redirect_uri"), proof) != (code.client_id, code.redirect_uri, code.challenge):
            return _json({"error": "invalid_grant", "error_description": "the code is not good"}, 400)
        if wish.get("resource", code.resource) != code.resource:
            return _json({"error": "invalid_target"}, 400)
        return self._give(code.scopes, is_renewable=self.gives_refresh)

    def _renew(self, wish: Mapping[str, str]) -> web.Response:
        old = wish.get("refresh_token", "")
        if old not in self.refresh:
            return _json({"error": "invalid_grant", "error_description": f"the token {old} is not good"}, 400)
        scopes = self.refresh.pop(old) if self.rotates else self.refresh[old]
        return self._give(scopes, is_renewable=self.rotates)

    def _give(self, scopes: str, *, is_renewable: bool) -> web.Response:
        token = {
            "access_token": f"access-{secrets.token_urlsafe(16)}",
            "token_type": "Bearer",
            "expires_in": self.lifetime_s,
            "scope": scopes,
        }
        self.access[str(token["access_token"])] = scopes
        if is_renewable:
            token["refresh_token"] = f"refresh-{secrets.token_urlsafe(16)}"
            self.refresh[str(token["refresh_token"])] = scopes
        return _json({name: value for name, value in token.items() if value not in ("", None)})

    def _revoke(self, asked: Asked) -> web.Response:
        self.access.pop(asked.fields["token"], None)
        self.refresh.pop(asked.fields["token"], None)
        return web.Response(status=200)

    # the MCP server

    async def _protect(self, request: web.Request) -> web.StreamResponse:
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if token not in self.access:
            return self._refused(401, 'error="invalid_token"' if token else "")
        if self.needs_scope not in ["", *self.access[token].split()]:
            return self._refused(403, f'error="insufficient_scope", scope="{self.needs_scope}"')
        return await self.mcp.handle(request)

    def _refused(self, status: int, why: str) -> web.Response:
        where = f'resource_metadata="{self.origin}{RESOURCE_WELL_KNOWN}{MCP_PATH}"' if self.has_resource_metadata else ""
        said = ", ".join(filter(None, [where, why])) if self.has_challenge else ""
        return web.Response(status=status, headers={"WWW-Authenticate": f"Bearer {said}".strip()})

    async def _call_tool(self, hit: Hit) -> web.StreamResponse:
        scopes = self.access[hit.headers["Authorization"].removeprefix("Bearer ")]
        return hit.result({"content": [{"type": "text", "text": f"signed in for: {scopes}"}]})


async def _initialize(hit: Hit) -> web.StreamResponse:
    told = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "protected", "version": "1"}}
    return hit.result(told)


async def _list_tools(hit: Hit) -> web.StreamResponse:
    return hit.result({"tools": [{"name": "whoami", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}]})


def _laid_over(usual: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in {**usual, **changes}.items() if value is not None}


def _json(document: Any, status: int = 200) -> web.Response:
    return web.json_response(document, status=status)


def _nothing() -> web.Response:
    return web.Response(status=404)


# answers in place of the usual


def says(body: Any, status: int = 200) -> Answerer:
    """Always the same: a JSON document, or a text as a page for people."""

    async def answer(request: web.Request) -> web.StreamResponse:
        if isinstance(body, str):
            return web.Response(text=body, status=status, content_type="text/html")
        return _json(body, status)

    return answer


def leads_to(url: str, status: int = 302) -> Answerer:
    async def answer(request: web.Request) -> web.StreamResponse:
        return web.Response(status=status, headers={"Location": url})

    return answer


async def hangs(request: web.Request) -> web.StreamResponse:
    """Until whoever asked has gone."""
    await asyncio.Event().wait()
    raise AssertionError


async def breaks_off(request: web.Request) -> web.StreamResponse:
    assert request.transport
    request.transport.abort()
    return _nothing()  # which nobody sees


# who signs in


@dataclass(frozen=True)
class Shown:
    """What a browser ended at."""

    status: int
    text: str
    url: str


async def browse(url: str) -> Shown:
    """Opens a page as a browser does, and goes where it leads."""
    async with aiohttp.ClientSession() as session, session.get(url) as response:
        return Shown(response.status, await response.text(), str(response.url))


async def sign_in_elsewhere(url: str) -> str:
    """As a browser on another machine: the address at which it ends, which nobody answers there."""
    async with aiohttp.ClientSession() as session, session.get(url, allow_redirects=False) as response:
        return response.headers["Location"]


def query_of(url: str) -> dict[str, str]:
    return dict(parse_qsl(urlsplit(url).query))


@asynccontextmanager
async def authorizing(**changes: Any) -> AsyncIterator[AuthorizationServer]:
    """Args:
    changes: to the attributes of the server.
    """
    server = AuthorizationServer(**changes)
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", server.handle)
    runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    server.port = runner.addresses[0][1]
    try:
        yield server
    finally:
        await runner.cleanup()
