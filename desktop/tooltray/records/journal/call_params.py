"""Facts of a call that the journal reads from its params: its target, and the trace that it belongs to.

The target is one line: a path, a host, the first two words of a command, or the name of a thing; never more of the arguments. The argument
with the target is recognised by its name, as servers usually call it; a call without such an argument has no known target.

The trace context is passed on unchanged: nothing that handles a call reads it. It is neither read from nor written to an HTTP header: the
protocol has it only in `_meta`. The journal and the export of traces read it when the call has ended.
"""

import shlex
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TypeAlias
from urllib.parse import unquote, urlsplit

import msgspec
from msgspec import Raw

from tooltray.foundation.lazy_patterns import lazy_pattern
from tooltray.protocol.envelope import NOTHING, load

LONGEST_TARGET = 120  # characters
TARGET_BELOW_BYTES = 2**18  # of params; finding the ends of all values in more would cost the journal's thread milliseconds
LONGEST_VALUE_BYTES = 65_536  # of an argument; a longer one is a file's content
LONGEST_COMMAND = 2_000  # characters that are split into words
COMMANDS = ("command", "cmd", "shellcommand", "commandline")
PATHS = (
    *("path", "filepath", "file", "filename", "source", "sourcepath", "oldpath", "src", "notebookpath", "targetfile", "relativepath"),
    *("absolutepath", "directory", "directorypath", "dir", "folder", "repopath", "rootpath", "paths", "files", "filepaths"),
)
TARGETS = ("destination", "destinationpath", "newpath", "dst", "target", "to")
"""Destinations; they count only in a call that also has one of PATHS."""
ADDRESSES = ("url", "uri", "urls", "href", "link", "endpoint", "host", "hostname", "domain", "website")
NAMES = ("name", "names", "entityname", "entitynames", "title", "id", "ids", "repo", "repository", "branch", "table")
"""Names of things; they count in a call that has none of the others."""
_KNOWN = frozenset((*COMMANDS, *PATHS, *TARGETS, *ADDRESSES, *NAMES))
_ASSIGNMENT = lazy_pattern(r"[A-Za-z_]\w*=")
_SHORT_OPTION = lazy_pattern(r"-[A-Za-z]{1,2}|--[a-z-]+")  # a longer one may be a password: -pSECRET
_ADDRESS = lazy_pattern(r"[A-Za-z][A-Za-z0-9+.-]*://")
LONGEST_CONTEXT = 512  # characters of each part of a trace context; W3C lets a tracestate have as many
TRACE_BELOW_BYTES = 2**20  # of params; reading them all costs the journal's thread a millisecond
TRACEPARENT = b'"traceparent"'  # nothing else is read without it
MOST_NAMES = 1_000  # of arguments that are remembered
TRACE_ID = lazy_pattern(r"[0-9a-f]{32}")
_TRACEPARENT = lazy_pattern(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?")
_OLDEST, _INVALID = "00", "ff"

_Text: TypeAlias = str | int | float | bool | list[Raw] | dict[str, Raw] | None
"""The values may be of any type; only texts count."""


class _Call(msgspec.Struct):
    arguments: Raw = NOTHING


_CALL = msgspec.json.Decoder(_Call)
_MEMBERS = msgspec.json.Decoder(dict[str, Raw])


def target_of(params: Raw) -> str:
    """Returns the target; empty if it is not known. It is neither masked nor cleaned for display yet. `params`: of `tools/call`, as
    JSON.
    """
    if not params or len(memoryview(params)) > TARGET_BELOW_BYTES:
        return ""
    try:
        given = _MEMBERS.decode(arguments_of(params) or b"{}")
        known = {name: raw for each, raw in given.items() if (name := plain_name(each)) in _KNOWN}
        return _line({name: load(raw) for name, raw in known.items() if len(memoryview(raw)) <= LONGEST_VALUE_BYTES}) if known else ""
    except (ValueError, RecursionError):
        return ""


def arguments_of(params: Raw) -> Raw:
    """Returns the arguments of a `tools/call`; empty if it has none, or the params are malformed."""
    try:
        return _CALL.decode(params or b"{}").arguments
    except (ValueError, RecursionError):
        return NOTHING


@lru_cache(MOST_NAMES)
def plain_name(name: str) -> str:
    """Normalizes a name: `file_path`, `filePath` and `file-path` become the same."""
    return name.replace("_", "").replace("-", "").lower()


def _line(arguments: Mapping[str, object]) -> str:
    if command := next(_given(arguments, COMMANDS), ""):
        return _first_words(command)
    if path := next(_given(arguments, PATHS), ""):
        to = next(_given(arguments, TARGETS), "")
        return f"{_place(path)} → {_place(to)}" if to else _place(path)
    return _place(next(_given(arguments, ADDRESSES), "") or next(_given(arguments, NAMES), ""))


def _given(arguments: Mapping[str, object], names: tuple[str, ...]) -> Iterator[str]:
    for name in names:
        value = arguments.get(name)
        if isinstance(value, list) and value:
            value = " ".join(map(str, value)) if name in COMMANDS else value[0]
        if isinstance(value, str) and value.strip():
            yield value.strip()


def _place(value: str) -> str:
    """Returns a path as it is; of an address only the host: a key may follow it, and a password may precede it."""
    if not _ADDRESS.match(value):
        return value.partition("?")[0] if "://" not in value else ""
    try:
        parts = urlsplit(value)
        if parts.scheme.lower() == "file":
            return unquote(parts.path)
        return parts.hostname or f"{parts.scheme}:"
    except ValueError:
        return ""


def _first_words(command: str) -> str:
    """Returns the first words of a command, without the variables set in front of it, and without options that could hold a value."""
    try:
        words = shlex.split(command[:LONGEST_COMMAND])
    except ValueError:  # a quote that is not closed
        words = command[:LONGEST_COMMAND].split()
    while words and _ASSIGNMENT.match(words[0]):
        words.pop(0)
    shown = [_place(word) for word in words[:2]]
    if len(shown) == 2 and (shown[1].startswith("-") or "=" in shown[1]) and not _SHORT_OPTION.fullmatch(shown[1]):
        shown.pop()
    return " ".join(shown)


class _Meta(msgspec.Struct):
    traceparent: _Text = ""
    tracestate: _Text = ""
    baggage: _Text = ""


class _Request(msgspec.Struct):
    meta: _Meta = msgspec.field(name="_meta", default_factory=_Meta)


class TraceContext(msgspec.Struct, frozen=True, omit_defaults=True):
    """A client's trace context (W3C Trace Context and Baggage, SEP-414), each part unchanged, but no longer than LONGEST_CONTEXT."""

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
    if not params or len(memoryview(params)) > TRACE_BELOW_BYTES or TRACEPARENT not in bytes(params):
        return None
    try:
        meta = msgspec.json.decode(params, type=_Request).meta
    except (ValueError, RecursionError):
        return None
    parent = _text(meta.traceparent)
    if not _is_valid(parent):
        return None
    return TraceContext(parent, _text(meta.tracestate), _text(meta.baggage))


def _text(value: _Text) -> str:
    return value[:LONGEST_CONTEXT] if isinstance(value, str) else ""


def _is_valid(parent: str) -> bool:
    found = _TRACEPARENT.fullmatch(parent)
    if not found or found[1] == _INVALID or (found[1] == _OLDEST and len(parent) > 55):
        return False
    return bool(int(found[2], 16) and int(found[3], 16))
