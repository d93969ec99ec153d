"""The web of a sign-in without a network: addresses of any host, and what stands there."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tooltray.servers.sign_ins.web_requests import Answer, NoResponse


@dataclass
class Posted:
    url: str
    form: dict[str, str]
    document: Any
    headers: dict[str, str]


@dataclass
class WebAnswers:
    """
    Attributes:
        at: what stands at an address: a document, a text, a status, or the reason why nothing comes back. Elsewhere is nothing (404).
        asked: the addresses, in their order.
    """

    at: dict[str, Any] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    posted: list[Posted] = field(default_factory=list)

    async def get(self, url: str) -> Answer:
        self.asked.append(url)
        return self._answer(url)

    async def post(
        self, url: str, *, form: Mapping[str, str] | None = None, document: Any = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        self.posted.append(Posted(url, dict(form or {}), document, dict(headers or {})))
        return self._answer(url)

    def _answer(self, url: str) -> Answer:
        match self.at.get(url, 404):
            case NoResponse() as silent:
                raise silent
            case Answer() as answer:
                return answer
            case int(status):
                return Answer(status)
            case str(page):
                return Answer(200, page.encode())
            case document:
                return Answer(200, json.dumps(document).encode())
