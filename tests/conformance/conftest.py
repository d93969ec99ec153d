"""The fixtures of the end-to-end tests that the official suite needs, too; and the table of the matrix behind the tests."""

import pytest
from tests.end2end.conftest import node  # noqa: F401 - a fixture

MATRIX = pytest.StashKey[list[str]]()
"""What `test_matrix` has measured, as Markdown."""


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    for line in config.stash.get(MATRIX, []):
        terminalreporter.write_line(line)
