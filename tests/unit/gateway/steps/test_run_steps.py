"""run_steps.py, course.py, call_checks.py, step_calls.py, step_values.py: chains through a whole hub, with scripted servers and clients."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw
from tests.fakes.approval_desk import desk
from tests.fakes.exchanges import exchange_of
from tests.fakes.hub_parts import MODERN_META, Client, HubParts, entry, one_server
from tests.fakes.lazy_hub import answered, ready_parts
from tests.fakes.scripted_server import Copy, ScriptedServer, text, tool

from tooltray.gateway.steps import references
from tooltray.gateway.steps.step_calls import StepCalls, StepTimings
from tooltray.protocol.envelope import Envelope, dump, failure
from tooltray.protocol.sessions.exchange import CallTimings
from tooltray.records.journal.journal_event import JournalEvent

A = {"id": "a", "tool": "list"}
EACH = {"id": "b", "tool": "label", "for_each": {"$": "a/issues", "map": "/n"}, "arguments": {"n": {"$": "item"}}}
FORM = {"elicitation": {"form": {}}}


def tracker(*, eras: tuple[str, ...] = ("legacy",)) -> ScriptedServer:
    """A server with issues: `list` has three, `label` echoes its arguments, `fail` fails."""
    program = ScriptedServer(tool("list"), tool("label"), tool("fail"), tool("hang"), eras=eras)
    issues = [{"n": number, "title": f"issue {number}"} for number in (1, 2, 3)]
    program.calls |= {
        "list": lambda copy, params: {"content": [], "structuredContent": {"issues": issues}},
        "label": lambda copy, params: text(json.dumps(params["arguments"])),
        "fail": lambda copy, params: {**text("the disk is full"), "isError": True},
    }
    return program


async def ran(
    parts: HubParts, *steps: dict[str, Any], result: Any = None, client: Client | None = None, is_modern: bool = False, **more: Any
) -> dict[str, Any]:
    arguments = {"steps": list(steps), "return": result, **more}
    reply = await answered(
        parts, "tools/call", client or parts.client(), name="run_steps", arguments=arguments, is_modern=is_modern, id=b'"outer"'
    )
    return dict(reply["result"])


def told(result: dict[str, Any]) -> str:
    return str(result["content"][0]["text"])


def value_of(result: dict[str, Any]) -> Any:
    return json.loads(told(result))


def labelled(program: ScriptedServer) -> list[Any]:
    calls = [each.params for each in program.asked.all if each.method == "tools/call"]
    return [each["arguments"] for each in calls if each["name"] == "label"]


async def test_later_calls_take_values_of_earlier_ones_and_only_the_result_comes_back(tmp_path: Path) -> None:
    program = tracker()
    async with ready_parts(tmp_path, **one_server(program)) as parts:
        result = await ran(parts, A, EACH, result={"numbers": {"$": "b", "map": "/n"}, "first": {"$": "a/issues/0/title"}})
        assert value_of(result) == {"result": {"numbers": [1, 2, 3], "first": "issue 1"}}
        assert "structuredContent" not in result  # it would cost the tokens of the text once more
        assert not result["isError"]
        assert labelled(program) == [{"n": 1}, {"n": 2}, {"n": 3}]


async def test_each_call_is_in_the_journal_and_figures_as_any_other(tmp_path: Path) -> None:
    async with ready_parts(tmp_path, **one_server(tracker())) as parts:
        seen: list[JournalEvent] = []
        parts.bus.subscribe(JournalEvent, seen.append)
        await ran(parts, A, EACH)
        calls = [each for each in seen if each.kind == "call"]
        assert [(each.tool, each.outcome) for each in calls] == [("list", "ok"), *[("label", "ok")] * 3]
        assert len({each.timings.id for each in calls if each.timings}) == 4
        assert [json.loads(bytes(each.params))["arguments"] for each in calls[1:]] == [{"n": 1}, {"n": 2}, {"n": 3}]


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        ({"content": [{"type": "text", "text": "ignored"}], "structuredContent": {"a": 1}}, {"a": 1}),
        ({"content": [{"type": "text", "text": "[1, 2]"}], "structuredContent": None}, [1, 2]),
        (text('{"a": 1}'), {"a": 1}),
        (text("plain"), "plain"),
        ({"content": [{"type": "text", "text": "1"}, {"type": "image", "data": ""}, {"type": "text", "text": "2"}]}, "1\n2"),
        ({"content": [{"type": "image", "data": ""}, 5, {"type": "text", "text": 7}]}, None),
        ({"content": 5}, None),
        ({}, None),
    ],
)
async def test_the_value_of_a_step_is_its_structure_else_its_text(tmp_path: Path, answer: dict[str, Any], value: Any) -> None:
    program = tracker()
    program.calls["list"] = lambda copy, params: answer
    async with ready_parts(tmp_path, **one_server(program)) as parts:
        assert value_of(await ran(parts, A, result={"$": "a"})) == {"result": value}


async def test_a_value_of_several_megabytes_is_used_and_one_that_is_too_large_ends_the_chain(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tracker()
    lines = "x" * 999 + "\n"
    program.calls["list"] = lambda copy, params: text(lines * 2100)
    async with ready_parts(tmp_path, **one_server(program)) as parts:
        result = {"count": {"$": "a", "split": "\n", "count": True}}
        assert value_of(await ran(parts, A, result=result)) == {"result": {"count": 2100}}
        monkeypatch.setattr(references, "MOST_BYTES", 2 * 2**20)
        failed = await ran(parts, A, EACH, result=result)
        assert failed["isError"]
        assert "step 'a' failed: the values of this chain would have more than 2 MB: select less" in told(failed)
        assert "Done before, and not undone: a: 1 call" in told(failed)
        assert not (await ran(parts, A, result="done"))["isError"]  # a value that is not needed takes no room
        assert labelled(program) == []


async def test_a_value_of_fifty_megabytes_ends_the_chain(tmp_path: Path) -> None:
    program = tracker()
    program.calls["list"] = lambda copy, params: text("x" * references.MOST_BYTES)
    async with ready_parts(tmp_path, **one_server(program)) as parts:
        assert "more than 50 MB" in told(await ran(parts, A, result={"$": "a"}))


async def test_what_python_cannot_hold_ends_the_chain_or_stays_text(tmp_path: Path) -> None:
    program = tracker()
    huge = b"9" * 5000
    program.calls["list"] = lambda copy, params: Envelope(result=Raw(b'{"content":[],"structuredContent":{"n":%b}}' % huge))
    program.calls["label"] = lambda copy, params: text(huge.decode())
    async with ready_parts(tmp_path, **one_server(program)) as parts:
        assert "step 'a' failed: the structured content cannot be read" in told(await ran(parts, A, result={"$": "a"}))
        kept = await ran(parts, {"id": "b", "tool": "label"}, result={"$": "b"})
        assert value_of(kept) == {"result": huge.decode()}
        program.calls["label"] = lambda copy, params: Envelope(result=Raw(b'{"content":[%b]}' % huge))
        assert value_of(await ran(parts, {"id": "b", "tool": "label"}, result={"$": "b"})) == {"result": None}


async def test_a_step_that_fails_ends_the_chain_with_what_was_done(tmp_path: Path) -> None:
    program = tracker()
    program.calls["label"] = lambda copy, params: (
        text("ok") if params["arguments"]["n"] < 3 else {**text("locked " * 1000), "isError": True}
    )
    async with ready_parts(tmp_path, **one_server(program)) as parts:
        failed = await ran(parts, A, EACH, {"id": "c", "tool": "label", "arguments": {"n": 0}})
        assert failed["isError"]
        assert "structuredContent" not in failed
        words = told(failed)
        assert words.startswith("step 'b' failed: call 3 of 3: locked locked")
        assert words.endswith("Done before, and not undone: a: 1 call, b: 2 calls")
        assert len(words) < 2300
        assert [each["n"] for each in labelled(program)] == [1, 2, 3]
        first = told(await ran(parts, {"id": "f", "tool": "fail"}, A))
        assert first == "step 'f' failed: the disk is full. Nothing was done before"


async def test_a_result_that_asks_for_what_is_not_there_tells_what_was_done(tmp_path: Path) -> None:
    async with ready_parts(tmp_path, **one_server(tracker())) as parts:
        failed = told(await ran(parts, A, result={"x": {"$": "a/isues"}}))
        assert failed == ("return.x: 'a/isues' is not there: no member 'isues'; it has 'issues'. Done before, and not undone: a: 1 call")


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({"isError": True}, "it failed without a reason"),
        (failure(-32000, ""), "it failed without a reason"),
        (failure(-32000, "gone away"), "gone away"),
        ({"task": {"taskId": "t", "status": "working", "createdAt": "", "ttl": 5}}, "the tool answered with a task"),
    ],
)
async def test_every_kind_of_failure_has_a_reason(tmp_path: Path, answer: Any, reason: str) -> None:
    program = tracker()
    program.calls["list"] = lambda copy, params: answer
    async with ready_parts(tmp_path, **one_server(program)) as parts:
        assert f"step 'a' failed: {reason}" in told(await ran(parts, A))


async def test_a_failed_call_can_be_skipped_and_is_reported(tmp_path: Path) -> None:
    program = tracker()
    program.calls["label"] = lambda copy, params: (
        {**text("no" * 500), "isError": True} if params["arguments"]["n"] == 2 else text(str(params["arguments"]["n"]))
    )
    async with ready_parts(tmp_path, **one_server(program)) as parts:
        single = {"id": "f", "tool": "fail", "on_error": "skip"}
        result = await ran(parts, single, A, {**EACH, "on_error": "skip"}, result=[{"$": "f"}, {"$": "b"}])
        assert value_of(result)["result"] == [None, [1, 3]]
        first, second = value_of(result)["skipped"]
        assert first == {"step": "f", "call": 1, "reason": "the disk is full"}
        assert (second["step"], second["call"], second["reason"]) == ("b", 2, "no" * 100)
        wrong = {**EACH, "arguments": {"n": {"$": "item/x"}}, "on_error": "skip"}
        result = await ran(parts, A, wrong, result={"$": "b"})
        assert value_of(result)["result"] == []
        assert len(value_of(result)["skipped"]) == 3


async def test_loops_have_a_bound_over_all_and_a_chain_that_passes_it_stops_before_the_loop(tmp_path: Path) -> None:
    program = tracker()
    program.calls["list"] = lambda copy, params: text(json.dumps(list(range(25))))
    async with ready_parts(tmp_path, **one_server(program)) as parts:
        loop = {**EACH, "for_each": {"$": "a"}}
        again = {**loop, "id": "c", "for_each": {"$": "a", "first": 24}}
        assert not (await ran(parts, A, loop, again))["isError"]
        assert len(labelled(program)) == 49
        failed = told(await ran(parts, A, loop, {**again, "for_each": {"$": "a"}}))
        assert "step 'c' failed: for_each: 51 calls: a chain makes at most 50" in failed
        assert len(labelled(program)) == 49 + 25
        failed = told(await ran(parts, A, loop, again, {"id": "d", "tool": "label"}))
        assert "step 'c' failed: for_each: 51 calls" in failed
        program.calls["list"] = lambda copy, params: text("12")
        assert "step 'b' failed: for_each needs a list" in told(await ran(parts, A, loop))


async def test_a_mistake_is_told_before_anything_is_called(tmp_path: Path) -> None:
    program = tracker()
    async with ready_parts(tmp_path, **one_server(program)) as parts:
        failed = await ran(parts, A, {**EACH, "for_each": {"$": "x"}})
        assert failed["isError"]
        assert told(failed) == "steps[1].for_each: '$' names 'x': the values here are 'a'. Nothing was called"
        assert program.count("tools/call") == 0


@pytest.mark.parametrize("name", ["run_steps", "call_tool"])
async def test_a_chain_calls_neither_chains_nor_call_tool(tmp_path: Path, name: str) -> None:
    program = tracker()
    async with ready_parts(tmp_path, **one_server(program)) as parts:
        await parts.conf.edit(lambda document: document.setdefault("publish", {}).update(mode="search"))
        await answered(parts, "tools/list", parts.client())
        inner = {"id": "b", "tool": name, "arguments": {"name": "list", "steps": [A], "return": 1}}
        failed = told(await ran(parts, A, inner))
        assert failed == f"steps[1].tool: a chain cannot call {name}: name the tool to call. Nothing was called"
        assert program.count("tools/call") == 0


async def test_the_same_tools_are_refused_as_to_single_calls(tmp_path: Path) -> None:
    program = tracker()
    program.tools.append(tool("of_view", _meta={"ui": {"visibility": ["app"]}}))
    async with ready_parts(tmp_path, **one_server(program, disabledTools=["hang"])) as parts:
        late = told(await ran(parts, A, {"id": "v", "tool": "of_view"}))  # names exist since the first call
        assert "step 'v' failed: of_view is only for the views of its server. Done before, and not undone: a: 1 call" in late
        assert "steps[0].tool: of_view is only for the views" in told(await ran(parts, {"id": "v", "tool": "of_view"}))
        for name in ("hang", "absent"):
            alone = await answered(parts, "tools/call", parts.client(), name=name, arguments={})
            assert f"step 'v' failed: {alone['error']['message']}" in told(await ran(parts, {"id": "v", "tool": name}))
        await parts.conf.edit(lambda document: document.update(profiles={"p": {"servers": ["s"], "tools": {"s": ["list"]}}}))
        client = parts.client()
        client.state.profile = "p"
        assert "step 'b' failed: call 1 of 3: Unknown tool: label" in told(await ran(parts, A, EACH, client=client))
        await parts.conf.set_enabled(False)
        assert "step 'a' failed: Tooltray is paused" in told(await ran(parts, A))
        assert program.count("tools/call") == 2


async def test_find_tools_can_be_a_step(tmp_path: Path) -> None:
    async with ready_parts(tmp_path, **one_server(tracker())) as parts:
        found = {"id": "f", "tool": "find_tools", "arguments": {"query": "label"}}
        assert not (await ran(parts, found, result={"$": "f"}))["isError"]


async def test_a_call_that_is_not_approved_ends_the_chain_also_where_failures_are_skipped(tmp_path: Path) -> None:
    program = tracker()
    async with ready_parts(tmp_path, **one_server(program, autoApprove=["list"])) as parts:
        failed = told(await ran(parts, A, {**EACH, "on_error": "skip"}))
        assert "step 'b' failed: call 1 of 3:" in failed
        assert "a: 1 call" in failed
        assert labelled(program) == []


async def test_the_third_call_is_refused_by_the_user(tmp_path: Path) -> None:
    program = tracker()
    answers = iter(["once", "once", "refuse"])

    async def answer(method: str) -> Any:
        return {"action": "accept", "content": {"answer": next(answers)}}

    async with ready_parts(tmp_path, **one_server(program, autoApprove=["list"])) as parts:
        client = parts.client(capabilities=FORM, answer=answer)
        failed = told(await ran(parts, A, EACH, client=client))
        assert "step 'b' failed: call 3 of 3:" in failed
        assert "Done before, and not undone: a: 1 call, b: 2 calls" in failed
        assert labelled(program) == [{"n": 1}, {"n": 2}]
        assert [method for method, _ in client.asked.all] == ["elicitation/create"] * 3
        assert set(client.abouts) == {"outer"}


@pytest.mark.parametrize("eras", [("legacy",), ("modern",)])
async def test_a_modern_client_is_asked_in_the_middle_and_the_chain_continues_with_its_answer(
    tmp_path: Path, eras: tuple[str, ...]
) -> None:
    program = tracker(eras=eras)
    async with ready_parts(tmp_path, **one_server(program, autoApprove=["list"])) as parts:
        client = parts.client(name="modern")
        arguments = {"steps": [A, {**EACH, "for_each": [7, 8]}], "return": {"$": "b"}}
        rounds: dict[str, Any] = {}
        for number in (0, 1):
            asked = await modern(parts, client, arguments, **rounds)
            assert asked["resultType"] == "input_required"
            assert len(labelled(program)) == number
            (key,) = asked["inputRequests"]
            answer = {"action": "accept", "content": {"answer": "once"}}
            rounds = {"requestState": asked["requestState"], "inputResponses": {key: answer}}
        last = await modern(parts, client, arguments, **rounds)
        assert last["resultType"] == "complete"
        assert value_of(last) == {"result": [{"n": 7}, {"n": 8}]}
        assert program.count("tools/call") == 3


async def test_what_is_allowed_for_longer_at_a_modern_client_is_not_asked_again_in_the_chain(tmp_path: Path) -> None:
    program = tracker()
    async with ready_parts(tmp_path, **one_server(program, autoApprove=["list"])) as parts:
        client = parts.client(name="modern")
        arguments = {"steps": [A, EACH], "return": {"$": "b", "count": True}}
        asked = await modern(parts, client, arguments)
        (key,) = asked["inputRequests"]
        answer = {"action": "accept", "content": {"answer": "always"}}
        last = await modern(parts, client, arguments, requestState=asked["requestState"], inputResponses={key: answer})
        assert value_of(last) == {"result": 3}


async def modern(parts: HubParts, client: Client, arguments: dict[str, Any], **rounds: Any) -> dict[str, Any]:
    reply = await parts.call("run_steps", client, is_modern=True, arguments=arguments, **rounds)
    return dict(reply["result"])


@pytest.mark.parametrize("eras", [("legacy",), ("modern",)])
@pytest.mark.parametrize("is_modern", [False, True])
async def test_a_server_asks_in_the_middle_of_a_chain(tmp_path: Path, eras: tuple[str, ...], is_modern: bool) -> None:
    async def ask(copy: Copy, params: Any) -> Any:
        if eras == ("legacy",):
            answer = await copy.ask("elicitation/create", {"message": "sure?", "requestedSchema": {"properties": {}}})
            return text(str(answer["action"]))
        if "requestState" in params:
            return text(params["inputResponses"]["q"]["action"]) | {"resultType": "complete"}
        asked = {"q": {"method": "elicitation/create", "params": {"message": "sure?", "requestedSchema": {"properties": {}}}}}
        return {"resultType": "input_required", "inputRequests": asked, "requestState": "theirs"}

    program = tracker(eras=eras)
    program.calls["label"] = ask
    async with ready_parts(tmp_path, **one_server(program)) as parts:
        client = parts.client(capabilities=FORM, answer={"action": "decline"})
        arguments = {"steps": [A, {"id": "b", "tool": "label"}], "return": {"$": "b"}}
        if is_modern:
            asked = await modern(parts, client, arguments)
            (key,) = asked["inputRequests"]
            result = await modern(parts, client, arguments, requestState=asked["requestState"], inputResponses={key: {"action": "decline"}})
        else:
            result = await ran(parts, *arguments["steps"], result=arguments["return"], client=client)
        assert value_of(result) == {"result": "decline"}


async def test_a_question_is_answered_at_the_desktop_in_the_middle(tmp_path: Path) -> None:
    async with desk(tmp_path, autoApprove=["read_it"]) as here:
        steps = [
            {"id": "a", "tool": "read_it", "arguments": {"text": "x"}},
            {"id": "b", "tool": "write_it", "arguments": {"text": {"$": "a"}}},
        ]
        call = here.calling("run_steps", arguments={"steps": steps, "return": {"$": "b"}})
        question = await here.asked()
        assert question.tool == "write_it"
        assert here.calls == 1
        await here.parts.presenter.answer_approval(question.id, "once")
        assert value_of((await call)["result"]) == {"result": "x"}


async def test_a_chain_is_cancelled_halfway(tmp_path: Path) -> None:
    program = tracker()
    async with ready_parts(tmp_path, **one_server(program)) as parts:
        seen: list[JournalEvent] = []
        parts.bus.subscribe(JournalEvent, seen.append)
        call = asyncio.create_task(ran(parts, A, {"id": "h", "tool": "hang"}, EACH))
        await program.call("hang")
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await program.cancelled.wait(lambda asked: asked.params["name"] == "hang")
        assert [(each.tool, each.outcome) for each in seen if each.kind == "call"] == [("list", "ok"), ("hang", "cancelled")]
        assert labelled(program) == []


async def test_a_modern_clients_chain_is_cancelled_with_its_held_call(tmp_path: Path) -> None:
    program = tracker()
    async with ready_parts(tmp_path, **one_server(program)) as parts:
        client = parts.client(name="modern")
        call = asyncio.create_task(modern(parts, client, {"steps": [{"id": "h", "tool": "hang"}, A], "return": 1}))
        await program.call("hang")
        call.cancel()
        await program.cancelled.wait(lambda asked: asked.params["name"] == "hang")
        with pytest.raises(asyncio.CancelledError):
            await call
        assert program.count("tools/call") == 1


async def test_a_dry_run_shows_the_calls_and_makes_none(tmp_path: Path) -> None:
    program = tracker()
    async with ready_parts(tmp_path, **one_server(program)) as parts:
        await parts.conf.edit(lambda document: document.update(profiles={"p": {"servers": ["s"], "tools": {"s": ["list", "fail"]}}}))
        client = parts.client()
        client.state.profile = "p"
        steps = (A, EACH, {"id": "c", "tool": "absent", "on_error": "skip"}, {"id": "d", "tool": "find_tools"})
        planned = value_of(await ran(parts, *steps, client=client, dry_run=True))["calls"]
        assert planned[0] == A
        assert planned[1] == {**EACH, "problem": "Unknown tool: label"}
        assert planned[2] == {"id": "c", "tool": "absent", "on_error": "skip", "problem": "Unknown tool: absent"}
        assert planned[3] == {"id": "d", "tool": "find_tools"}
        assert program.count("tools/call") == 0


async def test_progress_is_of_the_chain_and_only_rises(tmp_path: Path) -> None:
    program = tracker()

    def progresses(copy: Copy, params: Any) -> Any:
        token = params["_meta"]["progressToken"]
        for progress, total, message in ((1, 2, "half"), (1, 2, "again"), (5, None, ""), (-1, 0, "less"), ("x", 1, "")):
            copy.notify("notifications/progress", {"progressToken": token, "progress": progress, "total": total, "message": message})
        copy.notify("notifications/message", {"level": "info", "data": "news"})
        return text("1")

    program.calls["label"] = progresses
    async with ready_parts(tmp_path, **one_server(program)) as parts:
        client = parts.client()
        arguments = {"steps": [A, {**EACH, "for_each": [1, 2]}], "return": 1}
        await parts.call("run_steps", client, arguments=arguments, _meta={"progressToken": "mine"})
        news = [params for method, params in client.told.all if method == "notifications/progress"]
        assert {each["progressToken"] for each in news} == {"mine"}
        assert {each["total"] for each in news} == {2}
        values = [each["progress"] for each in news]
        assert values == pytest.approx([0, 1, 1.25, 1 + 0.5 * 5 / 6, 1.5, 1.75, 1.5 + 0.5 * 5 / 6])
        words = [each["message"] for each in news]
        assert words[:3] == ["a", "b, call 1 of 2", "b, call 1 of 2: half"]
        assert words[-1].startswith("b, call 2 of 2")
        program.calls["label"] = lambda copy, params: text("1")
        await parts.call("run_steps", client, arguments=arguments)
        assert len([each for each in client.told.all if each[0] == "notifications/progress"]) == len(news)


async def test_a_call_that_waits_is_what_the_chain_waits_for() -> None:
    chain = CallTimings()
    step = StepTimings(chain)
    with step.at_turn(lambda: 3):
        assert (chain.waits_for, chain.before()) == ("turn", 3)
        assert (step.waits_for, step.before()) == ("turn", 3)
    assert chain.waits_for == "server"
    assert step.turn_s > 0
    assert chain.turn_s == 0


@pytest.mark.parametrize("is_modern", [False, True])
async def test_no_call_of_a_chain_begins_a_task(tmp_path: Path, is_modern: bool) -> None:
    program = tracker(eras=("modern",))
    tasks = {"extensions": {"io.modelcontextprotocol/tasks": {}, "other/one": {}}}
    async with ready_parts(tmp_path, **one_server(program)) as parts:
        client = parts.client(capabilities=tasks)
        meta = {"_meta": {**MODERN_META, "io.modelcontextprotocol/clientCapabilities": tasks}} if is_modern else {"task": {"ttl": 5}}
        reply = await parts.call("run_steps", client, arguments={"steps": [A], "return": 1}, **meta)
        assert value_of(reply["result"]) == {"result": 1}
        sent = program.asked.all[-1].params
        assert "task" not in sent
        assert sent["_meta"]["io.modelcontextprotocol/clientCapabilities"] == {"extensions": {"other/one": {}}}


async def test_a_result_has_the_smallest_limit_of_its_tools_and_no_step_is_cut(tmp_path: Path) -> None:
    program, other = tracker(), ScriptedServer(tool("short"))
    program.calls["list"] = lambda copy, params: text("line of words\n" * 2000)
    servers = {"s": entry("s", resultLimit=1000), "o": entry("o", resultLimit=500)}
    async with ready_parts(tmp_path, "s", "o", servers=servers, programs={"s": program, "o": other}) as parts:
        steps = (A, {"id": "o", "tool": "short", "arguments": {"text": "7"}})
        counted = await ran(parts, *steps, result=[{"$": "a", "split": "\n", "count": True}, {"$": "o"}])
        assert value_of(counted) == {"result": [2000, 7]}
        cut = await ran(parts, *steps, result=[{"$": "a"}, {"$": "o"}])
        assert "structuredContent" not in cut
        assert "larger than 500 tokens" in cut["content"][-1]["text"]
        (kept,) = parts.result_store._kept.values()
        assert set(kept.tools) == {("s", "list"), ("o", "short")}
        assert (await parts.call("read_result", arguments={"handle": kept.handle}))["result"]["content"][0]["text"].startswith('{"result"')
        await parts.conf.edit(lambda document: document.update(profiles={"p": {"servers": ["o"]}}))
        client = parts.client()
        client.state.profile = "p"
        assert "no result has this handle" in told((await parts.call("read_result", client, arguments={"handle": kept.handle}))["result"])


async def test_it_is_listed_where_tools_are_searched_and_on_request(tmp_path: Path) -> None:
    async with ready_parts(tmp_path, **one_server(tracker())) as parts:

        async def listed(**publish: Any) -> bool:
            await parts.conf.edit(lambda document: document.update(publish=publish))
            client = parts.client(name="me")
            client.state.client = "me"
            tools = (await answered(parts, "tools/list", client))["result"]["tools"]
            return any(each["name"] == "run_steps" for each in tools)

        assert not await listed()
        assert not await listed(mode="everything")
        assert await listed(mode="search")
        assert not await listed(mode="search", steps=False)
        assert await listed(steps=True)
        assert not await listed(steps=True, clients={"me": {"steps": False}})
        assert await listed(clients={"me": {"steps": True}})
        assert not await listed(clients={"other": {"steps": True}})


async def test_other_notifications_go_to_the_client_unchanged() -> None:
    client = Client()
    request = Envelope(id=Raw(b"7"), method="tools/call", params=dump({"name": "run_steps"}))
    calls = StepCalls(exchange_of(request, client), 1)
    calls.tell("notifications/message", dump({"data": "news"}), about=Raw(b"7"))
    assert client.told.all == [("notifications/message", {"data": "news"})]
    assert client.abouts == [7]
