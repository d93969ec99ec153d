"""The tracer is of Linux alone."""

import sys
from pathlib import Path

import pytest

collect_ignore_glob = [] if sys.platform == "linux" else ["test_*"]


@pytest.fixture
def report_file(tmp_path: Path) -> Path:
    return tmp_path / "report.jsonl"
