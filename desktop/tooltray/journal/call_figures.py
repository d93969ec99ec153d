"""Figures about calls: how many, how many failed, how long they took; by stretches of time, by server, client or tool.

Above it: JournalReader. Below it: SQL over the table `entries`. SQLite does the work, without Python's lock, so that a hub that answers
calls meanwhile is not held up.
"""

import sqlite3
from collections import defaultdict
from collections.abc import Iterable

import msgspec

from tooltray.journal.journal_queries import Where
from tooltray.snapshots.activity import ActivityFigures, ActivityPoint, ToolUse

GROUPS = {"server": "server", "client": "client", "tool": "server || ' ' || tool"}
"""What figures are made by, in SQL."""
_RANKED = """
WITH chosen AS (
    SELECT {group} AS part, at, outcome IN ('error', 'refused') AS failed, tokens, duration FROM entries WHERE {where} AND kind = 'call'
), ranked AS (
    SELECT *, row_number() OVER (PARTITION BY part ORDER BY duration) AS place, count(*) OVER (PARTITION BY part) AS calls FROM chosen
)
SELECT
    part, calls, sum(failed), sum(tokens), max(CASE WHEN place = (calls * 50 + 99) / 100 THEN duration END),
    max(CASE WHEN place = (calls * 95 + 99) / 100 THEN duration END), max(at)
FROM ranked GROUP BY part
"""
_USES = """
SELECT server, tool, client, count(*), sum(outcome IN ('error', 'refused')), max(at) FROM entries WHERE {where} AND kind = 'call'
GROUP BY server, tool, client
"""


def series(database: sqlite3.Connection, where: Where, since: float, until: float, bars: int) -> list[ActivityPoint]:
    """The calls of `bars` equal stretches from `since` to `until`, in unix seconds. `where`: which calls; it has these bounds, too."""
    length_s = (until - since) / bars
    rows = database.execute(
        _RANKED.format(group="min(CAST((at - ?) / ? AS INTEGER), ?)", where=where.sql), (since, length_s, bars - 1, *where.values)
    )
    found = {bar: rest for bar, *rest in rows}
    return [_point(since + bar * length_s, found.get(bar)) for bar in range(bars)]


def _point(at: float, row: list[float] | None) -> ActivityPoint:
    if row is None:
        return ActivityPoint(at)
    calls, failures, tokens, p50_s, p95_s, _ = row
    return ActivityPoint(at, int(calls), int(failures), int(tokens), p50_s * 1000, p95_s * 1000)


def figures(database: sqlite3.Connection, where: Where, by: str) -> list[ActivityFigures]:
    """Most calls first. `by`: one of GROUPS."""
    rows = database.execute(_RANKED.format(group=GROUPS[by], where=where.sql), where.values).fetchall()
    names = _all_names(database)
    made = [
        ActivityFigures(
            "/".join(names[int(number)] for number in str(part).split()), calls, failures, tokens, p50_s * 1000, p95_s * 1000, at
        )
        for part, calls, failures, tokens, p50_s, p95_s, at in rows
    ]
    return sorted(made, key=lambda each: (-each.calls, each.name))


def tool_use(database: sqlite3.Connection, where: Where) -> list[ToolUse]:
    """How each tool that was called was used, the latest first."""
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
    """Calls of one server. `by_hour`: how many, by unix seconds / 3600; `durations`: of the last, in seconds, the oldest first."""

    server: str
    by_hour: dict[int, int]
    today: int
    durations: tuple[float, ...]


def past_calls(database: sqlite3.Connection, where: Where, midnight: float, most_durations: int) -> list[PastCalls]:
    """Of each server, without calls that were refused. `midnight`: unix seconds; from then on it is today."""
    called = where.also("kind = 'call' AND outcome != 'refused'")
    hours = "SELECT server, CAST(at / 3600 AS INTEGER), count(*), sum(at >= ?) FROM entries WHERE {where} GROUP BY 1, 2"
    by_server: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
    for server, hour, count, today in database.execute(hours.format(where=called.sql), (midnight, *called.values)):
        by_server[server].append((hour, count, today))
    last = f"SELECT duration FROM entries WHERE server = ? AND {called.sql} ORDER BY entries.id DESC LIMIT ?"
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
