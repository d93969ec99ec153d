"""server_limits.py: calls of one server wait for their turn, in turn, and never for each other."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw
from tests.fakes.exchanges import exchange_of
from tests.fakes.hub_parts import Client, HubParts, entry, one_server, settled, started, started_parts
from tests.fakes.scripted_server import ScriptedServer, text, tool
from tests.fakes.set_clock import SetClock

from tooltray.carriers.mcp.client_notices import LiveCall
from tooltray.foundation.events import ServerRemoved
from tooltray.gateway.calls import server_limits
from tooltray.gateway.calls.server_limits import MINUTE_S, ServerLimits
from tooltray.gateway.calls.stage import Terms
from tooltray.protocol.envelope import Envelope, dump
from tooltray.protocol.eras import Era
from tooltray.protocol.sessions.exchange import Exchange, Work
from tooltray.records.journal.journal_event import CALL, JournalEvent


class Gate:
    """A tool whose calls end when the test says so, each with its argument."""

    def __init__(self) -> None:
        self.program = ScriptedServer(tool("t"), tool("ask"))
        self.begun: list[str] = []
        self._ends: dict[str, asyncio.Event] = {}
        self.program.calls["t"] = self._answer

    async def _answer(self, copy: Any, params: Any) -> Any:
        name = params["arguments"]["n"]
        self.begun.append(name)
        await self._ends.setdefault(name, asyncio.Event()).wait()
        return text(name)

    async def end(self, *names: str) -> None:
        for name in names:
            self._ends.setdefault(name, asyncio.Event()).set()
            await settled()


@pytest.fixture
def gate() -> Gate:
    return Gate()


@pytest.fixture
async def parts(tmp_path: Path, gate: Gate) -> AsyncIterator[HubParts]:
    """A server that does one call at once."""
    async with started_parts(tmp_path, **one_server(gate.program, maxCalls=1)) as parts:
        await parts.listed()
        yield parts


def session(parts: HubParts, name: str) -> Client:
    return parts.client(name=name)


def call(parts: HubParts, client: Client, name: str) -> "asyncio.Task[dict[str, Any]]":
    return asyncio.create_task(parts.call("t", client, arguments={"n": name}))


def exchange_for(client: Client, name: str, **meta: Any) -> Exchange:
    params = {"name": "t", "arguments": {"n": name}, **({"_meta": meta} if meta else {})}
    return exchange_of(Envelope(id=Raw(b"7"), method="tools/call", params=dump(params)), client)


def bound(parts: HubParts, send: Work) -> Work:
    """What the stage makes of sending a call."""
    limits = next(stage for stage in parts.stages if isinstance(stage, ServerLimits))
    return limits.bind(Terms(parts.tools.routes("s")["t"], Era.LEGACY, False, True, False, False), lambda terms: send)


@pytest.mark.parametrize(("limits", "counts"), [({}, False), ({"maxCalls": 5}, True), ({"callsPerMinute": 5}, True)])
async def test_calls_of_a_server_without_limits_have_no_turns(tmp_path: Path, limits: dict[str, int], counts: bool) -> None:
    async def send(exchange: Exchange) -> Envelope:
        return Envelope()

    async with started_parts(tmp_path, **one_server(ScriptedServer(tool("t")), **limits)) as parts:
        await parts.listed()
        assert (bound(parts, send) is not send) is counts


async def test_the_turn_goes_round_the_sessions(tmp_path: Path) -> None:
    gate = Gate()
    async with started_parts(tmp_path, **one_server(gate.program, maxCalls=2)) as parts:
        await parts.listed()
        many, few = session(parts, "many"), session(parts, "few")
        calls = [call(parts, many, f"m{number}") for number in range(5)]
        await settled()
        calls += [call(parts, few, "f0"), call(parts, few, "f1")]
        await settled()
        assert gate.begun == ["m0", "m1"]
        await gate.end("m0", "m1", "m2", "f0", "m3", "f1", "m4")
        assert gate.begun == ["m0", "m1", "m2", "f0", "m3", "f1", "m4"]
        assert [json.dumps(await each)[32:34] for each in calls]


async def test_requests_that_nothing_ties_together_have_one_turn_for_all_of_their_client(parts: HubParts, gate: Gate) -> None:

    def passing(client: str, name: str) -> "asyncio.Task[Envelope]":
        each = session(parts, name)
        each.state.is_passing = True
        exchange = exchange_for(each, name)
        exchange.client = client
        return asyncio.create_task(parts.calls.call(exchange))

    calls = [passing("many", name) for name in ("m0", "m1", "m2")] + [passing("few", "f0")]
    await settled()
    await gate.end("m0", "m1", "m2", "f0")
    assert gate.begun == ["m0", "m1", "f0", "m2"]
    await asyncio.gather(*calls)


async def test_one_that_waits_can_be_cancelled_and_how_many_are_before_it_is_known(parts: HubParts, gate: Gate) -> None:
    one, other = session(parts, "one"), session(parts, "other")
    exchanges = [exchange_for(client, name) for client, name in ((one, "a0"), (one, "a1"), (one, "a2"), (other, "b0"), (other, "b1"))]
    calls = [asyncio.create_task(parts.calls.call(exchange)) for exchange in exchanges]
    await settled()
    assert [exchange.timings.before() for exchange in exchanges] == [0, 0, 2, 1, 3]
    assert [each.waits_for for each in parts.under_way.now()] == ["server"] + ["turn"] * 4
    calls[1].cancel()
    calls[3].cancel()
    await settled()
    await gate.end("a0", "a2", "b1")
    assert gate.begun == ["a0", "a2", "b1"]
    assert [each.cancelled() for each in calls] == [False, True, False, True, False]


async def test_one_that_is_cancelled_in_the_moment_of_its_turn_takes_no_place(parts: HubParts, gate: Gate) -> None:
    client = session(parts, "one")

    async def first() -> None:
        await bound(parts, ends_at_once)(exchange_for(client, "a"))
        second.cancel()  # it has its turn, and has not begun yet

    async def ends_at_once(exchange: Exchange) -> Envelope:
        await settled()
        return Envelope()

    going = asyncio.create_task(first())
    await asyncio.sleep(0)
    second, third = (call(parts, client, name) for name in "bc")
    await going
    await gate.end("c")
    assert (await third)["result"] == text("c")
    assert gate.begun == ["c"]


async def test_calls_that_are_cancelled_together_take_no_place(parts: HubParts, gate: Gate) -> None:
    gone, other = session(parts, "gone"), session(parts, "other")
    calls = [call(parts, gone, "a"), call(parts, gone, "b"), call(parts, other, "c")]
    await settled()
    for each in calls[:2]:  # as when their client goes
        each.cancel()
    await gate.end("c")
    assert gate.begun == ["a", "c"]
    assert [each.cancelled() for each in calls[:2]] == [True, True]
    assert (await calls[2])["result"] == text("c")


async def test_a_minute_is_not_waited_for_by_nobody(tmp_path: Path) -> None:
    gate, clock = Gate(), SetClock()
    async with started_parts(tmp_path, **one_server(gate.program, callsPerMinute=1), waits={"now": clock}) as parts:
        await parts.listed()
        await gate.end("a")
        await call(parts, session(parts, "one"), "a")
        waiting = call(parts, session(parts, "one"), "b")
        await settled()
        assert len(parts.wheel.of(MINUTE_S)) == 1
        waiting.cancel()
        await settled()
        assert not parts.wheel.of(MINUTE_S)


async def test_a_server_that_is_added_again_begins_to_count_anew(tmp_path: Path) -> None:
    gate, fields = Gate(), {"callsPerMinute": 1}
    async with started_parts(tmp_path, **one_server(gate.program, **fields), waits={"now": SetClock()}) as parts:
        await parts.listed()
        await gate.end("a", "b")
        await call(parts, session(parts, "one"), "a")
        await parts.conf.remove_server("s")
        await parts.heard.event(ServerRemoved, name="s")
        await parts.conf.set_server("s", entry("program", **fields))
        await started(parts)
        await parts.listed()
        again = call(parts, session(parts, "one"), "b")
        await settled()
        assert gate.begun == ["a", "b"]
        await again


async def test_no_more_begin_in_a_minute(tmp_path: Path) -> None:
    gate, clock = Gate(), SetClock()
    async with started_parts(tmp_path, **one_server(gate.program, callsPerMinute=2), waits={"now": clock}) as parts:
        await parts.listed()
        client = session(parts, "one")
        for name in "abcde":
            await gate.end(name)
        calls = [call(parts, client, name) for name in "abcde"]
        await settled()
        assert gate.begun == ["a", "b"]
        for expected in ("abcd", "abcde"):
            clock.now += MINUTE_S
            assert parts.wheel.expire(MINUTE_S) == 1
            await settled()
            assert "".join(gate.begun) == expected
        assert [(await each)["result"] for each in calls] == [text(name) for name in "abcde"]
        clock.now += MINUTE_S
        await gate.end("f")
        await call(parts, client, "f")


async def test_who_comes_as_the_minute_is_over_does_not_go_first(tmp_path: Path) -> None:
    gate, clock = Gate(), SetClock()
    async with started_parts(tmp_path, **one_server(gate.program, callsPerMinute=1), waits={"now": clock}) as parts:
        await parts.listed()
        await gate.end("a", "b", "c")
        await call(parts, session(parts, "one"), "a")
        waiting = call(parts, session(parts, "one"), "b")
        await settled()
        clock.now += MINUTE_S
        late = call(parts, session(parts, "other"), "c")
        await waiting
        assert gate.begun == ["a", "b"]
        late.cancel()
        await settled()


async def test_what_a_client_calls_to_answer_a_question_does_not_wait_for_the_call_that_asks(tmp_path: Path) -> None:
    gate = Gate()

    async def ask(copy: Any, params: Any) -> Any:
        return text(str(await copy.ask("sampling/createMessage", {"messages": []})))

    gate.program.calls["ask"] = ask
    async with started_parts(tmp_path, **one_server(gate.program, maxCalls=1)) as parts:
        await parts.listed()

        async def answer(method: str) -> Any:
            await gate.end("nested")
            return {"said": (await parts.call("t", client, arguments={"n": "nested"}))["result"]["content"][0]["text"]}

        client = parts.client(capabilities={"sampling": {}}, answer=answer)
        waiting = asyncio.create_task(parts.call("ask", client))
        assert (await waiting)["result"] == text(str({"said": "nested"}))


async def test_a_call_that_asks_two_questions_at_once_gives_away_one_place(tmp_path: Path) -> None:
    gate, answered = Gate(), asyncio.Event()

    async def ask(copy: Any, params: Any) -> Any:
        await asyncio.gather(*(copy.ask("sampling/createMessage", {"messages": []}) for _ in range(2)))
        return text("asked")

    async def answer(method: str) -> Any:
        await answered.wait()
        return {}

    gate.program.calls["ask"] = ask
    async with started_parts(tmp_path, **one_server(gate.program, maxCalls=1)) as parts:
        await parts.listed()
        asking = asyncio.create_task(parts.call("ask", parts.client(capabilities={"sampling": {}}, answer=answer)))
        await settled()
        others = [call(parts, session(parts, "other"), name) for name in "ab"]
        await settled()
        assert gate.begun == ["a"]
        answered.set()
        assert (await asking)["result"] == text("asked")
        assert gate.begun == ["a"]
        await gate.end("a", "b")
        await asyncio.gather(*others)


async def test_a_call_that_brings_its_answers_does_not_wait_again(tmp_path: Path) -> None:
    gate = Gate()

    async def ask(copy: Any, params: Any) -> Any:
        return text(str(await copy.ask("elicitation/create", {"message": "?"})))

    gate.program.calls["ask"] = ask
    async with started_parts(tmp_path, **one_server(gate.program, maxCalls=1)) as parts:
        await parts.listed()
        client = session(parts, "modern")
        result = (await parts.call("ask", client, is_modern=True))["result"]
        other = call(parts, session(parts, "other"), "long")
        await settled()
        answer = {"requestState": result["requestState"], "inputResponses": {"1": {"action": "accept"}}}
        assert (await parts.call("ask", client, is_modern=True, **answer))["result"]["content"] == text(str({"action": "accept"}))[
            "content"
        ]
        await gate.end("long")
        await other


async def test_too_many_are_refused_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_limits, "MOST_WAITING", 1)
    gate = Gate()
    async with started_parts(tmp_path, **one_server(gate.program, maxCalls=1)) as parts:
        await parts.listed()
        calls = [call(parts, session(parts, "one"), name) for name in "ab"]
        await settled()
        assert "already waiting" in (await call(parts, session(parts, "two"), "c"))["error"]["message"]
        await gate.end("a", "b")
        await asyncio.gather(*calls)


async def test_other_limits_count_at_once_and_a_server_that_is_gone_answers_all(parts: HubParts, gate: Gate) -> None:
    client = session(parts, "one")
    calls = [call(parts, client, name) for name in "abcd"]
    await settled()
    await parts.conf.change_server("s", max_calls=2)
    await settled()
    assert gate.begun == ["a", "b"]
    await parts.conf.remove_server("s")
    replies = await asyncio.wait_for(asyncio.gather(*calls), 5)
    assert all("error" in reply for reply in replies)


async def test_time_in_the_queue_is_not_the_servers(parts: HubParts, gate: Gate) -> None:
    happened: list[JournalEvent] = []
    parts.bus.subscribe(JournalEvent, happened.append)
    calls = [call(parts, session(parts, "one"), name) for name in "ab"]
    await settled()
    await asyncio.to_thread(lambda: None)
    await gate.end("a", "b")
    await asyncio.gather(*calls)
    timings = [each.timings for each in happened if each.kind == CALL][1]
    assert timings is not None
    assert timings.turn_s > 0
    assert (timings.server_s or 0.0) + timings.turn_s <= timings.passed_s


async def test_a_client_with_a_progress_token_hears_how_many_are_before_it(parts: HubParts, gate: Gate) -> None:
    first = call(parts, session(parts, "one"), "a")
    await settled()
    told: list[Any] = []
    exchange = exchange_for(session(parts, "two"), "b", progressToken=1)
    live = LiveCall(exchange, 0.0, parts.wheel, lambda params, about: told.append(json.loads(bytes(params))["message"]))
    waiting = asyncio.create_task(parts.calls.call(exchange))
    await settled()
    parts.wheel.expire(0.0)
    assert told[0].startswith("Queued: 0 calls of this server are ahead")
    live.end()
    await gate.end("a", "b")
    await asyncio.gather(first, waiting)
