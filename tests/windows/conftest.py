"""A home of its own for each test, and a hub that is ended with it. For the Windows Python alone: make test-windows.

With TOOLTRAY_PROGRAMS, a folder, the tests are those of the frozen app in it; with TOOLTRAY_SETUP, an installer, that is installed and
removed as well.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from tests.windows.world import World

PROGRAMS = os.environ.get("TOOLTRAY_PROGRAMS", "")
collect_ignore = [] if os.environ.get("TOOLTRAY_SETUP") else ["test_setup.py"]


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A person's folder, which this process and all that it starts take for the user's own."""
    user = tmp_path / "a user"
    for name, folder in {"USERPROFILE": "", "APPDATA": "AppData/Roaming", "LOCALAPPDATA": "AppData/Local"}.items():
        (user / folder).mkdir(parents=True, exist_ok=True)
        monkeypatch.setenv(name, str(user / folder))
    monkeypatch.delenv("TOOLTRAY_HOME", raising=False)
    return user


@pytest.fixture
def world(user: Path) -> Iterator[World]:
    before = {process.pid for process in psutil.process_iter()}
    world = World(user, Path(PROGRAMS) if PROGRAMS else None)
    yield world
    world.close()
    assert world.left(before) == [], "processes are left"
