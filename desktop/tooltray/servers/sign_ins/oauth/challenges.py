"""Parses the `Bearer` challenge in the `WWW-Authenticate` header of a refused request (RFC 7235, RFC 6750, RFC 9728). The input is
untrusted: any text is accepted, nothing raises."""

import re
from collections.abc import Iterator

import msgspec

MAX_CHALLENGE_CHARACTERS = 16384  # most HTTP libraries refuse longer headers
MAX_SCOPES = 200
INSUFFICIENT_SCOPE = "insufficient_scope"
_PART = re.compile(  # possessive quantifiers: no backtracking, so the time is linear
    r"""(?P<name>[\w!#$%&'*+.^`|~-]++)\s*+=\s*+(?:"(?P<quoted>(?:[^"\\]|\\.)*+)"|(?P<bare>[^\s,"]*+))|(?P<word>[^\s,]++)"""
)
_ESCAPED = re.compile(r"\\(.)")
_SCOPE = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]+")  # RFC 6749, section 3.3


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
    """Returns the first Bearer challenge; an empty one if the header has none.

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
    for part in _PART.finditer(text):
        if part["word"] is not None:
            yield scheme, parameters
            scheme, parameters = part["word"], {}
        else:
            value = part["bare"] if part["quoted"] is None else _ESCAPED.sub(r"\1", part["quoted"])
            parameters.setdefault(part["name"].lower(), value)
    yield scheme, parameters
