"""Lines of logs: plain text, level, format."""

import json

import pytest

from tooltray.foundation.snapshots.activity import LEVELS, LogLine
from tooltray.servers.logs.log_files import Found
from tooltray.servers.logs.log_lines import (
    HUB_FORMAT,
    MARK,
    OUTPUT,
    SERVER_FORMAT,
    WORDS,
    level_behind,
    level_of,
    plain_line,
    read_stamp,
    server_line,
    stamp,
)

ODD = "\N{REPLACEMENT CHARACTER}"
LINES = {
    "2026-11-25 19:15:13,123 - server.py - ERROR - no such table": "error",
    "WARNING:root:disk nearly full": "warning",
    "[11/25/26 19:15:13] INFO     Processing request of type ListToolsRequest      server.py:534": "info",
    "DEBUG postgres_mcp.sql.pool  opening": "debug",
    "Traceback (most recent call last):": "error",
    "KeyError: 'a'": "error",
    "requests.exceptions.ConnectionError: refused": "error",
    "error: unrecognized arguments: -n": "error",
    "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'zod'": "error",
    "TypeError: Cannot read properties of undefined (reading 'x')": "error",
    "npm error code E404": "error",
    "npm warn deprecated glob@7": "warning",
    "npm notice New major version": "info",
    '{"level":50,"time":1,"msg":"boom"}': "error",
    '{"level":40,"msg":"slow"}': "warning",
    '{"level":30,"msg":"ready"}': "info",
    '{"level":10,"msg":"x"}': "debug",
    '{"time":"2026","msg":"a long text","severity":"WARNING"}': "warning",
    '{"msg":"INFO of something"}': "",
    f'{{"msg":"{"x" * 3900}","level":"error"}}': "error",
    f'{{"msg":"{"x" * 4000}","level":"error"}}': "",
    f"{'x' * 230} ERROR": "error",
    f"{'x' * 240} ERROR": "",
    'time=2026-11-25T19:15:13Z level=warn msg="retry"': "warning",
    'ts=1 lvl=eror msg="x"': "error",
    "<3>kernel says level=3": "error",
    "level=4 syslog": "warning",
    "level=6 syslog": "info",
    "level=7 syslog": "debug",
    "2026/11/25 19:15:13 INFO listening addr=:8080": "info",
    "I1125 19:15:13.000000    1 main.go:1] up": "info",
    "E1125 19:15:13.000000    1 main.go:1] down": "error",
    "panic: runtime error: index out of range": "error",
    "goroutine 1 [running]:": "error",
    "thread 'main' panicked at src/main.rs:2:5:": "error",
    "2026-11-25T19:15:13.123Z  WARN my_server::pool: slow": "warning",
    "[warn] something": "warning",
    "no error was found in 3 files": "",
    "Listening on stdio": "",
    "the word information means nothing": "",
    "": "",
}
AT = 1_795_600_000.123


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("\x1b[1;31mERROR\x1b[0m it broke", "ERROR it broke"),
        ("\x1b]0;a title\x07text", "text"),
        ("\x1b]8;;http://x\x1b\\a link\x1b]8;;\x1b\\", "a link"),
        ("10 %\r50 %\r100 %", "100 %"),
        ("a line of Windows\r", "a line of Windows"),
        ("tab\tstays", "tab\tstays"),
        ("bell\x07 null\x00", f"bell{ODD} null{ODD}"),
        ("turned \u202eback", f"turned {ODD}back"),
        ("half \ud800", f"half {ODD}"),
        ("<b>no markup</b> &amp; 資料 🎉", "<b>no markup</b> &amp; 資料 🎉"),
    ],
)
def test_a_line_of_a_server_is_plain_text_on_one_line(written: str, shown: str) -> None:
    assert plain_line(written) == shown


@pytest.mark.parametrize("line", LINES)
def test_a_line_has_the_level_that_its_logger_writes(line: str) -> None:
    assert level_of(line) == LINES[line]


def test_what_is_indented_and_the_exception_behind_it_belong_to_the_line_above() -> None:
    assert level_behind('  File "x.py", line 1, in f', "error") == "error"
    assert level_behind("\tat main (x.js:1:2)", "warning") == "warning"
    assert level_behind("psycopg_pool.PoolTimeout: 30 s", "error") == "error"
    assert level_behind("psycopg_pool.PoolTimeout: 30 s", "info") == ""
    assert level_behind("INFO up again", "error") == "info"


def test_no_line_of_a_level_is_passed_over_for_want_of_its_words() -> None:
    """A piece of a log is looked at only if one of these words is in it."""
    assert tuple(WORDS) == LEVELS
    for line, level in LINES.items():
        if level and WORDS[level]:
            assert any(word in f"\n| {line}".lower().encode() for word in WORDS[level]), line


