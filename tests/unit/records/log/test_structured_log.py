"""structured_log.py"""

import json
import logging
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from msgspec import Raw
from tests.unit.records.log.log_reading import DAY_S, WAIT_S, Clock, pipe, records_in, stderr_led_to

from tooltray.records.log import structured_log
from tooltray.records.log.hub_log import LogHandler
from tooltray.records.log.structured_log import MAX_NAME_LENGTH, MAX_NAMES, StructuredLog, describe, short_stack

MakeLog = Callable[..., StructuredLog]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "logs"


@pytest.fixture
def make_log(folder: Path) -> Iterator[MakeLog]:
    logs: list[StructuredLog] = []

    def make(place: Path | None = folder, **options: Any) -> StructuredLog:
        log = StructuredLog(place, execution_id="run-1", **options)
        logs.append(log)
        return log

    yield make
    for log in logs:
        log.close()


@pytest.fixture
def log(make_log: MakeLog) -> StructuredLog:
    log = make_log()
    log.start()
    return log


def written(log: StructuredLog, folder: Path) -> list[dict[str, Any]]:
    assert log.flush(WAIT_S)
    return records_in(folder)


def test_every_line_says_when_which_run_who_what_and_a_summary(make_log: MakeLog, folder: Path) -> None:
    log = make_log(component="hub", clock=Clock(1_800_000_000.0125))
    log.start()
    log.record("service_started", "Tooltray is ready", pid=17)
    log.record("server_started", "fs runs", component="servers")
    first, second = written(log, folder)
    assert first == {
        "timestamp": "2027-01-15T08:00:00.012Z",
        "executionId": "run-1",
        "component": "hub",
        "event": "service_started",
        "summary": "Tooltray is ready",
        "pid": 17,
    }
    assert list(first)[:5] == ["timestamp", "executionId", "component", "event", "summary"]
    assert second["component"] == "servers"


def test_lines_keep_the_order_and_the_time_of_their_recording(make_log: MakeLog, folder: Path) -> None:
    clock = Clock()
    log = make_log(clock=clock)
    for number in range(100):
        clock.now += 0.7
        log.record("counted", str(number))
    log.start()
    records = written(log, folder)
    assert [record["summary"] for record in records] == [str(number) for number in range(100)]
    stamps = [record["timestamp"] for record in records]
    assert stamps == sorted(set(stamps))


def test_calls_and_other_records_keep_their_order_however_many_wait(make_log: MakeLog, folder: Path) -> None:
    log = make_log()
    for number in range(1500):
        if number % 7 == 0:
            log.record("counted", str(number), id=number)
        else:
            log.response_sent("session", b"%d" % number, 0.0, 0)
    log.start()
    assert [record["id"] for record in written(log, folder)] == list(range(1500))


def test_a_call_is_recorded_with_the_time_that_is_given(make_log: MakeLog, folder: Path) -> None:
    log = make_log(clock=Clock(1_800_000_060.0))
    log.start()
    log.request_received("session", b"1", "ping", b"", at=1_800_000_000.0)
    log.request_received("session", b"2", "prompts/get", b'{"a":"%b"}' % (b"x" * 5000), at=1_800_000_001.0)
    log.response_sent("session", b"1", 0.1, 2, at=1_800_000_002.0)
    log.response_sent("session", b"9" * 300, 0.1, 2, at=1_800_000_003.0)
    log.response_error("session", b"2", -32601, "Method not found", at=1_800_000_004.0)
    seconds = [record["timestamp"][17:19] for record in written(log, folder)]
    assert seconds == ["00", "01", "02", "03", "04"]


def test_without_a_clock_of_its_own_the_log_tells_the_real_time(log: StructuredLog, folder: Path) -> None:
    log.record("happened", "now")
    (record,) = written(log, folder)
    assert re.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", record["timestamp"])


