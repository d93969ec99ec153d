"""permissions.py, grant_book.py and api.py, through McpPresenter's verbs"""

from pathlib import Path

import pytest
from tests.fakes.approval_desk import Desk, desk
from tests.fakes.scripted_server import tool

from tooltray.foundation.errors import NotFound, TooltrayError
from tooltray.foundation.snapshots.approvals import ServerPermissions, ToolPermission

WRITE, READ = tool("write_it", description="Writes it"), tool("read_it", description="Reads it")
KIND = tool("kind", annotations={"idempotentHint": True})


async def of_server(at: Desk, server: str = "s") -> ServerPermissions:
    return next(each for each in await at.parts.presenter.get_permissions() if each.server == server)


async def of_tool(at: Desk, name: str) -> ToolPermission:
    return next(each for each in (await of_server(at)).tools if each.tool == name)


async def test_each_tool_says_whether_it_runs_without_asking_and_why(tmp_path: Path) -> None:
    rules = ["read", "hint:idempotent", "names:ma*", "named", "ask:never"]
    tools = (WRITE, READ, KIND, tool("make"), tool("named"), tool("never"))
    async with desk(tmp_path, *tools, autoApprove=rules) as at:
        said = await of_server(at)
        assert said.single == ("named", "ask:never")
        assert (said.rules, said.is_changeable, said.is_listed) == (tuple(rules), True, True)
        assert {each.tool: (each.is_free, each.choice, each.why) for each in said.tools} == {
            "write_it": (False, "default", "It may change things"),
            "read_it": (True, "default", "It only reads"),
            "kind": (True, "default", "The server declares that repeated calls change nothing more"),
            "make": (True, "default", "Its name is like ma*"),
            "named": (True, "always", "You chose that it runs without asking"),
            "never": (False, "ask", "You chose that it asks first"),
        }


async def test_where_reading_asks_it_says_so_and_what_comes_with_tooltray_is_not_changed(here: Desk) -> None:
    assert (await of_tool(here, "read_it")).why == "It reads, and reads ask first here"
    own = [each for each in await here.parts.presenter.get_permissions() if not each.is_changeable]
    assert [each.rules for each in own] == [("all",)] * len(own)


async def test_a_tool_that_is_chosen_runs_without_asking_and_one_that_asks_does_so_whatever_else_is_allowed(tmp_path: Path) -> None:
    async with desk(tmp_path, autoApprove=["all"]) as at:
        await at.parts.presenter.set_tool_approval("s", "write_it", "ask")
        assert at.parts.settings_on_disk["mcpServers"]["s"]["autoApprove"] == ["all", "ask:write_it"]
        await at.allow(answer="once")
        assert "result" in await at.call("read_it")
        for _ in range(2):
            await at.parts.presenter.set_tool_approval("s", "write_it", "default")
        assert "result" in await at.call()
        await at.parts.presenter.set_server_auto_approve("s", [])
        await at.parts.presenter.set_tool_approval("s", "write_it", "always")
        assert "result" in await at.call()
        assert (at.questions, at.calls) == (1, 4)


async def test_a_tool_that_asks_does_so_for_a_client_with_rules_of_its_own_too(here: Desk) -> None:
    await here.parts.presenter.set_client_auto_approve("Cursor", ["all"])
    assert "result" in await here.call()
    await here.parts.presenter.set_tool_approval("s", "write_it", "ask")
    call = here.calling()
    question = await here.answer("refuse")
    assert question.why == "you chose that this tool asks first"
    assert question.choices == ("once", "session", "hour", "day", "always")
    assert "error" in await call


async def test_asking_takes_back_what_was_allowed_for_the_tool_and_reads_no_longer_cover_it(here: Desk) -> None:
    await here.parts.presenter.add_grant("s", "tool", "read_it")
    reads = await here.parts.presenter.add_grant("s", "reads")
    await here.allow("write_it", answer="session")
    assert len((await of_tool(here, "read_it")).grants) == 2
    assert len((await of_tool(here, "write_it")).grants) == 1
    for name in ("read_it", "write_it"):
        await here.parts.presenter.set_tool_approval("s", name, "ask")
    assert [each.id for each in await here.parts.presenter.get_grants()] == [reads.id]
    assert (await of_tool(here, "read_it")).grants == ()
    call = here.calling("read_it")
    question = await here.answer("always")  # a person's later yes counts
    assert "reads" not in question.choices
    assert "result" in await call
    assert "result" in await here.call("read_it")


async def test_a_grant_of_before_a_change_covers_the_tool_no_more_and_it_is_held(here: Desk) -> None:
    await here.allow()
    assert [bool((await of_tool(here, "write_it")).grants), (await of_tool(here, "write_it")).is_held] == [True, False]
    await here.redefine(tool("write_it", description="Writes more"), READ)
    assert [bool((await of_tool(here, "write_it")).grants), (await of_tool(here, "write_it")).is_held] == [False, True]


async def test_what_is_not_there_or_no_choice_is_refused(here: Desk) -> None:
    for server, name, choice, said in (("gone", "x", "ask", "Server 'gone' not found"), ("s", "gone", "ask", "has no tool 'gone'")):
        with pytest.raises(NotFound, match=said):
            await here.parts.presenter.set_tool_approval(server, name, choice)
    with pytest.raises(TooltrayError, match="'maybe' is not an approval choice"):
        await here.parts.presenter.set_tool_approval("s", "read_it", "maybe")


async def test_a_server_that_was_never_listed_is_said_to_be_not_known(tmp_path: Path) -> None:
    async with desk(tmp_path, is_started=False) as at:
        said = await of_server(at)
        assert (said.is_listed, said.tools) == (False, ())
        await at.parts.presenter.set_tool_approval("s", "to_come", "ask")
        assert at.parts.settings_on_disk["mcpServers"]["s"]["autoApprove"] == ["ask:to_come"]
