"""Whether the screen is locked, as the desktop tells it: yeses "until the screen locks" end there.

Above it: GrantBook, and ApprovalsApi, through which the desktop tells. Below it: the event bus. It listens to no system itself: a hub
without a desktop hears of no lock, and offers no such yes.
"""

from tooltray.foundation.errors import Denied
from tooltray.foundation.events import Event, EventBus
from tooltray.foundation.phrases import Phrase


class ScreenLocked(Event, frozen=True):
    """The screen is locked, the computer goes to sleep, or nobody can tell any more. For other rooms of the engine."""


class ScreenLock:
    """Belongs to the engine's loop.

    Attributes:
        number: of the lock that comes next, from 1. A yes that lasts until then keeps it, and counts as long as it is the same.
    """

    def __init__(self, *, bus: EventBus, has_window: bool) -> None:
        """
        Args:
            has_window: whether this hub is a desktop's, which tells.
        """
        self._bus, self._has_window = bus, has_window
        self.number = 1
        self._is_locked: bool | None = None

    @property
    def is_awaited(self) -> bool:
        """Whether a lock will be heard of: somebody listens, and the screen is open."""
        return self._is_locked is False

    @property
    def is_locked(self) -> bool:
        return self._is_locked is True

    def tell(self, is_locked: bool | None) -> None:
        """
        Args:
            is_locked: None: nobody can tell from now on, which ends what would have ended at the next lock.

        Raises:
            Denied: this hub has no window, so nobody would tell it of the next lock.
        """
        if is_locked is False and not self._has_window:
            raise Denied(Phrase("Only a hub with a window hears when the screen locks"))
        ends = is_locked is not False and self._is_locked is not None
        self._is_locked = is_locked
        if ends:
            self.number += 1
            self._bus.publish(ScreenLocked())
