"""lasting_yeses.py: what lasts is kept, and recorded before it counts."""

import asyncio
from pathlib import Path

from tests.fakes.approval_desk import FORM, WRITE, desk
from tests.fakes.hub_parts import settled
from tests.fakes.scripted_server import tool


async def test_a_yes_to_all_reads_accepts_the_tool_as_it_was_seen_for_other_grants_too(tmp_path: Path) -> None:
    async with desk(tmp_path) as here:
        await here.parts.presenter.add_grant("s", "tool", "read_it")
        await here.redefine(WRITE, tool("read_it", description="Reads it twice"))
        assert [each.tool for each in await here.parts.presenter.get_tool_changes()] == ["read_it"]
        await here.allow("read_it", answer="reads")
        assert await here.parts.presenter.get_tool_changes() == []


async def test_what_is_allowed_for_longer_in_a_client_s_form_is_recorded_before_it_counts(tmp_path: Path) -> None:
    async with desk(tmp_path, has_window=False) as here:
        client = here.session("Own", capabilities=FORM, answer={"action": "accept", "content": {"answer": "always"}})
        assert "result" in await here.call(client=client)
        [entry] = await here.parts.trail.entries()
        assert (entry.answer, entry.way, entry.who) == ("yes", "client", "Own")
        assert {**entry.about, "definitions": ""} == {
            "server": "s",
            "tool": "write_it",
            "client": "Own",
            "answer": "always",
            "definitions": "",
        }


async def test_what_cannot_be_recorded_does_not_last(tmp_path: Path) -> None:
    async with desk(tmp_path, has_window=False) as here:
        here.parts.home.audit.mkdir()
        client = here.session("Own", capabilities=FORM, answer={"action": "accept", "content": {"answer": "always"}})
        assert "error" in await here.call(client=client)
        assert await here.parts.presenter.get_grants() == []


async def test_what_lasts_is_for_all_calls_that_wait_and_are_covered_by_it(tmp_path: Path) -> None:
    async with desk(tmp_path) as here:
        calls = [here.calling(arguments={"a": 1, "b": 2}), here.calling(arguments={"b": 2, "a": 1})]
        question = await here.asked()
        await settled()
        calls.append(here.calling(arguments={"a": 2}))
        await here.asked()
        other_tool, other_session = here.calling("read_it"), here.calling(client=here.session("Cursor", "2"))
        left = [await here.asked(), await here.asked()]
        assert here.questions == 4
        await here.parts.presenter.answer_approval(question.id, "session")
        assert all("result" in reply for reply in await asyncio.gather(*calls))
        for each in left:
            await here.parts.presenter.answer_approval(each.id, "refuse")
        assert all("error" in reply for reply in await asyncio.gather(other_tool, other_session))
