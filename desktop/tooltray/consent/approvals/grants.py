"""The user's approvals for longer than one call, stored in `grants.json` of the home; and the lookup of those that are valid now.

Each grant names its tools and their fingerprints; the definitions that the user has seen are stored beside the grants, so that a changed
one can be compared. No arguments of calls are in the file. A grant may end after some time, or when the screen locks, as the desktop
reports it; a hub without a desktop offers no grant until then.
"""

import asyncio
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Literal, TypeVar

import msgspec

from tooltray.config.settings.call_rule import CallRule, read_rule
from tooltray.consent.approvals import rule_words
from tooltray.consent.kept_file import KeptFile, UnixTime
from tooltray.foundation.errors import Conflict, Denied, Problem, TooltrayError
from tooltray.foundation.events import Event, EventBus, GrantsChanged
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.tasks import finish_in_thread

HOUR, DAY, LOCK, LIKE, ALWAYS = "hour", "day", "lock", "like", "always"
HOUR_S, DAY_S = 3600.0, 86_400.0
LONGEST_GRANT_S = 366 * DAY_S


class GrantEnd(msgspec.Struct, frozen=True):
    """The end of a grant: the earlier of the two; without either it lasts until it is revoked.

    Attributes:
        after_s: seconds.
        at_lock: when the screen locks.
    """

    after_s: float | None = None
    at_lock: bool = False


NEVER = GrantEnd()
ENDS: Mapping[str, GrantEnd] = {HOUR: GrantEnd(HOUR_S), DAY: GrantEnd(DAY_S), LOCK: GrantEnd(at_lock=True), ALWAYS: NEVER}
"""Ends of grants, by the answer."""


def end_of(expires_in_s: float | None, until: str) -> GrantEnd:
    """Returns the end for the arguments of `add_grant`.

    Raises:
        TooltrayError: the end is unknown.
    """
    if until not in ("", LOCK):
        raise TooltrayError(Phrase("'{until}' is not a valid end of a grant", until=until), hint=Phrase("It is 'lock', or left out."))
    return GrantEnd(expires_in_s, until == LOCK)


def check_end(end: GrantEnd) -> None:
    """
    Raises:
        TooltrayError: the time is out of range.
    """
    if end.after_s is not None and not 0 < end.after_s <= LONGEST_GRANT_S:
        raise TooltrayError(
            Phrase("a grant lasts for some time, and for a year at most"),
            hint=Phrase("Without a time, it lasts until you revoke it."),
        )


class ScreenLocked(Event, frozen=True):
    """An event: the screen is locked, the computer goes to sleep, or the desktop cannot report it any more. For other packages."""


class ScreenLock:
    """The state of the screen's lock. Belongs to the engine's loop.

    Attributes:
        number: of the next lock, from 1. A grant until then stores this number, and is valid while the number is the same.
    """

    def __init__(self, *, bus: EventBus, has_window: bool) -> None:
        """
        Args:
            has_window: whether this hub is a desktop's, which reports locks.
        """
        self._bus, self._has_window = bus, has_window
        self.number = 1
        self._is_locked: bool | None = None

    @property
    def is_awaited(self) -> bool:
        """Whether a lock will be reported: the desktop reports locks, and the screen is not locked."""
        return self._is_locked is False

    @property
    def is_locked(self) -> bool:
        return self._is_locked is True

    def tell(self, is_locked: bool | None) -> None:
        """
        Args:
            is_locked: None: unknown from now on, which ends the grants that would end at the next lock.

        Raises:
            Denied: this hub has no window, so the next lock would not be reported.
        """
        if is_locked is False and not self._has_window:
            raise Denied(Phrase("Tooltray needs its window to detect a locked screen"))
        ends = is_locked is not False and self._is_locked is not None
        self._is_locked = is_locked
        if ends:
            self.number += 1
            self._bus.publish(ScreenLocked())


LARGEST_BYTES = 64 * 2**20  # a thousand grants with the longest definitions
CHECK_EVERY_S = 30.0  # timers stop while a computer sleeps; after it wakes, pages learn of an end at most so late
SETTLE_S = 0.5  # grants that end at nearly the same time are published together
CLOCK_SLACK_S = 300.0  # clocks are corrected by so much; setting one back further would make grants last longer
LONGEST_DEFINITION = 65536  # characters of a stored definition that the user has seen; of a longer one only the fingerprint is stored

