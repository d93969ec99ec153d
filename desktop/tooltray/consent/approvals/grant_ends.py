"""The end of a grant: after some time, or when the screen locks, as the desktop reports it. A hub without a desktop gets no such report,
and so offers no grant until then.
"""

from collections.abc import Mapping

import msgspec

from tooltray.foundation.errors import Denied, TooltrayError
from tooltray.foundation.events import Event, EventBus
from tooltray.foundation.phrases import Phrase

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
        TooltrayError: there is no such end.
    """
    if until not in ("", LOCK):
        raise TooltrayError(Phrase("'{until}' is no end of a grant", until=until), hint=Phrase("It is 'lock', or left out."))
    return GrantEnd(expires_in_s, until == LOCK)


def check_end(end: GrantEnd) -> None:
    """
    Raises:
        TooltrayError: the time is out of range.
    """
    if end.after_s is not None and not 0 < end.after_s <= LONGEST_GRANT_S:
        raise TooltrayError(
            Phrase("a grant lasts for some time, and for a year at most"),
            hint=Phrase("Without a time it lasts until you take it back."),
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
            is_locked: None: not known from now on, which ends the grants that would have ended at the next lock.

        Raises:
            Denied: this hub has no window, so the next lock would not be reported.
        """
        if is_locked is False and not self._has_window:
            raise Denied(Phrase("Only a hub with a window hears when the screen locks"))
        ends = is_locked is not False and self._is_locked is not None
        self._is_locked = is_locked
        if ends:
            self.number += 1
            self._bus.publish(ScreenLocked())
