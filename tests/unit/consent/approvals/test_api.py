"""api.py, through McpPresenter's verbs; what each of them does is shown beside the module that does it."""

from pathlib import Path

import pytest
from tests.fakes.approval_desk import desk
from tests.fakes.consents import Meanwhile
from tests.fakes.hub_parts import entry, hub_parts
from tests.fakes.scripted_server import tool

from tooltray.foundation.confirm_widening import PERSON, UNATTENDED, Person, Wish, asked_by
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


class Listening(Person):
    """Says yes, and keeps what it heard: whether it was asked, and about what."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, dict[str, str]]] = []

    async def confirm(self, wish: Wish) -> None:
        self.heard.append(("confirm", dict(wish.about)))

    async def note(self, wish: Wish) -> None:
        self.heard.append(("note", dict(wish.about)))


async def test_an_answer_that_allows_a_call_is_confirmed_with_its_names_and_its_rule_in_words(tmp_path: Path) -> None:
    asker = Listening()
    async with desk(tmp_path) as here:
        with asked_by(asker):
            for answer in ("once", "refuse"):
                call = here.calling()
                await here.answer(answer)
                await call
            call = here.calling(arguments={"path": "/x/y/a"})
            question = await here.asked()
            narrow, wide = question.rules
            await here.parts.presenter.answer_approval(question.id, wide.answer)
            await call
    about = {"server": "s", "tool": "write_it", "client": "Cursor"}
    allowed = [{**about, "answer": "once"}, {**about, "answer": wide.answer, "rule": wide.words}]
    assert asker.heard == [("confirm", each) for each in allowed]
    assert narrow.words != wide.words


async def test_what_widens_is_confirmed_what_narrows_is_noted_and_what_stays_is_neither(tmp_path: Path) -> None:
    asker = Listening()
    async with desk(tmp_path) as here:
        hub = here.parts.presenter
        with asked_by(asker):
            for rules in (["all"], ["all"], []):
                await hub.set_server_auto_approve("s", rules)
            for rules in (["read"], ["read"], []):
                await hub.set_access("s", None, rules)
            for approval in ("always", "always", "default"):
                await hub.set_tool_approval("s", "write_it", approval)
            given = await hub.add_grant("s", "tool", "write_it")
            await hub.remove_grant(given.id)
            await hub.restore_grant(given.id)
    ways, abouts = zip(*asker.heard, strict=True)
    assert ways == ("confirm", "note") * 4 + ("confirm",)
    assert [each.get("rules") for each in abouts[:6]] == ["all", None, "read", None, "write_it", None]
    assert [each.get("rules_before") for each in abouts[:6]] == [None, "all", None, "read", None, "write_it"]
    assert (abouts[6]["until"], abouts[7]["tool"], abouts[8]["tool"]) == ("revoked", "write_it", "write_it")


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

        async def narrow() -> None:
            await hub.set_server_auto_approve("s", ["ask:t"])

        with asked_by(Meanwhile(narrow)), pytest.raises(Conflict, match="changed meanwhile"):
            await hub.set_tool_approval("s", "t", "always")
        with asked_by(Meanwhile(lambda: hub.set_server_auto_approve("s", []))), pytest.raises(Conflict, match="changed meanwhile"):
            await hub.set_server_auto_approve("s", ["all"])
