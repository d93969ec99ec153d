"""A program that calls over REST: its changes that widen access are confirmed if a person has made its token a trusted one.

Above it: the REST interface's handler. Below it: confirmation, and the stored trust.
"""

from typing import Protocol

from tooltray.access.api_tokens import TokenHolder
from tooltray.errors import Denied
from tooltray.phrases import Phrase


class Trust(Protocol):
    """The part of TrustedTokens that is used here."""

    async def has(self, digest: str) -> bool:
        """Returns whether a token is trusted."""
        ...


class ProgramAsker:
    """One request of a program. Satisfies Asker; looks up the trust in its token once, when it is first needed."""

    proposes = True

    def __init__(self, holder: TokenHolder, trust: Trust) -> None:
        self.holder, self._trust = holder, trust
        self._has_confirmed: bool | None = None

    @property
    def name(self) -> str:
        """The name of the program's token."""
        return self.holder.name

    async def has_confirmed(self) -> bool:
        if self._has_confirmed is None:
            self._has_confirmed = self.holder.may_be_trusted and await self._trust.has(self.holder.digest)
        return self._has_confirmed

    def refusal(self, what: str) -> Denied:
        hint = "Do it in the window or with `tooltray`; a token made with `tooltray http api on --trusted` may do it, too."
        return Denied("A program may not do this", Phrase("it would allow something in a person's place"), hint)
