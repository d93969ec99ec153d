"""The REST operations on the journal: what happened, figures about it, what is under way; and on what people decided.

Above it: the table of all operations. Below it: the presenter's API. In a query a filter is written member by member.
"""

from typing import Protocol
from urllib.parse import urlencode

import msgspec

from tooltray.carriers.rest.operation import Arguments, Call, Operation, always
from tooltray.foundation.snapshots.activity import (
    ActivityCounts,
    ActivityDetails,
    ActivityFigures,
    ActivityFilter,
    ActivityPoint,
    ActivityRow,
)
from tooltray.records.audit.api import AuditApi
from tooltray.records.journal.api import ActivityApi

PATH = "/api/mcp/activity"
MOST_IN_A_PAGE = 200  # where nothing else is asked for
LISTS = {"kind": "kinds", "outcome": "outcomes", "client": "clients", "session": "sessions", "project": "projects", "server": "servers"}
"""Members of a filter that take several values, by the name of one in a query."""


class RowsQuery(msgspec.Struct, frozen=True):
    """What happened, newest first: calls, questions, approvals, starts, stops and failures.

    `limit` rows at most; the next ones come with `before` = `firstId` of the last one, which is the link `next`. `collapsed` makes one
    row of neighbours that are the same. All else says which are meant, `since` and `until` in unix seconds.
    """

    before: int = 0
    limit: int = MOST_IN_A_PAGE
    collapsed: bool = False
    text: str = ""
    kind: str = ""
    outcome: str = ""
    client: str = ""
    session: str = ""
    project: str = ""
    server: str = ""
    tool: str = ""
    since: float = 0.0
    until: float = 0.0


class Asks(Protocol):
    """What operations take where that is not as the verb has it."""

    async def entry(self, id: str) -> ActivityDetails:
        """One thing that happened, in full: by its number, or a call by the `tool_call_id` of its event."""

    async def series(
        self, bars: int = 96, client: str = "", server: str = "", tool: str = "", since: float = 0.0, until: float = 0.0
    ) -> list[ActivityPoint]:
        """The calls of equal stretches of time, the earliest first; without `since` those of 24 hours."""

    async def figures(
        self, by: str, client: str = "", server: str = "", tool: str = "", since: float = 0.0, until: float = 0.0
    ) -> list[ActivityFigures]:
        """Calls, failures, tokens and times of each server, client or tool."""

    async def counts(
        self, text: str = "", kind: str = "", client: str = "", server: str = "", tool: str = "", since: float = 0.0, until: float = 0.0
    ) -> ActivityCounts:
        """How many entries there are, and how many of them failed or were refused."""


def _filter(arguments: Arguments) -> ActivityFilter:
    lists = {member: (arguments[one],) for one, member in (*LISTS.items(), ("tool", "tools")) if arguments.get(one)}
    return ActivityFilter(text=arguments.get("text", ""), since=arguments.get("since", 0.0), until=arguments.get("until", 0.0), **lists)


async def _rows(call: Call) -> list[ActivityRow]:
    given = call.arguments
    limit = given.get("limit", MOST_IN_A_PAGE)
    rows = await call.presenter.activity.get_activity(_filter(given), given.get("before", 0), limit, given.get("collapsed", False))
    if rows and len(rows) >= limit:
        asked = {name: str(value).lower() if isinstance(value, bool) else value for name, value in given.items()}
        call.headers["Link"] = f'<{PATH}?{urlencode({**asked, "before": rows[-1].first_id})}>; rel="next"'
    return rows


async def _entry(call: Call) -> ActivityDetails:
    id = call.arguments["id"]
    return await call.presenter.activity.get_activity_entry(int(id) if id.isdecimal() and len(id) <= 18 else id)


async def _series(call: Call) -> list[ActivityPoint]:
    return await call.presenter.activity.get_activity_series(_filter(call.arguments), call.arguments.get("bars", 96))


async def _figures(call: Call) -> list[ActivityFigures]:
    return await call.presenter.activity.get_activity_figures(call.arguments["by"], _filter(call.arguments))


async def _counts(call: Call) -> ActivityCounts:
    return await call.presenter.activity.count_activity(_filter(call.arguments))


OPERATIONS = (
    Operation("GET", "/mcp/activity", ActivityApi.get_activity, asks=RowsQuery, run=_rows, also=(ActivityApi.get_recent_calls,)),
    Operation("GET", "/mcp/activity/series", ActivityApi.get_activity_series, asks=Asks.series, run=_series),
    Operation("GET", "/mcp/activity/figures", ActivityApi.get_activity_figures, asks=Asks.figures, run=_figures),
    Operation("GET", "/mcp/activity/counts", ActivityApi.count_activity, asks=Asks.counts, run=_counts),
    Operation("GET", "/mcp/activity/choices", ActivityApi.get_activity_choices),
    Operation("GET", "/mcp/activity/now", ActivityApi.get_calls_now),
    Operation("GET", "/mcp/activity/tools", ActivityApi.get_tool_use),
    Operation("GET", "/mcp/activity/journal", ActivityApi.get_journal_status),
    Operation("POST", "/mcp/activity/export", ActivityApi.export_activity, wrap="entries", needs_trust=always),
    Operation("POST", "/mcp/activity/clear", ActivityApi.clear_activity, status=204, needs_trust=always),
    Operation("POST", "/mcp/activity/undo-clear", ActivityApi.undo_clear_activity, status=204, needs_trust=always),
    Operation("GET", "/mcp/audit", AuditApi.get_audit, scope="manage"),
    Operation("GET", "/mcp/audit/check", AuditApi.verify_audit, scope="manage"),
    Operation("GET", "/mcp/activity/{id}", ActivityApi.get_activity_entry, asks=Asks.entry, run=_entry, scope="manage"),
)