def test_a_call_is_recorded_by_tool_and_types_of_arguments_never_by_values(log: StructuredLog, folder: Path) -> None:
    params = b'{"name":"edit","arguments":{"path":"/secret/place/in.the/house","recursive":true,"edits":[1,2,3],"note":null,"of":{"a":1}}}'
    log.request_received("session 1", Raw(b"17"), "tools/call", Raw(params))
    log.response_sent("session 1", b"17", 0.0123456, 345)
    request, response = written(log, folder)
    assert request["event"] == "request_received"
    assert request["component"] == "session 1"
    assert (request["method"], request["id"], request["tool"], request["size"]) == ("tools/call", 17, "edit", len(params))
    kinds = {"path": "string(26)", "recursive": "boolean", "edits": "array(3)", "note": "null", "of": "object(1)"}
    assert request["arguments"] == kinds
    assert "secret" not in json.dumps(request)
    assert response["event"] == "response_sent"
    assert (response["id"], response["durationMs"], response["size"]) == (17, 12.346, 345)


def test_a_failed_request_is_recorded_with_code_message_and_stack(log: StructuredLog, folder: Path) -> None:
    log.response_error("session 1", b'"a"', -32601, "Method not found")
    log.response_error("session 1", b"", -32603, "boom", stack="Traceback ...")
    first, second = written(log, folder)
    assert (first["event"], first["id"], first["code"], first["message"]) == ("response_error", "a", -32601, "Method not found")
    assert "stack" not in first
    assert (second["id"], second["stack"]) == (None, "Traceback ...")


@pytest.mark.parametrize(
    ("id", "expected"),
    [
        (b"7", 7),
        (b'"x\\ny"', "x\ny"),
        (b"1180591620717411303424", 2**70),
        (b"", None),
        (b"{bad", "{bad"),
        (b'"\xff"', '"\ufffd"'),
        (b"1" * 300, "1" * 200),
    ],
)
def test_ids_are_recorded_as_the_client_wrote_them_or_as_text(log: StructuredLog, folder: Path, id: bytes, expected: Any) -> None:
    log.response_sent("session", id, 0.0, 0)
    (record,) = written(log, folder)
    assert record["id"] == expected


def test_large_parameters_are_only_weighed(log: StructuredLog, folder: Path) -> None:
    params = json.dumps({"name": "write", "arguments": {"content": "x" * 70_000}}).encode()
    log.request_received("session", b"1", "tools/call", params)
    (record,) = written(log, folder)
    assert record["size"] == len(params)
    assert "arguments" not in record


def test_parameters_that_wait_to_be_described_are_bounded_and_room_comes_back(make_log: MakeLog, folder: Path) -> None:
    log = make_log()
    params = json.dumps({"content": "x" * 60_000}).encode()
    for _ in range(200):
        log.request_received("session", b"1", "prompts/get", params)
    log.start()
    records = written(log, folder)
    described = [record for record in records if "arguments" in record]
    assert len(records) == 200
    assert len(described) == structured_log.MAX_QUEUED_PARAMS_BYTES // len(params) + 1
    assert all(record["size"] == len(params) for record in records)
    log.request_received("session", b"1", "prompts/get", params)
    assert written(log, folder)[-1]["arguments"] == {"content": "string(60000)"}


def test_a_flood_is_bounded_and_what_was_dropped_is_told(make_log: MakeLog, folder: Path) -> None:
    log = make_log(clock=Clock(1_800_000_000.0))  # one that stands: a slow disk's seconds would bring the report forward
    for number in range(structured_log.MAX_QUEUED + 4):
        log.record("counted", str(number))
    log.request_received("session", b"1", "ping", b"")
    log.start()
    *records, told = written(log, folder)
    assert [record["summary"] for record in records] == [str(number) for number in range(structured_log.MAX_QUEUED)]
    assert (told["event"], told["count"]) == ("records_dropped", 5)
    assert set(told) == {"timestamp", "executionId", "component", "event", "summary", "count"}
    log.record("counted", "after the flood")
    assert written(log, folder)[-1]["summary"] == "after the flood"


