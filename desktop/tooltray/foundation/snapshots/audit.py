"""The audit trail: who allowed or refused what, in which way, and whether the trail is complete and unchanged."""

from collections.abc import Mapping

import msgspec


class AuditEntry(msgspec.Struct, frozen=True, omit_defaults=True):
    """One decision, without secrets and without the arguments of a call."""

    number: int  # from 1; the next decision has the next number
    at: float  # unix seconds
    what: str  # was decided, as the beginning of a sentence: "Allowing tool calls"
    answer: str  # "yes", "no", "late" (not answered in time), "gone" (the asker has gone), or "narrowed" (revoked)
    way: str  # "window", "terminal", "passphrase", "program" (REST), "client" (a form of an AI client), "script"; empty: by itself
    who: str = ""  # the name of a program's token, or of an AI client
    origin: str = ""  # the processes that it came from, the nearest first
    verb: str = ""  # of the API
    about: Mapping[str, str] = {}  # names of what it is about: server, tool, folder, definition, ...
    previous: str = ""  # SHA-256 of the line before


class AuditCheck(msgspec.Struct, frozen=True):
    """The result of a check that the audit trail is as it was written."""

    is_whole: bool
    first: int  # the oldest number that is kept; 0: nothing was recorded yet
    last: int
    problems: tuple[str, ...] = ()
