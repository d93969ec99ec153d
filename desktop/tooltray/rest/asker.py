"""A program that asks over REST, and how a person confirms what it widens: by having made its token a trusted one.

Above it: the REST interface's handler. Below it: confirmation, and what is kept of trust.
"""

from typing import Protocol

from tooltray.access.api_tokens import TokenHolder
from tooltray.errors import Denied
from tooltray.phrases import Phrase


class Trust(Protocol):
    """What of TrustedTokens is used."""

    async def has(self, digest: str) -> bool:
        """Whether a token is trusted."""
        ...


class ProgramAsker:
    """One request of a program; an Asker. What it may is found out once, when it is first needed."""

    proposes = True

    def __init__(self, holder: TokenHolder, trust: Trust) -> None:
        self.holder, self._trust = holder, trust
        self._has_confirmed: bool | None = None

    @property
    def name(self) -> str:
        """Of the token with which it comes."""
        return self.holder.name

    async def has_confirmed(self) -> bool:
        if self._has_confirmed is None:
            self._has_confirmed = self.holder.may_be_trusted and await self._trust.has(self.holder.digest)
        return self._has_confirmed

    def refusal(self, what: str) -> Denied:
        hint = "Do it in the window or with `tooltray`; a token made with `tooltray http api on --trusted` may do it, too."
        return Denied("A program may not do this", Phrase("it would allow something in a person's place"), hint)
