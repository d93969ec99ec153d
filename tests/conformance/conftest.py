"""The fixtures of the end-to-end tests that the official suite needs, too."""

from tests.end2end.conftest import node  # noqa: F401 - a fixture
