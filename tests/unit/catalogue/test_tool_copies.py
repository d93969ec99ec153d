"""tool_copies.py"""

import asyncio
import json
import math
from pathlib import Path

import pytest
from msgspec import Raw
from tests.fakes.hub_parts import one_server, settled, started_parts
from tests.fakes.scripted_server import ScriptedServer, tool

from tooltray.catalogue.offer import TOOLS
from tooltray.catalogue.tool_copies import ToolCopies, read_tools

CHANGED = "notifications/tools/list_changed"


async def test_an_instance_is_asked_again_after_a_while_a_change_or_a_failure_and_its_last_list_stays(tmp_path: Path) -> None:
    program = ScriptedServer(tool("t"))
    async with started_parts(tmp_path, **one_server(program)) as parts:
        await parts.tools.listed(parts.servers.get("s")).wait()
        copies, client = ToolCopies(servers=parts.servers, bus=parts.bus), parts.servers.get("s").client
        assert client

        async def asked(max_age_s: float) -> int:
            before = program.count("tools/list")
            await copies.look(client, max_age_s=max_age_s)
            return program.count("tools/list") - before

        program.copy.notify(CHANGED)
        await settled()
        assert (copies.are_any, copies.is_outdated(client)) == (False, False)
        assert copies.tool(client, "t") is None is copies.tool_of_any("s", "t")

        program.handlers["tools/list"] = lambda copy, params: "nonsense"
        assert await copies.of_shared(client) is None
        assert not copies.is_outdated(client)
        del program.handlers["tools/list"]
        assert [await asked(600.0), await asked(600.0), await asked(math.inf), await asked(0.0)] == [1, 0, 0, 1]
        assert copies.are_any
        found = copies.tool(client, "t")
        assert found
        assert (found.name, copies.tool_of_any("s", "t"), copies.tool_of_any("other", "t")) == ("t", found, None)
        assert copies.tool(client, "other") is None is copies.tool_of_any("s", "other")

        program.copy.notify("notifications/prompts/list_changed")
        await settled()
        assert not copies.is_outdated(client)
        program.copy.notify(CHANGED)
        await settled()
        assert copies.is_outdated(client)
        assert [await asked(math.inf), await asked(math.inf), copies.is_outdated(client)] == [1, 0, False]

        program.handlers["tools/list"] = lambda copy, params: "nonsense"
        assert await copies.listed(client) is None
        assert copies.is_outdated(client)
        assert (await copies.of_shared(client) or {}).keys() == {"t"}
        del program.handlers["tools/list"]
        program.tools = [tool("a"), tool("b")]
        assert [each.name for each in await copies.listed(client) or ()] == ["a", "b"]


async def test_who_looks_at_once_shares_one_answer(tmp_path: Path) -> None:
    program = ScriptedServer(tool("t"))
    async with started_parts(tmp_path, **one_server(program)) as parts:
        await parts.tools.listed(parts.servers.get("s")).wait()
        copies, client = ToolCopies(servers=parts.servers, bus=parts.bus), parts.servers.get("s").client
        assert client
        before = program.count("tools/list")
        await asyncio.gather(*(copies.look(client, max_age_s=600.0) for _ in range(2)))
        assert program.count("tools/list") == before + 1


@pytest.mark.parametrize(("era", "type_", "is_offered"), [("modern", "http", False), ("modern", "stdio", True), ("legacy", "http", True)])
async def test_a_tool_that_marks_headers_wrongly_cannot_be_called_where_calls_repeat_them(
    tmp_path: Path, era: str, type_: str, *, is_offered: bool
) -> None:
    marked = tool("t", inputSchema={"type": "object", "properties": {"a": {"type": "string", "x-mcp-header": "Re gion"}}})
    async with started_parts(tmp_path, **one_server(ScriptedServer(eras=(era,)))) as parts:
        server = parts.servers.get("s")
        server.config = server.config.model_copy(update={"type": type_})
        tools, remarks = read_tools(TOOLS, [Raw(json.dumps(marked).encode())], server, server.client)
        assert (len(tools) == 1, len(remarks)) == (is_offered, 0 if is_offered else 1)
        assert len(read_tools(TOOLS, [Raw(json.dumps(marked).encode())], server, None)[0]) == 1
