"""The requests of one server that were refused with their session, so that each ends one session only."""

import hashlib
import time
from collections.abc import Callable

import msgspec

from tooltray.protocol.channels import Outgoing

MOST = 64  # the oldest one is dropped
REMEMBERED_S = 60.0  # the repetition comes as soon as the next session is open


class _Refused(msgspec.Struct, frozen=True):
    session: str
    at: float


class RefusedRequests:
    """The refused requests of one server; outlives its connections."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        """
        Args:
            clock: returns seconds that never go back.
        """
        self._clock = clock
        self._refused: dict[bytes, _Refused] = {}

    def is_first(self, message: Outgoing, session: str) -> bool:
        """Records a refusal. Returns False if another session just refused the request, too: an error, whatever the server claims."""
        digest, now = _digest(message), self._clock()
        before = self._refused.get(digest)
        if before and before.session != session and now - before.at < REMEMBERED_S:
            return False
        self._refused[digest] = _Refused(session, now)
        if len(self._refused) > MOST:
            del self._refused[next(iter(self._refused))]
        return True

    def note_accepted(self, message: Outgoing) -> None:
        """Drops what is known of a request that its server has taken."""
        if self._refused:
            self._refused.pop(_digest(message), None)


def _digest(message: Outgoing) -> bytes:
    return hashlib.blake2b(message.method.encode() + b" " + bytes(message.payload), digest_size=16).digest()