def read(line: str | bytes, before: str = "") -> LogLine | None:
    data = line.encode() if isinstance(line, str) else line
    return SERVER_FORMAT.line("1:0", Found(0, len(data), data.rstrip(b"\n")), before)


def test_what_a_server_wrote_is_read_as_it_was_kept() -> None:
    assert server_line(AT, OUTPUT, "it works") == "2026-11-25T09:46:40.123Z | it works\n"
    assert read(server_line(AT, OUTPUT, "ERROR  it broke")) == LogLine("1:0", AT, "ERROR  it broke", "error")
    assert read(server_line(AT, OUTPUT, "  in f"), "error") == LogLine("1:0", AT, "  in f", "error")
    assert read(server_line(AT, OUTPUT, "")) == LogLine("1:0", AT, "")


def test_a_server_cannot_write_a_mark_or_a_line_of_another_time() -> None:
    line = read(server_line(AT, OUTPUT, "x\n2020-01-01T00:00:00.000Z = stopped"))
    assert line is not None
    assert (line.kind, line.at) == ("output", AT)


def test_a_mark_has_its_state_and_why() -> None:
    assert read(server_line(AT, MARK, "running")) == LogLine("1:0", AT, "running", kind="mark")
    assert read(server_line(AT, MARK, "error it ended")) == LogLine("1:0", AT, "error", "error", "mark", "it ended")


def test_half_a_line_is_shown_as_what_it_is() -> None:
    assert read("lf a line of a full disk") == LogLine("1:0", 0.0, "lf a line of a full disk", is_cut=True)
    for end in (b"", b" ", b" |"):
        assert read(b"2026-11-25T09:46:40.123Z" + end) == LogLine("1:0", AT, "")
    assert read("") is None


@pytest.mark.parametrize("text", ["", "2026-11-25 09:46:40.123Z", "2026-11-25T09:46:40.123Zz", "x" * 24])
def test_what_is_no_time_is_none(text: str) -> None:
    assert read_stamp(text.encode()) == 0.0
    assert read_stamp(stamp(AT).encode()) == AT


@pytest.mark.parametrize(
    ("date", "is_one"),
    [
        *((date, True) for date in ("2026-01-01", "2026-12-31")),
        *((date, False) for date in ("2026-00-01", "2026-13-01", "2026-01-00", "2026-01-32", "0000-01-01")),
    ],
)
def test_only_days_of_a_calendar_are_times(date: str, is_one: bool) -> None:
    at = read_stamp(f"{date}T12:34:56.789Z".encode())
    assert (stamp(at) == f"{date}T12:34:56.789Z") is is_one
    assert bool(at) is is_one


def hub_line(record: object) -> LogLine | None:
    data = record if isinstance(record, bytes) else json.dumps(record, separators=(",", ":")).encode()
    return HUB_FORMAT.line("1:0", Found(0, len(data), data), "")


@pytest.mark.parametrize(
    ("fields", "level"),
    [
        ({"event": "log", "level": "warning"}, "warning"),
        ({"event": "log", "level": "critical"}, "error"),
        ({"event": "error"}, "error"),
        ({"event": "response_error"}, "error"),
        ({"event": "request_received"}, "info"),
    ],
)
def test_a_record_of_the_hub_has_a_level_and_its_fields(fields: dict[str, str], level: str) -> None:
    record = {"timestamp": stamp(AT), "component": "tooltray", "summary": "it \x1b[31mhappened", **fields}
    line = hub_line(record)
    assert line is not None
    assert (line.at, line.level, line.kind, line.text) == (AT, level, "record", "tooltray: it happened")
    assert json.loads(line.detail) == record
    assert HUB_FORMAT.time_of(json.dumps(record, separators=(",", ":")).encode()) == AT


def test_what_is_no_record_is_shown_as_text() -> None:
    assert hub_line(b'{"timestamp":"2026-11') == LogLine("1:0", 0.0, '{"timestamp":"2026-11', is_cut=True)
    assert hub_line(b"[1]") == LogLine("1:0", 0.0, "[1]", is_cut=True)
    assert hub_line(b"  ") is None
    assert hub_line({"event": "x"}) == LogLine("1:0", 0.0, "x", "info", "record", '{"event":"x"}')


def test_a_text_is_looked_for_as_it_stands_in_the_file() -> None:
    assert SERVER_FORMAT.as_bytes('a "b"') == b'a "b"'
    assert HUB_FORMAT.as_bytes('a "b" é') == 'a \\"b\\" é'.encode()
