"""grant_book.py, permissions.py: what a person allowed for longer counts for the tools as they were defined, and can be taken back."""

import asyncio
import json
import logging
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.approval_desk import READ, WRITE, Desk, desk
from tests.fakes.heard import PATIENCE_S
from tests.fakes.hub_parts import entry, settled
from tests.fakes.scripted_server import error, tool
from tests.fakes.set_clock import SetClock

from tooltray.catalogue.definition import fingerprint
from tooltray.catalogue.list_times import AT_ONCE
from tooltray.consent.approvals.grant_book import UNDO_S, GrantBook
from tooltray.consent.approvals.grants import Grant, KeptGrants, LiveGrants, ScreenLock, grant_store
from tooltray.foundation.confirm_widening import asked_by
from tooltray.foundation.errors import NotFound, TooltrayError
from tooltray.foundation.events import GrantsChanged
from tooltray.foundation.snapshots.approvals import GrantSnapshot
from tooltray.foundation.snapshots.servers import ServerState

CHANGED = tool("write_it", description="Sends it")


async def test_a_tool_that_is_allowed_always_is_allowed_for_this_client_after_a_restart_too(tmp_path: Path) -> None:
    async with desk(tmp_path) as here:
        await here.allow()
        assert "result" in await here.call(arguments={"other": 1})
    async with desk(tmp_path) as here:
        assert "result" in await here.call()
        other = here.calling(client=here.session("Other"))
        await here.answer("refuse")
        assert "error" in await other
        [grant] = await here.parts.presenter.get_grants()
        assert (grant.kind, grant.server, grant.tool, grant.client, grant.session) == ("tool", "s", "write_it", "Cursor", "")
        assert grant.created_at <= time.time()


async def test_a_grant_for_all_clients_and_one_for_a_time(alone: Desk) -> None:
    before = time.time()
    grant = await alone.parts.presenter.add_grant("s", "tool", "write_it", expires_in_s=60.0)
    assert before + 60 <= grant.expires_at <= time.time() + 60
    assert "result" in await alone.call()
    assert "result" in await alone.call(client=alone.parts.client())


async def test_a_grant_is_taken_back_whatever_it_is_for(here: Desk) -> None:
    await here.allow(answer="session")
    await here.allow("read_it", answer="always")
    lasting, session = await here.parts.presenter.get_grants()
    assert (lasting.tool, session.tool, session.session, session.client) == ("read_it", "write_it", here.client.state.id, "Cursor")
    for grant in (session, lasting):
        await here.parts.presenter.remove_grant(grant.id)
        with pytest.raises(TooltrayError, match="nothing was allowed under"):
            await here.parts.presenter.remove_grant(grant.id)
    assert await here.parts.presenter.get_grants() == []
    for name in ("write_it", "read_it"):
        call = here.calling(name)
        await here.answer("refuse")
        await call
    assert len(here.parts.heard.of(GrantsChanged)) == 4


async def test_what_was_taken_back_is_allowed_again_as_it_was_until_its_own_end(here: Desk) -> None:
    p = here.parts.presenter
    grant = await p.add_grant("s", "tool", "write_it", expires_in_s=60.0)
    await p.remove_grant(grant.id)
    await here.redefine(CHANGED, READ)  # a person has not seen that
    told = len(here.parts.heard.of(GrantsChanged))
    with asked_by(here.parts.consent.window()):
        assert await p.restore_grant(grant.id) == (await p.get_grants())[0]
    assert len(here.parts.heard.of(GrantsChanged)) == told + 1
    assert (await here.parts.trail.entries())[0].about == {"grant": grant.id, "server": "s", "kind": "tool", "tool": "write_it"}
    assert [(each.id, each.expires_at, each.is_held) for each in await p.get_grants()] == [(grant.id, grant.expires_at, True)]
    assert (await p.get_tool_changes())[0].diff
    with pytest.raises(NotFound, match="cannot be undone"):
        await p.restore_grant(grant.id)


