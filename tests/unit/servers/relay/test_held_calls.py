"""held_calls.py"""

import asyncio
import contextlib
import itertools
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import pytest
from msgspec import Raw
from tests.fakes.exchanges import exchange_of
from tests.fakes.fake_clock import in_fake_time
from tests.fakes.heard import PATIENCE_S
from tests.fakes.hub_parts import MODERN_META, Client, opened, settled
from tests.fakes.relay import Relay, connected
from tests.fakes.scripted_server import ScriptedServer, error, never, text, tool

from tooltray.protocol.envelope import INVALID_PARAMS, Envelope, dump
from tooltray.protocol.eras import CLIENT_CAPABILITIES_KEY
from tooltray.protocol.sessions.exchange import Exchange
from tooltray.servers.relay import held_calls
from tooltray.servers.relay.held_calls import HELD_FOR_S, MAX_HELD, UNKNOWN_STATE, HeldCalls

QUESTION = {"message": "sure?", "requestedSchema": {"type": "object", "properties": {}}}


class Session:
    """A modern AI client in front of a legacy server."""

    def __init__(self, relay: Relay) -> None:
        self.relay, self.client = relay, Client()
        wheel: Any = relay.wheel
        self.held = HeldCalls(deadlines=wheel, spawn=relay.keeper.spawn)
        self._ids = itertools.count(1)

    async def call(
        self, name: str, *, method: str = "tools/call", meta: dict[str, Any] | None = None, caller: Client | None = None, **params: Any
    ) -> dict[str, Any]:
        whole = {"name": name, "arguments": {}, "_meta": {**MODERN_META, **(meta or {})}, **params}
        request = Envelope(id=dump(next(self._ids)), method=method, params=dump(whole))
        exchange = exchange_of(request, caller or self.client, held=self.held)
        return opened(await self.held.run(partial(self.relay.client.call, timeout_s=60.0), exchange, owner="s"))

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


@contextlib.asynccontextmanager
async def begun() -> AsyncIterator[Session]:
    server = ScriptedServer(tool("ask"))
    server.calls |= {"ask": ask_once, "ask twice": ask_twice, "all": ask_together}
    async with connected(server) as relay:
        yield Session(relay)


@pytest.fixture
async def session() -> AsyncIterator[Session]:
    async with begun() as session:
        yield session


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
    assert second["inputRequests"] == {"2": {"method": "elicitation/create", "params": {"message": "age?"}}}
    assert second["requestState"] != state
    last = await session.call("ask twice", requestState=second["requestState"], inputResponses={"2": {"age": 36}})
    assert last["result"]["content"][0]["text"] == str([{"name": "Ada"}, {"age": 36}])


async def test_a_client_that_comes_back_without_an_answer_is_asked_again(session: Session) -> None:
    again = (await session.call("ask", requestState=await session.asked()))["result"]
    assert again["inputRequests"]["1"]["params"] == QUESTION
    last = await session.call("ask", requestState=again["requestState"], inputResponses={"1": {"action": "decline"}})
    assert last["result"]["content"][0]["text"] == str({"action": "decline"})
    assert session.relay.server.count("tools/call") == 1


NOT_KNOWN = {"error": {"code": -32602, "message": UNKNOWN_STATE}}


async def test_an_unknown_state_is_an_error_and_never_a_new_call(session: Session) -> None:
    assert await session.call("ask", requestState="of another hub", inputResponses={"1": {}}) == NOT_KNOWN
    assert session.relay.server.count("tools/call") == 0


@pytest.mark.parametrize("other", [{"name": "ask twice"}, {"name": "ask", "method": "prompts/get"}])
async def test_the_state_of_one_call_opens_no_other_and_stays_good_for_its_own(session: Session, other: dict[str, str]) -> None:
    state = await session.asked("ask")
    assert await session.call(**other, requestState=state, inputResponses={"1": {}}) == NOT_KNOWN
    last = await session.call("ask", requestState=state, inputResponses={"1": {"action": "decline"}})
    assert last["result"]["content"][0]["text"] == str({"action": "decline"})


async def test_states_cannot_be_guessed(session: Session) -> None:
    states = {await session.asked() for _ in range(5)}
    assert len(states) == 5
    assert all(len(state) >= 32 for state in states)
    session.held.close()


async def test_of_too_many_calls_that_wait_the_oldest_is_given_up(session: Session) -> None:
    states = [await session.asked() for _ in range(MAX_HELD + 1)]
    await session.relay.server.cancelled.wait()
    assert len(session.relay.server.cancelled.all) == 1
    assert await session.call("ask", requestState=states[0], inputResponses={"1": {}}) == NOT_KNOWN
    last = await session.call("ask", requestState=states[1], inputResponses={"1": {"action": "accept"}})
    assert last["result"]["content"][0]["text"] == str({"action": "accept"})
    session.held.close()


