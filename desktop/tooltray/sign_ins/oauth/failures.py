"""What can go wrong with a sign-in, in words for a person. The lowest layer of servers/oauth.

No token, code, verifier or secret is in any of them. What somebody else's program says is shown short and on one line.
"""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from tooltray.errors import TooltrayError

MAX_SHOWN_CHARACTERS = 200
MASK = "•••"  # where a secret stood
SHORTEST_SECRET = 4  # characters; fewer keep nobody out, and stand in every sentence


class AuthorizationFailed(TooltrayError):
    """A sign-in, or the keeping of one, failed. The kinds of it say what that means for what is held."""

    title: ClassVar[str] = "cannot sign in to '{}'"
    hint: ClassVar[str] = ""

    def __init__(self, server: str, message: str, hint: str = "", *, code: str = "") -> None:
        """
        Args:
            server: the name of the MCP server that the sign-in is for.
            hint: in the place of the usual one.
            code: how the authorization server calls it.
        """
        super().__init__(self.title.format(server), message, hint or self.hint)
        self.code = code

    @property
    def is_about_client(self) -> bool:
        """Whether the authorization server does not know this client, or not any more."""
        return self.code in ("invalid_client", "unauthorized_client")


class AuthorizationUnreachable(AuthorizationFailed):
    """No answer, or none that says anything about the sign-in; what is held stays good, and it may work later."""

    title = "the sign-in of '{}' cannot be reached"
    hint = "Check the network, and try again later."


class NoAuthorizationServer(AuthorizationFailed):
    """Where to sign in cannot be found out, or what stands there cannot be used safely."""

    title = "'{}' does not say how to sign in"
    hint = (
        "If you have a token for this server, give it as a header (tooltray servers add NAME --url URL --bearer-secret). Its makers know "
        "what it needs."
    )


class WrongIssuer(AuthorizationFailed):
    """An authorization server says that it is another than the one asked for, as one would that impersonates."""

    title = "the sign-in of '{}' is not trusted"
    hint = "Do not sign in there. Tell the makers of the server."


class SignInRefused(AuthorizationFailed):
    """The person said no."""

    title = "the sign-in to '{}' was declined in the browser"
    hint = "Sign in again if that was not meant."


class AuthorizationRefused(AuthorizationFailed):
    """The authorization server said no: settings, or what it knows of this client, are not as it wants them."""

    title = "the sign-in to '{}' was refused"
    hint = "Sign in again. If that does not help, check `oauth` in the server's settings."


class SignInExpired(AuthorizationFailed):
    """What is held is good for nothing any more: the person has to sign in again."""

    title = "the sign-in to '{}' has ended"
    hint = "Sign in again."


class SignInUnanswered(AuthorizationFailed):
    """Nobody came back from the browser."""

    title = "nobody has signed in to '{}'"
    hint = "Sign in again."


def as_shown(text: object, hidden: Iterable[str] = ()) -> str:
    """Words of somebody else's as they may be shown; nothing if it is no text.

    Args:
        hidden: secrets that they were sent and may repeat.
    """
    if not isinstance(text, str):
        return ""
    for secret in sorted((each for each in hidden if len(each) >= SHORTEST_SECRET), key=len, reverse=True):
        text = text.replace(secret, MASK)
    line = " ".join("".join(character if character.isprintable() else " " for character in text[: 2 * MAX_SHOWN_CHARACTERS]).split())
    return line if len(line) <= MAX_SHOWN_CHARACTERS else f"{line[:MAX_SHOWN_CHARACTERS]}…"


def words_of(document: Mapping[str, Any], hidden: Iterable[str] = ()) -> str:
    """What an error of OAuth says; empty if there is none in it."""
    error, said = as_shown(document.get("error"), hidden), as_shown(document.get("error_description"), hidden)
    return f"the authorization server said '{error}'{f': {said}' if said else ''}" if error else ""
