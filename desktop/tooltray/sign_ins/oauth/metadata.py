"""What servers and authorization servers tell about themselves (RFC 9728, RFC 8414, OpenID Connect Discovery), read with suspicion.

Above it: discovery. Pure; whatever a stranger wrote goes in.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tooltray.sign_ins.oauth.addresses import is_safe, read_url
from tooltray.sign_ins.oauth.challenges import read_scopes

MAX_ISSUERS = 5  # that a server may name; each costs questions
REFRESH, OFFLINE = "refresh_token", "offline_access"
S256 = "S256"  # RFC 7636, section 4.2


@dataclass(frozen=True)
class ResourceMetadata:
    """
    Attributes:
        resource: what the tokens are for; None if it does not say.
        issuers: the authorization servers, in the server's order.
        scopes: what it takes to use the server.
    """

    resource: str | None = None
    issuers: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()


@dataclass(frozen=True)
class ServerMetadata:
    """
    Attributes:
        scopes, grants, auth_methods, challenge_methods: None where it does not say.
        names_itself: whether every answer that the browser brings back has to name the issuer (RFC 9207).
        is_assumed: it told nothing; these are the addresses that servers of 2025-03-26 have then.
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
    names_itself: bool = False
    is_assumed: bool = False

    @property
    def renews(self) -> bool:
        """Whether tokens may be renewed without the person."""
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
        names_itself=document.get("authorization_response_iss_parameter_supported") is True,
    )


def assumed_metadata(origin: str) -> ServerMetadata:
    """Of a server that tells nothing (specification 2025-03-26, "Fallbacks for Servers without Metadata Discovery")."""
    return ServerMetadata(
        issuer=origin,
        authorization_endpoint=f"{origin}/authorize",
        token_endpoint=f"{origin}/token",
        registration_endpoint=f"{origin}/register",
        is_assumed=True,
    )


def unsafe_endpoints(metadata: ServerMetadata, *, may_be_local: bool) -> list[str]:
    """The addresses to which nothing may be sent."""
    optional = (metadata.authorization_endpoint, metadata.registration_endpoint, metadata.revocation_endpoint)
    given = [metadata.token_endpoint, *(address for address in optional if address)]
    return [address for address in given if address and not is_safe(address, may_be_local=may_be_local)]


def why_no_browser(metadata: ServerMetadata, *, is_client_known: bool) -> str:
    """Why a person cannot sign in there safely; empty if they can.

    PKCE has to be promised in the metadata (specification 2025-11-25). Some large providers that every client has to be registered at by
    hand have it and do not say so: who did register knows whom they have to do with.
    """
    methods = metadata.challenge_methods
    if not metadata.authorization_endpoint:
        return "has no page to sign in at"
    if methods is None and (metadata.is_assumed or is_client_known):
        return ""
    return "" if S256 in (methods or ()) else f"does not protect a sign-in against theft (PKCE with {S256})"


def wanted_scopes(*groups: Iterable[str]) -> tuple[str, ...]:
    """All of some groups of scopes, each once, in their order."""
    return tuple(dict.fromkeys(scope for group in groups for scope in group))


def _address(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _texts(value: object) -> tuple[str, ...] | None:
    return tuple(each for each in value if isinstance(each, str)) if isinstance(value, list) else None
