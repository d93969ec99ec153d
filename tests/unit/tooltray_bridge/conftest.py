"""The bridge as an AI client starts it, and a hub that it may connect to."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fakes.bridge_process import BridgeProcess
from tests.fakes.fake_hub import FakeHub


@pytest.fixture
def hub(home: Path) -> Iterator[FakeHub]:
    """It listens where the bridge looks for one."""
    with FakeHub(home / ".tooltray" / "run" / "hub.sock") as hub:
        yield hub


@pytest.fixture
def bridge(hub: FakeHub, home: Path) -> Iterator[BridgeProcess]:
    """A bridge that starts no hub of its own."""
    with BridgeProcess("--no-start", environ={"HOME": str(home)}) as bridge:
        yield bridge
