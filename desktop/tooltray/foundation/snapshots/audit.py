"""What people decided: who allowed or refused what, by which way, and whether that record is whole."""

from collections.abc import Mapping

import msgspec


class AuditEntry(msgspec.Struct, frozen=True, omit_defaults=True):
    """One decision. No secret and no argument of a call is in it."""

    number: int  # from 1; the next decision has the next number
    at: float  # unix seconds
    what: str  # was decided, as the beginning of a sentence: "Allowing tool calls"
    answer: str  # "yes", "no", "late" (nobody answered in time), "gone" (who asked has gone), or "narrowed" (taken back)
    way: str  # "window", "terminal", "passphrase", "program" (REST), "client" (a form of an AI client), "script"; empty: by itself
    who: str = ""  # the name of a program's token, or of an AI client
    origin: str = ""  # the processes that it came from, the nearest first
    verb: str = ""  # of the API
    about: Mapping[str, str] = {}  # names of what it is about: server, tool, folder, definition, ...
    previous: str = ""  # SHA-256 of the line before


class AuditCheck(msgspec.Struct, frozen=True):
    """Whether the record of decisions is as it was written."""

    is_whole: bool
    first: int  # the oldest number that is kept; 0: nothing was recorded yet
    last: int
    problems: tuple[str, ...] = ()
