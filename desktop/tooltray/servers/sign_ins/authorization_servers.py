"""Finds the authorization server of an MCP server, and checks that its metadata can be trusted.

The order is that of the MCP specification (2025-11-25, 2026-07-28): the metadata URL in the server's challenge, the well-known URLs, and
for servers without metadata (2025-03-26) the server's own origin. All input is untrusted: members of the wrong type are ignored.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import msgspec

from tooltray.foundation.lazy_patterns import lazy_pattern
from tooltray.foundation.verbs import JsonMapping, JsonObject
from tooltray.servers.sign_ins.addresses import (
    NEARER,
    Reach,
    covers,
    host_reach,
    is_safe,
    is_same_issuer,
    origin_of,
    read_url,
    resource_metadata_urls,
    resource_of,
    server_metadata_urls,
)
from tooltray.servers.sign_ins.web_requests import (
    Answer,
    AuthorizationFailed,
    AuthorizationUnreachable,
    NoAuthorizationServer,
    NoResponse,
    WrongIssuer,
    other_issuer_hint,
    sanitized,
)

if TYPE_CHECKING:
    from tooltray.servers.sign_ins.aiohttp_web import AiohttpWebClient

MAX_CHALLENGE_CHARACTERS = 16384  # most HTTP libraries refuse longer headers
MAX_SCOPES = 200
INSUFFICIENT_SCOPE = "insufficient_scope"
_CHALLENGE_PART = lazy_pattern(  # possessive quantifiers: no backtracking, so the time is linear
    r"""(?P<name>[\w!#$%&'*+.^`|~-]++)\s*+=\s*+(?:"(?P<quoted>(?:[^"\\]|\\.)*+)"|(?P<bare>[^\s,"]*+))|(?P<word>[^\s,]++)"""
)
_ESCAPED = lazy_pattern(r"\\(.)")
_SCOPE = lazy_pattern(r"[\x21\x23-\x5b\x5d-\x7e]+")  # RFC 6749, section 3.3
MAX_ISSUERS = 5  # authorization servers of one MCP server; each costs requests
REFRESH, OFFLINE = "refresh_token", "offline_access"
S256 = "S256"  # RFC 7636, section 4.2
FOUND_WITHIN_S = 60.0  # a server may name many slow URLs, and the user waits
_ITS_MAKERS = "Report this to the server's developers."
_IF_YOURS = "If it is yours, allow it: set it as oauth.issuer in the server's settings."


class Challenge(msgspec.Struct, frozen=True):
    """A Bearer challenge.

    Attributes:
        resource_metadata: the URL of the protected resource metadata (RFC 9728); not checked.
        scopes: the scopes that the refused request needs.
        error: the error code, if the request had a token.
    """

    resource_metadata: str | None = None
    scopes: tuple[str, ...] = ()
    error: str | None = None

    @property
    def needs_more(self) -> bool:
        """Reports whether the token is valid but lacks scopes for the request."""
        return self.error == INSUFFICIENT_SCOPE


def read_challenge(text: str | None) -> Challenge:
    """Returns the first Bearer challenge; an empty one if the text has none.

    Args:
        text: the value of the header; the values of several headers are joined by commas.
    """
    for scheme, parameters in _challenges((text or "")[:MAX_CHALLENGE_CHARACTERS]):
        if scheme.lower() == "bearer":
            return Challenge(
                resource_metadata=parameters.get("resource_metadata") or None,
                scopes=read_scopes(parameters.get("scope")),
                error=parameters.get("error") or None,
            )
    return Challenge()


def read_scopes(text: object) -> tuple[str, ...]:
    """Splits a space-separated text into distinct scopes; invalid ones are left out."""
    words = text.split() if isinstance(text, str) else ()
    return tuple(dict.fromkeys(word for word in words if _SCOPE.fullmatch(word)))[:MAX_SCOPES]


def _challenges(text: str) -> Iterator[tuple[str, dict[str, str]]]:
    scheme, parameters = "", dict[str, str]()
    for part in _CHALLENGE_PART.finditer(text):
        if part["word"] is not None:
            yield scheme, parameters
            scheme, parameters = part["word"], {}
        else:
            value = part["bare"] if part["quoted"] is None else _ESCAPED.sub(r"\1", part["quoted"])
            parameters.setdefault(part["name"].lower(), value)
    yield scheme, parameters


class ResourceMetadata(msgspec.Struct, frozen=True):
    """Protected resource metadata (RFC 9728).

    Attributes:
        resource: the resource indicator for tokens; None if missing.
        issuers: the authorization servers, in the server's order.
        scopes: the scopes that the server supports.
    """

    resource: str | None = None
    issuers: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()


class ServerMetadata(msgspec.Struct, frozen=True):
    """Authorization server metadata (RFC 8414).

    Attributes:
        scopes, grants, auth_methods, challenge_methods: None if missing.
        sends_issuer: whether every authorization response names the issuer (RFC 9207).
        is_assumed: the server has no metadata, and these are the default endpoints of 2025-03-26.
    """

    issuer: str
    authorization_endpoint: str | None = None
    token_endpoint: str = ""
    registration_endpoint: str | None = None
    revocation_endpoint: str | None = None
    scopes: tuple[str, ...] | None = None
    grants: tuple[str, ...] | None = None
    auth_methods: tuple[str, ...] | None = None
    challenge_methods: tuple[str, ...] | None = None
    sends_issuer: bool = False
    is_assumed: bool = False

    @property
    def renews(self) -> bool:
        """Reports whether tokens can be refreshed without the user."""
        return self.grants is None or REFRESH in self.grants

    @property
    def offers_offline(self) -> bool:
        return self.renews and OFFLINE in (self.scopes or ())


def read_resource_metadata(document: JsonMapping) -> ResourceMetadata:
    resource = document.get("resource")
    named = [issuer for issuer in _texts(document.get("authorization_servers")) or () if read_url(issuer)]
    scopes = _texts(document.get("scopes_supported")) or ()
    return ResourceMetadata(resource if isinstance(resource, str) else None, tuple(named[:MAX_ISSUERS]), read_scopes(" ".join(scopes)))


def read_server_metadata(document: JsonMapping) -> ServerMetadata:
    issuer, token_endpoint = document.get("issuer"), document.get("token_endpoint")
    return ServerMetadata(
        issuer=issuer if isinstance(issuer, str) else "",
        authorization_endpoint=_address(document.get("authorization_endpoint")),
        token_endpoint=_address(token_endpoint) or "",
        registration_endpoint=_address(document.get("registration_endpoint")),
        revocation_endpoint=_address(document.get("revocation_endpoint")),
        scopes=_texts(document.get("scopes_supported")),
        grants=_texts(document.get("grant_types_supported")),
        auth_methods=_texts(document.get("token_endpoint_auth_methods_supported")),
        challenge_methods=_texts(document.get("code_challenge_methods_supported")),
        sends_issuer=document.get("authorization_response_iss_parameter_supported") is True,
    )


def assumed_metadata(origin: str) -> ServerMetadata:
    """Returns the default endpoints (specification 2025-03-26, "Fallbacks for Servers without Metadata Discovery")."""
    return ServerMetadata(
        issuer=origin,
        authorization_endpoint=f"{origin}/authorize",
        token_endpoint=f"{origin}/token",
        registration_endpoint=f"{origin}/register",
        is_assumed=True,
    )


def unsafe_endpoints(metadata: ServerMetadata, *, within: Reach) -> list[str]:
    """Returns the endpoints to which no secrets may be sent."""
    optional = (metadata.authorization_endpoint, metadata.registration_endpoint, metadata.revocation_endpoint)
    given = [metadata.token_endpoint, *(address for address in optional if address)]
    return [address for address in given if address and not is_safe(address, within=within)]


def why_no_browser(metadata: ServerMetadata, *, is_client_known: bool) -> str:
    """Explains why a user cannot sign in safely in the browser; empty if they can.

    The metadata must announce PKCE (specification 2025-11-25). Some large providers support it without announcing it. Their clients must be
    registered by hand, so a configured client is accepted: the user who registered it trusts the provider.
    """
    methods = metadata.challenge_methods
    if not metadata.authorization_endpoint:
        return "has no authorization endpoint"
    if methods is None and (metadata.is_assumed or is_client_known):
        return ""
    return "" if S256 in (methods or ()) else f"does not protect a sign-in against theft (PKCE with {S256})"


def wanted_scopes(*groups: Iterable[str]) -> tuple[str, ...]:
    """Joins groups of scopes in their order, without duplicates."""
    return tuple(dict.fromkeys(scope for group in groups for scope in group))


def _address(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _texts(value: object) -> tuple[str, ...] | None:
    return tuple(each for each in value if isinstance(each, str)) if isinstance(value, list) else None


class Place(msgspec.Struct, frozen=True):
    """The result of a discovery: where to sign in, and for what.

    Attributes:
        resource: the resource indicator for the tokens (RFC 8707); empty: none is sent.
        scopes: the scopes that the MCP server lists in its metadata.
        server: the metadata of the authorization server.
    """

    resource: str
    scopes: tuple[str, ...]
    server: ServerMetadata


class Discovery:
    """A search for the authorization server of one MCP server; keeps no state between two searches."""

    def __init__(self, *, server: str, url: str, web: "AiohttpWebClient", issuer: str | None) -> None:
        """
        Args:
            server, url: name and URL of the MCP server.
            issuer: the authorization server named in the settings; None if they name none.
        """
        self._server, self._url, self._web, self._issuer = server, url, web, issuer
        self._within = reach_of_sign_in(url, issuer)

    async def find(self, challenge: Challenge) -> Place:
        """Finds the authorization server.

        Raises:
            NoAuthorizationServer, WrongIssuer: no server was found that can be trusted.
            AuthorizationUnreachable: a server did not respond, or not in time.
        """
        try:
            async with asyncio.timeout(FOUND_WITHIN_S):
                return await self._find(challenge)
        except TimeoutError:
            raise AuthorizationUnreachable(self._server, f"the authorization server was not found within {FOUND_WITHIN_S:g} s") from None

    async def _find(self, challenge: Challenge) -> Place:
        metadata = await self._fetch_resource_metadata(challenge.resource_metadata)
        resource = self._resource(metadata)
        issuers = (self._issuer,) if self._issuer else metadata.issuers
        server = await self._first_usable(issuers) if issuers else await self._ask_origin()
        return Place(resource, metadata.scopes, server)

    # metadata of the MCP server

    async def _fetch_resource_metadata(self, named: str | None) -> ResourceMetadata:
        """Fetches the MCP server's metadata; empty if it has none. `named` is the URL in its challenge."""
        first = [named] if named and self._may_ask(named) else []
        async for document in self._documents([*first, *resource_metadata_urls(self._url)]):
            if "resource" in document or "authorization_servers" in document:
                return read_resource_metadata(document)
        return ResourceMetadata()

    def _may_ask(self, url: str) -> bool:
        return bool(read_url(url)) and (is_safe(url, within=self._within) or origin_of(url) == origin_of(self._url))

    def _resource(self, metadata: ResourceMetadata) -> str:
        if metadata.resource is None:
            return resource_of(self._url)
        if not covers(metadata.resource, self._url):
            message = f"its sign-in metadata is for {sanitized(metadata.resource)}, which is another server"
            raise NoAuthorizationServer(self._server, message, f"Check the URL in the server's settings. {_ITS_MAKERS}")
        return metadata.resource

    # metadata of the authorization server

    async def _first_usable(self, issuers: Iterable[str]) -> ServerMetadata:
        failures = list[AuthorizationFailed]()
        for issuer in issuers:
            try:
                return await self._ask_issuer(issuer)
            except AuthorizationFailed as failed:
                failures.append(failed)
        raise failures[0]

    async def _ask_issuer(self, issuer: str) -> ServerMetadata:
        if not is_safe(issuer, within=self._within):
            message = f"its authorization server {sanitized(issuer)} {_why_unsafe(issuer)}"
            raise NoAuthorizationServer(self._server, message, _IF_YOURS if issuer.startswith("https:") else _ITS_MAKERS)
        if metadata := await self._metadata_of(issuer):
            return self._checked(metadata)
        raise NoAuthorizationServer(self._server, f"{sanitized(issuer)} is not an authorization server", _ITS_MAKERS)

    async def _ask_origin(self) -> ServerMetadata:
        """Treats a server that names no authorization server as its own one (2025-03-26)."""
        origin = origin_of(self._url)
        if not is_safe(origin, within=Reach.COMPUTER):
            raise NoAuthorizationServer(self._server, "it requires a token, but sign-in over plain http is not allowed")
        return self._checked(await self._metadata_of(origin) or assumed_metadata(origin))

    async def _metadata_of(self, issuer: str) -> ServerMetadata | None:
        other = ""
        async for document in self._documents(server_metadata_urls(issuer)):
            metadata = read_server_metadata(document)
            if is_same_issuer(metadata.issuer, issuer):
                return metadata
            other = other or metadata.issuer
        if other:
            message = f"the metadata of {sanitized(issuer)} names {sanitized(other)} as its issuer"
            raise WrongIssuer(self._server, message, other_issuer_hint(sanitized(other)))
        return None

    def _checked(self, metadata: ServerMetadata) -> ServerMetadata:
        issuer = sanitized(metadata.issuer)
        if not metadata.token_endpoint:
            raise NoAuthorizationServer(self._server, f"{issuer} has no token endpoint", _ITS_MAKERS)
        if unsafe := unsafe_endpoints(metadata, within=self._within):
            message = f"{issuer} requires secrets to be sent to {sanitized(unsafe[0])}, which {_why_unsafe(unsafe[0])}"
            raise NoAuthorizationServer(self._server, message, _IF_YOURS if unsafe[0].startswith("https:") else _ITS_MAKERS)
        return metadata

    # requests

    async def _documents(self, urls: Iterable[str]) -> AsyncIterator[JsonObject]:
        """Fetches URLs in order and yields those that are JSON objects.

        Raises:
            AuthorizationUnreachable: a server did not respond; or, after the last URL, one was overloaded, which does not prove that it
                has no metadata.
        """
        overloaded = ""
        for url in dict.fromkeys(urls):
            answer = await self._ask(url)
            if answer.is_overloaded:
                overloaded = f"{origin_of(url)} is unavailable (HTTP {answer.status})"
            elif answer.is_good and (document := answer.document()) is not None:
                yield document
        if overloaded:
            raise AuthorizationUnreachable(self._server, overloaded)

    async def _ask(self, url: str) -> Answer:
        try:
            return await self._web.get(url)
        except NoResponse as silent:
            raise AuthorizationUnreachable(self._server, silent.reason) from None


def reach_of_sign_in(url: str, issuer: str | None) -> Reach:
    """Returns how near a sign-in may lead: as near as the server itself, and, with an issuer that the user has named, a private network.

    Args:
        url: of the MCP server.
        issuer: `oauth.issuer` of its settings.
    """
    named = [urlsplit(origin_of(each)).hostname or "" for each in (url, issuer or "")]
    return max(Reach.NETWORK if issuer else Reach.INTERNET, *map(host_reach, named))


def _why_unsafe(url: str) -> str:
    if not url.startswith("https:"):
        return "is not reached over https"
    return f"is {NEARER}"
