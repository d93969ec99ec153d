"""The machine of one test for the real programs, and the servers and clients of other people that `make test` installs."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.end2end.processes import ROOT, World, new_world
from tests.end2end.x_display import XDisplay

END2END_TIMEOUT_S = 180  # real programs on two cores; the default of unit tests is in pyproject.toml
NPM_SERVERS = ROOT / "tests" / "npm" / "node_modules" / ".bin"
FASTMCP_PYTHON = ROOT / ".cache" / "fastmcp" / "bin" / "python"
SERENA = ROOT / ".cache" / "serena" / "bin" / "serena"
UV = ROOT / ".cache" / "installers" / "bin" / "uv"
OWN_NODE = ROOT / ".cache" / "node" / "bin" / "node"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here) and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(END2END_TIMEOUT_S))


@pytest.fixture
def world() -> Iterator[World]:
    """A HOME and the programs started in it; fails the test if a process, socket or file is left."""
    with new_world() as fresh:
        yield fresh


@pytest.fixture
def display() -> Iterator[XDisplay]:
    """A screen with nothing on it."""
    with XDisplay() as display:
        yield display


@pytest.fixture(scope="session")
def node() -> str:
    """Node.js: the one that `make test` installed if the machine's own is missing or too old, else the machine's."""
    found = str(OWN_NODE) if OWN_NODE.exists() else shutil.which("node")
    assert found, "Node.js is missing; `make test` installs what tests need"
    return found


@pytest.fixture(scope="session")
def npm_server(node: str) -> Callable[..., list[str]]:
    """The command of an npm server: `npm_server("everything")`, `npm_server("filesystem", folder)`, `npm_server("memory")`."""

    def command(name: str, *arguments: str) -> list[str]:
        program = NPM_SERVERS / f"mcp-server-{name}"
        assert program.exists(), f"{program} is missing; `make test` installs what tests need"
        return [node, str(program.resolve()), *arguments]

    return command


@pytest.fixture(scope="session")
def inspector() -> str:
    """The script of MCP Inspector, for Node.js."""
    script = NPM_SERVERS / "mcp-inspector"
    assert script.exists(), f"{script} is missing; `make test` installs what tests need"
    return str(script.resolve())


@pytest.fixture(scope="session")
def fastmcp_python() -> str:
    """The interpreter of FastMCP's own environment."""
    assert FASTMCP_PYTHON.exists(), f"{FASTMCP_PYTHON} is missing; `make test` installs what tests need"
    return str(FASTMCP_PYTHON)


@pytest.fixture(scope="session")
def serena() -> str:
    """Serena's program, in an environment of its own."""
    assert SERENA.exists(), f"{SERENA} is missing; `make test` installs what tests need"
    return str(SERENA)
