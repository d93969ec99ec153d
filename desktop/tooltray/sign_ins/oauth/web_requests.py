"""HTTP as a sign-in needs it: small questions with small answers. What is asked of it, and how it is made.

Above it: discovery, registrations, authorization_client. Below it: aiohttp_web, imported in a thread when it is first needed: the HTTP
library takes a quarter of a second.
"""

import asyncio
import importlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol


class NoAnswer(Exception):
    """Nothing came back, or nothing that ends.

    Attributes:
        reason: in words, without a query, a user or a password.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True)
class Answer:
    """What came back: any status, at most MAX_ANSWER_BYTES."""

    status: int
    body: bytes = field(default=b"", repr=False)

    @property
    def is_good(self) -> bool:
        return 200 <= self.status < 300

    @property
    def is_overloaded(self) -> bool:
        """Whether it says nothing about what was asked, only that it cannot answer now."""
        return self.status >= 500 or self.status in (408, 425, 429)

    def document(self) -> dict[str, Any] | None:
        """The JSON object that it is; None for anything else, like the page for people that many servers answer to everything."""
        try:
            read = json.loads(self.body)
        except (ValueError, RecursionError):
            return None
        return read if isinstance(read, dict) else None


class Web(Protocol):
    """Asks authorization servers. Keeps nothing open between two questions, so that there is nothing to close."""

    async def get(self, url: str) -> Answer:
        """
        Raises:
            NoAnswer: within 20 s.
        """
        ...

    async def post(
        self, url: str, *, form: Mapping[str, str] | None = None, document: Any = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        """Sends a form, or a document as JSON. Follows no redirect.

        Raises:
            NoAnswer: within 20 s.
        """
        ...


async def make_web(environ: Mapping[str, str]) -> Web:
    """
    Args:
        environ: the person's login-shell environment, for proxies and certificate authorities.
    """
    for module in ("tooltray.sign_ins.oauth.aiohttp_web", "tooltray.transports.http.certificate_trust"):
        await asyncio.to_thread(importlib.import_module, module)
    from tooltray.sign_ins.oauth.aiohttp_web import AiohttpWeb
    from tooltray.transports.http.certificate_trust import tls_context

    return AiohttpWeb(environ=environ, trust=await asyncio.to_thread(tls_context, environ))