async def test_what_was_taken_back_long_ago_or_of_a_server_that_is_gone_stays_so(here: Desk, tmp_path: Path) -> None:
    clock = SetClock()
    parts = here.parts
    store = grant_store(tmp_path / "grants.json")
    live = LiveGrants(grant_store=store, screen_lock=ScreenLock(bus=parts.bus, has_window=True), now=clock)
    book = GrantBook(
        live_grants=live, states=parts.states, tools=parts.tools, bus=parts.bus, spawn=parts.keeper.spawn, is_of_file=lambda _: False
    )
    routes = {name: route for name, route in parts.tools.routes("s").items() if name == "write_it"}
    for after_s, is_removed in ((UNDO_S, False), (0.0, True)):
        grant = await book.allow("s", "tool", routes)
        await book.revoke(grant.id)
        clock.now += after_s
        if is_removed:
            await parts.presenter.remove_mcp_server("s")
        with pytest.raises(NotFound, match="cannot be undone"):
            await book.restore(grant.id)


async def test_the_same_grant_again_replaces_the_first(here: Desk) -> None:
    first = await here.parts.presenter.add_grant("s", "tool", "write_it", "Cursor")
    other = await here.parts.presenter.add_grant("s", "tool", "write_it")
    again = await here.parts.presenter.add_grant("s", "tool", "write_it", "Cursor")
    assert {each.id for each in await here.parts.presenter.get_grants()} == {other.id, again.id}
    assert first.id != again.id


async def test_a_yes_for_good_to_a_changed_tool_counts_for_every_grant_of_it(here: Desk) -> None:
    await here.parts.presenter.add_grant("s", "tool", "write_it", "Other")
    await here.parts.presenter.add_grant("s", "tool", "write_it", "Cursor")
    await here.redefine(CHANGED)
    await here.allow(answer="always")
    assert "result" in await here.call(client=here.session("Other"))
    assert await here.parts.presenter.get_tool_changes() == []


async def test_a_yes_for_once_leaves_a_changed_tool_held(here: Desk) -> None:
    await here.allow()
    await here.redefine(CHANGED)
    await here.allow(answer="once")
    assert len(await here.parts.presenter.get_tool_changes()) == 1


async def test_a_session_asks_again_about_a_changed_tool_and_shows_the_difference(here: Desk) -> None:
    await here.allow(answer="session")
    await here.redefine(CHANGED)
    call = here.calling()
    assert "+description: Sends it" in (await here.answer("session")).definition_diff
    await call
    assert "result" in await here.call()
    [grant] = await here.parts.presenter.get_grants()
    assert grant.session


async def test_a_tool_that_is_back_to_what_was_allowed_is_not_held(here: Desk) -> None:
    await here.allow()
    await here.redefine(CHANGED)
    await here.redefine({"description": WRITE["description"], **WRITE})
    assert "result" in await here.call()


async def test_a_reading_tool_that_writes_now_is_not_among_the_reads_any_more(tmp_path: Path) -> None:
    reads = tool("note_it", annotations={"readOnlyHint": True})
    async with desk(tmp_path, reads, READ) as here:
        await here.parts.presenter.add_grant("s", "reads")
        await here.redefine(tool("note_it"), READ)
        await here.parts.presenter.accept_tool_change("s", "note_it")
        call = here.calling("note_it")
        await here.answer("refuse")
        assert "error" in await call
        assert "result" in await here.call("read_it")
        assert await here.parts.presenter.get_tool_changes() == []


async def test_a_tool_that_is_not_taken_for_a_reading_one_any_more_is_not_among_the_reads(tmp_path: Path) -> None:
    """Another version may judge the same definition in another way."""
    async with desk(tmp_path, has_window=False) as here:
        now = fingerprint(here.parts.tools.routes("s")["write_it"].definition)
    grant_store(here.parts.home.grants).write(KeptGrants(grants=[Grant(id="1", kind="reads", server="s", tools={"write_it": now})]))
    async with desk(tmp_path, has_window=False) as here:
        assert len(await here.parts.presenter.get_grants()) == 1
        assert "error" in await here.call("write_it")


async def test_a_reading_tool_that_changed_is_accepted_into_the_reads(here: Desk) -> None:
    await here.parts.presenter.add_grant("s", "reads")
    await here.redefine(tool("read_it", description="Reads more"))
    await here.parts.presenter.accept_tool_change("s", "read_it")
    assert "result" in await here.call("read_it")


