"""The REST operations on logs.

Above it: the table of all operations. Below it: the presenter's API.
"""

import msgspec

from tooltray.carriers.rest.operation import Call, Operation
from tooltray.foundation.snapshots.logs import HUB, LEVELS, LogFilter, LogPage
from tooltray.servers.logs.api import LogsApi


class LogQuery(msgspec.Struct, frozen=True):
    """Lines of a log, oldest first: the newest ones, or those before or after a place that an earlier page gave.

    `source` is `hub`, `server:NAME` or `messages:NAME`; the last one needs a trusted token. `level` is `error`, `warning`, `info` or
    `debug`, and means it and what is worse. `since` and `until` are unix seconds. One answer looks at some megabytes at most: with
    `isPartial` the search goes on at `before` (or `after`).
    """

    source: str = HUB
    text: str = ""
    level: str = ""
    since: float = 0.0
    until: float = 0.0
    before: str = ""
    after: str = ""
    limit: int = 200


async def _read(call: Call) -> LogPage:
    given = call.arguments
    wanted = LogFilter(given.get("text", ""), _levels(given.get("level", "")), given.get("since", 0.0), given.get("until", 0.0))
    place = {name: given[name] for name in ("before", "after", "limit") if name in given}
    return await call.presenter.logs.get_log(given.get("source", HUB), wanted, **place)


def _levels(level: str) -> tuple[str, ...]:
    """A level, and those that are worse; one that is none is left to the verb."""
    return LEVELS[: LEVELS.index(level) + 1] if level in LEVELS else (level,) if level else ()


OPERATIONS = (
    Operation("GET", "/mcp/log", LogsApi.get_log, asks=LogQuery, run=_read),
    Operation("PUT", "/mcp/servers/{server}/messages", LogsApi.set_protocol_log, status=204),
)
