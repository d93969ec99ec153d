"""definition_changes.py: a tool that changed is marked and listed until a person has seen it."""

from pathlib import Path

import pytest
from tests.fakes.approval_desk import READ, desk
from tests.fakes.scripted_server import tool

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.events import GrantsChanged

CHANGED = tool("write_it", description="Sends it")


async def test_a_changed_tool_is_held_until_a_person_has_seen_how_it_differs(tmp_path: Path) -> None:
    async with desk(tmp_path) as here:
        presenter = here.parts.presenter
        await here.allow()
        changed = len(here.parts.heard.of(GrantsChanged))
        await here.redefine(CHANGED, READ)
        assert len(here.parts.heard.of(GrantsChanged)) == changed + 1
        [grant] = await presenter.get_grants()
        assert (grant.is_held, grant.held_tools) == (True, ("write_it",))
        assert {each.original_name: each.is_held for each in await presenter.get_tools()} == {"write_it": True, "read_it": False}
        [change] = await presenter.get_tool_changes()
        assert (change.server, change.tool) == ("s", "write_it")
        assert {"-description: Writes it", "+description: Sends it"} <= set(change.diff)
        call = here.calling()
        question = await here.answer("refuse")
        assert question.definition_diff == change.diff
        assert "defined in another way" in question.why
        await call
        await presenter.accept_tool_change("s", "write_it")
        assert "result" in await here.call()
        assert await presenter.get_tool_changes() == []
        with pytest.raises(TooltrayError, match="has not changed"):
            await presenter.accept_tool_change("s", "write_it")
        with pytest.raises(TooltrayError, match="has not changed"):
            await presenter.accept_tool_change("s", "unknown")


async def test_a_change_that_changes_again_after_it_was_shown_is_not_accepted_unseen(tmp_path: Path) -> None:
    async with desk(tmp_path, has_window=False) as here:
        await here.parts.presenter.add_grant("s", "tool", "write_it")
        await here.redefine(CHANGED, READ)
        [seen] = await here.parts.presenter.get_tool_changes()
        await here.redefine(tool("write_it", description="Deletes all"), READ)
        [other] = await here.parts.presenter.get_tool_changes()  # shown to somebody else
        with pytest.raises(TooltrayError, match="has changed again since this was shown"):
            await here.parts.presenter.accept_tool_change("s", "write_it", seen=seen.revision)
        assert "error" in await here.call()
        await here.parts.presenter.accept_tool_change("s", "write_it", seen=other.revision)
        assert "result" in await here.call()
