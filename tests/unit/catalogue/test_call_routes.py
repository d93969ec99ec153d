"""call_routes.py: a call finds its tool, also one that nobody has listed yet."""

import asyncio
from pathlib import Path

from tests.fakes.hub_parts import one_server, settled, started_parts, text_of
from tests.fakes.scripted_server import ScriptedServer, tool


async def test_a_client_may_call_by_heart_before_anybody_has_listed(tmp_path: Path) -> None:
    async with started_parts(tmp_path, **one_server(ScriptedServer(tool("t")))) as parts:
        assert await text_of(parts, "t", arguments={"text": "hi"}) == "hi"


async def test_a_client_of_one_server_may_call_by_heart_while_the_server_is_listed(tmp_path: Path) -> None:
    program = ScriptedServer(tool("t"))
    go_on = program.hold("tools/list")
    async with started_parts(tmp_path, **one_server(program)) as parts:
        calling = asyncio.create_task(text_of(parts, "t", server="s", arguments={"text": "hi"}))
        await program.request("tools/list")
        await settled()
        assert not calling.done()
        go_on.set()
        assert await calling == "hi"


async def test_a_call_goes_out_under_the_servers_own_name(tmp_path: Path) -> None:
    program = ScriptedServer(tool("read.file"))
    async with started_parts(tmp_path, **one_server(program)) as parts:
        assert await parts.listed() == ["read_file"]
        assert await text_of(parts, "read_file", arguments={"text": "x", "n": 2**70}) == "x"
        assert (await program.call("read.file")).params["arguments"]["n"] == 2**70
