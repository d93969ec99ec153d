"""relay.py: the questions of modern servers in the way of a request."""

import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Iterator
from typing import Any, cast

import pytest
from tests.fakes.exchanges import exchange_of
from tests.fakes.fake_clock import in_fake_time
from tests.fakes.hub_parts import Client, opened
from tests.fakes.relay import Relay, connected
from tests.fakes.scripted_server import ScriptedServer, error, never, raw, text, tool

from tooltray.protocol.envelope import Envelope, NotDelivered, dump, not_delivered
from tooltray.protocol.sessions.exchange import Exchange
from tooltray.servers.relay.relay import LONGEST_PAUSE_S, MAX_ROUNDS, answer_in_rounds
from tooltray.servers.upstream.mcp_client import McpClient

ELICIT = {"method": "elicitation/create", "params": {"message": "sure?"}}


def required(questions: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"resultType": "input_required", "inputRequests": questions, **more}


def in_turn(*answers: Any) -> Any:
    waiting: Iterator[Any] = iter(answers)
    return lambda copy, params: next(waiting)


@pytest.fixture
async def relay() -> AsyncIterator[Relay]:
    async with connected(ScriptedServer(tool("ask"), eras=("modern",))) as relay:
        yield relay


async def call(relay: Relay, caller: Client, *, method: str = "tools/call", **params: Any) -> Any:
    request = Envelope(id=dump(7), method=method, params=dump({"name": "ask", "arguments": {"x": 1}, **params}))
    return opened(await answer_in_rounds(relay.client, exchange_of(request, caller), timeout_s=60.0))


def person(answer: Any, *capabilities: str) -> Client:
    return Client(capabilities={each: {} for each in capabilities or ("elicitation",)}, answer=answer)


async def test_a_result_without_questions_goes_through_verbatim(relay: Relay) -> None:
    relay.server.calls["ask"] = lambda copy, params: raw(b'{"content":[],"n":1180591620717411303424}')
    caller = person({})
    assert (await call(relay, caller))["result"]["n"] == 2**70
    assert caller.asked.all == []


class Dying:
    """A connection that gives these replies in turn. In the place of McpClient."""

    name = "dying"

    def __init__(self, *replies: Envelope) -> None:
        self.replies, self.params = list(replies), list[Any]()

    async def call(self, exchange: Exchange, *, timeout_s: float) -> Envelope:
        self.params.append(json.loads(bytes(exchange.request.params)))
        return self.replies.pop(0)


async def test_a_round_that_the_server_did_not_take_is_the_next_to_be_sent_and_nobody_is_asked_again() -> None:
    dying = Dying(
        Envelope(result=dump(required({"a": ELICIT}, requestState="s1"))),
        Envelope(result=dump(required({}, requestState="s2"))),
        not_delivered("gone"),
        Envelope(result=dump(text("done"))),
    )
    request, caller = Envelope(id=dump(7), method="tools/call", params=dump({"name": "ask"})), person({"action": "accept"})
    for is_taken in (False, True):
        reply = await answer_in_rounds(cast(McpClient, dying), exchange_of(request, caller), timeout_s=60.0)
        assert isinstance(reply, NotDelivered) is not is_taken
    assert dying.params[1] == {"name": "ask", "inputResponses": {"a": {"action": "accept"}}, "requestState": "s1"}
    assert dying.params[2:] == [{"name": "ask", "requestState": "s2"}] * 2
    assert len(caller.asked.all) == 1


async def test_the_question_of_a_modern_server_becomes_a_request_and_the_answer_a_second_call(relay: Relay) -> None:
    relay.server.calls["ask"] = in_turn(required({"a": ELICIT, "b": {"method": "elicitation/create"}}, requestState="s1"), text("done"))
    caller = person({"action": "accept"})
    assert (await call(relay, caller, _meta={"progressToken": 1}))["result"] == text("done")
    assert caller.asked.all == [("elicitation/create", {"message": "sure?"}), ("elicitation/create", None)]
    assert caller.abouts == [7, 7]
    second = (await relay.server.call("ask", count=2)).params
    assert second["inputResponses"] == {"a": {"action": "accept"}, "b": {"action": "accept"}}
    assert (second["requestState"], second["arguments"], second["_meta"]["progressToken"]) == ("s1", {"x": 1}, 1)


async def test_an_address_is_asked_for_as_the_legacy_era_has_it(relay: Relay) -> None:
    question = {"method": "elicitation/create", "params": {"mode": "url", "message": "look", "url": "https://example.org"}}
    relay.server.calls["ask"] = in_turn(required({"a": question}), text("done"))
    caller = Client(capabilities={"elicitation": {"url": {}}}, answer={"action": "accept"})
    assert (await call(relay, caller))["result"] == text("done")
    [(_, asked)] = caller.asked.all
    assert asked.pop("elicitationId")
    assert asked == question["params"]


