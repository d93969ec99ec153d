"""Parses the metadata of MCP servers (RFC 9728) and authorization servers (RFC 8414, OpenID Connect Discovery). The input is untrusted:
members of the wrong type are ignored."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from tooltray.servers.sign_ins.oauth.addresses import is_safe, read_url
from tooltray.servers.sign_ins.oauth.challenges import read_scopes
from tooltray.servers.sign_ins.oauth.reach import Reach

MAX_ISSUERS = 5  # authorization servers of one MCP server; each costs requests
REFRESH, OFFLINE = "refresh_token", "offline_access"
S256 = "S256"  # RFC 7636, section 4.2


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


def read_resource_metadata(document: Mapping[str, Any]) -> ResourceMetadata:
    resource = document.get("resource")
    named = [issuer for issuer in _texts(document.get("authorization_servers")) or () if read_url(issuer)]
    scopes = _texts(document.get("scopes_supported")) or ()
    return ResourceMetadata(resource if isinstance(resource, str) else None, tuple(named[:MAX_ISSUERS]), read_scopes(" ".join(scopes)))


def read_server_metadata(document: Mapping[str, Any]) -> ServerMetadata:
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
        return "has no page to sign in at"
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
