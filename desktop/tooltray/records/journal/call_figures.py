"""Statistics of calls: numbers, failures and durations; by period, by server, client or tool. A call that was refused has not failed.

SQLite computes them without Python's lock, so that a hub that answers calls meanwhile is not delayed. Percentiles come from buckets of
durations, sixteen for each doubling: they are correct within 2.2 %.
"""

import math
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import accumulate

import msgspec

from tooltray.foundation.snapshots.activity import ActivityFigures, ActivityPoint, ToolUse
from tooltray.records.journal.journal_queries import Row, Where

GROUPS = {"server": "server", "client": "client", "tool": "server || ' ' || tool"}
"""What figures are made by, in SQL."""
BUCKETS = 16  # for each doubling of a duration
SHORTEST_S = 1e-6
NEVER_SENT = "(outcome != 'ok' AND server_s IS NULL)"
"""A call that never reached its server, in SQL: it counts, but its duration is not the server's. Tooltray's own tools have no server_s."""
UNTIMED = -1  # in the place of such a call's bucket
_COUNTED = f"""
SELECT {{group}} AS part, CASE WHEN {NEVER_SENT} THEN {UNTIMED} ELSE bucket END AS timed, count(*), sum(outcome = 'error'), sum(tokens),
max(at) FROM entries WHERE {{where}} AND kind = 'call' GROUP BY part, timed ORDER BY part, timed
"""
_USES = """
SELECT server, tool, client, count(*), sum(outcome = 'error'), max(at) FROM entries WHERE {where} AND kind = 'call'
GROUP BY server, tool, client
"""


def bucket_of(duration_s: float) -> int:
    """Returns the number of a duration's bucket."""
    return round(math.log2(max(duration_s, SHORTEST_S) / SHORTEST_S) * BUCKETS)


def _middle_ms(bucket: int) -> float:
    return float(SHORTEST_S * 2 ** (bucket / BUCKETS) * 1000)


class _Part(msgspec.Struct):
    """The calls of one group."""

    buckets: list[tuple[int, int]] = []  # and how many calls are in each, the shortest first; without calls that reached no server
    calls: int = 0
    failures: int = 0
    tokens: int = 0
    last_at: float = -math.inf

    def add(self, bucket: int, calls: int, failures: int, tokens: int, last_at: float) -> None:
        if bucket != UNTIMED:
            self.buckets.append((bucket, calls))
        self.calls, self.failures, self.tokens = self.calls + calls, self.failures + failures, self.tokens + tokens
        self.last_at = max(self.last_at, last_at)

    def percentile_ms(self, of_100: int) -> float | None:
        """Returns the time within which so many of 100 calls have ended; None if none has reached a server."""
        wanted = math.ceil(sum(calls for _, calls in self.buckets) * of_100 / 100)
        ended = accumulate(calls for _, calls in self.buckets)
        return next((_middle_ms(bucket) for (bucket, _), count in zip(self.buckets, ended, strict=True) if count >= wanted), None)


def _counted(rows: Iterable[Row]) -> dict[int | str, _Part]:
    parts: dict[int | str, _Part] = defaultdict(_Part)
    for part, *counts in rows:
        parts[part].add(*counts)
    return parts


def series(database: sqlite3.Connection, where: Where, since: float, until: float, bars: int) -> list[ActivityPoint]:
    """Returns the calls of `bars` equal periods from `since` to `until`, in unix seconds. `where`: the calls; it contains these bounds,
    too.
    """
    length_s = (until - since) / bars
    group = "min(CAST((at - ?) / ? AS INTEGER), ?)"
    found = _counted(database.execute(_COUNTED.format(group=group, where=where.sql), (since, length_s, bars - 1, *where.values)))
    return [_point(since + bar * length_s, found.get(bar)) for bar in range(bars)]


def _point(at: float, part: _Part | None) -> ActivityPoint:
    if part is None:
        return ActivityPoint(at)
    return ActivityPoint(at, part.calls, part.failures, part.tokens, part.percentile_ms(50), part.percentile_ms(95))


def figures(database: sqlite3.Connection, where: Where, by: str) -> list[ActivityFigures]:
    """Returns the statistics of each group, most calls first. `by`: one of GROUPS."""
    found = _counted(database.execute(_COUNTED.format(group=GROUPS[by], where=where.sql), where.values))
    names = _all_names(database)
    return sorted((_figures(key, part, names) for key, part in found.items()), key=lambda each: (-each.calls, each.name))


def _figures(key: int | str, part: _Part, names: Mapping[int, str]) -> ActivityFigures:
    name = "/".join(names[int(number)] for number in str(key).split())
    return ActivityFigures(name, part.calls, part.failures, part.tokens, part.percentile_ms(50), part.percentile_ms(95), part.last_at)


def tool_use(database: sqlite3.Connection, where: Where) -> list[ToolUse]:
    """Returns the use of each tool that was called, the latest first."""
    names = _all_names(database)
    by_tool: dict[tuple[int, int], list[tuple[int, int, int, float]]] = defaultdict(list)
    for server, tool, *rest in database.execute(_USES.format(where=where.sql), where.values):
        by_tool[server, tool].append(tuple(rest))
    made = (_use(names[server], names[tool], names, uses) for (server, tool), uses in by_tool.items())
    return sorted(made, key=lambda each: -each.last_at)


def _use(server: str, tool: str, names: dict[int, str], uses: Iterable[tuple[int, int, int, float]]) -> ToolUse:
    clients, calls, failures, times = zip(*uses, strict=True)
    return ToolUse(server, tool, sum(calls), sum(failures), max(times), tuple(sorted(names[each] for each in clients if names[each])))


class PastCalls(msgspec.Struct, frozen=True):
    """The past calls of one server. `by_hour`: how many, by unix seconds / 3600; `durations`: of the last, in seconds, the oldest first."""

    server: str
    by_hour: dict[int, int]
    today: int
    durations: tuple[float, ...]


def past_calls(database: sqlite3.Connection, where: Where, midnight: float, most_durations: int) -> list[PastCalls]:
    """Returns the calls of each server, but not refused ones, nor ones cancelled before they reached it.

    Args:
        midnight: the beginning of today, in unix seconds.
    """
    called = where.also(f"kind = 'call' AND outcome != 'refused' AND NOT (outcome = 'cancelled' AND {NEVER_SENT})")
    hours = "SELECT server, CAST(at / 3600 AS INTEGER), count(*), sum(at >= ?) FROM entries WHERE {where} GROUP BY 1, 2"
    by_server: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
    for server, hour, count, today in database.execute(hours.format(where=called.sql), (midnight, *called.values)):
        by_server[server].append((hour, count, today))
    last = f"SELECT duration FROM entries WHERE server = ? AND {called.sql} AND NOT {NEVER_SENT} ORDER BY entries.id DESC LIMIT ?"
    names = _all_names(database)
    return [
        PastCalls(
            server=names[server],
            by_hour={hour: count for hour, count, _ in found},
            today=sum(today for _, _, today in found),
            durations=tuple(each for (each,) in reversed(database.execute(last, (server, *called.values, most_durations)).fetchall())),
        )
        for server, found in by_server.items()
    ]


def _all_names(database: sqlite3.Connection) -> dict[int, str]:
    return dict(database.execute("SELECT id, text FROM names"))
