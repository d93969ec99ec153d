"""What a sign-in leaves: the tokens, and all that is needed to renew them after a restart without asking anybody where.

Above it: authorization_client makes them; presenter/sign_ins keeps them in the keyring, each as one text. Below it: Registration.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, TypeGuard

import msgspec

from tooltray.sign_ins.oauth.addresses import resource_of
from tooltray.sign_ins.oauth.challenges import read_scopes
from tooltray.sign_ins.oauth.registrations import Registration

RENEWED_EARLY_S = 60.0  # before the end: clocks differ, and a call must not meet the end on its way
RENEWED_EARLY_SHARE = 0.1  # of a life, at most: a token of a minute would be renewed with every request
LONGEST_LIFE_S = 10 * 365 * 86400.0  # what is said to live longer is taken to live so long


@dataclass(frozen=True)
class Tokens:
    """
    Attributes:
        expires_at: of the access token, in unix seconds; None if nobody said.
        scopes: what they are good for.
        url: of the MCP server, without user, query and fragment. They are for no other.
        resource: how the authorization server knows that server.
        lifetime_s: of the access token, when it was new; None if nobody said.
    """

    access_token: str = field(repr=False)
    refresh_token: str | None = field(repr=False)
    expires_at: float | None
    scopes: tuple[str, ...]
    url: str
    resource: str
    issuer: str
    token_endpoint: str
    revocation_endpoint: str | None
    registration: Registration
    lifetime_s: float | None = None

    def is_for(self, url: str) -> bool:
        """Whether they may be sent to a server's URL."""
        return self.url == resource_of(url)

    def is_expired(self, now: float, *, early_s: float = RENEWED_EARLY_S) -> bool:
        """Whether the access token has ended, or will within `early_s`; one of a short life is good for most of it."""
        early_s = early_s if self.lifetime_s is None else min(early_s, self.lifetime_s * RENEWED_EARLY_SHARE)
        return self.expires_at is not None and now >= self.expires_at - early_s

    def to_json(self) -> str:
        """For the keyring. A secret that the settings name stays where it is."""
        kept = self if not self.registration.is_configured else replace(self, registration=replace(self.registration, client_secret=None))
        return msgspec.json.encode(asdict(kept)).decode()

    @classmethod
    def from_json(cls, text: str) -> "Tokens | None":
        """What `to_json` wrote, of this version or another; None if that cannot be made out."""
        try:
            tokens = msgspec.json.decode(text, type=cls)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            return None
        return tokens if is_token(tokens.access_token) else None


@dataclass(frozen=True)
class Grant:
    """What a token endpoint gave (RFC 6749, section 5.1).

    Attributes:
        scopes: None: those that were asked for.
    """

    access_token: str = field(repr=False)
    refresh_token: str | None = field(default=None, repr=False)
    expires_at: float | None = None
    scopes: tuple[str, ...] | None = None
    lifetime_s: float | None = None


def read_grant(document: Mapping[str, Any], now: float) -> Grant | None:
    """None if there is no token in it that can be sent."""
    access, refresh, scope = document.get("access_token"), document.get("refresh_token"), document.get("scope")
    kind = document.get("token_type", "bearer")
    if not is_token(access) or not isinstance(kind, str) or kind.lower() != "bearer":
        return None
    lasts_s = _seconds(document.get("expires_in"))
    return Grant(
        access_token=access,
        refresh_token=refresh if isinstance(refresh, str) and refresh and refresh.isascii() and refresh.isprintable() else None,
        expires_at=None if lasts_s is None else now + lasts_s,
        scopes=read_scopes(scope) if isinstance(scope, str) else None,
        lifetime_s=lasts_s,
    )


def is_token(value: object) -> TypeGuard[str]:
    """Whether it can stand in a header."""
    return isinstance(value, str) and bool(value) and value.isascii() and value.isprintable() and " " not in value


def _seconds(value: object) -> float | None:
    """How long a token lives; some servers write the number as a text, and some a zero where they do not know."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        seconds = float(value)
    except (ValueError, OverflowError):
        return None
    return min(seconds, LONGEST_LIFE_S) if seconds > 0 else None  # NaN is not, either
