"""What an AI client hears while a person is asked about its call: that it waits. Clients wind up their clocks when they hear of a call.

Above it: ApprovalRounds. Below it: the caller, and the wheel of deadlines.
"""

from msgspec import Raw

from tooltray.protocol.deadlines import Deadline, DeadlineWheel
from tooltray.protocol.envelope import Envelope, dump
from tooltray.sessions.caller import Caller

TOLD_EVERY_S = 15.0  # the shortest clocks of clients that start again with each progress are 30 s and more
PROGRESS = "notifications/progress"
WAITS = "Waiting for a person to allow this call."


class WaitingNews:
    """Of one call, while the block lasts. Belongs to the engine's loop."""

    def __init__(self, request: Envelope, token: Raw, caller: Caller, deadlines: DeadlineWheel) -> None:
        """
        Args:
            token: by which the client wants to hear of its call; empty: it does not.
        """
        self._request, self._token, self._caller, self._deadlines = request, token, caller, deadlines
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
        self._caller.tell(PROGRESS, dump(params), about=self._request.id)
        self._next = self._deadlines.add(TOLD_EVERY_S, self._tell)
