"""One timer for the deadlines of all calls, and one count of all connections' unsent bytes.

`loop.call_later` per call leaves a handle per call for minutes. Here a call is one entry in a set, a finished call leaves nothing, and the
timer runs only while calls wait. A deadline is never early and at most one tick late.
"""

import asyncio
import logging
from collections.abc import Callable

from tooltray.protocol.unsent import AllUnsent

logger = logging.getLogger(__name__)
TICK_S = 0.25  # calls wait 30 s and more; a quarter of a second does not matter


class Deadline:
    """The deadline of one waiting call: `cancel` it when the call is answered, `restart` it when the call reports progress."""

    __slots__ = ("_wheel", "due_tick", "on_expired", "seconds", "slot")

    def __init__(self, wheel: "DeadlineWheel", seconds: float, on_expired: Callable[[], None], due_tick: int) -> None:
        self._wheel, self.seconds, self.on_expired = wheel, seconds, on_expired
        self.due_tick = self.slot = due_tick

    def restart(self) -> None:
        self.due_tick = self._wheel.tick_after(self.seconds)  # stays in its slot; the wheel moves it when that slot comes up

    def cancel(self) -> None:
        slot = self._wheel.slots.get(self.slot)
        if slot is not None:
            slot.discard(self)
            if not slot:
                del self._wheel.slots[self.slot]


class DeadlineWheel:
    """The timer wheel of one event loop.

    Attributes:
        slots: the waiting deadlines, by the tick in which the wheel checks them.
        unsent: the bytes that wait for peers that do not read; held here because every owner of deadlines has such bytes, too.
    """

    def __init__(self, *, tick_s: float = TICK_S) -> None:
        self.unsent = AllUnsent()
        self._tick_s = tick_s
        self.slots: dict[int, set[Deadline]] = {}
        self._timer: asyncio.TimerHandle | None = None

    def add(self, seconds: float, on_expired: Callable[[], None]) -> Deadline:
        deadline = Deadline(self, seconds, on_expired, self.tick_after(seconds))
        if slot := self.slots.get(deadline.slot):  # as nearly always
            slot.add(deadline)
        else:
            self._put(deadline)
        return deadline

    def __len__(self) -> int:
        return sum(map(len, self.slots.values()))

    def tick_after(self, seconds: float) -> int:
        return int((asyncio.get_running_loop().time() + seconds) / self._tick_s) + 1

    def _put(self, deadline: Deadline) -> None:
        deadline.slot = deadline.due_tick
        self.slots.setdefault(deadline.slot, set()).add(deadline)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._tick_s, self._turn)

    def _turn(self) -> None:
        self._timer = None
        now = self.tick_after(0) - 1
        for slot in sorted(tick for tick in self.slots if tick <= now):
            due = self.slots.get(slot, set())
            while due:  # the set stays where `discard` finds it: a callback of one deadline may cancel another
                deadline = due.pop()
                if deadline.due_tick > now:
                    self._put(deadline)
                else:
                    self._expire(deadline)
            self.slots.pop(slot, None)
        if self.slots and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._tick_s, self._turn)

    def _expire(self, deadline: Deadline) -> None:
        try:
            deadline.on_expired()
        except Exception:  # a bug of ours costs one call, not the deadlines of all others
            logger.exception("the callback of a deadline failed")