def test_several_threads_may_record_at_once(log: StructuredLog, folder: Path) -> None:
    def record(name: str) -> None:
        for number in range(500):
            log.record("counted", f"{name} {number}")

    threads = [threading.Thread(target=record, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT_S)
    summaries = [record["summary"] for record in written(log, folder)]
    for name in "abcd":
        assert [summary for summary in summaries if summary.startswith(name)] == [f"{name} {number}" for number in range(500)]


def test_secrets_are_masked_wherever_they_stand(make_log: MakeLog, folder: Path) -> None:
    log = make_log(mask=lambda: {"hunter2-hunter2"})
    log.start()
    log.record("failed", "login with hunter2-hunter2 failed", line="x hunter2-hunter2 y", nested={"hunter2-hunter2": ["hunter2-hunter2"]})
    log.request_received("hunter2-hunter2", b'"hunter2-hunter2"', "hunter2-hunter2", b'{"hunter2-hunter2":1}')
    log.response_error("session", b"1", -32000, "hunter2-hunter2", stack="at hunter2-hunter2")
    records = written(log, folder)
    assert len(records) == 3
    assert "hunter2" not in "".join(path.read_text() for path in folder.iterdir())
    assert records[0]["line"] == "x *** y"


def test_a_secret_learned_after_recording_is_masked_before_writing(make_log: MakeLog, folder: Path) -> None:
    known: set[str] = set()
    log = make_log(mask=lambda: known)
    log.record("failed", "with hunter2-hunter2")
    known.add("hunter2-hunter2")
    log.start()
    (record,) = written(log, folder)
    assert record["summary"] == "with ***"


def test_a_log_goes_on_when_the_secrets_cannot_be_told(make_log: MakeLog, folder: Path) -> None:
    answers: list[Iterable[str]] = [{"hunter2-hunter2"}]

    def mask() -> Iterable[str]:
        return answers[0] if answers else 1 // 0  # type: ignore[return-value]

    log = make_log(mask=mask)
    log.start()
    log.record("happened", "hunter2-hunter2")
    assert log.flush(WAIT_S)
    answers.clear()
    log.record("happened", "hunter2-hunter2 again")
    assert [record["summary"] for record in written(log, folder)] == ["***", "*** again"]


class Unspeakable:
    def __str__(self) -> str:
        raise RuntimeError("cannot be shown")


def test_odd_values_and_texts_never_break_a_line_or_the_log(log: StructuredLog, folder: Path) -> None:
    fields: dict[str, Any] = {"k\udfff": "\ud800", "number": 2**70, "place": Path("/x"), "set": {1}, "nan": float("nan")}
    log.record("odd", "half \ud800 and\nnewline\x00", **fields)
    log.record("odd", "cannot be shown", value=Unspeakable())
    log.record("odd", "too long for Python to write", value=10**5000)
    log.request_received("session", b"1", "m\ud800", b'{"a\\ud800\\n":1}')
    log.record("fine", "still here")
    odd, unspeakable, too_long, request, fine = written(log, folder)
    assert odd["summary"] == "half \ud800 and\nnewline\x00"
    assert (odd["k\udfff"], odd["number"], odd["place"], odd["set"]) == ("\ud800", 2**70, str(Path("/x")), [1])
    assert unspeakable["event"] == too_long["event"] == "record_unreadable"
    assert "RuntimeError" in unspeakable["summary"]
    assert request["arguments"] == {"a\ud800\n": "number"}
    assert fine["summary"] == "still here"


def test_no_field_replaces_what_every_line_says(log: StructuredLog, folder: Path) -> None:
    log.record("happened", "s", timestamp="never", executionId="other")
    (record,) = written(log, folder)
    assert record["executionId"] == "run-1"
    assert record["timestamp"] != "never"


def test_a_line_beyond_the_bound_loses_its_fields_and_says_so(log: StructuredLog, folder: Path) -> None:
    log.record("happened", "s" * 10_000, values=["v" * 4000] * 90)
    (record,) = written(log, folder)
    assert len(record["summary"]) < 5000
    assert "values" not in record
    assert "bytes" in record["leftOut"]


def test_close_writes_what_is_queued_and_may_be_called_twice(make_log: MakeLog, folder: Path) -> None:
    log = make_log()
    log.start()
    for number in range(3000):
        log.record("counted", str(number))
    log.record("service_stopped", "end")
    log.close()
    log.close()
    assert len(records_in(folder)) == 3001
    assert records_in(folder)[-1]["event"] == "service_stopped"


def test_records_after_the_end_are_ignored(log: StructuredLog, folder: Path) -> None:
    log.record("happened", "before")
    log.close()
    log.record("happened", "after")
    assert not log.flush(0.01)
    assert [record["summary"] for record in records_in(folder)] == ["before"]


def test_a_log_that_was_never_started_closes_and_does_not_flush(make_log: MakeLog, folder: Path) -> None:
    log = make_log()
    log.record("happened", "nobody writes this")
    assert not log.flush(0.01)
    log.close()
    assert not folder.exists()


def test_flush_with_nothing_to_write_is_done(log: StructuredLog) -> None:
    assert log.flush(WAIT_S)
    assert log.flush(WAIT_S)


def test_lines_also_go_to_stderr_if_that_is_wanted(make_log: MakeLog, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    log = make_log(to_stderr=True)
    log.start()
    for number in range(50):
        log.record("counted", str(number))
    assert log.flush(WAIT_S)
    assert capfd.readouterr().err == "".join(path.read_text() for path in folder.iterdir())


def test_without_a_folder_stderr_alone_gets_the_lines(make_log: MakeLog, capfd: pytest.CaptureFixture[str], folder: Path) -> None:
    log = make_log(None, to_stderr=True)
    log.start()
    log.record("happened", "s")
    log.close()
    assert json.loads(capfd.readouterr().err)["event"] == "happened"
    assert not folder.exists()


def test_without_a_folder_and_stderr_nothing_is_written_and_nothing_is_lost(make_log: MakeLog, capfd: pytest.CaptureFixture[str]) -> None:
    log = make_log(None)
    log.start()
    log.record("happened", "s")
    assert log.flush(WAIT_S)
    assert capfd.readouterr().err == ""


def test_a_stderr_nobody_reads_costs_the_files_nothing_and_the_end_little(make_log: MakeLog, folder: Path) -> None:
    with pipe() as (reading, writing):
        with stderr_led_to(writing):
            log = make_log(to_stderr=True)
            log.start()
        for number in range(5000):
            log.record("counted", str(number), text="x" * 500)
        assert not log.flush(0.5)  # the pipe holds 64 KiB and stays full
        log.close()
        assert len(records_in(folder)) == 5000
        os.close(writing)
        while os.read(reading, 2**20):  # lets the stuck write end
            pass


def test_a_stderr_that_was_closed_is_survived(make_log: MakeLog, folder: Path) -> None:
    with pipe() as (reading, writing):
        with stderr_led_to(writing):
            log = make_log(to_stderr=True)
            log.start()
        os.close(reading)
        for number in range(3):
            log.record("counted", str(number))
            assert log.flush(WAIT_S)
        log.close()
    assert len(records_in(folder)) == 3


@pytest.mark.posix
def test_a_full_disk_never_fails_a_caller_and_what_it_cost_is_told_when_there_is_room(make_log: MakeLog, folder: Path) -> None:
    clock = Clock()
    folder.mkdir()
    full = folder / "tooltray-2027-01-15.jsonl"
    full.symlink_to("/dev/full")
    log = make_log(clock=clock)
    log.start()
    for number in range(40):
        log.record("counted", str(number))
    assert log.flush(WAIT_S)
    full.unlink()
    clock.now += DAY_S
    log.record("happened", "room again")
    room, told = written(log, folder)
    assert room["summary"] == "room again"
    assert (told["event"], told["count"]) == ("records_dropped", 40)


def test_a_folder_that_cannot_be_made_never_fails_a_caller(make_log: MakeLog, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    log = make_log(tmp_path / "file" / "logs")
    log.start()
    log.record("happened", "s")
    assert log.flush(WAIT_S)
    log.close()


WRITER = """
import sys, pathlib
from tooltray.records.log.structured_log import StructuredLog
log = StructuredLog(pathlib.Path(sys.argv[1]), execution_id=sys.argv[2])
log.start()
sys.stdin.read()
for number in range(2000):
    log.record("counted", str(number), text="x" * (number % 700))
log.close()
"""


@pytest.mark.posix  # Wine 8 appends in two steps; Windows does in one
def test_two_processes_share_a_folder_without_cutting_each_others_lines(folder: Path) -> None:
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, folder, name], stdin=subprocess.PIPE, env=with_source_root()) for name in "ab"
    ]
    for writer in writers:
        assert writer.stdin
        writer.stdin.close()
    assert [writer.wait(WAIT_S) for writer in writers] == [0, 0]
    records = records_in(folder)
    for name in "ab":
        assert [record["summary"] for record in records if record["executionId"] == name] == [str(number) for number in range(2000)]


