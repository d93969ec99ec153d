"""What tests with real AI clients need: their programs on PATH, the model that they ask, and a machine with a hub."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.ai_clients.real_clients import link_programs
from tests.ai_clients.scripted_model import ScriptedModel
from tests.end2end.processes import World, new_world

pytest.register_assert_rewrite("tests.ai_clients.person")
TIMEOUT_S = 240  # nine programs, one after the other


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here):
            item.add_marker(pytest.mark.timeout(TIMEOUT_S))


@pytest.fixture(scope="module")
def programs() -> Iterator[Path]:
    """A folder with the clients' programs by their own names."""
    with tempfile.TemporaryDirectory(prefix="programs") as folder:
        link_programs(Path(folder))
        yield Path(folder)


@pytest.fixture(scope="module")
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel() as model:
        yield model


@pytest.fixture
def world(programs: Path) -> Iterator[World]:
    """A machine on which all clients are installed, and nothing else is."""
    with new_world() as world:
        world.environ["PATH"] = os.pathsep.join([str(programs), world.environ["PATH"]])
        yield world
