"""The last tool calls, in memory only.

Above it: McpPresenter. Below it: events.
"""

import time
from collections import deque
from collections.abc import Callable
from itertools import count, islice

from tooltray.events import EventBus, ToolCallResult
from tooltray.snapshots import RecentCall

MOST_KEPT = 200


class RecentCalls:
    """Belongs to the engine's loop."""

    def __init__(self, *, bus: EventBus, clock: Callable[[], float] = time.time) -> None:
        """
        Args:
            clock: unix seconds.
        """
        self._clock, self._numbers = clock, count(1)
        self._calls: deque[RecentCall] = deque(maxlen=MOST_KEPT)
        bus.subscribe(ToolCallResult, self._on_result)

    def last(self, limit: int) -> list[RecentCall]:
        """
        Args:
            limit: how many at most.

        Returns:
            The newest first.
        """
        return list(islice(reversed(self._calls), max(limit, 0)))

    def _on_result(self, event: ToolCallResult) -> None:
        made = event.response
        call = RecentCall(
            id=next(self._numbers),
            at=self._clock(),
            tool=made.tool,
            server=made.server,
            client=made.client,
            outcome=made.outcome,
            duration_s=made.duration_s,
            argument_bytes=made.argument_bytes,
            result_bytes=made.result_bytes,
        )
        self._calls.append(call)