CUT_WRITER = """
import pathlib, resource, sys
from tooltray.records.log.structured_log import StructuredLog
log = StructuredLog(pathlib.Path(sys.argv[1]), execution_id="x")
_, most = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, most))
log.start()
for number in range(10):
    log.record("counted", str(number))
log.flush(20)
resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
log.record("counted", "room again")
log.close()
"""


@pytest.mark.posix
def test_a_line_that_was_cut_by_a_full_disk_spoils_no_other_line(folder: Path) -> None:
    subprocess.run([sys.executable, "-c", CUT_WRITER, folder], check=True, timeout=WAIT_S, env=with_source_root())
    (path,) = folder.iterdir()
    lines = path.read_text().splitlines()
    whole = [json.loads(line) for line in lines if line.endswith("}")]
    assert len(lines) - len(whole) == 1
    dropped = sum(record.get("count", 0) for record in whole)
    assert len([record for record in whole if record["event"] == "counted"]) + dropped == 11
    assert whole[-2]["summary"] == "room again"


def with_source_root() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(Path(structured_log.__file__).parents[2])}


@pytest.fixture
def logger(log: StructuredLog) -> Iterator[logging.Logger]:
    logger = logging.getLogger("tests.structured_log")
    handler = LogHandler(log)
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    logger.propagate = False
    yield logger
    logger.removeHandler(handler)
    logger.setLevel(logging.NOTSET)
    logger.propagate = True


