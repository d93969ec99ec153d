"""Where a person signs in to a server: what the server says, what its authorization server says, and whether that can be trusted.

Above it: authorization_client. Below it: metadata and addresses, which read and compare; Web, which asks.

The order is that of the MCP specification (2025-11-25, 2026-07-28): the address in the server's refusal, the well-known addresses, and of
servers that tell nothing (2025-03-26) the server's own origin.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from typing import Any

from tooltray.sign_ins.oauth.addresses import (
    covers,
    is_local,
    is_safe,
    is_same_issuer,
    origin_of,
    read_url,
    resource_metadata_urls,
    resource_of,
    server_metadata_urls,
)
from tooltray.sign_ins.oauth.challenges import Challenge
from tooltray.sign_ins.oauth.failures import AuthorizationFailed, AuthorizationUnreachable, NoAuthorizationServer, WrongIssuer, as_shown
from tooltray.sign_ins.oauth.metadata import (
    ResourceMetadata,
    ServerMetadata,
    assumed_metadata,
    read_resource_metadata,
    read_server_metadata,
    unsafe_endpoints,
)
from tooltray.sign_ins.oauth.web_requests import Answer, NoAnswer, Web

FOUND_WITHIN_S = 60.0  # a server may name many places, and each may take its time; a person waits
_ITS_MAKERS = "Tell the makers of the server."


@dataclass(frozen=True)
class Place:
    """Where to sign in, and for what.

    Attributes:
        resource: what the tokens are to be for (RFC 8707).
        scopes: what the server says it takes.
    """

    resource: str
    scopes: tuple[str, ...]
    server: ServerMetadata


class Discovery:
    """Finds the place for one server; keeps nothing between two searches."""

    def __init__(self, *, server: str, url: str, web: Web, issuer: str | None) -> None:
        """
        Args:
            server, url: of the MCP server.
            issuer: which authorization server, if the person said so.
        """
        self._server, self._url, self._web, self._issuer = server, url, web, issuer
        self._may_be_local = is_local(url) or is_local(issuer or "")

    async def find(self, challenge: Challenge) -> Place:
        """
        Raises:
            NoAuthorizationServer, WrongIssuer: there is no place, or none that can be trusted.
            AuthorizationUnreachable: somebody did not answer, or not soon.
        """
        try:
            async with asyncio.timeout(FOUND_WITHIN_S):
                return await self._find(challenge)
        except TimeoutError:
            raise AuthorizationUnreachable(self._server, f"where to sign in was not found within {FOUND_WITHIN_S:g} s") from None

    async def _find(self, challenge: Challenge) -> Place:
        told = await self._ask_server(challenge.resource_metadata)
        resource = self._resource(told)
        issuers = (self._issuer,) if self._issuer else told.issuers
        server = await self._first_usable(issuers) if issuers else await self._ask_origin()
        return Place(resource, told.scopes, server)

    # what the MCP server says

    async def _ask_server(self, named: str | None) -> ResourceMetadata:
        """What it tells; empty if it tells nothing."""
        first = [named] if named and self._may_ask(named) else []
        async for document in self._documents([*first, *resource_metadata_urls(self._url)]):
            if "resource" in document or "authorization_servers" in document:
                return read_resource_metadata(document)
        return ResourceMetadata()

    def _may_ask(self, url: str) -> bool:
        return bool(read_url(url)) and (is_safe(url, may_be_local=self._may_be_local) or origin_of(url) == origin_of(self._url))

    def _resource(self, told: ResourceMetadata) -> str:
        if told.resource is None:
            return resource_of(self._url)
        if not covers(told.resource, self._url):
            message = f"what it says about signing in is meant for {as_shown(told.resource)}, which is another server"
            raise NoAuthorizationServer(self._server, message, f"Check the URL in the server's settings. {_ITS_MAKERS}")
        return told.resource

    # what the authorization server says

    async def _first_usable(self, issuers: Iterable[str]) -> ServerMetadata:
        failures = list[AuthorizationFailed]()
        for issuer in issuers:
            try:
                return await self._ask_issuer(issuer)
            except AuthorizationFailed as failed:
                failures.append(failed)
        raise failures[0]

    async def _ask_issuer(self, issuer: str) -> ServerMetadata:
        if not is_safe(issuer, may_be_local=self._may_be_local):
            raise NoAuthorizationServer(self._server, f"its authorization server {as_shown(issuer)} {_why_unsafe(issuer)}", _ITS_MAKERS)
        if metadata := await self._metadata_of(issuer):
            return self._checked(metadata)
        raise NoAuthorizationServer(self._server, f"{as_shown(issuer)}, where one should sign in, is no authorization server", _ITS_MAKERS)

    async def _ask_origin(self) -> ServerMetadata:
        """Of a server that names nobody: it may be its own authorization server."""
        origin = origin_of(self._url)
        if not is_safe(origin, may_be_local=self._may_be_local):
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
            raise WrongIssuer(self._server, f"{as_shown(issuer)} was asked, and {as_shown(other)} is said to have answered")
        return None

    def _checked(self, metadata: ServerMetadata) -> ServerMetadata:
        issuer = as_shown(metadata.issuer)
        if not metadata.token_endpoint:
            raise NoAuthorizationServer(self._server, f"{issuer} names no address that gives tokens", _ITS_MAKERS)
        if unsafe := unsafe_endpoints(metadata, may_be_local=self._may_be_local):
            message = f"{issuer} wants secrets sent to {as_shown(unsafe[0])}, which {_why_unsafe(unsafe[0])}"
            raise NoAuthorizationServer(self._server, message, _ITS_MAKERS)
        return metadata

    # asking

    async def _documents(self, urls: Iterable[str]) -> AsyncIterator[dict[str, Any]]:
        """What stands at some addresses, as far as it is a JSON object.

        Raises:
            AuthorizationUnreachable: an address has no answer at all; or, after the last, one had none for now: that nothing stands there
                cannot be told from it.
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
        except NoAnswer as silent:
            raise AuthorizationUnreachable(self._server, silent.reason) from None


def _why_unsafe(url: str) -> str:
    return "is on this machine, and the server is not" if url.startswith("https:") else "is not reached over https"
