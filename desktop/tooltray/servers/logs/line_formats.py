"""The format of a line in the file of a server's log, and in the hub's own. A server's log is text that users can read in an editor:

    2026-11-25T19:15:13.123Z | what the server wrote
    2026-11-25T19:15:14.001Z = running

The hub's is JSON Lines, as StructuredLog writes them.
"""

import calendar
import json
import re
import time
from typing import TypeAlias

import msgspec

from tooltray.foundation.snapshots.logs import LEVELS, LogLine
from tooltray.servers.logs.levels import level_behind
from tooltray.servers.logs.log_reader import LineFormat
from tooltray.servers.logs.log_segments import Found
from tooltray.servers.logs.plain_line import plain_line

OUTPUT, MARK = "|", "="
STAMP = len("2026-11-25T19:15:13.123Z")
HEAD = STAMP + len(" | ")
MAX_SUMMARY = 4000  # characters; a record's whole text is in its detail
_STAMPED = re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
_TIMESTAMP = b'"timestamp":"'
_FAILED_STATES = ("error",)

JsonRecord: TypeAlias = dict[str, object]


def stamp(at: float) -> str:
    """Returns a time as it is written in a file. `at`: unix seconds."""
    second, millisecond = divmod(int(at * 1000), 1000)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(second))}.{millisecond:03d}Z"


def read_stamp(text: bytes) -> float:
    """Returns unix seconds; 0: the text is not a time."""
    if len(text) != STAMP or not _STAMPED.fullmatch(text):
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
    begin = line.find(_TIMESTAMP, 0, 200) + len(_TIMESTAMP)
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
