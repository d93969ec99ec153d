"""Logs, a page at a time: the output of servers, the hub's own log, and protocol messages that the user had recorded."""

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
        kind: "output": written by a server; "mark": a state that a server has entered; "record": of the hub; "message": of the protocol.
        detail: of a record or a message, as JSON; of a mark, the reason.
        direction: of a message: "out" to the server, "in" from it.
        ms: of a message that answers another one: the time between them.
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
    """A selection of lines; an empty field selects all.

    Attributes:
        text: contained in the line, in any case; in records and messages also in their fields.
        levels: of LEVELS; indented lines belong to the line before them.
        since, until: unix seconds; from `since` on, and before `until`; 0: no bound.
    """

    text: str = ""
    levels: tuple[str, ...] = ()
    since: float = 0.0
    until: float = 0.0


ALL_LINES = LogFilter()


class LogPage(msgspec.Struct, frozen=True):
    """Some lines in a row, oldest first.

    One page searches a bounded number of bytes, so that a search can be cancelled and shows its progress.

    Attributes:
        before: the position for the next page of older lines; empty: it would be empty.
        after: the position for newer lines, including future ones.
        is_partial: fewer lines were found than requested, and the search is not finished: continue it at `before` (or `after`).
        reached_at: the time of the last line that was searched; 0: not known.
        searched_bytes: how much was searched for this page.
        total_bytes: of the whole log.
        recorded_until: of messages: until when they are recorded; 0: they are not.
        problem: why lines are missing; None: the page is complete.
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
