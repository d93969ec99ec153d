"""A small hub for tests of the presenter; those that need another one make their own."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.fakes.hub_parts import HubParts, entry, hub_parts
from tests.fakes.scripted_server import ScriptedBuiltIn, ScriptedServer, tool


@pytest.fixture
def program() -> ScriptedServer:
    return ScriptedServer(tool("get_it", description="Gets it"), tool("drop"))


@pytest.fixture
async def parts(tmp_path: Path, program: ScriptedServer) -> AsyncIterator[HubParts]:
    """A hub with one server `s` that starts on demand, and the built-in `hub`; nothing runs."""
    builtins = {"hub": ScriptedBuiltIn()}
    async with hub_parts(tmp_path / "home", servers={"s": entry("program")}, programs={"program": program}, builtins=builtins) as parts:
        yield parts
