"""presenter/held_calls.py"""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from msgspec import Raw
from tests.fakes.hub_parts import MODERN_META, Client, opened
from tests.fakes.relay import Relay, connected
from tests.fakes.scripted_server import ScriptedServer, never, text, tool

from tooltray.presenter.held_calls import HELD_FOR_S, HeldCalls
from tooltray.wire import eras
from tooltray.wire.envelope import Envelope, dump

QUESTION = {"message": "sure?", "requestedSchema": {"type": "object", "properties": {}}}


class Session:
    """A modern AI client in front of a legacy server."""

    def __init__(self, relay: Relay) -> None:
        self.relay, self.client = relay, Client()
        wheel: Any = relay.wheel
        self.held = HeldCalls(client=self.client, deadlines=wheel, spawn=relay.keeper.spawn)

    async def call(self, name: str, *, meta: dict[str, Any] | None = None, **params: Any) -> dict[str, Any]:
        whole = {"name": name, "arguments": {}, "_meta": {**MODERN_META, **(meta or {})}, **params}
        request = Envelope(method="tools/call", params=dump(whole))
        head = eras.read_head(request.params)
        assert head is not None
        return opened(await self.held.relay(self.relay.client, request, head, timeout_s=60.0))

    def calling(self, name: str, **options: Any) -> "asyncio.Task[Any]":
        return self.relay.keeper.spawn(self.call(name, **options), name=f"call {name}")

    async def asked(self, name: str = "ask") -> str:
        """Calls a tool that asks, and returns the state to go on with."""
        result = (await self.call(name))["result"]
        assert result["resultType"] == "input_required", result
        return str(result["requestState"])


async def ask_once(copy: Any, params: Any) -> Any:
    return text(str(await copy.ask("elicitation/create", QUESTION)))


async def ask_twice(copy: Any, params: Any) -> Any:
    answers = [await copy.ask("elicitation/create", {"message": "name?"}), await copy.ask("elicitation/create", {"message": "age?"})]
    return text(str(answers))


@pytest.fixture
async def session() -> AsyncIterator[Session]:
    server = ScriptedServer(tool("ask"))
    server.calls |= {"ask": ask_once, "ask twice": ask_twice}
    async with connected(server) as relay:
        yield Session(relay)


async def test_a_call_without_questions_is_answered_at_once(session: Session) -> None:
    assert (await session.call("echo"))["error"]["message"] == "Unknown tool: echo"
    assert not session.relay.wheel.of(HELD_FOR_S)


async def test_the_question_of_a_legacy_server_becomes_a_result_and_the_answer_comes_with_the_next_call(session: Session) -> None:
    result = (await session.call("ask"))["result"]
    assert result["resultType"] == "input_required"
    assert result["inputRequests"] == {"1": {"method": "elicitation/create", "params": QUESTION}}
    answer = {"action": "accept", "content": {"n": 1}}
    reply = await session.call("ask", requestState=result["requestState"], inputResponses={"1": answer})
    assert reply["result"] == {"resultType": "complete", **text(str(answer))}
    assert session.relay.server.count("tools/call") == 1
    assert not session.relay.wheel.of(HELD_FOR_S)


async def test_a_question_without_params_has_none(session: Session) -> None:
    session.relay.server.calls["bare"] = _ask_bare
    assert (await session.call("bare"))["result"]["inputRequests"] == {"1": {"method": "elicitation/create"}}
    session.held.close()


async def _ask_bare(copy: Any, params: Any) -> Any:
    copy.say(b'{"jsonrpc":"2.0","id":"bare","method":"elicitation/create"}')
    await never(copy, params)


async def test_a_server_may_ask_again(session: Session) -> None:
    state = await session.asked("ask twice")
    second = (await session.call("ask twice", requestState=state, inputResponses={"1": {"name": "Ada"}}))["result"]
    assert second["inputRequests"]["1"]["params"] == {"message": "age?"}
    assert second["requestState"] != state
    last = await session.call("ask twice", requestState=second["requestState"], inputResponses={"1": {"age": 36}})
    assert last["result"]["content"][0]["text"] == str([{"name": "Ada"}, {"age": 36}])


async def test_a_client_that_comes_back_without_an_answer_is_asked_again(session: Session) -> None:
    again = (await session.call("ask", requestState=await session.asked()))["result"]
    assert again["inputRequests"]["1"]["params"] == QUESTION
    last = await session.call("ask", requestState=again["requestState"], inputResponses={"1": {"action": "decline"}})
    assert last["result"]["content"][0]["text"] == str({"action": "decline"})
    assert session.relay.server.count("tools/call") == 1


async def test_an_unknown_state_begins_a_new_call(session: Session) -> None:
    result = (await session.call("ask", requestState="of another hub", inputResponses={"1": {}}))["result"]
    assert result["resultType"] == "input_required"
    session.held.close()