async def test_a_rule_counts_for_its_tool_as_it_was_defined_and_for_its_client(here: Desk) -> None:
    def found(name: str, client: str) -> list[str]:
        return [grant.id for grant in here.parts.grants.rules(here.parts.tools.routes("s")[name], client)]

    rule = {"tool": "write_it", "arguments": {"path": {"equals": "x"}}}
    made = await here.parts.presenter.add_rule("s", rule, client="Cursor")
    await here.parts.presenter.add_grant("s", "tool", "write_it", "Cursor")
    assert (found("write_it", "Cursor"), found("write_it", "Other"), found("read_it", "Cursor")) == ([made.id], [], [])
    await here.redefine(CHANGED, READ)
    assert found("write_it", "Cursor") == []


async def test_a_change_of_a_server_is_news_of_its_grants_alone(here: Desk) -> None:
    await here.redefine(CHANGED)
    assert not here.parts.heard.of(GrantsChanged)
    await here.parts.presenter.add_grant("s", "tool", "write_it")
    told = len(here.parts.heard.of(GrantsChanged))
    await here.redefine(WRITE)
    assert len(here.parts.heard.of(GrantsChanged)) == told + 1


async def test_what_was_allowed_of_a_server_goes_with_it(here: Desk) -> None:
    await here.allow(answer="session")
    await here.parts.presenter.add_grant("s", "tool", "write_it")
    await here.parts.conf.set_server("other", entry("program"))
    await here.parts.presenter.remove_mcp_server("other")
    assert len(await here.parts.presenter.get_grants()) == 2
    told = len(here.parts.heard.of(GrantsChanged))
    await here.parts.presenter.remove_mcp_server("s")
    await here.parts.ended()
    assert len(here.parts.heard.of(GrantsChanged)) >= told + 2, "of the session, and of what lasts"
    assert await here.parts.presenter.get_grants() == []
    assert json.loads(here.parts.home.grants.read_bytes())["grants"] == []


@pytest.mark.expected_warnings("could not be revoked")
async def test_grants_of_a_removed_server_do_not_count_even_if_the_disk_is_full(alone: Desk) -> None:
    await alone.parts.presenter.add_grant("s", "tool", "write_it")
    settings = alone.parts.conf.entries["s"]
    with alone.unwritable():
        await alone.parts.presenter.remove_mcp_server("s")
        await alone.parts.presenter.add_mcp_server("s", settings)
        await alone.parts.ended()
    await alone.parts.servers.start("s")
    assert await alone.parts.presenter.get_grants() == []
    assert "error" in await alone.call()


async def test_a_server_that_is_added_again_at_once_is_allowed_nothing(alone: Desk) -> None:
    await alone.parts.presenter.add_grant("s", "tool", "write_it")
    settings = alone.parts.conf.entries["s"]
    await alone.parts.presenter.remove_mcp_server("s")
    await alone.parts.presenter.add_mcp_server("s", settings)
    await alone.parts.servers.start("s")
    assert "error" in await alone.call()
    await alone.parts.presenter.add_grant("s", "tool", "write_it")
    await alone.parts.ended()
    assert len(await alone.parts.presenter.get_grants()) == 1


async def test_grants_that_cannot_be_read_allow_nothing_and_are_said(tmp_path: Path) -> None:
    async with desk(tmp_path) as here:
        await here.allow()
        here.parts.home.grants.write_text("{")
    async with desk(tmp_path) as here:
        assert any("allowed for longer than one call cannot be read" in each.title for each in here.parts.presenter.snapshot().notices)
        call = here.calling()
        await here.answer("refuse")
        assert "error" in await call


async def test_a_grant_reads_as_it_is_listed(here: Desk) -> None:
    grant = await here.parts.presenter.add_grant("s", "reads", client="Cursor")
    assert isinstance(grant, GrantSnapshot)
    assert (grant.kind, grant.tool, grant.client, grant.expires_at, grant.is_held) == ("reads", "", "Cursor", 0.0, False)
    assert await here.parts.presenter.get_grants() == [grant]


