"""Pages of a log that is a list, as the hub's verb gives them: positions are the lines' numbers."""

from collections.abc import Sequence

from msgspec.structs import replace

from tooltray.foundation.snapshots.activity import LogFilter, LogLine, LogPage
from tooltray.servers.logs.log_lines import level_of
from tooltray.servers.logs.log_reader import is_wanted


def page_of(log: Sequence[str | LogLine] | LogPage, wanted: LogFilter, before: str = "", after: str = "", limit: int = 200) -> LogPage:
    """
    Args:
        log: oldest first; a text is a line that a server wrote at a time that nobody knows. A page is given as it is.
    """
    if isinstance(log, LogPage):
        return log
    lines = [_line(each, number) for number, each in enumerate(log)]
    first, last = int(after.strip(":") or 0), int(before or len(lines))
    found = [line for line in lines[first:last] if is_wanted(line, wanted, wanted.text.casefold())]
    shown = found[:limit] if after else found[-limit:]
    ends_at = int(shown[-1].position) + 1 if after and len(shown) < len(found) else last if not after else len(lines)
    is_more = not after and len(shown) < len(found)
    return LogPage(
        lines=tuple(shown),
        before=shown[0].position if is_more and shown else "",
        after=str(ends_at),
        searched_bytes=100,
        total_bytes=100 if log else 0,
    )


def _line(each: str | LogLine, number: int) -> LogLine:
    if isinstance(each, LogLine):
        return replace(each, position=str(number))
    return LogLine(str(number), 0.0, each, level_of(each))
