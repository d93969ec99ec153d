"""The trace context of a call (W3C Trace Context and Baggage), as clients put it into `_meta` (SEP-414).

It is passed on unchanged: nothing that handles a call reads it. It is neither read from nor written to an HTTP header: the protocol has it
only in `_meta`. The journal and the export of traces read it when the call has ended.
"""

import re
from typing import TypeAlias

import msgspec
from msgspec import Raw

LONGEST = 512  # characters of each; W3C lets a tracestate have as many
READ_BELOW_BYTES = 2**20  # of params; reading them all costs the journal's thread a millisecond
TRACE_ID = re.compile(r"[0-9a-f]{32}")
_TRACEPARENT = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?")
_OLDEST, _INVALID = "00", "ff"

_Text: TypeAlias = str | int | float | bool | list[Raw] | dict[str, Raw] | None
"""The values may be of any type; only texts count."""


class _Meta(msgspec.Struct):
    traceparent: _Text = ""
    tracestate: _Text = ""
    baggage: _Text = ""


class _Params(msgspec.Struct):
    meta: _Meta = msgspec.field(name="_meta", default_factory=_Meta)


class TraceContext(msgspec.Struct, frozen=True, omit_defaults=True):
    """A client's trace context, each of the three unchanged, but no longer than LONGEST."""

    traceparent: str
    tracestate: str = ""
    baggage: str = ""

    @property
    def trace_id(self) -> str:
        """32 hexadecimal digits."""
        return self.traceparent[3:35]

    @property
    def parent_id(self) -> str:
        """The id of the client's span: 16 hexadecimal digits."""
        return self.traceparent[36:52]

    @property
    def is_sampled(self) -> bool:
        """Whether the client records this trace."""
        return bool(int(self.traceparent[53:55], 16) & 1)


def read_trace(params: Raw) -> TraceContext | None:
    """Returns the context in a request's params; None if they have none, or one that the standard calls invalid."""
    if not params or len(memoryview(params)) > READ_BELOW_BYTES:
        return None
    try:
        meta = msgspec.json.decode(params, type=_Params).meta
    except (ValueError, RecursionError):
        return None
    parent = _text(meta.traceparent)
    if not _is_valid(parent):
        return None
    return TraceContext(parent, _text(meta.tracestate), _text(meta.baggage))


def _text(value: _Text) -> str:
    return value[:LONGEST] if isinstance(value, str) else ""


def _is_valid(parent: str) -> bool:
    found = _TRACEPARENT.fullmatch(parent)
    if not found or found[1] == _INVALID or (found[1] == _OLDEST and len(parent) > 55):
        return False
    return bool(int(found[2], 16) and int(found[3], 16))
