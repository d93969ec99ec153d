"""The errors of a sign-in, with texts for users, and its small HTTP requests. No error contains a token, code, verifier or secret; texts of
other programs are shortened to one line.

Imports no HTTP library: the import of aiohttp takes a quarter of a second, so aiohttp_web is imported in a thread when it is first needed.
"""

import json
import re
from collections.abc import Iterable
from typing import ClassVar

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.hidden_fields import HidesFields
from tooltray.foundation.lazy_patterns import lazy_pattern
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.verbs import JsonMapping, JsonObject

MAX_SHOWN_CHARACTERS = 200
MASK = "•••"  # replaces a secret
SHORTEST_SECRET = 4  # characters; a shorter text protects nothing and occurs in every sentence

_ABOUT_RESOURCE = ("invalid_target", "invalid_resource")
_NAMES_RESOURCE = lazy_pattern(  # Entra: the parameter is unknown, or does not fit the scopes; Auth0: it has no API of this address
    r"AADSTS(?:901002|9010010)\b|\bresource\b['\"`]?\s+(?:\w+\s+)?(?:parameter|indicator)|(?:parameter|indicator)\W+resource\b"
    r"|service not found: https?:",
    re.IGNORECASE,
)


class AuthorizationFailed(TooltrayError):
    """A failure of a sign-in or a renewal. The subclass decides what happens to the current tokens."""

    title: ClassVar[str] = "cannot sign in to '{}'"
    hint: ClassVar[str] = ""

    def __init__(self, server: str, message: str, hint: str = "", *, code: str = "") -> None:
        """
        Args:
            server: the name of the MCP server that the sign-in is for.
            hint: replaces the hint of the class.
            code: the authorization server's error code.
        """
        super().__init__(self.title.format(server), message, hint or self.hint)
        self.code = code

    @property
    def is_about_resource(self) -> bool:
        """Reports whether the authorization server refuses the parameter `resource` (RFC 8707) itself, as Entra and Auth0 do."""
        return self.code in _ABOUT_RESOURCE or bool(_NAMES_RESOURCE.search(self.problem.message))

    @property
    def is_about_client(self) -> bool:
        """Reports whether the authorization server does not know this client (any more)."""
        return self.code in ("invalid_client", "unauthorized_client")


class AuthorizationUnreachable(AuthorizationFailed):
    """A missing response about the sign-in. The current tokens stay valid, and a retry may succeed."""

    title = "the sign-in of '{}' cannot be reached"
    hint = "Check the network, and try again later."


class NoAuthorizationServer(AuthorizationFailed):
    """The absence of an authorization server that can be found and used safely."""

    title = "'{}' does not declare how to sign in"
    hint = (
        "If you have a token for this server, give it as a header (tooltray servers add NAME --url URL --bearer-secret). Its "
        "documentation describes it."
    )


def resource_refused(refused: AuthorizationFailed, server: str) -> AuthorizationFailed:
    """Returns a refusal of the parameter `resource` with the member of the settings that leaves it out."""
    hint = Phrase(
        "It refuses the parameter `resource`, so the next attempt leaves it out: sign in again. To leave it out always, set `sendResource` "
        "of `oauth` to false in the server's settings."
    )
    return type(refused)(server, refused.problem.message, hint, code=refused.code)


class WrongIssuer(AuthorizationFailed):
    """An authorization server that names another issuer than the expected one, as in an impersonation."""

    title = "the sign-in of '{}' is not trusted"
    hint = "Do not sign in there. Report this to the server's developers."


def other_issuer_hint(issuer: str) -> str:
    """Returns the hint for a user who knows that a contradicting issuer is right."""
    return Phrase(
        "If you know that {issuer} is right, set `issuer` of `oauth` to it in the server's settings. Otherwise do not sign in there.",
        issuer=issuer,
    )


class SignInRefused(AuthorizationFailed):
    """A sign-in that the user declined."""

    title = "the sign-in to '{}' was declined in the browser"
    hint = "Sign in again if that was not meant."


class AuthorizationRefused(AuthorizationFailed):
    """A refusal by the authorization server, because of the settings or this client's registration."""

    title = "the sign-in to '{}' was refused"
    hint = "Sign in again. If that does not help, check `oauth` in the server's settings."


class SignInExpired(AuthorizationFailed):
    """Tokens that are no longer valid: the user has to sign in again."""

    title = "the sign-in to '{}' has ended"
    hint = "Sign in again."


class SignInUnanswered(AuthorizationFailed):
    """A browser that did not return."""

    title = "not signed in to '{}'"
    hint = "Sign in again."


def sanitized(text: object, hidden: Iterable[str] = ()) -> str:
    """Returns a text of another program on one line, shortened, without control characters; empty if it is not a text.

    Args:
        hidden: secrets that were sent to the program, which its text may repeat; they are masked.
    """
    if not isinstance(text, str):
        return ""
    for secret in sorted((each for each in hidden if len(each) >= SHORTEST_SECRET), key=len, reverse=True):
        text = text.replace(secret, MASK)
    line = " ".join("".join(character if character.isprintable() else " " for character in text[: 2 * MAX_SHOWN_CHARACTERS]).split())
    return line if len(line) <= MAX_SHOWN_CHARACTERS else f"{line[:MAX_SHOWN_CHARACTERS]}…"


def error_text(document: JsonMapping, hidden: Iterable[str] = ()) -> str:
    """Describes the OAuth error in a response; empty if the response has no error."""
    error, description = sanitized(document.get("error"), hidden), sanitized(document.get("error_description"), hidden)
    return f"the authorization server reported '{error}'{f': {description}' if description else ''}" if error else ""


class NoResponse(Exception):
    """The absence of a complete response.

    Attributes:
        reason: a text for users, without a query, a user or a password.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Answer(HidesFields, frozen=True):
    """A response with any status and a body of at most 1 MiB."""

    hidden: ClassVar = ("body",)

    status: int
    body: bytes = b""

    @property
    def is_good(self) -> bool:
        return 200 <= self.status < 300

    @property
    def is_overloaded(self) -> bool:
        """Reports whether the status only means that the server cannot answer now, whatever the request."""
        return self.status >= 500 or self.status in (408, 425, 429)

    def document(self) -> JsonObject | None:
        """Parses the body as a JSON object; None for anything else, such as the HTML page that many servers send for every URL."""
        try:
            read = json.loads(self.body)
        except (ValueError, RecursionError):
            return None
        return read if isinstance(read, dict) else None