async def test_a_granted_call_after_a_restart_waits_for_what_the_server_is_now(tmp_path: Path) -> None:
    async with desk(tmp_path, has_window=False) as here:
        await here.parts.presenter.add_grant("s", "tool", "write_it")
        assert "result" in await here.call()
    async with desk(tmp_path, CHANGED, READ, has_window=False, is_started=False) as here:
        assert "has changed since it was allowed" in await here.refusal()
        assert here.calls == 0


async def test_a_granted_call_waits_for_a_list_that_the_server_has_just_said_to_be_another(alone: Desk) -> None:
    await alone.parts.presenter.add_grant("s", "tool", "write_it")
    listed = alone.program.hold("tools/list")
    alone.program.tools = [CHANGED, READ]
    alone.program.copy.notify("notifications/tools/list_changed")
    await alone.program.request("tools/list", count=2)
    call = alone.calling()
    listed.set()
    assert "has changed since it was allowed" in (await call)["error"]["message"]
    assert alone.calls == 0


async def test_a_granted_call_of_a_session_with_a_copy_of_its_own_goes_by_what_that_copy_lists(tmp_path: Path) -> None:
    def listed(copy: Any, params: Any) -> Any:
        return {"tools": [WRITE if copy is here.program.copies.all[0] else CHANGED]}

    async with desk(tmp_path, has_window=False, isolation="session") as here:
        here.program.handlers["tools/list"] = listed
        await here.parts.presenter.add_grant("s", "tool", "write_it")
        assert "has changed since it was allowed" in await here.refusal()
        await here.parts.presenter.add_grant("s", "tool", "write_it", client="Cursor")
        assert "error" in await here.call()
        del here.program.handlers["tools/list"]
        here.program.tools = [WRITE]
        here.program.copy.notify("notifications/tools/list_changed")
        await settled()
        assert "result" in await here.call()


# definitions that change and are not announced


@pytest.mark.parametrize("answer", ["always", "session"])
async def test_a_granted_call_goes_by_the_present_list_also_if_no_change_was_announced(tmp_path: Path, answer: str) -> None:
    async with desk(tmp_path, waits={"present_for_s": 0.0}) as here:
        await here.allow(answer=answer)
        here.program.tools = [CHANGED, READ]
        call = here.calling()
        assert "has changed" in (await here.answer("refuse")).why
        assert "error" in await call
        assert here.calls == 1


async def test_the_present_list_is_asked_for_once_in_a_while_and_only_where_a_grant_counts(tmp_path: Path) -> None:
    async with desk(tmp_path, has_window=False, waits={"present_for_s": 600.0}, autoApprove=["read"]) as here:
        await here.parts.presenter.add_grant("s", "tool", "write_it")
        for _ in range(3):
            assert "result" in await here.call()
        assert here.program.count("tools/list") == 1
    async with desk(tmp_path / "other", has_window=False, waits={"present_for_s": 0.0}, autoApprove=["read"]) as here:
        await here.parts.presenter.add_grant("s", "tool", "write_it")
        for _ in range(3):
            assert "result" in await here.call("read_it")
        assert here.program.count("tools/list") == 1
        assert "result" in await here.call()
        assert here.program.count("tools/list") == 2


async def test_granted_calls_that_come_together_share_one_look_at_the_list(tmp_path: Path) -> None:
    async with desk(tmp_path, has_window=False, is_started=False, waits={"present_for_s": 600.0}) as here:
        go_on = here.program.hold("tools/list")
        await here.parts.servers.start("s")
        await here.program.request("tools/list")
        go_on.set()
        await here.parts.listed()
        await here.parts.presenter.add_grant("s", "tool", "write_it")
        await here.parts.servers.get("s").stop(then=ServerState.ON_DEMAND)
        go_on.clear()
        calls = [here.calling(arguments={"number": number}) for number in range(5)]
        await here.program.request("tools/list", count=2)
        await settled()
        go_on.set()
        assert all(["result" in await call for call in calls])
        assert here.program.count("tools/list") == 2


