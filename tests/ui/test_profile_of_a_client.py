"""One client gets fewer tools, with the real engine behind the window: a profile is made for it, renamed, and taken from it."""

import asyncio
import json
from pathlib import Path

import pytest
from tests.fakes.desk import Desk, until
from tests.fakes.hub_parts import HubParts, entry, started_parts
from tests.fakes.scripted_server import ScriptedServer, tool
from tests.ui.seen import cells, control, field
from tests.ui.test_profile_sheet import table, tick

from tooltray.protocol.eras import ClientInfo
from tooltray.ui.clients.client_table import CONTEXT, NEW, PROFILE
from tooltray.ui.clients.clients_page import ClientsPage
from tooltray.ui.theme import Theme

LONG = "It does what its name says. " * 40


class RealDesk(Desk):
    def attach(self) -> None:
        parts = self.engine
        assert isinstance(parts, HubParts)
        self.link.attach(parts.presenter.verbs, parts.bus, asyncio.get_running_loop(), parts.consent.window())


def shown(page: ClientsPage) -> tuple[int, str]:
    """The tokens and the profile of the first client."""
    row = cells(page.table)
    return int(row[CONTEXT].partition(" ")[0].replace(",", "") or 0), row[PROFILE]


async def test_a_client_gets_fewer_tools_and_all_again(theme: Theme, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))  # where clients are looked for
    programs = {"big": ScriptedServer(tool("long", description=LONG)), "small": ScriptedServer(tool("short"))}
    servers = {name: entry(name) for name in programs}
    async with started_parts(tmp_path / "hub", *programs, servers=servers, programs=programs, has_window=True) as parts:
        parts.modes.named(parts.states.connect("key"), ClientInfo("cursor-vscode", "1"))
        async with RealDesk(parts, theme) as desk:  # type: ignore[arg-type]
            desk.window.open_page("clients")
            page = desk.clients
            await until(lambda: page.table.rows and shown(page)[0] and not len(desk.tasks))
            before, profile = shown(page)
            assert profile == "Everything"
            page.choose_profile(page.table.rows[0], NEW)
            panel = desk.window.context.sheets.panel
            await until(lambda: any(choice.server == "small" for choice in table(panel).rows) and not len(desk.tasks))
            tick(panel, "small")
            control(panel, "Save").click()
            await until(lambda: shown(page)[1] == "Cursor's tools" and 0 < shown(page)[0] < before)
            page.edit_profile("Cursor's tools")
            panel = desk.window.context.sheets.panel
            await until(lambda: not len(desk.tasks))
            field(panel, "Name").setText("web")
            control(panel, "Save").click()
            await until(lambda: shown(page)[1] == "web" and desk.window.sheet is None)
            settings = json.loads((tmp_path / "hub" / "settings.json").read_text())
            assert settings["profiles"] == {"web": {"tools": {}, "servers": ["small"]}}
            assert settings["publish"]["clients"] == {"cursor-vscode": {"profile": "web"}}
            page.choose_profile(page.table.rows[0], "")
            await until(lambda: shown(page) == (before, "Everything"))
