"""server_renames.py: a server gets another name with all that is kept under the old one, also if the hub is killed meanwhile."""

import asyncio
import json
import logging
import shutil
from collections.abc import Awaitable, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.file_servers import SHOP, file_server
from tests.fakes.hub_parts import HubParts, entry, hub_parts, text_of
from tests.fakes.scripted_server import ScriptedServer, tool

from tooltray.foundation.errors import Conflict, NotFound, TooltrayError
from tooltray.foundation.events import ServerRemoved
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.servers.confinement.profiles import state_folder

PROFILES = {"p": {"servers": ["s"], "tools": {"s": ["t"]}}}


def hub(root: Path, **options: Any) -> Any:
    servers = {"s": {"command": "p", "autoApprove": ["ask:t"], "confinement": "own"}, "other": entry("p", disable=True)}
    given = {"servers": servers, "default": ("s",), "settings": {"profiles": PROFILES}, **options}
    return hub_parts(root, programs={"p": ScriptedServer(tool("t"), tool("write_it"))}, **given)


async def grant(parts: HubParts) -> None:
    await parts.servers.start("s")
    await parts.tools.listing("s")
    await parts.presenter.add_grant("s", "tool", "write_it")


async def test_a_running_server_is_called_under_its_new_name_and_what_was_allowed_of_it_still_is(tmp_path: Path) -> None:
    async with hub(tmp_path) as parts:
        await grant(parts)
        names = await parts.listed()
        await parts.presenter.rename_mcp_server("s", "notes")
        assert list(parts.settings_on_disk["mcpServers"]) == ["notes", "other"]
        assert parts.settings_on_disk["defaultServers"] == ["notes"]
        assert parts.settings_on_disk["profiles"] == {"p": {"servers": ["notes"], "tools": {"notes": ["t"]}}}
        assert [server.name for server in parts.servers] == ["notes", "other"]
        await parts.heard.until(lambda: parts.servers.get("notes").state is ServerState.RUNNING)
        assert await text_of(parts, "write_it", server="notes", arguments={"text": "hello"}) == "hello"
        assert await parts.listed() == names
        assert [each.server for each in await parts.presenter.get_grants()] == ["notes"]
        assert [each.name for each in parts.heard.of(ServerRemoved)] == ["s"]
        assert not parts.home.renaming.exists()
