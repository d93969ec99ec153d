"""Which tokens of the REST interface say yes in a person's place: kept among the secrets, where no file that is saved switches it on.

Above it: HttpAccess, and the command line where no hub runs. Below it: SecretStore. It is only read when a token that was made to be
trusted asks for something that needs it, so that no keyring is opened for others. Where the secrets cannot be reached, a token is trusted
as long as this hub runs, and no longer.
"""

import asyncio
import time
from collections.abc import Callable, Collection, Mapping

import msgspec

from tooltray.errors import TooltrayError
from tooltray.secrets.secrets import SecretMissing, SecretStore

TRUSTED_SECRET = "tooltray/trusted tokens"  # no server's: of those no secret has a blank behind the slash

Kept = Mapping[str, float | None]
"""When a token ends, in unix seconds, by its digest: the end, too, is no matter of a file that somebody may edit."""


class TrustedTokens:
    """Belongs to one event loop."""

    def __init__(self, secrets: SecretStore, *, clock: Callable[[], float] = time.time) -> None:
        """
        Args:
            clock: unix seconds.
        """
        self._secrets, self._clock = secrets, clock
        self._lock = asyncio.Lock()
        self._of_this_run: dict[str, float | None] = {}

    async def add(self, digest: str, ends_at: float | None = None) -> bool:
        """A token is trusted from now on; whether it still is when the hub has been started again."""
        async with self._lock:
            try:
                await self._keep({**await self._kept(), digest: ends_at})
            except TooltrayError:
                self._of_this_run[digest] = ends_at
                return False
        return self._secrets.kind != "memory"

    async def remove(self, digests: Collection[str]) -> None:
        """These are not trusted any more.

        Raises:
            TooltrayError: what is kept of them cannot be changed.
        """
        async with self._lock:
            self._of_this_run = _without(self._of_this_run, digests)
            kept = await self._kept() if digests else {}
            if not kept.keys().isdisjoint(digests):
                await self._keep(_without(kept, digests))

    async def has(self, digest: str) -> bool:
        """Whether a token is trusted; not, where that cannot be found out."""
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
        """
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
