"""hub_log.py"""

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tooltray.foundation.errors import Problem
from tooltray.foundation.events import EventBus, ProblemReported, ServerFailed
from tooltray.records.log.hub_log import HubLog
from tooltray.records.log.structured_log import StructuredLog


@pytest.fixture
def bus() -> EventBus:
    return EventBus()


@pytest.fixture
def log(tmp_path: Path) -> Iterator[StructuredLog]:
    log = StructuredLog(tmp_path, execution_id="run")
    yield log
    log.close()


def written(log: StructuredLog, folder: Path) -> list[dict[str, Any]]:
    log.close()
    return [json.loads(line) for file in folder.iterdir() for line in file.read_text().splitlines()]


def test_what_the_code_logs_is_recorded_while_the_hub_runs_and_no_longer(log: StructuredLog, bus: EventBus, tmp_path: Path) -> None:
    code = logging.getLogger("tooltray.somewhere")
    hub = HubLog(log, bus=bus)
    hub.start()
    code.info("while it runs")
    hub.close()
    code.info("afterwards")
    assert [record["summary"] for record in written(log, tmp_path)] == ["while it runs"]
    assert logging.getLogger("tooltray").level == logging.NOTSET


@pytest.mark.expected_warnings("is slow")
def test_what_asyncio_reports_is_recorded_too(log: StructuredLog, bus: EventBus, tmp_path: Path) -> None:
    hub = HubLog(log, bus=bus)
    hub.start()
    for name in ("asyncio", "concurrent.futures"):
        logging.getLogger(name).info("%s works", name)
        logging.getLogger(name).log(logging.WARNING, "%s is slow", name)
    hub.close()
    logging.getLogger("asyncio").log(logging.WARNING, "afterwards: asyncio is slow")
    records = written(log, tmp_path)
    assert [(record["component"], record["summary"]) for record in records] == [
        ("asyncio", "asyncio is slow"),
        ("concurrent.futures", "concurrent.futures is slow"),
    ]


def test_what_a_person_has_to_hear_of_is_recorded_with_whom_it_is_about(log: StructuredLog, bus: EventBus, tmp_path: Path) -> None:
    hub = HubLog(log, bus=bus)
    hub.start()
    problem = Problem("It does not start", "no such file")
    for event in (ProblemReported(problem), ProblemReported(problem, "s"), ProblemReported(problem, "s", "/shop")):
        bus.publish(event)
    hub.close()
    records = written(log, tmp_path)
    said = "It does not start: no such file"
    assert [record["summary"] for record in records] == [said, f"'s': {said}", f"'s' for /shop: {said}"]
    assert [record.get("server") for record in records] == [None, "s", "s"]
    assert {record["level"] for record in records} == {"warning"}


def test_a_start_that_fails_is_an_error_and_a_server_that_ends_a_warning(log: StructuredLog, bus: EventBus, tmp_path: Path) -> None:
    hub = HubLog(log, bus=bus)
    hub.start()
    problem = Problem("'s' could not be opened", "it ended with exit code 3")
    bus.publish(ServerFailed("s", problem, is_start=True, attempt=2, exit_code=3, project="/shop"))
    bus.publish(ServerFailed("s", problem, is_start=False, attempt=1))
    hub.close()
    start, end = written(log, tmp_path)
    assert (start["event"], start["level"], start["server"], start["project"]) == ("server_start_failed", "error", "s", "/shop")
    assert (start["reason"], start["exitCode"], start["attempt"]) == (str(problem), 3, 2)
    assert (start["code"], start["message"], "code" in end) == (-32603, str(problem), False)
    assert start["summary"] == f"'s' did not start (attempt 2): {problem}"
    assert (end["event"], end["level"], end["exitCode"], "project" in end) == ("server_ended", "warning", None, False)
