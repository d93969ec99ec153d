"""When a copy of a server was listed, whether that is new enough, and how soon it is listed again when it says that its lists have changed.

Above it: server_lists. Knows no server. A few changes in a row are followed at once; one that changes them all the time has its lists read,
compared, saved and told to all clients again and again, and is listed less and less often until it is calm.
"""

import math
from collections.abc import Iterable

from tooltray.catalogue.offer import OfferKind

AT_ONCE = 12  # listings in a row without a pause: a server that loads its parts says so for each
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.5, 5.0  # the longest is what a new tool may be late in the worst case
CALM_AFTER_S = 10.0  # without a listing


class Relisting:
    """Of one copy of a server. All times are the loop's."""

    def __init__(self) -> None:
        self._count, self._last = 0, 0.0
        self._asked_at: dict[OfferKind, float] = {}
        self._known_from: dict[OfferKind, float] = {}  # when the list was asked for that is known, or could not be had
        self._announced: set[OfferKind] = set()  # as others, since they were last listed
        self._overtaken: set[OfferKind] = set()  # their last list was dropped, because they were announced meanwhile

    # listing

    def announce(self, kinds: Iterable[OfferKind]) -> None:
        """The server has said that these lists are others."""
        self._announced.update(kinds)

    def begin(self, kind: OfferKind, now: float) -> None:
        """A list is asked for."""
        self._asked_at[kind] = now

    def is_overtaken(self, kind: OfferKind, *, is_due: bool) -> bool:
        """Whether a list that has come is dropped for the next one. Not twice in a row: a server may announce changes all the time.

        Args:
            is_due: it is to be asked for again.
        """
        return is_due and kind not in self._overtaken

    def end(self, kind: OfferKind, *, is_overtaken: bool) -> None:
        """A list has come, or could not be had."""
        if is_overtaken:
            self._overtaken.add(kind)
        else:
            self._overtaken.discard(kind)
            self._known_from[kind] = self._asked_at[kind]

    def was_announced(self, kind: OfferKind) -> bool:
        """Whether a list that was just asked for had been announced as another one, or was meanwhile; said once."""
        was_announced = kind in self._announced
        self._announced.discard(kind)
        return was_announced

    # whether what is known is new enough

    def asked_at(self, kind: OfferKind) -> float:
        """When a list was last asked for."""
        return self._asked_at.get(kind, -math.inf)

    def needed_from(self, kind: OfferKind, oldest: float) -> float:
        """When a list must have been asked for to be the present one: what is being asked for now is waited for.

        Args:
            oldest: what else is old enough to do.
        """
        asked_at = self.asked_at(kind)
        return oldest if self.is_known_from(kind, asked_at) else asked_at

    def is_known_from(self, kind: OfferKind, at: float) -> bool:
        """Whether the list that is known was asked for then or later."""
        return self._known_from.get(kind, -math.inf) >= at

    def pause_s(self, now: float) -> float:
        """How long to wait before the next listing, after one that has just been made."""
        if now - self._last > CALM_AFTER_S:
            self._count = 0
        self._count += 1
        beyond = self._count - AT_ONCE
        pause_s = min(FIRST_PAUSE_S * 2 ** min(beyond - 1, 10), LONGEST_PAUSE_S) if beyond > 0 else 0.0
        self._last = now + pause_s
        return pause_s
