"""tests/contract/definitions against the servers themselves: the record with which the formats are tested cannot rot."""

from pathlib import Path
from typing import Any

import pytest
from tests.contract.recorded_definitions import FOLDER, commands, listed, recorded

NAMES = sorted(commands(Path()))


def test_every_server_of_the_tests_is_recorded() -> None:
    assert sorted(file.stem for file in FOLDER.glob("*.json")) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_server_lists_what_is_recorded(name: str, tmp_path: Path) -> None:
    tools = listed(name, commands(tmp_path)[name], {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"})
    assert told(tools) == told(recorded()[name]), "`python -m tests.contract.recorded_definitions` records anew"


def told(tools: list[Any]) -> list[tuple[Any, Any]]:
    """What a format makes its tools of."""
    return [(tool.get("name"), tool.get("inputSchema")) if isinstance(tool, dict) else (None, tool) for tool in tools]
