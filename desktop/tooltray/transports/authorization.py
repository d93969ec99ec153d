"""What lets requests to a server elsewhere in, where that changes in time: the view that HTTP has of a sign-in.

Above it: http_connections, which asks for it with each request; presenter/server_access is one. Knows no protocol of signing in.
"""

from dataclasses import dataclass, field
from typing import Protocol

UNAUTHORIZED, FORBIDDEN = 401, 403
HEADER = "Authorization"


class NotLetIn(Exception):
    """A request need not be sent, or not again: it would be refused.

    Attributes:
        reason: in words, to be read behind the server's name.
        is_temporary: what lets us in could not be renewed now; later it may be.
    """

    def __init__(self, reason: str, *, is_temporary: bool = False) -> None:
        super().__init__(reason)
        self.reason, self.is_temporary = reason, is_temporary


@dataclass(frozen=True)
class Refusal:
    """A request that was refused.

    Attributes:
        challenge: what the server asks for: its `WWW-Authenticate` headers, joined by commas.
        sent: the header that was sent with it; None where none was.
        is_second: it was sent again after `renew` said so.
    """

    status: int
    challenge: str
    sent: str | None = field(repr=False)
    is_second: bool = False


class Authorization(Protocol):
    """Belongs to one server; all its connections share it."""

    @property
    def held(self) -> str | None:
        """The value of the header as it is now; None where nothing is known to let us in."""
        ...

    async def header(self) -> str | None:
        """The same, renewed first if it has ended.

        Raises:
            NotLetIn: it has ended and cannot be renewed.
        """
        ...

    async def renew(self, refusal: Refusal) -> bool:
        """A request was refused: whether to send it again, once; if not, the answer is an error like others.

        Raises:
            NotLetIn: a person has to sign in, or it cannot be renewed now.
        """
        ...