async def test_without_a_state_none_is_sent_back(relay: Relay) -> None:
    relay.server.calls["ask"] = in_turn(required({"a": ELICIT}), text("done"))
    await call(relay, person({}))
    assert "requestState" not in (await relay.server.call("ask", count=2)).params


async def test_a_server_may_ask_several_times_and_each_answer_goes_with_its_own_state(relay: Relay) -> None:
    relay.server.calls["ask"] = in_turn(
        required({"a": ELICIT}, requestState="s1"), required({"b": ELICIT}, requestState="s2"), text("done")
    )
    assert (await call(relay, person({"ok": True})))["result"] == text("done")
    third = (await relay.server.call("ask", count=3)).params
    assert (third["inputResponses"], third["requestState"]) == ({"b": {"ok": True}}, "s2")


async def test_a_state_is_sent_back_once(relay: Relay) -> None:
    relay.server.calls["ask"] = in_turn(required({"a": ELICIT}, requestState="s1"), required({"b": ELICIT}), text("done"))
    await call(relay, person({}))
    assert "requestState" not in (await relay.server.call("ask", count=3)).params


async def test_a_server_that_asks_for_ever_is_given_up(relay: Relay) -> None:
    relay.server.calls["ask"] = lambda copy, params: required({"a": ELICIT})
    reply = await call(relay, person({}))
    assert reply["error"]["message"] == f"server 's' asked {MAX_ROUNDS} times in a row without returning a result"
    assert relay.server.count("tools/call") == MAX_ROUNDS


async def test_the_error_of_a_client_ends_the_call(relay: Relay) -> None:
    relay.server.calls["ask"] = lambda copy, params: required({"a": ELICIT})
    reply = await call(relay, person(error(-1, "the person closed the window")))
    assert reply == {"error": {"code": -1, "message": "the person closed the window"}}


@pytest.mark.parametrize("method", ["tools/list", "ping"])
async def test_what_no_client_is_asked_is_not_asked(relay: Relay, method: str) -> None:
    relay.server.calls["ask"] = lambda copy, params: required({"a": {"method": method}})
    caller = person({})
    reply = await call(relay, caller)
    assert reply["error"]["message"] == f"server 's' asks for {method}, which this AI client cannot answer"
    assert caller.asked.all == []


@pytest.mark.parametrize(
    ("declared", "question", "missing"),
    [
        ({"elicitation": {}}, {"method": "sampling/createMessage"}, {"sampling": {}}),
        ({"elicitation": {}}, {"method": "roots/list"}, {"roots": {}}),
        ({"sampling": {}}, {"method": "sampling/createMessage", "params": {"tools": []}}, {"sampling": {"tools": {}}}),
        ({"elicitation": {}}, {"method": "elicitation/create", "params": {"mode": "url"}}, {"elicitation": {"url": {}}}),
        ({"elicitation": {"url": {}}}, {"method": "elicitation/create", "params": {}}, {"elicitation": {"form": {}}}),
    ],
)
async def test_what_the_client_did_not_declare_fails_as_the_specification_has_it(
    relay: Relay, declared: dict[str, Any], question: Any, missing: Any
) -> None:
    relay.server.calls["ask"] = lambda copy, params: required({"a": question})
    caller = Client(capabilities=declared, answer={})
    reply = await call(relay, caller)
    assert (reply["error"]["code"], reply["error"]["data"]) == (-32021, {"requiredCapabilities": missing})
    assert caller.asked.all == []


async def test_where_one_question_cannot_be_answered_none_is_asked(relay: Relay) -> None:
    relay.server.calls["ask"] = lambda copy, params: required({"a": ELICIT, "b": {"method": "roots/list"}})
    caller = person({})
    assert (await call(relay, caller))["error"]["data"] == {"requiredCapabilities": {"roots": {}}}
    assert caller.asked.all == []


async def test_the_questions_of_one_round_are_asked_together(relay: Relay) -> None:
    relay.server.calls["ask"] = in_turn(required({"a": ELICIT, "b": ELICIT, "c": ELICIT}), text("done"))
    all_asked = asyncio.Event()

    async def answer(method: str) -> Any:
        if len(caller.asked.all) == 3:
            all_asked.set()
        await all_asked.wait()
        return {"action": "accept"}

    caller = person(answer)
    assert (await call(relay, caller))["result"] == text("done")
    assert list((await relay.server.call("ask", count=2)).params["inputResponses"]) == ["a", "b", "c"]


