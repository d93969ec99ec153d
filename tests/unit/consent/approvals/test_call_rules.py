"""standing_grants.py, approval_rules.py: rules on arguments let the like of a call through and nothing else, wherever they stand."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw
from tests.fakes.approval_desk import Desk, desk
from tests.fakes.exchanges import exchange_of
from tests.fakes.scripted_server import tool

from tooltray.foundation.confirm_widening import Person, Wish, asked_by
from tooltray.foundation.errors import Conflict
from tooltray.foundation.snapshots.clients import SessionProject
from tooltray.protocol.envelope import Envelope

RUN = tool("run_command", description="Runs a command")
STATUS: dict[str, Any] = {"tool": "run_command", "arguments": {"command": {"command": ["git", "status"]}}}


class Recorded(Person):
    """A person at a hub, which records what they decide."""

    def __init__(self) -> None:
        self.wishes: list[Wish] = []

    async def confirm(self, wish: Wish) -> None:
        self.wishes.append(wish)


@asynccontextmanager
async def at_work(tmp_path: Path, *rules: dict[str, Any], has_window: bool = False, **options: Any) -> AsyncIterator[Desk]:
    """A server with a tool that runs commands, and a session that works on a project."""
    project = tmp_path / "project"
    project.mkdir()
    entry = {"callRules": list(rules)} if rules else {}
    async with desk(tmp_path / "home", RUN, has_window=has_window, **entry, **options) as here:
        here.client.state.projects["folder"] = SessionProject(os.path.realpath(project), "project", "folder")
        yield here


async def goes_through(here: Desk, arguments: object, name: str = "run_command") -> bool:
    return "result" in await here.call(name, arguments=arguments)


TRICKS: list[object] = [{"command": "git status; id"}, {"command": "git log"}, {"command": "git status", "cwd": "/etc"}, {}, []]
"""A few of those in test_rule_coverage.py."""


async def test_a_rule_made_of_a_call_lets_the_like_of_it_through_and_nothing_else(tmp_path: Path) -> None:
    async with at_work(tmp_path, has_window=True) as here:
        cwd = str(tmp_path / "project")
        call = here.calling("run_command", arguments={"command": "git status", "cwd": cwd})
        question = await here.asked()
        assert [each.answer for each in question.rules] == ["rule-1", "rule-2"]
        assert question.rules[1].words == (
            "run_command, where command begins with `git status`, followed by words that are not options, "
            f"and cwd is in {os.path.realpath(cwd)}; "
            "no other arguments"
        )
        with asked_by(person := Recorded()):
            await here.parts.presenter.answer_approval(question.id, "rule-2")
        assert "result" in await call
        assert [each.about["rule"] for each in person.wishes] == [question.rules[1].words]
        [grant] = await here.parts.presenter.get_grants()
        assert (grant.kind, grant.tool, grant.client, grant.words) == ("rule", "run_command", "Cursor", question.rules[1].words)
        (tmp_path / "project" / "out").symlink_to("/etc")
        for fine in ({"command": "git status src", "cwd": cwd}, {"command": ["git", "status"], "cwd": f"{cwd}/src"}):
            assert await goes_through(here, fine)
        assert here.questions == 1
        for trick in ({"command": "git status", "cwd": f"{cwd}/out"}, {"command": "git log", "cwd": cwd}, {"command": "git status"}):
            asked = here.calling("run_command", arguments=trick)
            await here.answer("refuse")
            assert "error" in await asked, trick
        await here.parts.presenter.remove_grant(grant.id)
        again = here.calling("run_command", arguments={"command": "git status src", "cwd": cwd})
        await here.answer("refuse")
        assert "error" in await again


@pytest.mark.parametrize("is_modern", [False, True])
async def test_a_rule_of_the_settings_lets_its_calls_through_and_nothing_else(tmp_path: Path, is_modern: bool) -> None:
    async with at_work(tmp_path, STATUS) as here:
        assert "result" in await here.call("run_command", arguments={"command": "git status src"}, is_modern=is_modern)
        for trick in TRICKS:
            reply = await here.call("run_command", arguments=trick, is_modern=is_modern)
            assert "content" not in reply.get("result", {}), trick
        assert here.calls == 1


async def test_arguments_that_are_named_twice_ask_and_what_was_looked_at_goes_to_the_server(tmp_path: Path) -> None:
    async with at_work(tmp_path, STATUS) as here:
        twice = Raw(b'{"command":"git status","command":"id"}')
        assert not await goes_through(here, twice)
        params = Raw(b'{"name":"run_command","Arguments":{"command":"id"},"arguments":{"command":"git status"}}')
        exchange = exchange_of(Envelope(method="tools/call", params=params), here.client)
        assert (await here.parts.calls.call(exchange)).result
        [sent] = [each.params for each in here.program.asked.all if each.method == "tools/call"]
        assert sent == {"name": "run_command", "arguments": {"command": "git status"}}


async def test_a_client_has_rules_of_its_own_in_the_place_of_the_servers(tmp_path: Path) -> None:
    log = {"tool": "run_command", "server": "s", "arguments": {"command": {"command": ["git", "log"]}}}
    clients = {
        "Cursor": {"callRules": [log, {**STATUS, "server": "other"}]},
        "Careful": {"autoApprove": []},
        "Slip": {"callRules": [STATUS, {"tool": 1}]},
    }
    async with at_work(tmp_path, STATUS, settings={"publish": {"clients": clients}}) as here:
        assert await goes_through(here, {"command": "git log"})
        assert not await goes_through(here, {"command": "git status"})
        for name, is_free in (("Careful", False), ("Slip", False), ("Plain", True)):
            reply = await here.call("run_command", here.session(name), arguments={"command": "git status"})
            assert ("result" in reply) is is_free, name


async def test_a_tool_that_asks_always_asks_whatever_a_rule_of_the_settings_says(tmp_path: Path) -> None:
    async with at_work(tmp_path, STATUS, autoApprove=["ask:run_command"]) as here:
        assert not await goes_through(here, {"command": "git status"})
        assert [each.message for each in here.parts.call_rules.problems()] == [
            "you chose that this tool asks always (run_command, where command begins with `git status`, "
            "followed by words that are not options; no other arguments)"
        ]


async def test_choosing_that_a_tool_asks_ends_what_a_rule_for_several_tools_allowed_of_it(tmp_path: Path) -> None:
    status = {"command": "git status"}
    async with at_work(tmp_path) as here:
        await here.redefine(RUN, tool("run_other"))
        hub = here.parts.presenter
        await hub.add_rule("s", {**STATUS, "tool": "names:run_*"})
        assert [await goes_through(here, status, name) for name in ("run_command", "run_other")] == [True, True]
        await hub.set_tool_approval("s", "run_command", "ask")
        assert [await goes_through(here, status, name) for name in ("run_command", "run_other")] == [False, True]
        await hub.add_rule("s", STATUS)  # a person's later yes counts
        assert await goes_through(here, status)


async def test_a_rule_for_one_client_or_of_a_changed_tool_lets_nobody_else_through(tmp_path: Path) -> None:
    async with at_work(tmp_path) as here:
        hub = here.parts.presenter
        await hub.add_rule("s", STATUS, client="Cursor")
        assert await goes_through(here, {"command": "git status"})
        assert "error" in await here.call("run_command", here.session("Other"), arguments={"command": "git status"})
        await here.redefine(tool("run_command", description="Runs it otherwise"))
        assert not await goes_through(here, {"command": "git status"})
        assert [each.tool for each in await hub.get_tool_changes()] == ["run_command"]
        await hub.accept_tool_change("s", "run_command")
        assert await goes_through(here, {"command": "git status"})


async def test_a_rule_for_a_tool_that_reads_is_no_yes_to_the_tool(alone: Desk) -> None:
    await alone.parts.presenter.add_rule("s", {"tool": "read_it", "arguments": {"path": {"equals": "x"}}})
    assert await goes_through(alone, {"path": "x"}, "read_it")
    assert not await goes_through(alone, {"path": "y"}, "read_it")
    [said] = [each for each in await alone.parts.presenter.get_permissions() if each.server == "s"]
    assert [each.grants for each in said.tools if each.tool == "read_it"] == [()]
    await alone.parts.presenter.set_tool_approval("s", "read_it", "ask")
    assert await alone.parts.presenter.get_grants() == []


async def test_the_rules_on_arguments_of_a_tool_are_said_with_what_applies_to_it(tmp_path: Path) -> None:
    named, pattern = ({"tool": name, "arguments": {"path": {"equals": "x"}}} for name in ("run_command", "names:r*"))
    async with at_work(tmp_path, named) as here:
        hub = here.parts.presenter

        async def said(tool: str = "run_command") -> list[str]:
            [tools] = [each.tools for each in await hub.get_permissions("s")]
            return [str(rule) for each in tools if each.tool == tool for rule in each.call_rules]

        assert [text.partition(",")[0] for text in await said()] == ["run_command"]
        await hub.add_rule("s", STATUS, client="Cursor")
        assert len(await said()) == 1, "of one client: for the others nothing changes"
        await hub.add_rule("s", STATUS)
        await hub.add_rule("s", pattern)
        assert len(await said()) == 3
        await hub.set_tool_approval("s", "run_command", "ask")
        assert len(await said()) == 0, "the choice that it asks has ended the rule that was made for it"
        await hub.add_rule("s", STATUS)
        assert len(await said()) == 1, "one that was made for it later counts"
        await hub.set_tool_enabled("s", "run_command", False)
        assert len(await said()) == 0, "no client can call it"


async def test_a_rule_whose_path_leads_elsewhere_is_not_made(tmp_path: Path) -> None:
    async with at_work(tmp_path, has_window=True) as here:
        folder = tmp_path / "project" / "link"
        folder.symlink_to("/etc")
        call = here.calling("run_command", arguments={"path": f"{folder}/passwd"})
        question = await here.asked()
        assert [each.rule["arguments"]["path"] for each in question.rules[1:]] == [
            {"inside": [str(folder)]},
            {"inside": [str(folder.parent)]},
        ]
        for wider in ("rule-2", "rule-3"):
            with pytest.raises(Conflict, match="This rule would not mean what it seems to"):
                await here.parts.presenter.answer_approval(question.id, wider)
        assert await here.parts.presenter.get_grants() == []
        await here.parts.presenter.answer_approval(question.id, "refuse")
        await call


async def test_a_kept_rule_that_cannot_be_read_or_is_for_another_tool_lets_nothing_through(tmp_path: Path) -> None:
    async with at_work(tmp_path) as here:
        routes = dict(here.parts.tools.routes("s"))
        for rule in ({"tool": "run_command", "later": 1}, {"tool": "other", "others": "any"}):
            await here.parts.grants.allow("s", "rule", routes, rule=rule)
        assert not await goes_through(here, {})


async def test_no_rule_with_a_secret_in_it_is_offered(tmp_path: Path) -> None:
    async with at_work(tmp_path, has_window=True) as here:
        call = here.calling("run_command", arguments={"text": "hunter2"})
        assert (await here.answer("refuse")).rules == ()
        await call


async def test_folders_that_are_not_there_are_told_of(tmp_path: Path) -> None:
    rule = {"tool": "run_command", "arguments": {"cwd": {"inside": [str(tmp_path), "{project}", "/not/there"]}}}
    gone = {"tool": "gone", "others": "any"}
    async with at_work(tmp_path, rule, gone, settings={"publish": {"clients": {"c": {"callRules": [rule]}}}}) as here:
        rules = here.parts.call_rules
        first = [each.message.partition(" (")[0] for each in rules.problems()]
        assert first == ["no such tool"]  # the disk is looked at meanwhile
        [check] = [task for task in asyncio.all_tasks() if task.get_name() == "folders of rules on arguments"]
        await check
        told = [(each.title, each.message.partition(" (")[0]) for each in rules.problems()]
        title = "A rule on arguments of '{}' matches no calls"
        missing = "folder /not/there not found"
        assert told == [(title.format("s"), missing), (title.format("s"), "no such tool"), (title.format("c"), missing)]
