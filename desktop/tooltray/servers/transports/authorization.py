"""The `Authorization` header of requests to a remote server whose header changes over time: a sign-in as HTTP sees it. It knows nothing of
OAuth.
"""

from typing import ClassVar, Protocol

from tooltray.foundation.hidden_fields import HidesFields

UNAUTHORIZED, FORBIDDEN = 401, 403
HEADER = "Authorization"


class NotAuthorized(Exception):
    """The error if no valid authorization is available: the request is not sent, or not sent again, as it would be refused.

    Attributes:
        reason: a sentence for the user, which names the server.
        is_temporary: the token could not be renewed now, but a later renewal may succeed.
    """

    def __init__(self, reason: str, *, is_temporary: bool = False) -> None:
        super().__init__(reason)
        self.reason, self.is_temporary = reason, is_temporary


class Refusal(HidesFields, frozen=True):
    """A response with status 401 or 403.

    Attributes:
        challenge: the values of the response's `WWW-Authenticate` headers, joined by commas.
        sent: the value of the `Authorization` header of the request; None if it had none.
        is_second: the request was a repetition, after an earlier `renew` returned True.
    """

    hidden: ClassVar = ("sent",)

    status: int
    challenge: str
    sent: str | None
    is_second: bool = False


class Authorization(Protocol):
    """The authorization of the requests to one server; all connections to the server share it."""

    @property
    def held(self) -> str | None:
        """The current value of the `Authorization` header, perhaps expired; None without a token."""
        ...

    async def header(self) -> str | None:
        """Returns the value of the `Authorization` header and renews an expired token first.

        Raises:
            NotAuthorized: the token has expired and cannot be renewed.
        """
        ...

    async def renew(self, refusal: Refusal) -> bool:
        """Reacts to a refused request and returns whether to send it once more; if False, the response is an ordinary HTTP error.

        Raises:
            NotAuthorized: the user has to sign in, or the token cannot be renewed now.
        """
        ...