async def test_an_error_of_the_client_withdraws_the_other_questions(relay: Relay) -> None:
    relay.server.calls["ask"] = lambda copy, params: required({"a": ELICIT, "b": ELICIT})
    withdrawn = asyncio.Event()

    async def answer(method: str) -> Any:
        if len(caller.asked.all) == 2:
            return error(-1, "no")
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            withdrawn.set()

    caller = person(answer)
    assert (await call(relay, caller))["error"]["message"] == "no"
    assert withdrawn.is_set()


@in_fake_time
async def test_a_server_that_only_wants_to_be_called_again_is_called_after_growing_pauses() -> None:
    clock, called_at = asyncio.get_running_loop(), []

    def answer(copy: Any, params: Any) -> Any:
        called_at.append(clock.time())
        assert "inputResponses" not in params
        return {"resultType": "input_required", "requestState": str(len(called_at))}

    async with connected(ScriptedServer(tool("ask"), eras=("modern",))) as relay:
        relay.server.calls["ask"] = answer
        assert "without returning a result" in (await call(relay, person({})))["error"]["message"]
        assert (await relay.server.call("ask", count=3)).params["requestState"] == "2"
    pauses = [round(later - earlier, 2) for earlier, later in itertools.pairwise(called_at)]
    assert pauses[:4] == [0.05, 0.1, 0.2, 0.4]
    assert pauses[-1] == LONGEST_PAUSE_S


async def test_progress_flows_in_every_round(relay: Relay) -> None:
    rounds = in_turn(required({"a": ELICIT}), text("done"))

    def answer(copy: Any, params: Any) -> Any:
        copy.notify("notifications/progress", {"progressToken": params["_meta"]["progressToken"], "progress": 1})
        return rounds(copy, params)

    relay.server.calls["ask"] = answer
    caller = person({})
    await call(relay, caller, _meta={"progressToken": "p"})
    assert caller.told.all == [("notifications/progress", {"progressToken": "p", "progress": 1})] * 2
    assert caller.abouts == [7, 7, 7]


@pytest.mark.parametrize("method", ["tools/call", "prompts/get", "resources/read"])
async def test_only_what_may_ask_is_called_again(relay: Relay, method: str) -> None:
    handler = in_turn(required({"a": ELICIT}), {"resultType": "complete", "ok": 1})
    relay.server.handlers |= {method: handler, "completion/complete": lambda copy, params: required({"a": ELICIT})}
    assert (await call(relay, person({}), method=method))["result"] == {"ok": 1}
    assert (await call(relay, person({}), method="completion/complete"))["result"] == required({"a": ELICIT})


async def test_a_result_and_an_error_lose_what_the_legacy_era_does_not_know(relay: Relay) -> None:
    answers = in_turn({"resultType": "complete", "contents": [], "ttlMs": 5, "cacheScope": "public"}, error(-32602, "no", {"uri": "x:/"}))
    relay.server.handlers["resources/read"] = answers
    assert await call(relay, person({}), method="resources/read") == {"result": {"contents": []}}
    assert (await call(relay, person({}), method="resources/read"))["error"] == {"code": -32002, "message": "no", "data": {"uri": "x:/"}}


@pytest.mark.parametrize("result", [b'{"resultType":5}', b'{"resultType":"input_required","inputRequests":[]}'])
async def test_what_cannot_be_read_is_the_clients_to_judge(relay: Relay, result: bytes) -> None:
    relay.server.calls["ask"] = lambda copy, params: raw(result)
    assert await call(relay, person({})) == opened(raw(result))


async def test_an_error_of_the_server_goes_through(relay: Relay) -> None:
    relay.server.calls["ask"] = lambda copy, params: error(-5, "no", {"x": 1})
    assert await call(relay, person({})) == {"error": {"code": -5, "message": "no", "data": {"x": 1}}}


async def test_a_client_that_cancels_while_the_server_works_cancels_there(relay: Relay) -> None:
    relay.server.calls["ask"] = never
    task = relay.keeper.spawn(call(relay, person({})), name="call")
    await relay.server.call("ask")
    task.cancel()
    await relay.server.cancelled.wait()


async def test_a_client_that_cancels_while_it_is_asked_is_not_called_back(relay: Relay) -> None:
    relay.server.calls["ask"] = lambda copy, params: required({"a": ELICIT})

    async def silence(method: str) -> Any:
        await asyncio.get_running_loop().create_future()

    caller = person(silence)
    task = relay.keeper.spawn(call(relay, caller), name="call")
    await caller.asked.wait()
    task.cancel()
    await asyncio.wait({task})
    assert relay.server.count("tools/call") == 1
