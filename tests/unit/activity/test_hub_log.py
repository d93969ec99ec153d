"""activity/hub_log.py"""

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tooltray.activity.hub_log import HubLog
from tooltray.activity.structured_log import StructuredLog
from tooltray.errors import Problem
from tooltray.events import EventBus, ProblemReported


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
