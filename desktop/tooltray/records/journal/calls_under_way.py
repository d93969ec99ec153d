"""The tool calls in progress: their clients, their tools, and what they wait for."""

import time

from tooltray.foundation.snapshots.activity import CallNow
from tooltray.protocol.sessions.exchange import Exchange

MOST_SHOWN = 1_000  # a person sees a dozen


class CallsUnderWay:
    """The tool calls in progress. Belongs to the engine's loop.

    Attributes:
        calls: in the order in which they began, each with its server and the server's own name for the tool.
    """

    def __init__(self) -> None:
        self.calls: dict[Exchange, tuple[str, str]] = {}

    def now(self) -> list[CallNow]:
        """Returns the calls, the longest first."""
        clock = time.time() - time.perf_counter()
        return [_shown(exchange, *of, clock) for exchange, of in list(self.calls.items())[:MOST_SHOWN]]


def _shown(exchange: Exchange, server: str, tool: str, clock: float) -> CallNow:
    state, timings = exchange.session.state, exchange.timings
    return CallNow(
        client=state.client or exchange.client,
        session=state.id,
        project=state.project.path if state.project else "",
        server=server,
        tool=tool,
        since=clock + timings.received_at,
        waits_for=timings.waits_for,
    )