async def test_looks_at_the_list_are_no_changes_after_which_a_server_is_listed_less_often(tmp_path: Path) -> None:
    async with desk(tmp_path, has_window=False, waits={"present_for_s": 0.0}) as here, asyncio.timeout(PATIENCE_S):
        await here.parts.presenter.add_grant("s", "tool", "write_it")
        for _ in range(3 * AT_ONCE):
            assert "result" in await here.call()
        assert here.program.count("tools/list") == 1 + 3 * AT_ONCE


async def test_a_granted_call_waits_for_one_list_of_a_server_that_announces_changes_all_the_time(tmp_path: Path) -> None:
    async with desk(tmp_path, has_window=False) as here, asyncio.timeout(PATIENCE_S):
        await here.parts.presenter.add_grant("s", "tool", "write_it")

        def listed(copy: Any, params: Any) -> Any:
            copy.notify("notifications/tools/list_changed")
            return {"tools": here.program.tools}

        here.program.handlers["tools/list"] = listed
        here.program.copy.notify("notifications/tools/list_changed")
        await here.program.request("tools/list", count=3)
        assert "result" in await here.call()


async def test_a_copy_of_ones_own_is_looked_at_by_itself_and_not_with_each_call(tmp_path: Path) -> None:
    for present_for_s, looks in ((600.0, 2), (0.0, 4)):  # the first copy once, and its own
        options = {"waits": {"present_for_s": present_for_s}, "isolation": "session"}
        async with desk(tmp_path / str(looks), has_window=False, **options) as here:
            await here.parts.presenter.add_grant("s", "tool", "write_it")
            for _ in range(3):
                assert "result" in await here.call()
            assert here.program.count("tools/list") == looks