async def ask_together(copy: Any, params: Any) -> Any:
    async def ask(turn: int, message: str) -> Any:
        for _ in range(10 * turn):  # one after the other, as they come out of a pipe
            await asyncio.sleep(0)
        return await copy.ask("elicitation/create", {"message": message})

    return text(str(await asyncio.gather(*(ask(turn, each) for turn, each in enumerate(("name?", "age?", "town?"))))))


@in_fake_time
async def test_questions_that_a_server_asks_together_go_out_in_one_round() -> None:
    async with begun() as session:
        result = (await session.call("all"))["result"]
        assert {key: each["params"]["message"] for key, each in result["inputRequests"].items()} == {
            "1": "name?",
            "2": "age?",
            "3": "town?",
        }
        answers = {"2": {"age": 36}, "1": {"name": "Ada"}, "3": {"town": "Rome"}}
        last = await session.call("all", requestState=result["requestState"], inputResponses=answers)
        assert last["result"]["content"][0]["text"] == str([{"name": "Ada"}, {"age": 36}, {"town": "Rome"}])


@in_fake_time
async def test_questions_without_an_answer_are_asked_again_under_their_keys() -> None:
    async with begun() as session:
        first = (await session.call("all"))["result"]
        answers = {"2": {"age": 36}, "7": {"nobody": "asked"}}
        second = (await session.call("all", requestState=first["requestState"], inputResponses=answers))["result"]
        assert {key: each["params"]["message"] for key, each in second["inputRequests"].items()} == {"1": "name?", "3": "town?"}
        answers = {"1": {"name": "Ada"}, "2": {"age": 99}, "3": {"town": "Rome"}}
        last = await session.call("all", requestState=second["requestState"], inputResponses=answers)
        assert last["result"]["content"][0]["text"] == str([{"name": "Ada"}, {"age": 36}, {"town": "Rome"}])


@pytest.mark.parametrize(
    ("declared", "question", "is_asked"),
    [
        ({"elicitation": {}}, ("elicitation/create", {"message": "x"}), True),
        ({"elicitation": {}}, ("elicitation/create", {"mode": "url", "url": "https://example.com/"}), False),
        ({"elicitation": {"url": {}}}, ("elicitation/create", {"mode": "url", "url": "https://example.com/"}), True),
        ({"elicitation": {"url": {}}}, ("elicitation/create", {"message": "x"}), False),
        ({"sampling": {}}, ("sampling/createMessage", {"messages": []}), True),
        ({"sampling": {}}, ("sampling/createMessage", {"messages": [], "tools": []}), False),
        ({"sampling": {"tools": {}}}, ("sampling/createMessage", {"messages": [], "tools": []}), True),
        ({"roots": {}}, ("roots/list", {}), True),
        ({"elicitation": {}}, ("elicitation/create", {"mode": 5}), True),
    ],
)
async def test_a_question_is_put_to_the_client_only_in_a_mode_that_it_declared(
    session: Session, declared: dict[str, Any], question: tuple[str, Any], is_asked: bool
) -> None:
    async def ask(copy: Any, params: Any) -> Any:
        return text(str(await copy.ask(*question)))

    session.relay.server.calls["mode"] = ask
    result = (await session.call("mode", meta={"io.modelcontextprotocol/clientCapabilities": declared}))["result"]
    if is_asked:
        assert result["inputRequests"]["1"] == {"method": question[0], "params": question[1]}
    else:
        assert "-32602" in result["content"][0]["text"]
    session.held.close()


async def test_a_question_of_the_hub_itself_too_is_put_only_in_a_mode_that_the_client_declared(session: Session) -> None:
    async def ask(exchange: Exchange) -> Envelope:
        return await exchange.ask("elicitation/create", dump(QUESTION))

    pages_alone = {CLIENT_CAPABILITIES_KEY: {"elicitation": {"url": {}}}}
    request = Envelope(id=dump(1), method="tools/call", params=dump({"name": "x", "_meta": {**MODERN_META, **pages_alone}}))
    reply = await session.held.run(ask, exchange_of(request, session.client, held=session.held), owner="hub")
    assert opened(reply)["error"]["code"] == INVALID_PARAMS


async def test_what_has_no_input_required_result_is_not_asked_for(session: Session) -> None:
    session.relay.server.handlers["completion/complete"] = ask_once
    result = (await session.call("ask", method="completion/complete"))["result"]
    assert "no AI client" in result["content"][0]["text"]


async def test_a_resource_that_a_legacy_server_does_not_find_has_the_modern_code(session: Session) -> None:
    session.relay.server.handlers["resources/read"] = lambda copy, params: error(-32002, "Resource not found", {"uri": "x:/y"})
    reply = await session.call("", method="resources/read", uri="x:/y")
    assert reply == {"error": {"code": -32602, "message": "Resource not found", "data": {"uri": "x:/y"}}}


