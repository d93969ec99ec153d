"""The grants that count at this moment: those whose time has not passed, whose screen has not locked, and whose server is still there.

Above it: GrantBook, and GrantEnds, which tells of their ends. Below it: GrantStore, ScreenLock and the clock. Knows nothing of tools as
they are now.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping

import msgspec

from tooltray.consent.approvals.grant_ends import GrantEnd
from tooltray.consent.approvals.grants import Grant, GrantStore, PassingGrant
from tooltray.consent.approvals.screen_lock import ScreenLock
from tooltray.foundation.errors import Conflict, Problem, TooltrayError
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.tasks import finish_in_thread

CLOCK_SLACK_S = 300.0  # a clock is put right by so much; one that is set back further would make what ends last longer


class LiveGrants:
    """Belongs to the engine's loop.

    Attributes:
        now: unix seconds.
    """

    def __init__(self, *, grant_store: GrantStore, screen_lock: ScreenLock, now: Callable[[], float]) -> None:
        """
        Args:
            now: unix seconds.
        """
        self._store, self._screen_lock, self.now = grant_store, screen_lock, now
        self._gone: set[str] = set()  # grants of servers that were removed; they do not count while the disk is not written, either

    @property
    def problem(self) -> Problem | None:
        """What was wrong with the grants on the disk."""
        return self._store.problem

    def all(self) -> list[Grant]:
        now = self.now()
        listed = (grant for grant in self._store.grants if grant.id not in self._gone and self.is_before_its_lock(grant))
        return [grant for grant in listed if not grant.expires_at or grant.created_at - CLOCK_SLACK_S <= now < grant.expires_at]

    def of(self, server: str, client: str) -> Iterator[Grant]:
        """Those that speak of a server and a client, the newest first."""
        return (grant for grant in reversed(self.all()) if grant.server == server and grant.client in ("", client))

    def definition(self, fingerprint: str) -> str:
        """What a person has seen under a fingerprint; empty if that is not kept."""
        return self._store.definition(fingerprint)

    @property
    def next_end(self) -> float:
        """When the next of them ends by its time, in unix seconds; 0: none does."""
        return min((grant.expires_at for grant in self.all() if grant.expires_at), default=0.0)

    @property
    def has_ended_at_lock(self) -> bool:
        """Whether one of those that are kept has ended with the last lock of the screen."""
        return any(not self.is_before_its_lock(grant) for grant in self._store.grants)

    def is_before_its_lock(self, grant: Grant) -> bool:
        """Whether a grant that ends when the screen locks has not ended by that; any other has not."""
        return not isinstance(grant, PassingGrant) or grant.lock == self._screen_lock.number

    def ending(self, grant: Grant, end: GrantEnd) -> Grant:
        """A new grant with its end.

        Raises:
            TooltrayError: it is to last until the screen locks, and nobody can tell when it does.
        """
        if end.after_s is not None:
            grant = msgspec.structs.replace(grant, expires_at=grant.created_at + end.after_s)
        if not end.at_lock:
            return grant
        if self._screen_lock.is_locked:
            raise Conflict(Phrase("the screen is locked just now"), Phrase("what lasts until it locks would end at once"))
        if not self._screen_lock.is_awaited:
            raise TooltrayError(
                Phrase("nothing here can tell when the screen locks"),
                hint=Phrase("Tooltray's window has to run, on a desktop that tells of it. Choose an hour or a day."),
            )
        return PassingGrant(**msgspec.structs.asdict(grant), lock=self._screen_lock.number)

    def forget(self, ids: Iterable[str]) -> None:
        """They do not count any more, whenever the disk is written."""
        self._gone.update(ids)

    async def write(self, grants: Iterable[Grant], definitions: Mapping[str, str]) -> None:
        """Replaces all, see GrantStore.write."""
        await finish_in_thread(self._store.write, grants, definitions)
