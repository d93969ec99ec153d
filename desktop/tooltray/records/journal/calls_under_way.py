"""The calls of tools that are under way: who works now, on what, and what it waits for.

Above it: ToolCalls, which notes the beginning and the end, and ActivityApi. Below it: Exchange. In memory alone.
"""

import time

from tooltray.foundation.snapshots.activity import CallNow
from tooltray.protocol.sessions.exchange import Exchange

MOST_SHOWN = 1_000  # a person sees a dozen


class CallsUnderWay:
    """Belongs to the engine's loop."""

    def __init__(self) -> None:
        self._calls: dict[Exchange, tuple[str, str]] = {}  # in the order in which they began

    def begin(self, exchange: Exchange, server: str, tool: str) -> None:
        """`tool`: the server's own name for it."""
        self._calls[exchange] = (server, tool)

    def end(self, exchange: Exchange) -> None:
        self._calls.pop(exchange, None)

    def now(self) -> list[CallNow]:
        """The longest first."""
        clock = time.time() - time.perf_counter()
        return [_shown(exchange, *of, clock) for exchange, of in list(self._calls.items())[:MOST_SHOWN]]


def _shown(exchange: Exchange, server: str, tool: str, clock: float) -> CallNow:
    state, course = exchange.session.state, exchange.course
    return CallNow(
        client=state.client or exchange.client,
        session=state.id,
        project=state.project.path if state.project else "",
        server=server,
        tool=tool,
        since=clock + course.received_at,
        waits_for=course.waits_for,
    )
