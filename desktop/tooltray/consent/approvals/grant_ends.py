"""When a yes ends by itself, and who is told of it.

Above it: LastingYeses, ToolGrants and RuleGrants, which say how long a yes lasts; the hub, which has one GrantEnds. Below it: LiveGrants
and the event bus. Whether a grant still counts LiveGrants decides at each call by its clock; here the pages only hear of an end when it
comes. One timer runs for all grants, and none where nothing ends.
"""

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.events import EventBus, GrantsChanged
from tooltray.foundation.phrases import Phrase

if TYPE_CHECKING:
    from tooltray.consent.approvals.live_grants import LiveGrants

HOUR, DAY, LOCK, LIKE, ALWAYS = "hour", "day", "lock", "like", "always"
HOUR_S, DAY_S = 3600.0, 86_400.0
LONGEST_GRANT_S = 366 * DAY_S
CHECK_EVERY_S = 30.0  # timers stand still while a computer sleeps; so late, at most, pages hear of an end after it has woken
SETTLE_S = 0.5  # grants that end at nearly the same time are one piece of news


class GrantEnd(msgspec.Struct, frozen=True):
    """What comes first ends it; without either it lasts until it is taken back.

    Attributes:
        after_s: seconds.
        at_lock: when the screen locks.
    """

    after_s: float | None = None
    at_lock: bool = False


NEVER = GrantEnd()
ENDS: Mapping[str, GrantEnd] = {HOUR: GrantEnd(HOUR_S), DAY: GrantEnd(DAY_S), LOCK: GrantEnd(at_lock=True), ALWAYS: NEVER}
"""By the answer."""


def end_of(expires_in_s: float | None, until: str) -> GrantEnd:
    """What `add_grant` is given.

    Raises:
        TooltrayError: there is no such end.
    """
    if until not in ("", LOCK):
        raise TooltrayError(Phrase("'{until}' is no end of a grant", until=until), hint=Phrase("It is 'lock', or left out."))
    return GrantEnd(expires_in_s, until == LOCK)


def check_end(end: GrantEnd) -> None:
    """
    Raises:
        TooltrayError: no grant lasts that long.
    """
    if end.after_s is not None and not 0 < end.after_s <= LONGEST_GRANT_S:
        raise TooltrayError(
            Phrase("a grant lasts for some time, and for a year at most"),
            hint=Phrase("Without a time it lasts until you take it back."),
        )


class GrantEnds:
    """Belongs to the engine's loop."""

    def __init__(self, *, live_grants: "LiveGrants", bus: EventBus) -> None:
        self._grants, self._bus = live_grants, bus
        self._timer: asyncio.TimerHandle | None = None
        self._next = 0.0  # unix seconds of the next end that is to be told
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
