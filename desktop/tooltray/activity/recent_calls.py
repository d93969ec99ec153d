"""Keeps the last tool calls in memory, for the window and the REST interface.

Above it: McpPresenter. Below it: events.
"""

import time
from collections import deque
from collections.abc import Callable
from itertools import count, islice

from tooltray.events import EventBus, ToolCallResult
from tooltray.snapshots.calls import MCPToolResponse, RecentCall

MOST_KEPT = 200


class RecentCalls:
    """Belongs to the engine's loop."""

    def __init__(self, *, bus: EventBus, clock: Callable[[], float] = time.time) -> None:
        """
        Args:
            clock: unix seconds.
        """
        self._clock, self._numbers = clock, count(1)
        self._calls: deque[tuple[int, float, MCPToolResponse]] = deque(maxlen=MOST_KEPT)
        bus.subscribe(ToolCallResult, self._on_result)

    def last(self, limit: int) -> list[RecentCall]:
        """The last calls, newest first; `limit`: how many at most."""
        return [_shown(*kept) for kept in islice(reversed(self._calls), max(limit, 0))]

    def _on_result(self, event: ToolCallResult) -> None:
        self._calls.append((next(self._numbers), self._clock(), event.response))  # a client waits for this: snapshots are made on demand


def _shown(number: int, at: float, made: MCPToolResponse) -> RecentCall:
    return RecentCall(
        id=number,
        at=at,
        tool=made.tool,
        server=made.server,
        client=made.client,
        outcome=made.outcome,
        duration_s=made.duration_s,
        argument_bytes=made.argument_bytes,
        result_bytes=made.result_bytes,
    )