def test_records_of_pythons_logging_become_lines(logger: logging.Logger, log: StructuredLog, folder: Path) -> None:
    logger.info("server %r listed %d tools", "fs", 7)
    logger.error("broken")
    first, second = written(log, folder)
    assert (first["event"], first["level"], first["component"]) == ("log", "info", "tests.structured_log")
    assert first["summary"] == "server 'fs' listed 7 tools"
    assert (second["event"], second["level"], "stack" in second) == ("error", "error", False)


def test_an_exception_is_recorded_with_a_short_stack(logger: logging.Logger, log: StructuredLog, folder: Path) -> None:
    def sink(depth: int) -> None:
        sink(depth - 1) if depth else int("no number")

    try:
        sink(100)
    except ValueError:
        logger.exception("it failed")
    (record,) = written(log, folder)
    assert record["event"] == "error"
    assert "ValueError" in record["stack"]
    assert record["stack"].count("File ") <= structured_log.STACK_FRAMES + 1


def test_a_log_call_with_wrong_arguments_is_recorded_all_the_same(log: StructuredLog, folder: Path) -> None:
    LogHandler(log).handle(logging.makeLogRecord({"msg": "two %s %s", "args": ("one",), "levelno": logging.WARNING, "name": "x"}))
    (record,) = written(log, folder)
    assert record["summary"].startswith("two %s %s (TypeError")