REMEMBERED = 1024  # rules; more than a user makes
UNREADABLE = Phrase("nothing: its rule cannot be read")

GrantKind = Literal["tool", "reads", "rule"]


class Grant(msgspec.Struct, rename="camel", frozen=True):
    """An approval for longer than one call.

    Attributes:
        kind: one tool; every tool of the server that only read at the time of the approval; or the calls that a rule on arguments covers.
        tool: for the kinds "tool" and "rule": the server's own name of the tool; empty for a rule for several tools.
        client: only for this AI client; empty: for all.
        created_at, expires_at: unix seconds; 0: it does not expire.
        tools: for each tool the fingerprint of its definition and its server at the time of the approval.
        rule: of the kind "rule": a CallRule as JSON.
    """

    id: str
    kind: GrantKind
    server: str
    tool: str = ""
    client: str = ""
    created_at: UnixTime = 0.0
    expires_at: UnixTime = 0.0
    tools: dict[str, str] = {}
    rule: dict[str, object] = {}


class PassingGrant(Grant, frozen=True, kw_only=True):
    """A grant that ends when the screen locks. It is in no file: another hub, perhaps of an older version, must not mistake it for a
    lasting one.

    Attributes:
        lock: the number of that lock, see ScreenLock.
    """

    lock: int


G = TypeVar("G", bound=Grant)


def renamed(grant: G, before: str, after: str) -> G:
    """Returns a grant for the new name of its server; unchanged if it is for another server."""
    return msgspec.structs.replace(grant, server=after) if grant.server == before else grant


def rule_of(grant: Grant) -> CallRule | None:
    """Returns the rule on arguments of a grant; None without a readable rule, and then the grant allows nothing."""
    return _read_rule(json.dumps(grant.rule)) if grant.kind == "rule" else None


def words_of(grant: Grant) -> str:
    """Returns the calls that the rule of a grant covers; empty for other kinds of grants."""
    if grant.kind != "rule":
        return ""
    rule = rule_of(grant)
    return rule_words.words(rule) if rule else UNREADABLE


@lru_cache(REMEMBERED)
def _read_rule(text: str) -> CallRule | None:
    try:
        return read_rule(json.loads(text))
    except TooltrayError:
        return None


class KeptGrants(msgspec.Struct):
    version: Literal[1] = 1
    grants: list[Grant] = []
    definitions: dict[str, str] = {}


def grant_store(path: Path) -> KeptFile[KeptGrants]:
    """Reads the file of one home."""
    return KeptFile(
        path,
        KeptGrants,
        most_bytes=LARGEST_BYTES,
        unread=Phrase("what you allowed for longer than one call cannot be read, so none of it counts"),
        remedy="Calls ask again; answer with 'always' where you allow them.",
        unsaved=Phrase("what is allowed cannot be saved"),
    )