async def test_a_question_that_the_client_cannot_answer_fails_at_the_server(session: Session) -> None:
    declared = {"io.modelcontextprotocol/clientCapabilities": {"roots": {}}}
    reply = await session.call("ask", meta=declared)
    assert "no AI client" in reply["result"]["content"][0]["text"]


@pytest.mark.parametrize("declared", [5, None, [], "elicitation", ["elicitation"]])
async def test_capabilities_of_another_type_are_none(session: Session, declared: Any) -> None:
    reply = await session.call("ask", meta={"io.modelcontextprotocol/clientCapabilities": declared})
    assert "no AI client" in reply["result"]["content"][0]["text"]


async def test_a_call_that_is_not_taken_up_again_is_given_up_after_a_while(session: Session) -> None:
    state = await session.asked()
    assert session.relay.wheel.expire(HELD_FOR_S) == 1
    await session.relay.server.cancelled.wait()
    assert (await session.call("ask", requestState=state, inputResponses={"1": {}}))["result"]["resultType"] == "input_required"
    assert session.relay.server.count("tools/call") == 2
    session.held.close()


async def test_a_deadline_that_comes_in_the_moment_of_the_answer_changes_nothing(session: Session) -> None:
    state = await session.asked()
    [deadline] = session.relay.wheel.of(HELD_FOR_S)
    call = session.calling("ask", requestState=state, inputResponses={"1": {"action": "accept"}})
    await asyncio.sleep(0)
    deadline.on_expired()
    assert (await call)["result"]["content"][0]["text"] == str({"action": "accept"})


async def test_a_state_serves_once(session: Session) -> None:
    state = await session.asked()
    await session.call("ask", requestState=state, inputResponses={"1": {}})
    assert (await session.call("ask", requestState=state, inputResponses={"1": {}}))["result"]["resultType"] == "input_required"
    session.held.close()


async def test_a_client_that_cancels_cancels_at_the_server(session: Session) -> None:
    call = session.calling("hang")
    await session.relay.server.call("hang")
    call.cancel()
    await session.relay.server.cancelled.wait()


async def test_a_client_that_leaves_ends_its_calls_at_the_server(session: Session) -> None:
    await session.asked()
    session.held.close()
    await session.relay.server.cancelled.wait()
    assert not session.relay.wheel.of(HELD_FOR_S)
    session.held.close()


async def test_an_answer_to_a_server_that_died_meanwhile_gets_its_last_words(session: Session) -> None:
    state = await session.asked()
    session.relay.server.copy.die("out of cheese")
    reply = await session.call("ask", requestState=state, inputResponses={"1": {"action": "accept"}})
    assert reply["error"]["message"] == "server 's' ended with exit code 1: out of cheese"


async def test_an_answer_to_a_question_that_was_withdrawn_is_dropped(session: Session) -> None:
    server = session.relay.server

    async def withdraw(copy: Any, params: Any) -> Any:
        copy.say(b'{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{}}')
        await go_on.wait()
        return text("never mind")

    go_on = asyncio.Event()
    server.calls["withdraw"] = withdraw
    state = await session.asked("withdraw")
    server.copy.say(b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"q"}}')
    call = session.calling("withdraw", requestState=state, inputResponses={"1": {"action": "accept"}})
    go_on.set()
    assert (await call)["result"]["content"][0]["text"] == "never mind"


async def test_a_question_with_two_calls_of_one_client_in_flight_goes_to_that_client(session: Session) -> None:
    hanging = session.calling("hang")
    await session.relay.server.call("hang")
    asking = session.calling("ask")
    done, _ = await asyncio.wait({hanging, asking}, return_when=asyncio.FIRST_COMPLETED)
    is_by_the_other = hanging in done
    result = (await (hanging if is_by_the_other else asking))["result"]
    assert result["inputRequests"]["1"]["params"] == QUESTION
    name = "hang" if is_by_the_other else "ask"
    again = session.calling(name, requestState=result["requestState"], inputResponses={"1": {"action": "accept"}})
    assert (await (asking if is_by_the_other else again))["result"]["content"] == text(str({"action": "accept"}))["content"]


async def test_a_question_that_two_clients_could_answer_goes_to_neither(session: Session) -> None:
    other = Session(session.relay)
    other.calling("hang")
    await session.relay.server.call("hang")
    assert "more than one AI client" in (await session.call("ask"))["result"]["content"][0]["text"]


async def test_progress_reaches_the_client(session: Session) -> None:
    async def report(copy: Any, params: Any) -> Any:
        copy.notify("notifications/progress", {"progressToken": params["_meta"]["progressToken"], "progress": 1})
        return text("done")

    session.relay.server.calls["report"] = report
    await session.call("report", meta={"progressToken": 7})
    assert session.client.told.all == [("notifications/progress", {"progressToken": 7, "progress": 1})]


async def test_the_result_goes_through_verbatim(session: Session) -> None:
    session.relay.server.calls["big"] = lambda copy, params: Envelope(result=Raw(b'{"content":[],"n":1180591620717411303424}'))
    assert (await session.call("big"))["result"]["n"] == 2**70