async def test_an_error_that_wants_a_url_opened_goes_through_untouched(session: Session) -> None:
    wanted = {"elicitations": [{"mode": "url", "elicitationId": "1", "url": "https://example.com/", "message": "sign in"}]}
    session.relay.server.calls["url"] = lambda copy, params: error(-32042, "open it", wanted)
    assert await session.call("url") == {"error": {"code": -32042, "message": "open it", "data": wanted}}


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
    assert await session.call("ask", requestState=state, inputResponses={"1": {}}) == NOT_KNOWN
    assert session.relay.server.count("tools/call") == 1


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
    assert await session.call("ask", requestState=state, inputResponses={"1": {}}) == NOT_KNOWN


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


async def test_a_question_that_is_withdrawn_at_once_is_not_asked(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held_calls, "GATHERED_FOR_S", PATIENCE_S)

    async def change_its_mind(copy: Any, params: Any) -> Any:
        copy.say(b'{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{}}')
        await settled()
        copy.say(b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"q"}}')
        return text("never mind")

    session.relay.server.calls["change"] = change_its_mind
    assert (await session.call("change"))["result"]["content"][0]["text"] == "never mind"


async def test_a_question_that_was_withdrawn_is_not_asked_again(session: Session) -> None:
    async def ask_anew(copy: Any, params: Any) -> Any:
        copy.say(b'{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{}}')
        await withdrawn.wait()
        copy.say(b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"q"}}')
        return text(str(await copy.ask("elicitation/create", {"message": "another"})))

    withdrawn = asyncio.Event()
    session.relay.server.calls["anew"] = ask_anew
    state = await session.asked("anew")
    withdrawn.set()
    await settled()
    second = (await session.call("anew", requestState=state))["result"]
    assert second["inputRequests"] == {"2": {"method": "elicitation/create", "params": {"message": "another"}}}
    session.held.close()


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


def progress(copy: Any, params: Any, done: int) -> None:
    copy.notify("notifications/progress", {"progressToken": params["_meta"]["progressToken"], "progress": done})


async def report_and_ask(copy: Any, params: Any) -> Any:
    progress(copy, params, 1)
    answering = copy.server.keeper.spawn(copy.ask("elicitation/create", QUESTION), name="question")
    await copy.server.is_held.wait()
    progress(copy, params, 2)  # nobody waits for this one
    await answering
    progress(copy, params, 3)
    return text("done")


async def test_progress_reaches_the_client(session: Session) -> None:
    async def report(copy: Any, params: Any) -> Any:
        progress(copy, params, 1)
        return text("done")

    session.relay.server.calls["report"] = report
    await session.call("report", meta={"progressToken": 7})
    assert session.client.told.all == [("notifications/progress", {"progressToken": 7, "progress": 1})]
    assert session.client.abouts == [1]


@pytest.mark.parametrize(("token", "heard"), [(7, [(7, 3)]), ("other", [("other", 3)]), (None, [])])
async def test_progress_after_an_answer_goes_to_the_latest_call_under_its_token(session: Session, token: Any, heard: list[Any]) -> None:
    server = session.relay.server
    server.keeper, server.is_held = session.relay.keeper, asyncio.Event()  # type: ignore[attr-defined]
    server.calls["report"] = report_and_ask
    first = (await session.call("report", meta={"progressToken": 7}))["result"]
    server.is_held.set()  # type: ignore[attr-defined]
    await settled()
    later = Client(name="the same client's next request")
    meta = {"progressToken": token} if token else {}
    answers = {"requestState": first["requestState"], "inputResponses": {"1": {"action": "accept"}}}
    assert (await session.call("report", meta=meta, caller=later, **answers))["result"]["content"] == text("done")["content"]
    assert [params["progress"] for _, params in session.client.told.all] == [1]
    assert [(params["progressToken"], params["progress"]) for _, params in later.told.all] == heard
    assert later.abouts == [2 for _ in heard]


async def test_what_else_belongs_to_a_call_goes_to_the_latest_request_too(session: Session) -> None:
    seen: list[Any] = []

    async def note(copy: Any, params: Any) -> Any:
        [exchange] = session.relay.client.exchanges()
        seen.append(exchange.session)
        exchange.tell("notifications/message", dump({"level": "info"}))
        exchange.caller.tell("notifications/message", dump({"level": "info"}))
        return text("done")

    session.relay.server.calls["note"] = note
    await session.call("note")
    assert seen == [session.client]
    assert session.client.abouts == [1, None]


async def test_the_result_goes_through_verbatim(session: Session) -> None:
    session.relay.server.calls["big"] = lambda copy, params: Envelope(result=Raw(b'{"content":[],"n":1180591620717411303424}'))
    assert (await session.call("big"))["result"]["n"] == 2**70


async def test_a_state_is_known_while_its_call_waits_and_only_as_that_of_its_owner(session: Session) -> None:
    state = await session.asked()
    assert [session.held.is_held(*each) for each in ((state, "s"), (state, "other"), ("another", "s"))] == [True, False, False]