class LiveGrants:
    """The grants that are valid now: their time has not passed, the screen has not locked, and their server exists. Belongs to the engine's
    loop.

    Attributes:
        now: unix seconds.
    """

    def __init__(self, *, grant_store: KeptFile[KeptGrants], screen_lock: ScreenLock, now: Callable[[], float]) -> None:
        """
        Args:
            now: unix seconds.
        """
        self._store, self._screen_lock, self.now = grant_store, screen_lock, now
        self._passing: tuple[PassingGrant, ...] = ()
        self._texts: dict[str, str] = {}  # texts of definitions that only grants until a lock need, by fingerprint
        self._gone: set[str] = set()  # grants of removed servers; they are invalid even before the file is written

    @property
    def problem(self) -> Problem | None:
        return self._store.problem

    def all(self) -> list[Grant]:
        now = self.now()
        kept = (*self._store.content.grants, *self._passing)
        listed = (grant for grant in kept if grant.id not in self._gone and self.is_before_its_lock(grant))
        return [grant for grant in listed if not grant.expires_at or grant.created_at - CLOCK_SLACK_S <= now < grant.expires_at]

    def of(self, server: str, client: str) -> Iterator[Grant]:
        """Yields the valid grants for a server and a client, the newest first."""
        return (grant for grant in reversed(self.all()) if grant.server == server and grant.client in ("", client))

    def definition(self, fingerprint: str) -> str:
        """Returns the definition with a fingerprint that the user has seen; empty if it is not stored."""
        return self._store.content.definitions.get(fingerprint, "") or self._texts.get(fingerprint, "")

    @property
    def next_end(self) -> float:
        """The earliest end of a grant by its time, in unix seconds; 0 without one."""
        return min((grant.expires_at for grant in self.all() if grant.expires_at), default=0.0)

    @property
    def has_ended_at_lock(self) -> bool:
        """Whether one of the grants in memory has ended with the last lock of the screen."""
        return any(not self.is_before_its_lock(grant) for grant in self._passing)

    def is_before_its_lock(self, grant: Grant) -> bool:
        """Returns whether a grant has not ended by a lock of the screen; True for any grant without that end."""
        return not isinstance(grant, PassingGrant) or grant.lock == self._screen_lock.number

    def ending(self, grant: Grant, end: GrantEnd) -> Grant:
        """Returns a new grant with its end.

        Raises:
            TooltrayError: it would last until the screen locks, and a lock would not be reported.
        """
        if end.after_s is not None:
            grant = msgspec.structs.replace(grant, expires_at=grant.created_at + end.after_s)
        if not end.at_lock:
            return grant
        if self._screen_lock.is_locked:
            raise Conflict(Phrase("the screen is locked just now"), Phrase("what lasts until it locks would end at once"))
        if not self._screen_lock.is_awaited:
            raise TooltrayError(
                Phrase("a locked screen cannot be detected here"),
                hint=Phrase("This needs Tooltray's window, on a desktop that reports screen locks. Or choose an hour or a day."),
            )
        return PassingGrant(**msgspec.structs.asdict(grant), lock=self._screen_lock.number)

    def rename(self, before: str, after: str) -> None:
        """Gives the grants of a server to its new name, in memory; `write` saves them."""
        self._store.content.grants = [renamed(each, before, after) for each in self._store.content.grants]
        self._passing = tuple(renamed(each, before, after) for each in self._passing)

    def forget(self, ids: Iterable[str]) -> None:
        """Drops grants at once, before the disk is written."""
        self._gone.update(ids)

    async def write(self, grants: Iterable[Grant], definitions: Mapping[str, str]) -> None:
        """Replaces all grants, one write at a time; grants until the screen locks are kept in memory only.

        Args:
            definitions: texts by fingerprint, besides the stored ones; texts that no grant needs are left out.

        Raises:
            TooltrayError: the file cannot be written; the earlier grants stay unchanged.
        """
        given = list(grants)
        passing = tuple(grant for grant in given if isinstance(grant, PassingGrant))
        kept = [grant for grant in given if not isinstance(grant, PassingGrant)]
        texts = self._store.content.definitions | self._texts | dict(definitions)

        def save() -> None:
            self._store.write(KeptGrants(grants=kept, definitions=_needed(kept, texts)))
            self._passing, self._texts = passing, _needed(passing, texts)

        await finish_in_thread(save)


def _needed(grants: Iterable[Grant], texts: Mapping[str, str]) -> dict[str, str]:
    needed = {each for grant in grants for each in grant.tools.values()}
    return {key: text for key, text in texts.items() if key in needed and len(text) <= LONGEST_DEFINITION}


class GrantEnds:
    """The ends of grants, which are published for pages. One timer runs for all grants, and none if no grant ends. Belongs to the engine's
    loop.
    """

    def __init__(self, *, live_grants: LiveGrants, bus: EventBus) -> None:
        self._grants, self._bus = live_grants, bus
        self._timer: asyncio.TimerHandle | None = None
        self._next = 0.0  # unix seconds of the next end that is to be published
        bus.subscribe(GrantsChanged, self._follow)
        self._follow()

    def _follow(self, _event: GrantsChanged | None = None) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None
        self._next = self._grants.next_end
        if self._next:
            wait_s = min(self._next - self._grants.now() + SETTLE_S, CHECK_EVERY_S)
            self._timer = asyncio.get_running_loop().call_later(max(wait_s, SETTLE_S), self._look)

    def _look(self) -> None:
        if self._grants.now() >= self._next:
            self._bus.publish(GrantsChanged())
        else:
            self._follow()
