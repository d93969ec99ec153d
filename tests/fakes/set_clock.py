"""A clock that stands where a test has set it."""


class SetClock:
    """Seconds; a test moves `now`."""

    def __init__(self, now: float = 1000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now
