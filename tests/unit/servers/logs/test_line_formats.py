import json

import pytest

from tooltray.foundation.snapshots.logs import LogLine
from tooltray.servers.logs.line_formats import HUB_FORMAT, MARK, OUTPUT, SERVER_FORMAT, read_stamp, server_line, stamp
from tooltray.servers.logs.log_segments import Found

AT = 1_795_600_000.123


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
    assert read(b"2026-11-25T09:46:40.123Z") == LogLine("1:0", AT, "")
    assert read("") is None


@pytest.mark.parametrize("text", ["", "2026-13-01T00:00:00.000Z", "0000-01-01T00:00:00.000Z", "2026-11-25 09:46:40.123Z", "x" * 24])
def test_what_is_no_time_is_none(text: str) -> None:
    assert read_stamp(text.encode()) == 0.0
    assert read_stamp(stamp(AT).encode()) == AT


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
