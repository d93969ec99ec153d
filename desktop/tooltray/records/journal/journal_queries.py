"""The journal's queries in SQL. These functions make statements and read their rows; they open nothing."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import msgspec

from tooltray.foundation.snapshots.activity import ActivityDetails, ActivityEntry, ActivityFilter, ActivityTimes
from tooltray.records.journal.call_params import TRACE_ID
from tooltray.records.journal.journal_file import NAMED

MOST_CHOICES = 500  # of each kind, in a filter; no user chooses more by hand
SEARCHED = ("server", "tool", "client", "project")
"""The names in which a text is looked for."""
LARGEST_ID = 2**63 - 1
MAX_TEXT = 200  # characters that are searched for
_SHOWN = (
    "entries.id, kind, at, outcome, duration, client, session, project, server, tool, published, argument_bytes, result_bytes, tokens,"
    " said, has_contents, at + duration + coalesce(person_s, 0.0)"
)
TIMES = ("queue_s", "person_s", "start_s", "server_s", "back_s")
_FIRST_NAME = 5
_LAST_NAME = _FIRST_NAME + len(NAMED)
Row: TypeAlias = tuple[Any, ...]
"""Of SQLite, which has columns of any type."""


class Where(msgspec.Struct, frozen=True):
    """A condition on the table `entries`, and the values of its question marks."""

    sql: str
    values: tuple[object, ...] = ()

    def also(self, sql: str, *values: object) -> "Where":
        return Where(f"{self.sql} AND {sql}", (*self.values, *values))


def condition(wanted: ActivityFilter, cleared: int, run: str, named: Sequence[int]) -> Where:
    """Returns the condition for a filter.

    Args:
        cleared: entries up to this id were cleared.
        run: marks sessions of the running hub, see `kept_session`.
        named: the numbers of the names that contain the text, as `names_sql` finds them.
    """
    where = Where("entries.id > ?", (cleared,))
    for column, chosen in (("kind", wanted.kinds), ("outcome", wanted.outcomes)):
        if chosen:
            where = where.also(f"{column} IN ({_marks(chosen)})", *map(as_text, chosen[:MOST_CHOICES]))
    sessions = tuple(kept_session(each, run) for each in wanted.sessions)
    of_names = (wanted.clients, sessions, wanted.projects, wanted.servers, wanted.tools)
    for column, chosen in zip(NAMED, of_names, strict=False):
        if chosen:
            where = where.also(f"{column} IN (SELECT id FROM names WHERE text IN ({_marks(chosen)}))", *map(as_text, chosen[:MOST_CHOICES]))
    if wanted.since:
        where = where.also("at >= ?", wanted.since)
    if wanted.until:
        where = where.also("at < ?", wanted.until)
    return _with_text(where, _patterns(wanted.text), named) if wanted.text.strip() else where


def as_id(number: int) -> int:
    """Converts a number to an id for SQLite; a number beyond 64 bits is not an entry's id, and becomes the nearest that fits."""
    return max(-LARGEST_ID, min(number, LARGEST_ID))


def as_text(text: str) -> str:
    """Converts a text for SQLite: replaces halves of surrogate pairs, which JSON may contain but no entry does."""
    return text.encode("utf-8", "replace").decode()


def names_sql(text: str) -> tuple[str, tuple[str, ...]]:
    """Makes the query for the numbers of the names that contain a text. It is fast, because entries share few names."""
    patterns = _patterns(text)
    return f"SELECT id FROM names WHERE {_like('text', patterns)}", patterns


def _with_text(where: Where, patterns: Sequence[str], named: Sequence[int]) -> Where:
    """Adds the condition that a text occurs in a field that a list shows."""
    said = _like("said", patterns)
    numbers = ", ".join(map(str, named))
    of_names = [f"{column} IN ({numbers})" for column in SEARCHED] if named else []
    trace = patterns[0].strip("%").lower()
    of_trace = (trace,) if TRACE_ID.fullmatch(trace) else ()
    return where.also(f"({' OR '.join([said, *of_names, *['trace = ?'] * len(of_trace)])})", *patterns, *of_trace)