def test_a_handler_takes_only_what_its_level_lets_through(logger: logging.Logger, log: StructuredLog, folder: Path) -> None:
    logger.handlers[0].setLevel(logging.ERROR)
    logger.info("too small")
    logger.error("large enough")
    assert [record["summary"] for record in written(log, folder)] == ["large enough"]


def test_a_short_stack_shows_what_led_to_the_error_too() -> None:
    try:
        try:
            raise KeyError("first")
        except KeyError as error:
            raise ValueError("second") from error
    except ValueError as error:
        text = short_stack(error)
    assert "KeyError" in text
    assert text.rstrip().endswith("ValueError: second")


def test_a_calls_arguments_are_told_by_name_type_and_size() -> None:
    params = {"name": "edit", "arguments": {"path": "x" * 24, "recursive": True, "edits": [1, 2, 3]}, "_meta": {"progressToken": "p"}}
    assert describe("tools/call", json.dumps(params).encode()) == {
        "tool": "edit",
        "arguments": {"path": "string(24)", "recursive": "boolean", "edits": "array(3)"},
    }


def test_other_methods_are_told_by_the_names_of_their_parameters() -> None:
    params = Raw(b'{"name":"greeting","level":5,"rate":0.5,"big":1e400,"none":null,"of":{"a":1},"text":"\xe6\x90\x9c\xe7\xb4\xa2"}')
    assert describe("prompts/get", params) == {
        "arguments": {
            "name": "string(8)",
            "level": "number",
            "rate": "number",
            "big": "number",
            "none": "null",
            "of": "object(1)",
            "text": "string(2)",
        }
    }


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        (b"", {"arguments": {}}),
        (b"[1,2]", {"arguments": "array(2)"}),
        (b'"text"', {"arguments": "string(4)"}),
        (b'{"name":"t"}', {"tool": "t", "arguments": {}}),
        (b'{"name":7,"arguments":null}', {"arguments": "null"}),
        (b'{"arguments":[1]}', {"arguments": "array(1)"}),
        (b"{", {}),
        (b'"\xff"', {}),
        (b"[" * 60_000, {}),
        (b"1" * 60_000, {}),
    ],
)
def test_odd_parameters_are_told_as_far_as_they_can_be_read(params: bytes, expected: dict[str, Any]) -> None:
    assert describe("tools/call", params) == expected


def test_names_are_bounded_in_number_and_length() -> None:
    arguments = {f"{number:03}" + "x" * 1000: number for number in range(100)}
    found = describe("tools/call", json.dumps({"name": "n" * 5000, "arguments": arguments}).encode())
    assert len(found["arguments"]) == MAX_NAMES
    assert found["argumentsLeftOut"] == 100 - MAX_NAMES
    assert {len(name) for name in found["arguments"]} == {MAX_NAME_LENGTH + 1} == {len(found["tool"])}


VALUE = "\N{SNOWMAN} a value that no generated name has \N{SNOWMAN}"
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.just(VALUE),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters()), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(st.characters()), json_values), st.sampled_from(["tools/call", "other"]))
def test_no_value_is_ever_told(arguments: dict[str, Any], method: str) -> None:
    assume(not any(VALUE in name for name in arguments))
    found = describe(method, json.dumps({"name": "t", "arguments": arguments} if method == "tools/call" else arguments).encode())
    assert VALUE not in str(found)
    assert set(found) <= {"tool", "arguments", "argumentsLeftOut"}
