"""A small hub for tests of the presenter; those that need another one make their own."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.hub_parts import HubParts, entry, hub_parts
from tests.fakes.scripted_server import ScriptedServer, error, text, tool

from tooltray.wire.envelope import Envelope, dump


@pytest.fixture
def program() -> ScriptedServer:
    return ScriptedServer(tool("get_it", description="Gets it"), tool("drop"))


@pytest.fixture
async def parts(tmp_path: Path, program: ScriptedServer) -> AsyncIterator[HubParts]:
    """A hub with one server `s` that starts on demand, and the built-in `hub`; nothing runs."""
    builtins = {"hub": ScriptedBuiltIn()}
    async with hub_parts(tmp_path / "home", servers={"s": entry("program")}, programs={"program": program}, builtins=builtins) as parts:
        yield parts


class ScriptedBuiltIn:
    async def answer(self, request: Envelope) -> Envelope:
        replies: dict[str, Any] = {
            "initialize": {"protocolVersion": "2025-11-25", "capabilities": {}},
            "tools/list": {"tools": [tool("list_servers")]},
            "tools/call": text("from the hub"),
        }
        return Envelope(result=dump(replies[request.method])) if request.method in replies else error(-32601, "Method not found")
