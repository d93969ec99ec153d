"""Tool calls in progress, and counts and durations of those that have ended, for each server's card.

Belongs to one event loop's thread; stores nothing on disk.
"""

import math
import time
from collections import deque
from collections.abc import Iterable, Mapping

from tooltray.foundation.snapshots.activity import CallNow
from tooltray.protocol.sessions.exchange import Exchange

HOURS_SHOWN = 16  # bars on a card
HOUR_S = 3600
DURATIONS_KEPT = 200  # of the last calls; enough for a steady 95th percentile, and small

MOST_SHOWN = 1_000  # a person sees a dozen


class CallStats:
    """The counts and durations of calls of all servers."""

    def __init__(self) -> None:
        self._servers: dict[str, _ServerCalls] = {}

    def add(self, server: str, duration_s: float | None, now: float) -> None:
        """Counts a call that has ended.

        Args:
            duration_s: how long it took; None if that is not the server's time: it waited for the user, or never reached it.
            now: unix seconds at its end.
        """
        calls = self._servers.get(server)
        if calls is None:
            calls = self._servers[server] = _ServerCalls()
        if duration_s is not None:
            calls.durations.append(duration_s)
        hour = int(now // HOUR_S)
        if hour not in calls.by_hour:
            calls.by_hour = {each: count for each, count in calls.by_hour.items() if each > hour - HOURS_SHOWN}
            calls.by_hour[hour] = 0
        calls.by_hour[hour] += 1
        if not calls.day_start <= now < calls.day_end:
            calls.day_start, calls.day_end = _day_around(now)
            calls.today = 0
        calls.today += 1

    def add_past(self, server: str, by_hour: Mapping[int, int], today: int, durations: Iterable[float], now: float) -> None:
        """Adds calls from before this hub started to the ones that it has counted.

        Args:
            by_hour: how many, by the hour (unix seconds divided by HOUR_S).
            today: how many of them since midnight, local time.
            durations: of the last of them, in seconds, the oldest first.
            now: unix seconds.
        """
        self._servers.setdefault(server, _ServerCalls()).add_past(by_hour, today, durations, now)

    def hours(self, server: str, now: float) -> tuple[int, ...]:
        """Returns the calls in each of the last HOURS_SHOWN hours, the current one last. Hours begin when the clock in UTC shows :00."""
        calls = self._servers.get(server)
        last = int(now // HOUR_S)
        return tuple(calls.by_hour.get(hour, 0) if calls else 0 for hour in range(last - HOURS_SHOWN + 1, last + 1))

    def today(self, server: str, now: float) -> int:
        """Returns the calls since midnight, local time."""
        calls = self._servers.get(server)
        return calls.today if calls and calls.day_start <= now < calls.day_end else 0

    def percentile_ms(self, server: str, share: float) -> float:
        """Returns the time in milliseconds within which a share of the last calls ended, such as 0.95; 0.0 without calls."""
        calls = self._servers.get(server)
        if not calls or not calls.durations:
            return 0.0
        durations = sorted(calls.durations)
        return durations[math.ceil(len(durations) * share) - 1] * 1000

    def forget(self, server: str) -> None:
        """Drops the counts of a server that was removed."""
        self._servers.pop(server, None)


class _ServerCalls:
    def __init__(self) -> None:
        self.by_hour: dict[int, int] = {}
        self.durations: deque[float] = deque(maxlen=DURATIONS_KEPT)
        self.today = 0
        self.day_start = self.day_end = 0.0  # unix seconds of the day that `today` counts

    def add_past(self, by_hour: Mapping[int, int], today: int, durations: Iterable[float], now: float) -> None:
        self.durations = deque([*durations, *self.durations], maxlen=DURATIONS_KEPT)
        self.by_hour = {hour: by_hour.get(hour, 0) + self.by_hour.get(hour, 0) for hour in {*by_hour, *self.by_hour}}
        if not self.day_start <= now < self.day_end:
            self.day_start, self.day_end = _day_around(now)
            self.today = 0
        self.today += today


def day_start(now: float) -> float:
    """Returns the last midnight, local time, in unix seconds."""
    return _day_around(now)[0]


def _day_around(now: float) -> tuple[float, float]:
    """Returns the midnights before and after a time, in local time; days have 23 to 25 hours."""
    year, month, day, *_ = time.localtime(now)
    start, end = (time.mktime((year, month, each, 0, 0, 0, 0, 0, -1)) for each in (day, day + 1))
    return start, end


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
