"""Lines of logs: plain text, their level, and their format in the file of a server's log and in the hub's own. A server's log is text
that users can read in an editor:

    2026-11-25T19:15:13.123Z | what the server wrote
    2026-11-25T19:15:14.001Z = running

The hub's log is JSON Lines, as StructuredLog writes them. Levels are detected by the spellings of programs in Python, Node, Go and Rust.
Only the beginning of a line is searched: words like "error" in the middle of a text do not show its level, while loggers write it in front.
"""

import calendar
import json
import re
import time
from collections.abc import Callable, Mapping
from typing import TypeAlias

import msgspec

from tooltray.foundation.lazy_patterns import lazy_pattern
from tooltray.foundation.snapshots.activity import LEVELS, LogLine
from tooltray.servers.logs.log_files import Found

_ESCAPES = lazy_pattern(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x1b\x07\x9c]{0,4096}(?:\x1b\\|\x07|\x9c)|\x1b[ -/]*[0-~]|\x9b[0-?]*[ -/]*[@-~]"
)
"""Sequences of ECMA-48: colours, cursor movements, titles, links."""
_UNSEEN = lazy_pattern("[\x00-\x08\x0a-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
"""Control characters but the tab, marks of writing direction, separators of lines, halves of characters."""
LOOKED_AT = 240  # characters; time, name and level are in front, at most after a long path
JSON_LOOKED_AT = 4000  # of an object, whose members may be in any order

_NAMES: Mapping[str, str] = {
    **dict.fromkeys(
        ("error", "err", "fatal", "critical", "crit", "panic", "emerg", "emergency", "alert", "severe", "eror", "ftl"), "error"
    ),
    **dict.fromkeys(("warning", "warn", "wrn"), "warning"),
    **dict.fromkeys(("info", "notice", "inf", "information"), "info"),
    **dict.fromkeys(("debug", "trace", "verbose", "silly", "dbg", "trc", "fine"), "debug"),
}
_KEYS = (b"level", b"lvl", b"severity")
WORDS: Mapping[str, tuple[bytes, ...]] = {
    "error": (
        *b"err eror fatal crit panic emerg alert severe ftl exception traceback unhandled goroutine".split(),
        *(b" e", b" f"),
        *_KEYS,
    ),
    "warning": (*b"warn wrn".split(), b" w", *_KEYS),
    "info": (),
    "debug": (*b"debug trace verbose silly dbg trc fine".split(), *_KEYS),
}
"""In lower case: a text without any of these words has no line of that level; empty: the words cannot rule out that level."""

_WORD = "|".join(sorted(_NAMES, key=len, reverse=True))
_NUMBERS = ((50, "error"), (40, "warning"), (30, "info"), (0, "debug"))  # pino and bunyan, from this number on
_KEYED = lazy_pattern(
    rf'(?:^|[\s,{{])"?(?:level|lvl|severity|levelname)"?\s*[=:]\s*"?(?:(?P<number>\d{{1,2}})\b|(?P<word>{_WORD})\b)', re.I
)
_UPPER = lazy_pattern(rf"(?:^|[\s\[(|<:])(?P<word>{_WORD.upper()})(?=$|[\s\]):|>\[,])")
_BRACKETED = lazy_pattern(rf"[\[<(](?P<word>{_WORD})[\]>)]", re.I)
_FIRST = lazy_pattern(rf"^(?:[\d\-:.,TZ+/ ]+ )?(?:\S{{1,40}} )?(?P<word>{_WORD})(?:\[[^\]]*\])?: ", re.I)
_NPM = lazy_pattern(r"^(?:npm|yarn|pnpm) (?P<word>error|err!|warn|notice)", re.I)
_KLOG = lazy_pattern(r"^(?P<word>[IWEF])\d{4} \d\d:")
_FAILURE = lazy_pattern(
    r"^(?:Traceback \(most recent call last\)|thread '.*' (?:\(\d+\) )?panicked at |(?:Uncaught )?(?:[\w$]+\.)*[\w$]*(?:Error|Exception)"
    r"(?: \[\w+\])?(?:: |$)|Unhandled(?:PromiseRejection)?|goroutine \d+ )"
)
_EXCEPTION = lazy_pattern(r"^(?:\w+\.)+[A-Z]\w*(?:: |$)")
_KLOG_NAMES = {"I": "info", "W": "warning", "E": "error", "F": "error"}
OUTPUT, MARK = "|", "="
STAMP = len("2026-11-25T19:15:13.123Z")
HEAD = STAMP + len(" | ")
STAMPED_WITHIN = 200  # bytes of a record
MAX_SUMMARY = 4000  # characters; a record's whole text is in its detail
_STAMPED = lazy_pattern(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
_TIMESTAMP = b'"timestamp":"'
_FAILED_STATES = ("error",)

JsonRecord: TypeAlias = dict[str, object]


def plain_line(text: str) -> str:
    """Returns a text without escape sequences; other invisible characters become `\N{REPLACEMENT CHARACTER}`."""
    if "\x1b" in text or "\x9b" in text:
        text = _ESCAPES.sub("", text)
    text = text.rpartition("\r")[2] if "\r" in text.rstrip("\r") else text.rstrip("\r")  # a progress bar overwrites itself
    return text if text.isprintable() else _UNSEEN.sub("\N{REPLACEMENT CHARACTER}", text)


def level_of(text: str) -> str:
    """Returns the level of a line, one of LEVELS; empty if the line shows none."""
    is_json = text.startswith("{")
    head = text[: JSON_LOOKED_AT if is_json else LOOKED_AT]
    if keyed := _KEYED.search(head):
        return _of_number(int(keyed["number"])) if keyed["number"] else _NAMES[keyed["word"].lower()]
    if is_json:
        return ""
    for pattern in (_UPPER, _BRACKETED, _FIRST):
        if found := pattern.search(head):
            return _NAMES[found["word"].lower()]
    if found := _NPM.match(head):
        return {"e": "error", "w": "warning"}.get(found["word"][0].lower(), "info")
    if found := _KLOG.match(head):
        return _KLOG_NAMES[found["word"]]
    return "error" if _FAILURE.match(head) else ""


def level_behind(text: str, before: str) -> str:
    """Returns the level of a line that continues a line of a level: frames of a stack, and the exception after them, have the same
    level."""
    if belongs_to_last(text) or (before == "error" and _EXCEPTION.match(text)):
        return before
    return level_of(text)


def belongs_to_last(text: str) -> bool:
    """Reports whether a line continues the one above it: a frame of a stack, a wrapped text."""
    return text[:1] in (" ", "\t") or text.startswith(("Caused by", "During handling of the above", "The above exception was"))


def _of_number(number: int) -> str:
    return next((level for lowest, level in _NUMBERS if number >= lowest), "debug") if number > 7 else _of_syslog(number)


def _of_syslog(number: int) -> str:
    """Returns the level for a severity of RFC 5424, where 0 is the worst."""
    return "error" if number <= 3 else "warning" if number == 4 else "info" if number <= 6 else "debug"


class LineFormat(msgspec.Struct, frozen=True):
    """The functions that read a log's lines.

    Attributes:
        line: makes a line of its position, its bytes and the level of the line before; None: it is not a line.
        time_of: a line's time in unix seconds; 0: it has none.
        as_bytes: how a text that is searched would be written in the file.
    """

    line: Callable[[str, Found, str], LogLine | None]
    time_of: Callable[[bytes], float]
    as_bytes: Callable[[str], bytes]


def stamp(at: float) -> str:
    """Returns a time as it is written in a file. `at`: unix seconds."""
    second, millisecond = divmod(int(at * 1000), 1000)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(second))}.{millisecond:03d}Z"


