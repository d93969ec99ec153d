"""What an AI client hears while a person is asked about its call: that it waits. Clients wind up their clocks when they hear of a call.

Above it: ApprovalRounds. Below it: the exchange, and the wheel of deadlines.
"""

from tooltray.protocol.deadlines import Deadline, DeadlineWheel
from tooltray.protocol.envelope import dump
from tooltray.sessions.exchange import Exchange

TOLD_EVERY_S = 15.0  # the shortest clocks of clients that start again with each progress are 30 s and more
PROGRESS = "notifications/progress"
WAITS = "Waiting for a person to allow this call."


class WaitingNews:
    """Of one call, while the block lasts. Belongs to the engine's loop."""

    def __init__(self, exchange: Exchange, deadlines: DeadlineWheel) -> None:
        self._exchange, self._deadlines = exchange, deadlines
        self._token = exchange.head.meta.progress_token  # empty: the client does not want to hear of its call
        self._told = 0
        self._next: Deadline | None = None

    def __enter__(self) -> None:
        if self._token:
            self._next = self._deadlines.add(TOLD_EVERY_S, self._tell)

    def __exit__(self, *exception: object) -> None:
        if self._next:
            self._next.cancel()

    def _tell(self) -> None:
        self._told += 1
        params = {"progressToken": self._token, "progress": round(self._told * TOLD_EVERY_S), "message": WAITS}
        self._exchange.tell(PROGRESS, dump(params))
        self._next = self._deadlines.add(TOLD_EVERY_S, self._tell)
