"""The settings on disk, what is read of them and what is told; and a keyring of the operating system."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.system_keyring import FakeKeyring

from tooltray.config.mcp_conf_helper import McpConfHelper
from tooltray.events import EventBus


class Heard(list[Any]):
    """Everything that was published."""


@pytest.fixture
def heard() -> Heard:
    return Heard()


@pytest.fixture
async def conf(path: Path, heard: Heard) -> McpConfHelper:
    """What was read of the file at `path`, a fixture of the test file's own."""
    bus = EventBus()
    bus.subscribe_all(heard.append)
    conf = McpConfHelper(path, bus)
    await conf.load()
    return conf


@pytest.fixture
def fake_keyring() -> FakeKeyring:
    return FakeKeyring()


def put(path: Path, document: Any) -> None:
    """Somebody writes a file of settings."""
    path.write_text(json.dumps(document))
