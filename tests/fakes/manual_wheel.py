"""A deadline wheel that a test turns by hand: nothing is over before the test says so. Satisfies DeadlineWheel."""

from collections.abc import Callable

from tooltray.protocol.unsent import AllUnsent


class ManualDeadline:
    def __init__(self, wheel: "ManualWheel", seconds: float, on_expired: Callable[[], None]) -> None:
        self._wheel, self.seconds, self.on_expired = wheel, seconds, on_expired
        self.restarts = 0

    def restart(self) -> None:
        self.restarts += 1

    def cancel(self) -> None:
        if self in self._wheel.waiting:
            self._wheel.waiting.remove(self)


class ManualWheel:
    """
    Attributes:
        waiting: the deadlines that are neither cancelled nor over.
    """

    def __init__(self) -> None:
        self.waiting: list[ManualDeadline] = []
        self.unsent = AllUnsent()

    def add(self, seconds: float, on_expired: Callable[[], None]) -> ManualDeadline:
        deadline = ManualDeadline(self, seconds, on_expired)
        self.waiting.append(deadline)
        return deadline

    def of(self, seconds: float) -> list[ManualDeadline]:
        return [deadline for deadline in self.waiting if deadline.seconds == seconds]

    def expire(self, seconds: float) -> int:
        """Lets every deadline of so many seconds be over; returns how many there were."""
        over = self.of(seconds)
        for deadline in over:
            self.waiting.remove(deadline)
            deadline.on_expired()
        return len(over)
