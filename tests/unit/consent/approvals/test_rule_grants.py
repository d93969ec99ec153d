"""rule_grants.py: what a rule would have covered, and the grant that keeps it; rules that nobody can satisfy are refused."""

from pathlib import Path
from typing import Any

import pytest
from tests.fakes.approval_desk import Desk, desk
from tests.fakes.hub_parts import settled

from tooltray.consent.approvals.grants import UNREADABLE, Grant, rule_of, words_of
from tooltray.foundation.errors import NotFound, TooltrayError
from tooltray.foundation.snapshots.approvals import RulePreview

RULE: dict[str, Any] = {"tool": "write_it", "arguments": {"a": {"number": {"min": 1}}}}


async def previewed(here: Desk, rule: dict[str, Any] = RULE) -> RulePreview:
    return await here.parts.presenter.preview_rule("s", rule)


async def test_calls_of_late_are_judged_where_it_is_kept_what_they_were_called_with(tmp_path: Path) -> None:
    async with desk(tmp_path, has_window=False, autoApprove=["all"], settings={"activity": {"contents": True}}) as here:
        here.parts.journal.start()
        for arguments in ({"a": 2}, {"a": 0}, {"a": 1, "b": "hunter2"}):
            await here.call(arguments=arguments)
        await here.call("read_it", arguments={"a": 5})
        await here.parts.journal.flush()
        found = await previewed(here)
        assert [(each.tool, each.client, each.is_covered) for each in found.calls] == [
            ("write_it", "Cursor", False),
            ("write_it", "Cursor", False),
            ("write_it", "Cursor", True),
        ]
        assert "hunter2" not in found.calls[0].line
        assert (found.unknown, found.problems, found.rule) == (0, (), RULE)
        assert found.words == "write_it, where a is at least 1; no other arguments"
        await here.parts.presenter.change_settings({"activity": {"contents": False}})
        await here.call(arguments={"a": 2})
        await here.parts.journal.flush()
        assert (await previewed(here)).unknown == 1
        await here.parts.journal.close()


async def test_calls_that_wait_are_judged_too_and_large_ones_are_cut(tmp_path: Path) -> None:
    async with desk(tmp_path, has_window=False) as here:
        await here.refusal(arguments={"a": 2})
        await here.refusal("read_it", arguments={"a": 2})
        await here.refusal(arguments={"a": 2, "text": "x" * 500})
        found = await previewed(here)
        assert [each.is_covered for each in found.calls] == [True, False]
        assert found.calls[1].line.endswith("x…")
        assert [each.is_covered for each in (await previewed(here, {"tool": "names:*_it", "others": "any"})).calls] == [True, True, True]


async def test_what_makes_a_rule_useless_or_wide_is_told(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/usr")
    async with desk(tmp_path / "home", has_window=False) as here:
        folders = {"inside": [str(tmp_path / "gone"), "/", str(tmp_path / "link")]}
        found = await previewed(here, {"tool": "write_it", "arguments": {"p": folders}})
        assert found.problems == (f"there is no folder {tmp_path}/gone",)
        assert found.cautions == ("almost everything of yours is in /", f"{tmp_path}/link leads to /usr")
        assert (await previewed(here, {"tool": "gone"})).problems == ("there is no such tool",)
        assert (await previewed(here, {"tool": "gone"})).calls == ()


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        ({"tool": "write_it", "arguments": {"a": {"number": {"min": 2, "max": 1}}}}, "min is more than max"),
        ({"tool": "write_it", "arguments": {"a": {"hosts": []}}}, "must not be empty"),
        ({"tool": "write_it", "arguments": {"a": {"inside": ["/not/there"]}}}, "there is no folder /not/there"),
        ({"tool": "write_it", "arguments": {"a": {"command": ["git;"]}}}, "no call can have a word with blanks or signs of a shell"),
        ({"tool": "gone"}, "offers no tool that this rule speaks of"),
        ({"tool": "write_it", "server": "other"}, "This rule speaks of another server"),
        ({"tool": "write_it", "arguments": {"a": {"equals": "hunter2"}}}, "There is a secret in this rule"),
    ],
)
async def test_a_rule_that_nobody_can_satisfy_is_not_made(tmp_path: Path, rule: dict[str, Any], why: str) -> None:
    async with desk(tmp_path, has_window=False) as here:
        with pytest.raises(TooltrayError, match=why):
            await here.parts.presenter.add_rule("s", rule)
        assert await here.parts.presenter.get_grants() == []


async def test_a_rule_has_an_end_and_is_for_every_tool_of_its_pattern(tmp_path: Path) -> None:
    async with desk(tmp_path, has_window=False) as here:
        hub = here.parts.presenter
        with pytest.raises(TooltrayError, match="a year at most"):
            await hub.add_rule("s", RULE, expires_in_s=0.0)
        with pytest.raises(NotFound):
            await hub.add_rule("none", RULE)
        made = await hub.add_rule("s", {**RULE, "tool": "names:*_it"}, expires_in_s=60.0)
        assert (made.kind, made.tool, made.expires_at > made.created_at) == ("rule", "", True)
        for name in ("write_it", "read_it"):
            assert "result" in await here.call(name, arguments={"a": 1})
            assert "error" in await here.call(name, arguments={"a": 0})
        again = await hub.add_rule("s", {**RULE, "tool": "names:*_it"})
        await hub.add_rule("s", RULE)
        assert [each.id for each in await hub.get_grants()].count(made.id) == 0
        assert again.id in [each.id for each in await hub.get_grants()]
        assert len(await hub.get_grants()) == 2
        await settled()


def test_a_kept_rule_that_cannot_be_read_allows_nothing() -> None:
    odd = Grant(id="1", kind="rule", server="s", rule={"tool": "t", "later": True})
    assert rule_of(odd) is None
    assert words_of(odd) == UNREADABLE
    assert rule_of(Grant(id="2", kind="tool", server="s", rule={"tool": "t"})) is None
    assert words_of(Grant(id="2", kind="tool", server="s")) == ""
