"""HTTP for a sign-in: small requests with small responses. Imports no HTTP library: the import of aiohttp takes a quarter of a second, so
aiohttp_web is imported in a thread when it is first needed."""

import json
from collections.abc import Mapping
from typing import Any, ClassVar, Protocol

from tooltray.foundation.hidden_fields import HidesFields


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

    def document(self) -> dict[str, Any] | None:
        """Parses the body as a JSON object; None for anything else, such as the HTML page that many servers send for every URL."""
        try:
            read = json.loads(self.body)
        except (ValueError, RecursionError):
            return None
        return read if isinstance(read, dict) else None


class WebClient(Protocol):
    """A sender of requests to authorization servers. Keeps no connection open between requests, so there is nothing to close."""

    async def get(self, url: str) -> Answer:
        """Fetches a document and follows redirects within the same origin.

        Raises:
            NoResponse: there was no response within 20 s.
        """
        ...

    async def post(
        self, url: str, *, form: Mapping[str, str] | None = None, document: Any = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        """Sends a form, or a document as JSON. Follows no redirect.

        Raises:
            NoResponse: there was no response within 20 s.
        """
        ...
