"""Stores which tokens of the REST interface are trusted, that is, may consent in the user's place.

It is among the secrets, since a file could be edited by any program. They are read only when a token that was created as trusted needs it,
so that no keyring is opened for other tokens. If they cannot be reached, a token is trusted only as long as this hub runs.
"""

import asyncio
import time
from collections.abc import Callable, Collection, Mapping

import msgspec

from tooltray.config.secrets.secrets import SecretStore
from tooltray.config.secrets.vaults import SecretMissing
from tooltray.foundation.errors import TooltrayError

TRUSTED_SECRET = "tooltray/trusted tokens"  # no server's secret has a blank after the slash

Kept = Mapping[str, float | None]
"""Expiry in unix seconds by a token's hash; None for no expiry. Stored here, too, as the tokens' file could be edited."""


class TrustedTokens:
    """The trust in tokens. Belongs to one event loop."""

    def __init__(self, secrets: SecretStore, *, clock: Callable[[], float] = time.time) -> None:
        """
        Args:
            clock: unix seconds.
        """
        self._secrets, self._clock = secrets, clock
        self._lock = asyncio.Lock()
        self._of_this_run: dict[str, float | None] = {}

    async def add(self, digest: str, ends_at: float | None = None) -> bool:
        """Trusts a token; returns whether that outlives this hub."""
        async with self._lock:
            try:
                await self._keep({**await self._kept(), digest: ends_at})
            except TooltrayError:
                self._of_this_run[digest] = ends_at
                return False
        return self._secrets.kind != "memory"

    async def remove(self, digests: Collection[str]) -> None:
        """Withdraws the trust in tokens.

        Raises:
            TooltrayError: the secrets cannot be changed.
        """
        async with self._lock:
            self._of_this_run = _without(self._of_this_run, digests)
            kept = await self._kept() if digests else {}
            if not kept.keys().isdisjoint(digests):
                await self._keep(_without(kept, digests))

    async def has(self, digest: str) -> bool:
        """Returns whether a token is trusted; False if the secrets cannot be reached."""
        if digest in self._of_this_run:
            return self._lasts(self._of_this_run[digest])
        async with self._lock:
            try:
                kept = await self._kept()
            except TooltrayError:
                return False
        return digest in kept and self._lasts(kept[digest])

    def _lasts(self, ends_at: float | None) -> bool:
        return ends_at is None or self._clock() < ends_at

    async def _kept(self) -> Kept:
        """Reads the stored trust.

        Raises:
            TooltrayError: the secrets cannot be reached.
        """
        try:
            text = await self._secrets.get(TRUSTED_SECRET)
            return msgspec.json.decode(text, type=dict[str, float | None])
        except (SecretMissing, msgspec.DecodeError):
            return {}

    async def _keep(self, digests: Kept) -> None:
        await self._secrets.set(TRUSTED_SECRET, msgspec.json.encode(digests).decode(), parts=())


def _without(kept: Kept, digests: Collection[str]) -> dict[str, float | None]:
    return {digest: ends_at for digest, ends_at in kept.items() if digest not in digests}
