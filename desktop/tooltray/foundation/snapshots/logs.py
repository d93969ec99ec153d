"""Logs, a page at a time: what servers wrote, what the hub recorded, and the protocol messages that a person had recorded."""

import msgspec

from tooltray.foundation.errors import Problem

LEVELS = ("error", "warning", "info", "debug")
"""What a line can be; one that says nothing of itself has none."""

HUB, SERVER, MESSAGES = "hub", "server:", "messages:"
"""Sources: the hub's own log, and the beginnings of those of a server, which its name follows."""


START = ":0"
"""The place before the oldest line, for `after`."""


class LogLine(msgspec.Struct, frozen=True):
    """One line. Its text is plain, on one line, without secrets.

    Attributes:
        position: of this line, for `before` and `after`.
        at: when it arrived, in unix seconds; 0: not known.
        level: one of LEVELS, or empty.
        kind: "output": a server wrote it; "mark": the state that a server has entered, by its value, and why; "record": of the hub;
            "message": of the protocol.
        detail: of a record or a message, as JSON; of a mark, why.
        direction: of a message: "out" to the server, "in" from it.
        ms: of a message that answers another one: how long that took.
        is_cut: it was longer.
    """

    position: str
    at: float
    text: str
    level: str = ""
    kind: str = "output"
    detail: str = ""
    direction: str = ""
    ms: float | None = None
    is_cut: bool = False


class LogFilter(msgspec.Struct, frozen=True):
    """Which lines are meant; an empty field means all.

    Attributes:
        text: found in the line, in whatever case; in records and messages also in their fields.
        levels: of LEVELS; lines that are indented belong to the one above them.
        since, until: unix seconds; `since` is in, `until` is not; 0: no bound.
    """

    text: str = ""
    levels: tuple[str, ...] = ()
    since: float = 0.0
    until: float = 0.0


ALL_LINES = LogFilter()


class LogPage(msgspec.Struct, frozen=True):
    """Some lines in a row, oldest first.

    One answer looks at a bounded number of bytes, so that a search can be ended and shows how far it is.

    Attributes:
        before: where older lines follow; empty: there are none.
        after: where newer ones follow; those to come, too.
        is_partial: fewer lines were found than asked for, and the search is not at its end: it goes on at `before` (or `after`).
        reached_at: the time of the last line that was looked at; 0: not known.
        searched_bytes: how much was looked at for this page.
        total_bytes: of the whole log.
        recorded_until: of messages: until when they are recorded; 0: they are not.
        problem: why lines are missing; None: none are.
    """

    lines: tuple[LogLine, ...] = ()
    before: str = ""
    after: str = ""
    is_partial: bool = False
    reached_at: float = 0.0
    searched_bytes: int = 0
    total_bytes: int = 0
    recorded_until: float = 0.0
    problem: Problem | None = None
