"""setup_api.py: a set-up that was taken over runs; remedies are carried out."""

import json
from pathlib import Path

from tests.fakes.hub_parts import entry, hub_parts
from tests.fakes.refusal import refusal
from tests.fakes.scripted_server import ScriptedServer

from tooltray.foundation.events import ServerStarted
from tooltray.foundation.snapshots.servers import ServerState

PROGRAMS = {"program": ScriptedServer()}
SETUP = {"version": 1, "mcpServers": {"new": {"command": "program"}}, "defaultServers": ["new"]}


async def test_what_is_taken_over_starts_if_it_starts_with_the_hub_and_not_when_it_is_only_looked_at(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, servers={}, programs=PROGRAMS) as parts:
        seen = await parts.presenter.preview_import(SETUP)
        assert parts.conf.entries == {}
        assert await parts.presenter.import_setup(SETUP) == seen
        await parts.heard.event(ServerStarted, server_name="new")
        assert (await parts.presenter.export_setup())["mcpServers"].keys() == {"new"}


async def test_the_servers_that_come_with_tooltray_start_when_they_are_put_back(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, servers={}, programs=PROGRAMS) as parts:
        parts.shipped_setup = json.loads(json.dumps(SETUP))
        seen = await parts.presenter.preview_reset()
        assert parts.conf.entries == {}
        assert await parts.presenter.reset_to_default_servers() == seen
        await parts.heard.event(ServerStarted, server_name="new")


async def test_a_remedy_is_carried_out_and_one_that_nobody_proposes_is_refused(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, servers={"s": entry("program")}, programs=PROGRAMS) as parts:
        assert await parts.presenter.apply_remedy("s", "start")
        assert parts.servers.get("s").state in (ServerState.STARTING, ServerState.RUNNING)
        assert await refusal(parts.presenter.apply_remedy("s", "pray"))