def read_stamp(text: bytes) -> float:
    """Returns unix seconds; 0: the text is not a time."""
    if not _STAMPED.fullmatch(text):
        return 0.0
    year, month, day, hour, minute, second = (int(text[at:end]) for at, end in ((0, 4), (5, 7), (8, 10), (11, 13), (14, 16), (17, 19)))
    if not (1 <= month <= 12 and 1 <= day <= 31 and year):
        return 0.0
    return calendar.timegm((year, month, day, hour, minute, second)) + int(text[20:23]) / 1000


def server_line(at: float, kind: str, text: str) -> str:
    """Returns one line of a server's file, with its end. `kind`: OUTPUT or MARK."""
    return f"{stamp(at)} {kind} {plain_line(text)}\n"


def _server_time(line: bytes) -> float:
    return read_stamp(line[:STAMP])


def _read_server_line(position: str, found: Found, level_before: str) -> LogLine | None:
    line = found.line
    at = _server_time(line)
    if not at:  # half a line, written when the disk was full
        text = plain_line(line.decode(errors="replace"))
        return LogLine(position, 0.0, text, is_cut=True) if text else None
    kind, text = chr(line[STAMP + 1]) if len(line) > STAMP + 1 else OUTPUT, plain_line(line[HEAD:].decode(errors="replace"))
    if kind == MARK:
        state, _, why = text.partition(" ")
        return LogLine(position, at, state, "error" if state in _FAILED_STATES else "", "mark", why)
    return LogLine(position, at, text, level_behind(text, level_before), is_cut=found.is_cut)


def _hub_time(line: bytes) -> float:
    begin = line[:STAMPED_WITHIN].find(_TIMESTAMP) + len(_TIMESTAMP)
    return read_stamp(line[begin : begin + STAMP]) if begin >= len(_TIMESTAMP) else 0.0


def _read_hub_line(position: str, found: Found, level_before: str) -> LogLine | None:
    text = found.line.decode(errors="replace")
    try:
        record: object = msgspec.json.decode(found.line)
    except ValueError:
        record = None
    if not isinstance(record, dict):  # half a line, or another program's
        return LogLine(position, _hub_time(found.line), plain_line(text[:MAX_SUMMARY]), is_cut=True) if text.strip() else None
    component, summary = str(record.get("component", "")), str(record.get("summary", record.get("event", "")))
    shown = plain_line(f"{component}: {summary}" if component else summary)
    return LogLine(position, _hub_time(found.line), shown[:MAX_SUMMARY], _level_of_record(record), "record", text)


def _level_of_record(record: JsonRecord) -> str:
    event, level = record.get("event"), str(record.get("level", ""))
    if level in LEVELS:
        return level
    return "error" if event in ("error", "response_error") or level == "critical" else "info"


SERVER_FORMAT = LineFormat(_read_server_line, _server_time, str.encode)
HUB_FORMAT = LineFormat(_read_hub_line, _hub_time, lambda text: json.dumps(text, ensure_ascii=False)[1:-1].encode())