async def test_a_list_that_is_as_it_was_is_not_worked_out_again(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    async with desk(tmp_path, WRITE, WRITE, has_window=False, waits={"present_for_s": 0.0}) as here:
        await here.parts.presenter.add_grant("s", "tool", "write_it")
        for _ in range(3):
            assert "result" in await here.call()
        assert here.program.count("tools/list") == 4
        assert caplog.text.count("is left out") == 1


async def test_what_was_allowed_of_a_server_is_held_while_its_settings_are_others(tmp_path: Path) -> None:
    async with desk(tmp_path, has_window=False) as here:
        await here.parts.presenter.add_grant("s", "tool", "write_it")
    async with desk(tmp_path, has_window=False, args=["--elsewhere"]) as here:
        assert "was allowed, but the server is started or reached in another way" in await here.refusal()
        [grant] = await here.parts.presenter.get_grants()
        assert grant.held_tools == ("write_it",)
        [change] = await here.parts.presenter.get_tool_changes()
        assert "started or reached in another way" in change.diff[0]
        await here.parts.presenter.accept_tool_change("s", "write_it")
        assert "result" in await here.call()


async def test_a_granted_call_of_a_server_that_cannot_start_says_why(alone: Desk) -> None:
    await alone.parts.presenter.add_grant("s", "tool", "write_it")
    alone.program.fails_to_open = TooltrayError("out of cheese")
    alone.program.copy.die()
    assert "server 's' is not running: out of cheese" in await alone.refusal()


async def test_a_granted_call_of_a_server_that_does_not_say_in_time_what_it_is_is_refused(tmp_path: Path) -> None:
    async with desk(tmp_path, has_window=False, waits={"confirmed_within_s": 0.02}) as here:
        await here.parts.presenter.add_grant("s", "tool", "write_it")
        listed = here.program.hold("tools/list")
        here.program.copy.notify("notifications/tools/list_changed")
        await here.program.request("tools/list", count=2)
        assert "server 's' has not listed its tools yet" in await here.refusal()
        listed.set()
        assert here.calls == 0


async def test_a_granted_call_of_a_copy_that_does_not_list_goes_by_what_is_known(tmp_path: Path) -> None:
    def listed(copy: Any, params: Any) -> Any:
        return {"tools": [WRITE]} if copy is here.program.copies.all[0] else error(-32603, "no")

    async with desk(tmp_path, has_window=False, isolation="session") as here:
        here.program.handlers["tools/list"] = listed
        await here.parts.presenter.add_grant("s", "tool", "write_it")
        assert "result" in await here.call()


async def test_a_grant_for_one_client_that_nobody_was_shown_accepts_nothing_for_another_one(here: Desk) -> None:
    await here.allow()
    await here.redefine(CHANGED, READ)
    await here.parts.presenter.add_grant("s", "tool", "write_it", "Other")
    assert "result" in await here.call(client=here.session("Other"))
    call = here.calling()
    assert (await here.asked()).definition_diff
    call.cancel()


async def test_a_changed_tool_is_held_until_a_person_has_seen_how_it_differs(here: Desk) -> None:
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
    assert "has changed" in question.why
    await call
    await presenter.accept_tool_change("s", "write_it")
    assert "result" in await here.call()
    assert await presenter.get_tool_changes() == []
    with pytest.raises(TooltrayError, match="has not changed"):
        await presenter.accept_tool_change("s", "write_it")
    with pytest.raises(TooltrayError, match="has not changed"):
        await presenter.accept_tool_change("s", "unknown")


async def test_a_change_that_changes_again_after_it_was_shown_is_not_accepted_unseen(alone: Desk) -> None:
    await alone.parts.presenter.add_grant("s", "tool", "write_it")
    await alone.redefine(CHANGED, READ)
    [seen] = await alone.parts.presenter.get_tool_changes()
    await alone.redefine(tool("write_it", description="Deletes all"), READ)
    [other] = await alone.parts.presenter.get_tool_changes()  # shown to somebody else
    with pytest.raises(TooltrayError, match="has changed again since this was shown"):
        await alone.parts.presenter.accept_tool_change("s", "write_it", seen=seen.revision)
    assert "error" in await alone.call()
    await alone.parts.presenter.accept_tool_change("s", "write_it", seen=other.revision)
    assert "result" in await alone.call()


async def test_what_was_allowed_of_a_renamed_server_still_is_and_ends_as_it_would_have(here: Desk) -> None:
    p = here.parts.presenter
    await here.allow(answer="session")
    lasting = await p.add_grant("s", "tool", "read_it", expires_in_s=60.0)
    taken = await p.add_grant("s", "tool", "write_it", "Other")
    await p.remove_grant(taken.id)
    here.client.state.allowed.add("something else")
    await p.rename_mcp_server("s", "new")
    assert {(each.server, each.tool, bool(each.session), each.expires_at) for each in await p.get_grants()} == {
        ("new", "write_it", True, 0.0),
        ("new", "read_it", False, lasting.expires_at),
    }
    assert "result" in await here.call()
    assert (await p.restore_grant(taken.id)).server == "new"
    assert {each["server"] for each in json.loads(here.parts.home.grants.read_bytes())["grants"]} == {"new"}


async def test_a_grant_until_the_screen_locks_goes_along_with_a_renamed_server(here: Desk) -> None:
    await here.parts.presenter.tell_screen_lock(False)
    grant = await here.parts.presenter.add_grant("s", "tool", "write_it", until="lock")
    await here.parts.presenter.rename_mcp_server("s", "new")
    assert [(each.id, each.server, each.until) for each in await here.parts.presenter.get_grants()] == [(grant.id, "new", "lock")]


async def test_what_is_being_allowed_while_its_server_is_renamed_is_allowed_of_the_renamed_one(here: Desk) -> None:
    store, is_writing, may_write = here.parts.grant_store, asyncio.Event(), threading.Event()
    write, loop = store.write, asyncio.get_running_loop()

    def slowly(content: KeptGrants) -> None:
        loop.call_soon_threadsafe(is_writing.set)
        assert may_write.wait(PATIENCE_S)
        write(content)

    store.write = slowly  # type: ignore[method-assign]
    await here.allow(answer="session")
    granting = asyncio.ensure_future(here.parts.presenter.add_grant("s", "tool", "read_it"))
    await is_writing.wait()
    renaming = asyncio.ensure_future(here.parts.presenter.rename_mcp_server("s", "new"))
    await here.parts.heard.until(lambda: here.parts.servers.find("new") is not None)
    may_write.set()
    await asyncio.gather(granting, renaming)
    assert {(each.server, each.tool) for each in await here.parts.presenter.get_grants()} == {("new", "read_it"), ("new", "write_it")}
