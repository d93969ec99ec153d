"""tool_call.py, stages.py, tool_resolver.py: a call's way to the server and back, why it cannot be made, the record of it."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec import Raw
from tests.fakes.approval_desk import desk
from tests.fakes.exchanges import exchange_of
from tests.fakes.hub_parts import HubParts, hub_parts, one_server, refusal_of, started, started_parts, text_of, two_servers
from tests.fakes.scripted_server import ScriptedServer, error, never, raw, text, tool

from tooltray.catalogue.second_looks import LookPatience
from tooltray.catalogue.server_lists import ERROR_LISTED_FOR_S
from tooltray.foundation.events import ToolCallResult
from tooltray.foundation.snapshots.clients import SessionProject
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.protocol.envelope import Envelope, dump
from tooltray.protocol.eras import Head
from tooltray.records.journal.journal_event import CALL, JournalEvent
from tooltray.servers.relay.relay import CALL_TIMEOUT_S

# calls


async def test_a_result_comes_back_as_the_server_wrote_it(tmp_path: Path) -> None:
    program = ScriptedServer(tool("t"))
    program.calls["t"] = lambda copy, params: raw(b'{"content":[],"n":1180591620717411303424,"x":0.1000000000000000055}')
    async with started_parts(tmp_path, **one_server(program)) as parts:
        request = Envelope(method="tools/call", params=Raw(b'{"name":"t"}'))
        client = parts.client()
        reply = await parts.calls.call(exchange_of(request, client, head=Head(name="t"), client="c"))
        assert bytes(reply.result) == b'{"content":[],"n":1180591620717411303424,"x":0.1000000000000000055}'


@pytest.mark.parametrize("is_changed", [True, False])
async def test_headers_that_do_not_fit_are_made_anew_from_the_servers_list_of_now(tmp_path: Path, is_changed: bool) -> None:
    program = ScriptedServer(tool("t"), eras=("modern",))
    replies = [error(-32020, "Header mismatch"), text("done")]
    program.calls["t"] = lambda copy, params: replies.pop(0)
    async with started_parts(tmp_path, **one_server(program), waits={"look_patience": LookPatience(pause_s=0.0)}) as parts:
        await parts.listed()
        if is_changed:
            program.tools[0] = tool("t", description="marked now")
        reply = await parts.call("t", is_modern=True)
        assert reply == ({"result": text("done")} if is_changed else {"error": {"code": -32020, "message": "Header mismatch"}})
        assert program.count("tools/list") == 2


async def test_a_call_that_comes_while_its_server_restarts_waits_and_succeeds(tmp_path: Path) -> None:
    program = ScriptedServer(tool("t"))
    async with started_parts(tmp_path, **one_server(program)) as parts:
        await parts.listed()
        go_on = program.hold("initialize")
        program.copy.die()
        call = asyncio.create_task(parts.call("t", arguments={"text": "again"}))
        await program.request("initialize", count=2)
        go_on.set()
        assert (await call)["result"] == text("again")


async def test_a_call_waits_a_bounded_time_for_its_server(tmp_path: Path) -> None:
    program = ScriptedServer(tool("t"))
    async with started_parts(tmp_path, **one_server(program)) as parts:
        await parts.listed()
        await parts.servers.get("s").stop(then=ServerState.ON_DEMAND)
        await parts.ended()
    program.handlers["initialize"] = never
    async with hub_parts(tmp_path, programs={"program": program}, waits={"start_wait_s": 0.02}) as parts:
        said = await refusal_of(parts, "t")
        assert said == "server 's' is not running: it is starting. Try again in a moment"


async def test_a_client_that_cancels_cancels_at_its_server_under_the_right_id(tmp_path: Path) -> None:
    programs = ScriptedServer(tool("hang")), ScriptedServer(tool("hang"))
    async with started_parts(tmp_path, "a", "b", **two_servers(*programs)) as parts:
        await parts.listed()
        calls = [asyncio.create_task(parts.call(name)) for name in ("a_hang", "b_hang", "b_hang")]
        await programs[0].call("hang")
        wanted = await programs[1].call("hang", count=2)
        calls[2].cancel()
        assert (await programs[1].cancelled.wait()).id == wanted.id
        assert programs[0].cancelled.all == []
        for call in calls:
            call.cancel()
        await asyncio.wait(calls)


@pytest.mark.parametrize(("fields", "limit_s"), [({}, CALL_TIMEOUT_S), ({"callTimeout": 7}, 7.0)])
async def test_a_call_has_ten_minutes_without_progress_or_what_its_server_says(
    tmp_path: Path, fields: dict[str, Any], limit_s: float
) -> None:
    program = ScriptedServer(tool("hang"))
    async with started_parts(tmp_path, **one_server(program, **fields)) as parts:
        call = asyncio.create_task(parts.call("hang"))
        await program.call("hang")
        assert parts.wheel.expire(limit_s) == 1
        assert f"did not answer tools/call within {limit_s:g} s" in (await call)["error"]["message"]


# the stages of a call are composed once


CHANGES: dict[str, Callable[[HubParts], Awaitable[object]]] = {
    ", so it needs the user's approval": lambda parts: parts.conf.change_server("s", auto_approve=[]),
    "Tooltray is paused": lambda parts: parts.conf.set_enabled(False),
    "the tool 't' is disabled in Tooltray": lambda parts: parts.conf.change_server("s", disabled_tools=["t"]),
    "server 's' is disabled. Ask the user to look at it in Tooltray": lambda parts: parts.conf.change_server("s", disable=True),
    "Unknown tool: t": lambda parts: parts.conf.remove_server("s"),
}


@pytest.mark.parametrize("refusal", CHANGES)
async def test_a_call_goes_by_the_settings_of_its_moment(tmp_path: Path, refusal: str) -> None:
    async with started_parts(tmp_path, **one_server(ScriptedServer(tool("t")))) as parts:
        await parts.listed()
        client = parts.client()
        assert "result" in await parts.call("t", client)
        await CHANGES[refusal](parts)
        assert refusal in await refusal_of(parts, "t", client=client)


async def test_a_call_goes_by_the_list_of_its_server_as_it_is_now(tmp_path: Path) -> None:
    program = ScriptedServer(tool("t", annotations={"readOnlyHint": True}))
    async with started_parts(tmp_path, **one_server(program, autoApprove=["read"])) as parts:
        await parts.listed()
        assert "result" in await parts.call("t")
        program.tools[0] = tool("t")
        program.copy.notify("notifications/tools/list_changed", {})
        await parts.heard.until(lambda: not parts.tools.routes("s")["t"].decision.is_approved)
        assert "result" not in await parts.call("t")


async def test_the_ways_of_the_last_tools_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tooltray.gateway.calls.tool_call.MOST_WAYS", 2)
    async with started_parts(tmp_path, **one_server(ScriptedServer(*map(tool, "abc")))) as parts:
        await parts.listed()
        kept = []
        for name in "abbca":
            assert "result" in await parts.call(name)
            kept.append([key[0] for key in parts.calls._ways])
        assert kept == [["a"], ["a", "b"], ["a", "b"], ["c"], ["c", "a"]]


# calls that cannot be made


async def test_an_unknown_tool_is_told(tmp_path: Path) -> None:
    async with started_parts(tmp_path, **one_server(ScriptedServer(tool("t")))) as parts:
        await parts.listed()
        assert (await parts.call("u"))["error"] == {"code": -32602, "message": "Unknown tool: u"}
        assert await refusal_of(parts, "t", server="gone") == "Unknown tool: t"
        assert parts.heard.of(ToolCallResult) == []


async def test_the_tool_of_a_stopped_server_says_how_to_get_it_back(tmp_path: Path) -> None:
    async with started_parts(tmp_path, **one_server(ScriptedServer(tool("t")))) as parts:
        assert await parts.listed() == ["t"]
        await parts.servers.stop("s")
        assert await parts.listed() == []
        assert await refusal_of(parts, "t") == ("server 's' is stopped: you stopped it. Ask the user to look at it in Tooltray")
        await started(parts)
        assert await parts.listed() == ["t"]


async def test_tools_of_a_server_in_error_stay_listed_for_ten_minutes_and_say_why_they_fail(tmp_path: Path) -> None:
    program = ScriptedServer(tool("t"))
    async with started_parts(tmp_path, **one_server(program)) as parts:
        assert await parts.listed() == ["t"]
        program.handlers["initialize"] = lambda copy, params: copy.die("no cheese at all")
        program.copy.die()
        await parts.heard.state("s", ServerState.ERROR)
        assert await parts.listed() == ["t"]
        assert "server 's' is not running: 's' could not be opened" in await refusal_of(parts, "t")
        await parts.conf.change_server("s", descriptions="still the same")
        assert parts.wheel.expire(ERROR_LISTED_FOR_S) == 3  # its tools, its skills, and what else it offers
        assert await parts.listed() == []
        assert "no cheese at all" in await refusal_of(parts, "t")
        del program.handlers["initialize"]
        await started(parts)
        assert await parts.listed() == ["t"]
        assert not parts.wheel.of(ERROR_LISTED_FOR_S)


async def test_the_ten_minutes_count_anew_with_the_next_error(tmp_path: Path) -> None:
    program = ScriptedServer(tool("t"))
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        for _ in range(2):
            await started(parts)
            assert await parts.listed() == ["t"]
            program.handlers["initialize"] = lambda copy, params: copy.die()
            program.copy.die()
            await parts.heard.until(lambda: parts.servers.get("s").state is ServerState.ERROR)
            assert len(parts.wheel.of(ERROR_LISTED_FOR_S)) == 3
            del program.handlers["initialize"]
        await parts.conf.remove_server("s")
        assert not parts.wheel.of(ERROR_LISTED_FOR_S)


async def test_a_listed_tool_is_called_in_the_profiles_that_have_it_alone(tmp_path: Path) -> None:
    program = ScriptedServer(tool("t"), tool("u"))
    profiles = {"some": {"servers": ["s"], "tools": {"s": ["t"]}}}
    async with started_parts(tmp_path, **one_server(program), settings={"profiles": profiles}) as parts:
        await parts.listed()
        client = parts.client()
        assert "result" in await parts.call("u", client)
        client.state.profile = "some"
        assert "result" in await parts.call("t", client)
        assert "Unknown tool: u" in (await parts.call("u", client))["error"]["message"]
        assert program.count("tools/call") == 2


async def test_a_tool_that_is_not_known_is_looked_for_unless_everything_is_paused(tmp_path: Path) -> None:
    program = ScriptedServer(tool("t"))
    async with started_parts(tmp_path, **one_server(program)) as parts:
        await parts.listed()
        for is_enabled, lists in ((False, 1), (True, 2)):
            await parts.conf.set_enabled(is_enabled)
            assert await refusal_of(parts, "s_new") == "Unknown tool: s_new"
            assert program.count("tools/list") == lists


# tools that their server keeps out of its list, called by a client that has this server alone


async def test_a_tool_that_its_server_does_not_list_is_called_all_the_same(tmp_path: Path) -> None:
    program = ScriptedServer(tool("t"))
    program.calls["hidden"] = lambda copy, params: text("found")
    async with started_parts(tmp_path, **one_server(program, toolOverrides={"hidden": {"name": "shown"}})) as parts:
        for name in ("hidden", "shown"):
            assert await text_of(parts, name, server="s") == "found"
        assert await refusal_of(parts, "u", server="s") == "Unknown tool: u"  # in the words of the server
        assert [event.response.outcome for event in parts.heard.of(ToolCallResult)] == ["ok", "ok", "error"]
        assert program.count("tools/list") == 1  # what the rules allow pays for no second look


@pytest.mark.parametrize("fields", [{"disabledTools": ["hidden"]}, {"toolFilter": {"mode": "allow", "list": ["t"]}}])
async def test_an_unlisted_tool_that_is_switched_off_is_not_called(tmp_path: Path, fields: dict[str, Any]) -> None:
    program = ScriptedServer(tool("t"))
    async with started_parts(tmp_path, **one_server(program, **fields)) as parts:
        assert await refusal_of(parts, "hidden", server="s") == "the tool 'hidden' is disabled in Tooltray"
        assert program.count("tools/call") == 0


async def test_an_unlisted_tool_that_a_profile_leaves_out_is_not_called(tmp_path: Path) -> None:
    program = ScriptedServer(tool("t"))
    profiles = {"some": {"servers": ["s"], "tools": {"s": ["t"]}}, "none": {"servers": []}}
    async with started_parts(tmp_path, **one_server(program), settings={"profiles": profiles}) as parts:
        client = parts.client()
        for client.state.profile in profiles:
            assert await refusal_of(parts, "hidden", client=client, server="s") == "Unknown tool: hidden"
        assert program.count("tools/call") == 0


async def test_an_unlisted_tool_of_a_server_that_rests_starts_it_and_one_of_a_failing_server_says_why(tmp_path: Path) -> None:
    program = ScriptedServer(tool("t"))
    program.calls["hidden"] = lambda copy, params: text("found")
    async with started_parts(tmp_path, **one_server(program)) as parts:
        await parts.listed("s")
        await parts.servers.get("s").stop(then=ServerState.ON_DEMAND)
        assert await text_of(parts, "hidden", server="s") == "found"
        program.handlers["initialize"] = lambda copy, params: copy.die("no cheese at all")
        program.copy.die()
        await parts.heard.state("s", ServerState.ERROR)
        assert "no cheese at all" in await refusal_of(parts, "hidden", server="s")
        await parts.servers.stop("s")
        assert "is stopped" in await refusal_of(parts, "hidden", server="s")


async def test_the_hubs_own_server_has_no_tools_but_those_it_lists(parts: HubParts) -> None:
    await started(parts, "hub")
    await parts.listed()
    assert await refusal_of(parts, "hidden", server="hub") == "Unknown tool: hidden"


# the record


async def test_every_call_is_recorded_with_its_outcome_and_nothing_of_its_content(tmp_path: Path) -> None:
    program = ScriptedServer(tool("t"), tool("bad"), tool("broken"), tool("hang"), tool("delete"))
    program.calls["bad"] = lambda copy, params: {"content": [], "isError": True}
    program.calls["broken"] = lambda copy, params: error(-1, "broken")
    async with started_parts(tmp_path, **one_server(program, autoApprove=["t", "bad", "broken", "hang"])) as parts:
        await parts.listed()
        for name in ("t", "bad", "broken", "delete"):
            await parts.call(name)
        hanging = asyncio.create_task(parts.call("hang"))
        await program.call("hang")
        hanging.cancel()
        await asyncio.wait({hanging})
        records = [event.response for event in parts.heard.of(ToolCallResult)]
        assert [(each.tool, each.server, each.client, each.outcome) for each in records] == [
            *(("t", "s", "test", "ok"), ("bad", "s", "test", "error"), ("broken", "s", "test", "error")),
            *(("delete", "s", "test", "refused"), ("hang", "s", "test", "cancelled")),
        ]
        assert records[0].argument_bytes == len(b'{"name":"t","arguments":{}}')
        assert records[0].result_bytes == len(dump(text("")))
        assert records[4].result_bytes == 0
        assert parts.stats.today("s", time.time()) == 4  # a refused call never reached the server


@pytest.mark.parametrize("answer", ["once", "refuse"])
async def test_the_time_that_a_person_took_is_not_the_servers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str) -> None:
    now = 100.0
    clock = SimpleNamespace(perf_counter=lambda: now, time=time.time)
    for module in ("stages", "tool_call"):
        monkeypatch.setattr(f"tooltray.gateway.calls.{module}.time", clock)
    monkeypatch.setattr("tooltray.protocol.sessions.exchange.time", clock)
    async with desk(tmp_path) as here:
        call = here.calling()
        question = await here.asked()
        now += 60  # a minute until the answer
        await here.parts.presenter.answer_approval(question.id, answer)
        await call
        assert [event.response.duration_s for event in here.parts.heard.of(ToolCallResult)] == [0]


async def test_what_a_server_asks_its_user_during_a_call_is_not_the_server_s_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    clock = SimpleNamespace(perf_counter=lambda: now, time=time.time)
    for module in ("stages", "tool_call"):
        monkeypatch.setattr(f"tooltray.gateway.calls.{module}.time", clock)
    monkeypatch.setattr("tooltray.protocol.sessions.exchange.time", clock)
    program = ScriptedServer(tool("t"))
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        await parts.presenter.start_server("s")
        await parts.tools.published()
        request = Envelope(method="tools/call", params=dump({"name": "t", "arguments": {}}))
        exchange = exchange_of(request, parts.client())

        async def ask(copy: Any, params: Any) -> Any:
            nonlocal now
            with exchange.timings.at_person():
                now += 60
            now += 2
            return text("")

        program.calls["t"] = ask
        await parts.calls.call(exchange)
        assert parts.stats.percentile_ms("s", 0.95) == 2000


async def test_the_journal_hears_of_a_call_with_where_its_time_went(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, **one_server(ScriptedServer(tool("t")))) as parts:
        found: list[JournalEvent] = []
        parts.bus.subscribe(JournalEvent, lambda event: found.append(event) if event.kind == CALL else None)
        await started(parts)
        await parts.listed()
        client = parts.client(name="s1")
        client.state.projects["person"] = SessionProject("/p", "p", "person")
        await parts.call("t", client, arguments={"path": "/a"})
        await parts.servers.get("s").stop(then=ServerState.ON_DEMAND)
        client.state.client = "Cursor"
        await parts.call("t", client)
        await parts.call("no such tool", client)
    first, second = found
    assert (first.client, first.session, first.project, first.server, first.tool, first.published) == ("test", "s1", "/p", "s", "t", "t")
    assert (second.client, first.outcome, first.is_fault) == ("Cursor", "ok", False)
    assert b'"path":"/a"' in bytes(first.params)
    assert first.timings
    assert second.timings
    assert (first.timings.server_s is not None, first.timings.start_s, first.timings.person_s) == (True, None, None)
    assert (second.timings.start_s is not None, second.timings.allowed_by) == (True, "rules")
    assert 0 <= first.duration_s <= first.timings.passed_s


async def test_a_call_is_under_way_until_it_ends(tmp_path: Path) -> None:
    program = ScriptedServer(tool("t"))
    program.calls["t"] = never
    async with started_parts(tmp_path, **one_server(program)) as parts:
        await parts.listed()
        call = parts.keeper.spawn(parts.call("t"), name="call")
        await program.call("t")
        assert [(each.server, each.tool, each.waits_for) for each in parts.under_way.now()] == [("s", "t", "server")]
        call.cancel()
        await asyncio.wait({call})
        assert parts.under_way.now() == []
