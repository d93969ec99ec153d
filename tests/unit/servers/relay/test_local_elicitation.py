"""relay.py: the user of this machine answers a modern server where the client cannot; without a user the refusal stays."""

from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw
from tests.fakes.exchanges import exchange_of
from tests.fakes.hub_parts import Client, hub_parts, loaded, one_server, opened
from tests.fakes.relay import Relay, connected
from tests.fakes.scripted_server import ScriptedServer, error, text, tool

from tooltray.foundation.events import ElicitationAsked
from tooltray.protocol.envelope import Envelope, dump, failure, success
from tooltray.protocol.eras import Era
from tooltray.servers.relay.relay import InPlace, answer_in_place, needs_user

PREFIX = "io.modelcontextprotocol/"
FORM = {"method": "elicitation/create", "params": {"message": "sure?", "requestedSchema": {"type": "object", "properties": {}}}}
URL = {"method": "elicitation/create", "params": {"mode": "url", "message": "look", "url": "https://example.org"}}
SAMPLING = {"method": "sampling/createMessage", "params": {"messages": []}}
REFUSED = -32021


class Desk:
    """The person: what they were asked, and what they say."""

    def __init__(self, *, is_there: bool = True, answer: Envelope | None = None) -> None:
        self.is_there, self.answer = is_there, answer or success({"action": "accept", "content": {}})
        self.asked: list[tuple[str, Any]] = []

    async def ask(self, server: str, params: Raw) -> Envelope:
        self.asked.append((server, loaded(params)))
        return self.answer


def asks(*questions: Any) -> Any:
    """A tool as the specification has it: refuses a client that did not declare what it needs, asks, and is done."""

    def call(copy: Any, params: Any) -> Any:
        declared = params["_meta"][PREFIX + "clientCapabilities"]
        for name, asked in (("elicitation", "elicitation/create"), ("sampling", "sampling/createMessage")):
            if any(each["method"] == asked for each in questions) and name not in declared:
                return error(REFUSED, "missing", {"requiredCapabilities": {name: {}}})
        if "inputResponses" in params:
            return text(str(sorted(params["inputResponses"])))
        return {"resultType": "input_required", "inputRequests": dict(zip("abc", questions, strict=False)), "requestState": "s"}

    return call


def meta_of(client: Client) -> dict[str, Any]:
    return {PREFIX + "protocolVersion": "2026-07-28", PREFIX + "clientCapabilities": client.declared}


async def call(relay: Relay, client: Client, era: Era, method: str = "tools/call") -> Any:
    """As ServerRelay does it."""
    params = {"name": "ask", "arguments": {}} | ({"_meta": meta_of(client)} if era is Era.MODERN else {})
    exchange = exchange_of(Envelope(id=dump(7), method=method, params=dump(params)), client)
    reply = await relay.client.call(exchange, timeout_s=60.0)
    if reply.error and needs_user(relay.client, exchange, reply):
        reply = await answer_in_place(relay.client, exchange, timeout_s=60.0)
    return opened(reply)


def at(desk: Desk) -> dict[str, Any]:
    return {"ask_person": desk.ask, "is_person_there": lambda: desk.is_there}


@pytest.mark.parametrize("era", list(Era))
@pytest.mark.parametrize("question", [FORM, URL])
async def test_a_client_without_forms_gets_the_result_after_the_person_has_answered(era: Era, question: Any) -> None:
    desk = Desk()
    async with connected(ScriptedServer(tool("ask"), eras=("modern",)), **at(desk)) as relay:
        relay.server.calls["ask"] = asks(question)
        result = (await call(relay, Client(), era))["result"]
        assert result["content"] == text("['a']")["content"]
        [(server, asked)] = desk.asked
        assert (server, asked["message"]) == ("s", question["params"]["message"])
        last = (await relay.server.call("ask", count=3)).params
        assert last["_meta"][PREFIX + "clientCapabilities"] == {"elicitation": {"form": {}, "url": {}}}
        assert (last["inputResponses"], last["requestState"]) == ({"a": {"action": "accept", "content": {}}}, "s")


@pytest.mark.parametrize("era", list(Era))
async def test_where_nobody_is_there_the_refusal_is_the_servers_own(era: Era) -> None:
    desk = Desk(is_there=False)
    async with connected(ScriptedServer(tool("ask"), eras=("modern",)), **at(desk)) as relay:
        relay.server.calls["ask"] = asks(FORM)
        reply = await call(relay, Client(), era)
        assert reply["error"] == {"code": REFUSED, "message": "missing", "data": {"requiredCapabilities": {"elicitation": {}}}}
        assert (desk.asked, relay.server.count("tools/call")) == ([], 1)


