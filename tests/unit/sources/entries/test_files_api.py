"""files_api.py, through McpPresenter's verbs; see also server_files/ and test_proposals.py"""

import json
from pathlib import Path

import pytest
from tests.fakes.file_hub import file_hub
from tests.fakes.hub_parts import HubParts

from tooltray.consent.askers import decision_of
from tooltray.foundation.confirmation import UNATTENDED, Person, Wish, asked_by
from tooltray.foundation.errors import Denied, NotFound


class Asked(Person):
    """Says yes, and keeps what was asked."""

    def __init__(self) -> None:
        self.wishes: list[Wish] = []

    async def confirm(self, wish: Wish) -> None:
        self.wishes.append(wish)


async def test_a_yes_that_nobody_said_cannot_be_taken_back(parts: HubParts, tmp_path: Path) -> None:
    for project in (str(tmp_path), ""):
        with pytest.raises(NotFound):
            await parts.presenter.distrust_entries(project, "gone")
    assert await parts.presenter.get_trusted_entries() == []


async def test_a_reload_is_shown_before_it_is_done(parts: HubParts) -> None:
    settings = parts.settings_on_disk
    settings["mcpServers"]["new"] = {"command": "program"}
    parts.home.settings.write_text(json.dumps(settings))
    planned = await parts.presenter.preview_reload()
    assert [(each.kind, each.name) for each in planned] == [("add", "new")]
    assert "new" not in parts.conf.settings.mcp_servers
    assert await parts.presenter.reload() == planned
    assert "new" in parts.conf.settings.mcp_servers


async def test_a_yes_to_the_servers_of_a_project_is_a_persons_alone(tmp_path: Path) -> None:
    async with file_hub(tmp_path) as hub:
        presenter, folder = hub.parts.presenter, hub.project(one={"command": "program"})
        await hub.session(folder)
        [waits] = await presenter.get_trust_requests(folder)
        with asked_by(UNATTENDED), pytest.raises(Denied):
            await presenter.trust_entries(folder, {"one": waits.digest})
        assert await presenter.trust_entries(folder, {"one": waits.digest}) == ["one"]
        assert [each.entry for each in await presenter.get_trusted_entries()] == ["one"]
        assert [each.kind for each in await presenter.get_server_files()] == ["settings", "mcp.json"]


async def test_what_is_started_is_shown_and_a_key_in_it_is_not_recorded(tmp_path: Path) -> None:
    async with file_hub(tmp_path) as hub:
        asked, folder = Asked(), hub.project(one={"command": "program", "args": ["--key", "hunter2"]})
        [waits] = await hub.parts.presenter.get_trust_requests(folder)
        with asked_by(asked):
            await hub.parts.presenter.trust_entries(folder, {"one": waits.digest})
        [wish] = asked.wishes
        assert wish.shown == {"commands": "one: program --key hunter2"}
        assert dict(decision_of(wish, "yes", "window").about) == {
            "project": folder,
            "entries": "one",
            "digests": f"one {waits.digest[:16]}",
        }
