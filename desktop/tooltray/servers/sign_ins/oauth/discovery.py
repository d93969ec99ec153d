"""Discovers the authorization server of an MCP server, and checks that its metadata can be trusted.

The order is that of the MCP specification (2025-11-25, 2026-07-28): the metadata URL in the server's challenge, the well-known URLs, and
for servers without metadata (2025-03-26) the server's own origin.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import Any
from urllib.parse import urlsplit

import msgspec

from tooltray.servers.sign_ins.oauth.addresses import (
    covers,
    is_safe,
    is_same_issuer,
    origin_of,
    read_url,
    resource_metadata_urls,
    resource_of,
    server_metadata_urls,
)
from tooltray.servers.sign_ins.oauth.challenges import Challenge
from tooltray.servers.sign_ins.oauth.failures import (
    AuthorizationFailed,
    AuthorizationUnreachable,
    NoAuthorizationServer,
    WrongIssuer,
    other_issuer_hint,
    sanitized,
)
from tooltray.servers.sign_ins.oauth.metadata import (
    ResourceMetadata,
    ServerMetadata,
    assumed_metadata,
    read_resource_metadata,
    read_server_metadata,
    unsafe_endpoints,
)
from tooltray.servers.sign_ins.oauth.reach import NEARER, Reach, host_reach
from tooltray.servers.sign_ins.oauth.web_requests import Answer, NoResponse, WebClient

FOUND_WITHIN_S = 60.0  # a server may name many slow URLs, and the user waits
_ITS_MAKERS = "Tell the makers of the server."
_IF_YOURS = "If it is yours, allow it: name it as oauth.issuer in the server's settings."


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

    def __init__(self, *, server: str, url: str, web: WebClient, issuer: str | None) -> None:
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
            raise AuthorizationUnreachable(self._server, f"where to sign in was not found within {FOUND_WITHIN_S:g} s") from None

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
            message = f"what it says about signing in is meant for {sanitized(metadata.resource)}, which is another server"
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
        raise NoAuthorizationServer(self._server, f"{sanitized(issuer)}, where one should sign in, is no authorization server", _ITS_MAKERS)

    async def _ask_origin(self) -> ServerMetadata:
        """Treats a server that names no authorization server as its own one (2025-03-26)."""
        origin = origin_of(self._url)
        if not is_safe(origin, within=Reach.COMPUTER):
            raise NoAuthorizationServer(self._server, "it wants a token, and nobody signs in over plain http")
        return self._checked(await self._metadata_of(origin) or assumed_metadata(origin))

    async def _metadata_of(self, issuer: str) -> ServerMetadata | None:
        other = ""
        async for document in self._documents(server_metadata_urls(issuer)):
            metadata = read_server_metadata(document)
            if is_same_issuer(metadata.issuer, issuer):
                return metadata
            other = other or metadata.issuer
        if other:
            message = f"{sanitized(issuer)} was asked, and {sanitized(other)} is said to have answered"
            raise WrongIssuer(self._server, message, other_issuer_hint(sanitized(other)))
        return None

    def _checked(self, metadata: ServerMetadata) -> ServerMetadata:
        issuer = sanitized(metadata.issuer)
        if not metadata.token_endpoint:
            raise NoAuthorizationServer(self._server, f"{issuer} names no address that gives tokens", _ITS_MAKERS)
        if unsafe := unsafe_endpoints(metadata, within=self._within):
            message = f"{issuer} wants secrets sent to {sanitized(unsafe[0])}, which {_why_unsafe(unsafe[0])}"
            raise NoAuthorizationServer(self._server, message, _IF_YOURS if unsafe[0].startswith("https:") else _ITS_MAKERS)
        return metadata

    # requests

    async def _documents(self, urls: Iterable[str]) -> AsyncIterator[dict[str, Any]]:
        """Fetches URLs in order and yields those that are JSON objects.

        Raises:
            AuthorizationUnreachable: a server did not respond; or, after the last URL, one was overloaded, which does not prove that it
                has no metadata.
        """
        overloaded = ""
        for url in dict.fromkeys(urls):
            answer = await self._ask(url)
            if answer.is_overloaded:
                overloaded = f"{origin_of(url)} has no answer now (HTTP {answer.status})"
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
