"""What unit tests of several packages need."""

from pathlib import Path

import pytest

from tooltray.config.home import Home


@pytest.fixture
def hub_home(home: Path) -> Home:
    """A home of its own, which HOME and TOOLTRAY_HOME lead to."""
    return Home(home / ".tooltray")