@pytest.mark.parametrize("era", list(Era))
async def test_sampling_is_not_the_persons(era: Era) -> None:
    desk = Desk()
    async with connected(ScriptedServer(tool("ask"), eras=("modern",)), **at(desk)) as relay:
        relay.server.calls["ask"] = asks(SAMPLING)
        assert (await call(relay, Client(), era))["error"]["data"] == {"requiredCapabilities": {"sampling": {}}}
        assert desk.asked == []


async def test_what_a_legacy_client_can_answer_it_is_asked_and_a_modern_one_gets_an_error() -> None:
    desk = Desk()
    async with connected(ScriptedServer(tool("ask"), eras=("modern",)), **at(desk)) as relay:
        relay.server.calls["ask"] = asks(FORM, SAMPLING)
        client = Client(capabilities={"sampling": {}}, answer={"role": "assistant"})
        assert "result" in await call(relay, client, Era.LEGACY)
        assert [method for method, _ in client.asked.all] == ["sampling/createMessage"]
        assert len(desk.asked) == 1
        assert "sampling/createMessage" in (await call(relay, client, Era.MODERN))["error"]["message"]


async def test_the_client_with_the_person_beside_it_is_still_the_client() -> None:
    client = Client()
    async with connected(ScriptedServer(tool("ask"), eras=("modern",)), **at(Desk())) as relay:
        beside = InPlace(relay.client, exchange_of(Envelope(id=dump(7), method="tools/call", params=dump({})), client))
        assert beside.session is client
        assert [beside.can_answer(method) for method in ("elicitation/create", "sampling/createMessage")] == [True, False]
        beside.tell("notifications/progress", dump({}), about=dump(7))
        assert (client.told.all, client.abouts) == ([("notifications/progress", {})], [7])


async def test_what_the_person_cannot_be_shown_is_an_error() -> None:
    desk = Desk(answer=failure(-32602, "this question cannot be shown"))
    async with connected(ScriptedServer(tool("ask"), eras=("modern",)), **at(desk)) as relay:
        relay.server.calls["ask"] = asks(FORM)
        assert (await call(relay, Client(), Era.MODERN))["error"]["message"] == "this question cannot be shown"


@pytest.mark.parametrize(
    "reply",
    [
        error(-32602, "other"),
        error(REFUSED, "no data"),
        error(REFUSED, "nonsense", {"requiredCapabilities": []}),
        error(REFUSED, "both", {"requiredCapabilities": {"elicitation": {}, "sampling": {}}}),
    ],
)
async def test_other_errors_are_the_clients(reply: Envelope) -> None:
    desk = Desk()
    async with connected(ScriptedServer(tool("ask"), eras=("modern",)), **at(desk)) as relay:
        relay.server.calls["ask"] = lambda copy, params: reply
        assert "error" in await call(relay, Client(), Era.MODERN)
        assert relay.server.count("tools/call") == 1


async def test_only_what_may_ask_is_made_again_and_only_of_a_modern_server() -> None:
    desk, refusal = Desk(), failure(REFUSED, "missing", {"requiredCapabilities": {"elicitation": {}}})
    for eras, method, is_wanted in (("modern", "tools/call", True), ("modern", "tools/list", False), ("legacy", "tools/call", False)):
        async with connected(ScriptedServer(tool("ask"), eras=(eras,)), **at(desk)) as relay:
            exchange = exchange_of(Envelope(id=dump(7), method=method, params=dump({})), Client())
            assert needs_user(relay.client, exchange, refusal) is is_wanted
            assert "result" in opened(await relay.client.ask_person(exchange, dump({})))
    async with connected(ScriptedServer(tool("ask"))) as relay:
        assert not relay.client.has_person
        assert "error" in opened(await relay.client.ask_person(exchange, dump({})))


@pytest.mark.parametrize("era", list(Era))
async def test_in_a_hub_the_question_comes_to_its_window(tmp_path: Path, era: Era) -> None:
    program = ScriptedServer(tool("ask"), eras=("modern",))
    program.calls["ask"] = asks(FORM)
    async with hub_parts(tmp_path, has_window=True, **one_server(program)) as parts:
        parts.bus.subscribe(ElicitationAsked, lambda event: parts.elicitations.answer(event.question.id, "accept", {}))
        client = Client()
        params = {"name": "ask", "arguments": {}} | ({"_meta": meta_of(client)} if era is Era.MODERN else {})
        request = Envelope(id=dump(7), method="tools/call", params=dump(params))
        reply = opened(await parts.relay.send_with_retry(parts.servers.get("s"), exchange_of(request, client)))
        assert "result" in reply
