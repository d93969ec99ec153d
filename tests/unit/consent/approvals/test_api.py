"""api.py, through McpPresenter's verbs; what each of them does is shown beside the module that does it."""

from pathlib import Path

import pytest
from tests.fakes.approval_desk import desk
from tests.fakes.consents import Meanwhile
from tests.fakes.hub_parts import entry, hub_parts
from tests.fakes.scripted_server import tool

from tooltray.foundation.confirm_widening import PERSON, UNATTENDED, asked_by
from tooltray.foundation.errors import Conflict, Denied, NotFound, TooltrayError


async def test_wider_rules_are_confirmed_by_a_person_and_narrower_ones_by_nobody(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, servers={"s": entry("p", autoApprove=["read", "write_it"])}) as parts:
        with asked_by(UNATTENDED):
            await parts.presenter.set_server_auto_approve("s", ["read"])
            with pytest.raises(Denied):
                await parts.presenter.set_server_auto_approve("s", ["read", "write_it"])
        assert parts.settings_on_disk["mcpServers"]["s"]["autoApprove"] == ["read"]
        with asked_by(PERSON):
            await parts.presenter.set_server_auto_approve("s", ["all"])
        assert parts.settings_on_disk["mcpServers"]["s"]["autoApprove"] == ["all"]


async def test_rules_that_mean_nothing_and_servers_that_are_not_there_are_refused(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, servers={"s": entry("p")}) as parts:
        with asked_by(UNATTENDED):
            with pytest.raises(TooltrayError, match="means nothing"):
                await parts.presenter.set_server_auto_approve("s", ["hint:loud"])
            with pytest.raises(NotFound, match="Server 'gone' not found"):
                await parts.presenter.set_server_auto_approve("gone", ["all"])


async def test_a_call_that_waits_no_longer_is_not_answered_and_nobody_confirms_that(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, servers={"s": entry("p")}) as parts:
        for answer in ("refuse", "once"):
            with asked_by(UNATTENDED), pytest.raises(TooltrayError, match="no longer waits"):
                await parts.presenter.answer_approval("gone", answer)


async def test_of_tools_that_change_while_a_person_is_asked_nothing_is_allowed(tmp_path: Path) -> None:
    async with desk(tmp_path, tool("t", description="0")) as here:
        hub, versions = here.parts.presenter, iter("123456")

        async def happen() -> None:
            await here.redefine(tool("t", description=next(versions)))

        with asked_by(Meanwhile(happen)):
            for verb in (lambda: hub.add_grant("s", "tool", "t"), lambda: hub.add_rule("s", {"tool": "t", "others": "any"})):
                with pytest.raises(Conflict, match="changed meanwhile"):
                    await verb()
        assert await hub.get_grants() == []
        await hub.add_grant("s", "tool", "t")
        await happen()
        with asked_by(Meanwhile(happen)), pytest.raises(Conflict, match="changed meanwhile"):
            await hub.accept_tool_change("s", "t")
        assert len(await hub.get_tool_changes()) == 1