def _like(column: str, patterns: Sequence[str]) -> str:
    return " OR ".join([f"{column} LIKE ? ESCAPE '\\'"] * len(patterns))


def _patterns(text: str) -> tuple[str, ...]:
    """Returns patterns for LIKE, which ignores only the case of ASCII: a text with other letters is searched for in several cases."""
    text = as_text(text.strip()[:MAX_TEXT])
    cases = (text,) if text.isascii() else dict.fromkeys((text, text.lower(), text.upper(), text.title()))
    return tuple(f"%{_escaped(each)}%" for each in cases)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def _marks(chosen: Sequence[object]) -> str:
    return ", ".join("?" * min(len(chosen), MOST_CHOICES))


# rows


def entries_sql(where: Where) -> str:
    return f"SELECT {_SHOWN} FROM entries WHERE {where.sql} ORDER BY entries.id DESC LIMIT ?"


def numbers_of(rows: Iterable[Row]) -> set[int]:
    """Returns the numbers of all names in rows of `entries_sql`."""
    return {number for row in rows for number in row[_FIRST_NAME:_LAST_NAME]}


def read_entry(row: Row, names: Mapping[int, str], run: str) -> ActivityEntry:
    """Reads an entry from a row.

    Args:
        row: of `entries_sql`.
        names: by their numbers.
    """
    id, kind, at, outcome, duration_s = row[:_FIRST_NAME]
    client, session, project, server, tool, published = (names.get(number, "") for number in row[_FIRST_NAME:_LAST_NAME])
    argument_bytes, result_bytes, tokens, said, has_contents, ended_at = row[_LAST_NAME:]
    touched, _, reason = said.partition("\n")
    return ActivityEntry(
        id=id,
        kind=kind,
        at=at,
        outcome=outcome,
        duration_s=duration_s,
        client=client,
        session=shown_session(session, run),
        project=project,
        server=server,
        tool=tool,
        published=published,
        argument_bytes=argument_bytes,
        result_bytes=result_bytes,
        tokens=tokens,
        touched=touched,
        reason=reason,
        has_contents=bool(has_contents),
        ended_at=ended_at,
    )


def details_sql(where: Where, order: str) -> str:
    """Makes the query for entries in full. `order`: of the ids, "ASC" or "DESC"."""
    more = f"{', '.join(TIMES)}, trace, trace_context, allowed_by, contents.arguments, contents.result, contents.is_cut, contents.diff"
    joined = "entries LEFT JOIN contents ON contents.id = entries.id"
    return f"SELECT {_SHOWN}, {more} FROM {joined} WHERE {where.sql} ORDER BY entries.id {order} LIMIT ?"


def read_details(row: Row, names: Mapping[int, str], run: str) -> ActivityDetails:
    """Reads an entry in full from a row of `details_sql`; the other arguments as of `read_entry`."""
    count = len(row) - len(TIMES) - 7
    *times, trace, trace_context, allowed_by, arguments, result, is_cut, diff = row[count:]
    return ActivityDetails(
        entry=read_entry(row[:count], names, run),
        times=ActivityTimes(**dict(zip(TIMES, times, strict=True))),
        arguments=arguments or "",
        result=result or "",
        is_cut=bool(is_cut),
        allowed_by=allowed_by,
        trace_id=trace,
        trace_context=trace_context,
        diff=tuple(diff.split("\n")) if diff else (),
    )


def kept_session(session: str, run: str) -> str:
    """Adds the run of the hub to a session's id, because each hub counts its sessions from 1. Ids of earlier hubs have their run
    already.
    """
    return session if not session or not run or "." in session else f"{session}.{run}"


def shown_session(kept: str, run: str) -> str:
    """Removes the running hub's run from a session's id."""
    return kept.removesuffix(f".{run}")
