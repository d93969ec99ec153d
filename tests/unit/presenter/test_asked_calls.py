"""presenter/asked_calls.py"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from tests.fakes.hub_parts import Client, opened
from tests.fakes.relay import Relay, connected
from tests.fakes.scripted_server import ScriptedServer, error, never, raw, text, tool

from tooltray.presenter import asked_calls
from tooltray.wire import eras
from tooltray.wire.envelope import Envelope, dump

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


async def call(relay: Relay, caller: Client, **params: Any) -> Any:
    request = Envelope(method="tools/call", params=dump({"name": "ask", "arguments": {"x": 1}, **params}))
    head = eras.read_head(request.params)
    assert head is not None
    return opened(await asked_calls.relay(relay.client, request, head, caller, timeout_s=60.0))


def person(answer: Any, *capabilities: str) -> Client:
    return Client(capabilities={each: {} for each in capabilities or ("elicitation",)}, answer=answer)


async def test_a_result_without_questions_goes_through_verbatim(relay: Relay) -> None:
    relay.server.calls["ask"] = lambda copy, params: raw(b'{"content":[],"n":1180591620717411303424}')
    caller = person({})
    assert (await call(relay, caller))["result"]["n"] == 2**70
    assert caller.asked.all == []


async def test_the_question_of_a_modern_server_becomes_a_request_and_the_answer_a_second_call(relay: Relay) -> None:
    relay.server.calls["ask"] = in_turn(required({"a": ELICIT, "b": {"method": "elicitation/create"}}, requestState="s1"), text("done"))
    caller = person({"action": "accept"})
    assert (await call(relay, caller, _meta={"progressToken": 1}))["result"] == text("done")
    assert caller.asked.all == [("elicitation/create", {"message": "sure?"}), ("elicitation/create", None)]
    second = (await relay.server.call("ask", count=2)).params
    assert second["inputResponses"] == {"a": {"action": "accept"}, "b": {"action": "accept"}}
    assert (second["requestState"], second["arguments"], second["_meta"]["progressToken"]) == ("s1", {"x": 1}, 1)


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
    assert reply["error"]["message"] == f"server 's' asked {asked_calls.MAX_ROUNDS} times in a row without coming to a result"
    assert relay.server.count("tools/call") == asked_calls.MAX_ROUNDS


async def test_the_error_of_a_client_ends_the_call(relay: Relay) -> None:
    relay.server.calls["ask"] = lambda copy, params: required({"a": ELICIT})
    reply = await call(relay, person(error(-1, "the person closed the window")))
    assert reply == {"error": {"code": -1, "message": "the person closed the window"}}


@pytest.mark.parametrize("method", ["sampling/createMessage", "roots/list", "tools/list", "ping"])
async def test_what_the_client_cannot_answer_is_not_asked(relay: Relay, method: str) -> None:
    relay.server.calls["ask"] = lambda copy, params: required({"a": {"method": method}})
    caller = person({})
    reply = await call(relay, caller)
    assert reply["error"]["message"] == f"server 's' asks for {method}, which this AI client cannot answer"
    assert caller.asked.all == []


@pytest.mark.parametrize("result", [b'{"resultType":5}', b'{"resultType":"input_required","inputRequests":[]}', b"[]", b'"x"'])
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
