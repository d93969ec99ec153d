"""mcp_client.py"""

import asyncio
import contextlib
import json
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, NoReturn

import pytest
from msgspec import Raw
from tests.fakes.exchanges import exchange_of
from tests.fakes.hub_parts import MODERN_META, Client, loaded
from tests.fakes.relay import Relay, connected
from tests.fakes.scripted_server import ScriptedServer, never, raw, text, tool
from tests.portable import absolute

from tooltray.foundation.errors import TooltrayError
from tooltray.protocol.envelope import Envelope, dump, success
from tooltray.protocol.eras import Era
from tooltray.servers.upstream.mcp_client import TaskQuestion


@pytest.fixture
async def connect() -> AsyncIterator[Any]:
    async with contextlib.AsyncExitStack() as stack:

        async def _connect(server: ScriptedServer, **options: Any) -> Relay:
            return await stack.enter_async_context(connected(server, **options))

        yield _connect


@pytest.fixture
async def relay(connect: Any) -> Relay:
    return await connect(ScriptedServer(tool("t")))


async def test_results_keep_what_the_hub_does_not_know(relay: Relay) -> None:
    relay.server.calls["t"] = lambda copy, params: raw(b'{"content":[],"n":1180591620717411303424,"f":1e400,"unknown":{"kept":1}}')
    request = Envelope(method="tools/call", params=Raw(b'{"name":"t","arguments":{"n":0.1000000000000000055}}'))
    reply = await relay.client.call(exchange_of(request, Client()), timeout_s=10)
    assert bytes(reply.result) == b'{"content":[],"n":1180591620717411303424,"f":1e400,"unknown":{"kept":1}}'


async def test_an_own_request_carries_the_envelope_of_a_modern_server_only(connect: Any) -> None:
    modern, legacy = await connect(ScriptedServer(eras=("modern",))), await connect(ScriptedServer())
    for relay in (modern, legacy):
        await relay.client.request("tools/list", {"cursor": "2"}, timeout_s=10)
        await relay.client.request("tools/list", timeout_s=10)
        assert not relay.client.usage.is_needed
    asked = [each.params for each in modern.server.asked.all if each.method == "tools/list"]
    assert asked[0]["cursor"] == "2"
    assert asked[0]["_meta"]["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"
    assert asked[0]["_meta"]["io.modelcontextprotocol/clientCapabilities"] == {
        "roots": {"listChanged": True},
        "elicitation": {"form": {}, "url": {}},
    }
    assert asked[1]["_meta"]["io.modelcontextprotocol/clientInfo"]["name"] == "tooltray"
    assert [each.params for each in legacy.server.asked.all if each.method == "tools/list"] == [{"cursor": "2"}, {}]


async def test_a_call_of_a_legacy_client_gets_the_envelope_for_a_modern_server_with_what_the_client_declared(connect: Any) -> None:
    relay = await connect(ScriptedServer(tool("t"), eras=("modern",)))
    await relay.call("t", Client(capabilities={"elicitation": {}}), _meta={"x": 1})
    meta = (await relay.server.call("t")).params["_meta"]
    assert meta["io.modelcontextprotocol/clientCapabilities"] == {"elicitation": {}}
    assert (meta["io.modelcontextprotocol/protocolVersion"], meta["x"]) == ("2026-07-28", 1)


async def test_a_call_of_a_modern_client_loses_the_envelope_for_a_legacy_server_and_its_result_becomes_modern(relay: Relay) -> None:
    reply = await relay.call("t", _meta={**MODERN_META, "x": 1})
    assert (await relay.server.call("t")).params["_meta"] == {"x": 1}
    assert reply["result"]["resultType"] == "complete"
    await relay.call("t", _meta=MODERN_META)
    assert "_meta" not in (await relay.server.call("t", count=2)).params


@pytest.mark.parametrize("eras", [("legacy",), ("modern",)])
@pytest.mark.parametrize("member", ["result", "error"])
@pytest.mark.parametrize("written", [b"[1]", b"5", b"true", b'"x"', b"[]"])
async def test_a_reply_that_no_client_can_read_is_an_error_that_says_so_at_once(
    connect: Any, eras: tuple[str, ...], member: str, written: bytes
) -> None:
    relay = await connect(ScriptedServer(tool("t"), eras=eras))
    relay.server.calls["t"] = lambda copy, params: Envelope(**{member: Raw(written)})
    message = (await relay.call("t", _meta=MODERN_META))["error"]["message"]
    assert message.startswith(f"server 's' sent a reply that cannot be read: its {member} ")
    assert message.endswith(written.decode())


async def test_an_empty_result_written_as_null_is_an_empty_one(relay: Relay) -> None:
    relay.server.calls["t"] = lambda copy, params: raw(b"null")
    assert await relay.call("t", _meta=MODERN_META) == {"result": {"resultType": "complete"}}


async def test_a_call_within_one_era_is_not_touched(connect: Any) -> None:
    relay = await connect(ScriptedServer(tool("t"), eras=("modern",)))
    await relay.call("t", _meta=MODERN_META)
    assert (await relay.server.call("t")).params["_meta"] == MODERN_META


async def test_a_call_that_nobody_waits_for_any_more_is_cancelled_at_the_server(relay: Relay) -> None:
    first, second = relay.calling("hang"), relay.calling("hang", arguments={"n": 2})
    wanted = await relay.server.call("hang", count=2)
    assert len(relay.client.exchanges()) == 2
    second.cancel()
    assert (await relay.server.cancelled.wait()).id == wanted.id
    assert not first.done()
    assert len(relay.client.exchanges()) == 1


async def test_a_call_without_progress_ends_in_time_and_is_cancelled_at_the_server(relay: Relay) -> None:
    call = relay.calling("hang", timeout_s=30.0)
    await relay.server.call("hang")
    assert relay.wheel.expire(30.0) == 1
    assert (await call)["error"]["message"] == "server 's' did not answer tools/call within 30 s"
    await relay.server.cancelled.wait()


async def test_a_broken_reply_fails_its_call(relay: Relay) -> None:
    call = relay.calling("hang")
    asked = await relay.server.call("hang")
    asked.copy.say(b'{"jsonrpc":"2.0","id":%d,"result":{"content":[' % asked.id)
    assert "cannot be read" in (await call)["error"]["message"]
    assert relay.client.noise_lines == 1


@pytest.mark.parametrize("method", ["initialize", "server/discover"])
async def test_a_program_that_sends_back_what_it_is_sent_is_told_to_be_no_server(relay: Relay, method: str) -> None:
    relay.server.copy.say(b'{"jsonrpc":"2.0","id":1,"method":"%s"}' % method.encode())
    assert await relay.client.lost() == "server 's' sends back what it is sent, as no MCP server does"


async def test_a_server_has_spoken_once_any_message_of_it_came(relay: Relay) -> None:
    relay.client.has_spoken = False
    relay.server.copy.notify("notifications/message", {})
    await relay.server.copy.ask("ping")
    assert relay.client.has_spoken


async def test_calls_in_flight_are_answered_with_the_last_words_of_a_server_that_dies(relay: Relay) -> None:
    calls = [relay.calling("hang"), relay.calling("hang")]
    await relay.server.call("hang", count=2)
    relay.server.copy.die("out of cheese")
    for call in calls:
        assert (await call)["error"] == {"code": -32000, "message": "server 's' ended with exit code 1: out of cheese"}
    assert await relay.client.lost() == "server 's' ended with exit code 1: out of cheese"


async def test_a_server_that_does_not_greet_in_time_is_given_up() -> None:
    server = ScriptedServer()
    server.handlers["initialize"] = never
    relay = Relay(server, wants=Era.LEGACY)
    with pytest.raises(TimeoutError):
        await relay.client.open(timeout_s=0.02)
    await relay.close()


async def test_a_server_that_cannot_be_started_says_why() -> None:
    server = ScriptedServer()
    server.fails_to_open = TooltrayError("no such program")
    relay = Relay(server)
    with pytest.raises(TooltrayError, match="no such program"):
        await relay.client.open(timeout_s=10)
    await relay.close()


# what a server says by itself


async def test_what_concerns_no_call_is_passed_on(connect: Any) -> None:
    relay = await connect(ScriptedServer())
    relay.server.copy.notify("notifications/tools/list_changed")
    relay.server.copy.notify("notifications/message", {"level": "info", "data": 1})
    await relay.said.wait(count=2)
    assert relay.said.all == [("notifications/tools/list_changed", {}), ("notifications/message", {"level": "info", "data": 1})]


async def test_progress_goes_to_the_caller_as_the_server_wrote_it(relay: Relay) -> None:
    caller = Client()

    async def report(copy: Any, params: Any) -> Any:
        copy.notify("notifications/progress", {"progressToken": params["_meta"]["progressToken"], "progress": 1, "x": 2})
        return text("done")

    relay.server.calls["t"] = report
    await relay.call("t", caller, _meta={"progressToken": "p"})
    assert caller.told.all == [("notifications/progress", {"progressToken": "p", "progress": 1, "x": 2})]


async def test_progress_gives_a_call_its_time_anew(relay: Relay) -> None:
    caller = Client()
    relay.calling("hang", caller, timeout_s=30.0, _meta={"progressToken": 1})
    asked = await relay.server.call("hang")
    for count in (1, 2):
        asked.copy.notify("notifications/progress", {"progressToken": 1, "progress": count})
        await caller.told.wait(count=count)
        assert relay.wheel.of(30.0)[0].restarts == count


async def test_two_callers_with_one_progress_token_get_their_own_progress(relay: Relay) -> None:
    clients = [Client(), Client(), Client()]
    for client in clients:
        relay.calling("hang", client, _meta={"progressToken": 5})
    await relay.server.call("hang", count=3)
    tokens = [asked.params["_meta"]["progressToken"] for asked in relay.server.asked.all if asked.method == "tools/call"]
    assert tokens[0] == 5
    assert len(set(tokens)) == 3
    for number, token in enumerate(tokens):
        relay.server.copy.notify("notifications/progress", {"progressToken": token, "progress": number, "x": 2})
    for number, client in enumerate(clients):
        await client.told.wait()
        assert client.told.all == [("notifications/progress", {"progressToken": 5, "progress": number, "x": 2})]


async def test_a_token_made_for_one_call_never_hits_a_client_that_uses_it_itself(relay: Relay) -> None:
    odd, first, second = Client(), Client(), Client()
    relay.calling("hang", odd, _meta={"progressToken": "shared-1"})
    relay.calling("hang", first, _meta={"progressToken": 5})
    relay.calling("hang", second, _meta={"progressToken": 5})
    await relay.server.call("hang", count=3)
    relay.server.copy.notify("notifications/progress", {"progressToken": "shared-1", "progress": 1})
    await odd.told.wait()
    assert (first.told.all, second.told.all) == ([], [])


async def test_a_token_is_free_again_when_its_call_has_ended(relay: Relay) -> None:
    for _ in range(2):
        await relay.call("t", _meta={"progressToken": 5})
    tokens = [asked.params["_meta"]["progressToken"] for asked in relay.server.asked.all if asked.method == "tools/call"]
    assert tokens == [5, 5]


async def test_progress_of_nobody_and_progress_that_cannot_be_read_are_ignored(relay: Relay) -> None:
    relay.server.copy.notify("notifications/progress", {"progressToken": "unknown"})
    relay.server.copy.notify("notifications/progress", {"no": "token"})
    assert "result" in await relay.call("t")
    assert relay.said.all == []


# what a server asks


async def test_a_server_is_told_that_the_hub_is_alive(connect: Any) -> None:
    relay = await connect(ScriptedServer())
    assert await relay.server.copy.ask("ping") == {}


async def test_what_no_client_can_do_is_an_unknown_method(connect: Any) -> None:
    relay = await connect(ScriptedServer())
    assert (await relay.server.copy.ask("tools/list"))["code"] == -32601


async def test_a_question_goes_to_the_client_with_the_call_in_flight(relay: Relay) -> None:
    able = Client(capabilities={"elicitation": {}}, answer={"action": "accept", "content": {"n": 1}})
    unable = Client()
    for client in (able, unable):
        relay.calling("hang", client)
    relay.calling("hang", able)  # a second call of the same client makes nothing ambiguous
    await relay.server.call("hang", count=3)
    assert await relay.server.copy.ask("elicitation/create", {"message": "?"}) == {"action": "accept", "content": {"n": 1}}
    assert (able.asked.all, unable.asked.all) == ([("elicitation/create", {"message": "?"})], [])


async def test_the_error_of_a_client_is_the_answer_to_the_question(relay: Relay) -> None:
    failed = Envelope(error=dump({"code": -1, "message": "the person closed the window"}))
    relay.calling("hang", Client(capabilities={"sampling": {}}, answer=failed))
    await relay.server.call("hang")
    assert (await relay.server.copy.ask("sampling/createMessage"))["message"] == "the person closed the window"


async def test_a_question_that_nobody_can_answer_fails_at_the_server(relay: Relay) -> None:
    relay.calling("hang", Client())
    await relay.server.call("hang")
    answer = await relay.server.copy.ask("elicitation/create")
    assert answer == {"code": -32603, "message": "no AI client with a call in flight can answer elicitation/create"}


async def test_a_question_that_two_clients_could_answer_goes_to_neither(relay: Relay) -> None:
    clients = [Client(capabilities={"elicitation": {}}), Client(capabilities={"elicitation": {}})]
    for client in clients:
        relay.calling("hang", client)
    await relay.server.call("hang", count=2)
    assert "more than one AI client" in (await relay.server.copy.ask("elicitation/create"))["message"]
    assert [client.asked.all for client in clients] == [[], []]


async def test_roots_without_a_client_are_none(connect: Any) -> None:
    relay = await connect(ScriptedServer())
    assert await relay.server.copy.ask("roots/list") == {"roots": []}


async def test_roots_of_a_client_without_roots_are_the_folder_it_was_started_in(relay: Relay) -> None:
    client = Client()
    client.folder = folder = absolute("projects", "a b")
    relay.calling("hang", client)
    await relay.server.call("hang")
    assert await relay.server.copy.ask("roots/list") == {"roots": [{"uri": Path(folder).as_uri(), "name": "a b"}]}


@pytest.mark.parametrize("folder", ["", "/", "relative", os.path.expanduser("~")])
async def test_a_folder_that_says_nothing_is_no_root(relay: Relay, folder: str) -> None:
    client = Client()
    client.folder = folder
    relay.calling("hang", client)
    await relay.server.call("hang")
    assert await relay.server.copy.ask("roots/list") == {"roots": []}


async def test_the_folders_of_two_clients_are_nobodys_root(relay: Relay) -> None:
    for folder in ("/a", "/b"):
        client = Client()
        client.folder = folder
        relay.calling("hang", client)
    await relay.server.call("hang", count=2)
    assert await relay.server.copy.ask("roots/list") == {"roots": []}


async def test_the_person_is_asked_where_no_client_can_be(connect: Any) -> None:
    asked: list[Any] = []

    async def ask_person(server: str, params: Raw) -> Envelope:
        asked.append((server, loaded(params)))
        return success({"action": "decline"})

    relay = await connect(ScriptedServer(tool("t")), ask_person=ask_person)
    assert await relay.server.copy.ask("elicitation/create", {"message": "?"}) == {"action": "decline"}
    assert asked == [("s", {"message": "?"})]
    assert "no AI client" in (await relay.server.copy.ask("sampling/createMessage"))["message"]


@pytest.mark.parametrize("declared", [{"elicitation": {}}, {"elicitation": {"form": {}}}])
async def test_a_client_without_the_mode_of_a_question_is_not_asked(declared: Any) -> None:
    shown: list[Any] = []

    async def ask_person(server: str, params: Raw) -> Envelope:
        shown.append(loaded(params))
        return success({"action": "accept"})

    async with connected(ScriptedServer(tool("t")), ask_person=ask_person) as relay:
        client = Client(capabilities=declared, answer={"action": "decline"})
        relay.calling("hang", client)
        await relay.server.call("hang")
        question = {"mode": "url", "url": "https://example.com/key", "message": "m"}
        assert await relay.server.copy.ask("elicitation/create", question) == {"action": "accept"}
        assert (shown, client.asked.all) == ([question], [])
        assert await relay.server.copy.ask("elicitation/create", {"message": "m"}) == {"action": "decline"}


async def test_a_client_without_tools_in_its_sampling_is_not_asked_for_them(relay: Relay) -> None:
    relay.calling("hang", client := Client(capabilities={"sampling": {}}, answer={"role": "assistant"}))
    await relay.server.call("hang")
    assert (await relay.server.copy.ask("sampling/createMessage", {"messages": [], "tools": []}))["code"] == -32602
    assert client.asked.all == []


async def test_a_question_and_progress_say_which_request_they_belong_to(relay: Relay) -> None:
    client = Client(capabilities={"elicitation": {}}, answer={"action": "cancel"})
    for id in (7, 8):
        request = Envelope(id=Raw(b"%d" % id), method="tools/call", params=dump({"name": "hang", "_meta": {"progressToken": id}}))
        relay.keeper.spawn(relay.relay(request, client), name="call")
    await relay.server.call("hang", count=2)
    await relay.server.copy.ask("elicitation/create")
    relay.server.copy.notify("notifications/progress", {"progressToken": 7, "progress": 1})
    await client.told.wait()
    assert client.abouts == [8, 7]
    assert [(each.caller, bytes(each.request.id)) for each in relay.client.exchanges()] == [(client, b"7"), (client, b"8")]


async def test_the_time_that_a_person_takes_is_not_the_servers(connect: Any) -> None:
    answered = asyncio.Event()

    async def answer(method: str) -> Any:
        await answered.wait()
        return {"action": "accept"}

    relay = await connect(ScriptedServer(tool("t")))
    client = Client(capabilities={"elicitation": {}}, answer=answer)
    calling = relay.calling("hang", client, timeout_s=30.0)
    await relay.server.call("hang")
    asking = relay.keeper.spawn(relay.server.copy.ask("elicitation/create"), name="ask")
    await client.asked.wait()
    for _ in range(3):
        assert relay.wheel.expire(30.0) == 1
    assert relay.server.cancelled.all == []
    answered.set()
    assert await asking == {"action": "accept"}
    assert relay.wheel.expire(30.0) == 1
    assert "did not answer tools/call within 30 s" in (await calling)["error"]["message"]


async def test_the_time_that_the_person_at_the_machine_takes_is_not_the_servers_either(connect: Any) -> None:
    asked, answered = asyncio.Event(), asyncio.Event()

    async def ask_person(server: str, params: Raw) -> Envelope:
        asked.set()
        await answered.wait()
        return success({"action": "decline"})

    relay = await connect(ScriptedServer(tool("t")), ask_person=ask_person)
    calling = relay.calling("hang", timeout_s=30.0)
    await relay.server.call("hang")
    asking = relay.keeper.spawn(relay.server.copy.ask("elicitation/create"), name="ask")
    await asked.wait()
    assert relay.wheel.expire(30.0) == 1
    answered.set()
    await asking
    assert relay.wheel.expire(30.0) == 1
    assert "within 30 s" in (await calling)["error"]["message"]


# questions about calls that end


@pytest.mark.parametrize("is_person", [False, True])
async def test_a_question_ends_with_the_last_call_that_it_may_be_about(connect: Any, is_person: bool) -> None:
    asked, withdrawn = asyncio.Event(), asyncio.Event()

    async def wait(*_: Any) -> NoReturn:
        asked.set()
        try:
            await asyncio.Event().wait()
        finally:
            withdrawn.set()
        raise AssertionError

    relay = await connect(ScriptedServer(tool("t")), ask_person=wait if is_person else None)
    client = Client(answer=wait) if is_person else Client(capabilities={"elicitation": {}}, answer=wait)
    calls = [relay.calling("hang", client) for _ in range(2)]
    await relay.server.call("hang", count=2)
    asking = relay.keeper.spawn(relay.server.copy.ask("elicitation/create", {"message": "?"}), name="ask")
    await asked.wait()
    calls[1].cancel()
    await relay.server.cancelled.wait()
    assert not withdrawn.is_set()
    calls[0].cancel()
    await withdrawn.wait()
    assert (await asking)["message"] == "the call that this question was about is over"


async def test_a_question_ends_also_with_a_call_that_has_its_result(relay: Relay) -> None:
    go_on, asked = relay.server.hold("tools/call"), asyncio.Event()

    async def wait(method: str) -> NoReturn:
        asked.set()
        await asyncio.Event().wait()
        raise AssertionError

    calling = relay.calling("t", Client(capabilities={"elicitation": {}}, answer=wait))
    await relay.server.call("t")
    asking = relay.keeper.spawn(relay.server.copy.ask("elicitation/create"), name="ask")
    await asked.wait()
    go_on.set()
    assert "result" in await calling
    assert (await asking)["message"] == "the call that this question was about is over"


async def test_a_question_for_roots_outlives_a_call_since_it_is_about_the_client(relay: Relay) -> None:
    asked, answered = asyncio.Event(), asyncio.Event()

    async def wait(method: str) -> Any:
        asked.set()
        await answered.wait()
        return {"roots": []}

    calling = relay.calling("hang", Client(capabilities={"roots": {}}, answer=wait))
    await relay.server.call("hang")
    asking = relay.keeper.spawn(relay.server.copy.ask("roots/list"), name="ask")
    await asked.wait()
    calling.cancel()
    await relay.server.cancelled.wait()
    answered.set()
    assert await asking == {"roots": []}


# questions about tasks


async def test_a_question_of_a_task_goes_first_to_the_connection_with_a_call_in_flight(connect: Any) -> None:
    idle, busy = (Client(capabilities={"elicitation": {}}, answer={"action": "accept"}) for _ in range(2))
    question = TaskQuestion([(idle, dump({"id": "a"})), (busy, dump({"id": "b"}))])
    relay = await connect(ScriptedServer(tool("t")), of_task=lambda client, params: question)
    assert await relay.server.copy.ask("elicitation/create") == {"action": "accept"}
    request = Envelope(id=Raw(b"7"), method="tools/call", params=dump({"name": "hang"}))
    relay.keeper.spawn(relay.relay(request, busy), name="call")
    await relay.server.call("hang")
    assert await relay.server.copy.ask("elicitation/create") == {"action": "accept"}
    assert (idle.asked.all, idle.abouts) == ([("elicitation/create", {"id": "a"})], [None])
    assert (busy.asked.all, busy.abouts) == ([("elicitation/create", {"id": "b"})], [7])


async def test_a_task_whose_client_cannot_be_asked_asks_the_person_and_only_its_clients_calls_wait(connect: Any) -> None:
    asked, answered = asyncio.Event(), asyncio.Event()

    async def ask_person(server: str, params: Raw) -> Envelope:
        asked.set()
        await answered.wait()
        return success({"action": "decline"})

    owner, other = Client(), Client(capabilities={"elicitation": {}, "sampling": {}})
    question = TaskQuestion([(owner, dump({}))])
    relay = await connect(ScriptedServer(tool("t")), ask_person=ask_person, of_task=lambda client, params: question)
    own, others = (relay.calling("hang", client, timeout_s=30.0) for client in (owner, other))
    await relay.server.call("hang", count=2)
    assert (await relay.server.copy.ask("sampling/createMessage"))["message"].startswith("the client of this task cannot answer")
    asking = relay.keeper.spawn(relay.server.copy.ask("elicitation/create"), name="ask")
    await asked.wait()
    assert relay.wheel.expire(30.0) == 2
    assert "within 30 s" in (await others)["error"]["message"]
    assert not own.done()
    answered.set()
    assert await asking == {"action": "decline"}
    assert other.asked.all == []


# extensions


EXTENDED = {"extensions": {"com.example/foo": {"a": 1}}, "experimental": {"bar": {}}}


async def test_a_server_that_clients_share_is_told_of_their_extensions_in_either_era(connect: Any) -> None:
    relay = await connect(ScriptedServer(tool("t")), declared=lambda: EXTENDED)
    [greeted] = [asked.params for asked in relay.server.asked.all if asked.method == "initialize"]
    assert greeted["capabilities"] == {"roots": {"listChanged": True}, "elicitation": {"form": {}, "url": {}}, **EXTENDED}
    assert relay.client.declared_extensions == {"com.example/foo", "bar"}
    declared: dict[str, Any] = {}
    modern = await connect(ScriptedServer(tool("t"), eras=("modern",)), declared=lambda: declared)
    declared |= EXTENDED
    await modern.client.request("tools/list", timeout_s=5.0)
    meta = modern.server.asked.all[-1].params["_meta"]["io.modelcontextprotocol/clientCapabilities"]
    assert (meta["extensions"], meta["experimental"]) == (EXTENDED["extensions"], EXTENDED["experimental"])


async def test_a_modern_server_gets_the_capabilities_of_the_legacy_client_that_calls_whole(connect: Any) -> None:
    relay = await connect(ScriptedServer(tool("t"), eras=("modern",)))
    await relay.call("t", Client(capabilities={"later": 1, **EXTENDED}))
    assert relay.server.asked.all[-1].params["_meta"]["io.modelcontextprotocol/clientCapabilities"] == {"later": 1, **EXTENDED}


async def test_what_an_extension_asks_on_a_shared_connection_goes_to_the_one_caller_that_has_declared_any(relay: Relay) -> None:
    without, client, other = Client(), Client(answer={"mine": 1}), Client()
    for each in (client, other):
        each.state.declared = EXTENDED
    relay.calling("hang", without)
    await relay.server.call("hang")
    assert (await relay.server.copy.ask("foo/ask"))["code"] == -32601
    relay.calling("hang", client)
    await relay.server.call("hang", count=2)
    assert await relay.server.copy.ask("foo/ask", {"x": 1}) == {"mine": 1}
    assert (client.asked.all, without.asked.all) == ([("foo/ask", {"x": 1})], [])
    relay.calling("hang", other)
    await relay.server.call("hang", count=3)
    assert (await relay.server.copy.ask("foo/ask"))["code"] == -32601


async def test_a_modern_client_is_never_asked_by_a_request_whoever_the_server_is_for(connect: Any) -> None:
    client = Client(answer={})
    client.state.declared = EXTENDED
    for audience in ({}, {"owner": client, "is_isolated": True}):
        relay = await connect(ScriptedServer(tool("t")), **audience)
        request = Envelope(id=Raw(b"9"), method="tools/call", params=dump({"name": "hang", "_meta": MODERN_META}))
        relay.keeper.spawn(relay.relay(request, client), name="call")
        await relay.server.call("hang")
        assert (await relay.server.copy.ask("foo/ask"))["code"] == -32601
    assert client.asked.all == []


# a copy for one client alone

INTRODUCTION = Raw(b'{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}')


async def test_the_owner_is_asked_also_while_it_calls_nothing_and_whatever_the_method_is(connect: Any) -> None:
    owner = Client(capabilities={"roots": {}, "sampling": {}}, answer={"roots": [1]}, introduction=INTRODUCTION)
    relay = await connect(ScriptedServer(tool("t")), owner=owner, is_isolated=True)
    assert await relay.server.copy.ask("roots/list") == {"roots": [1]}
    assert await relay.server.copy.ask("later/ask", {"x": 1}) == {"roots": [1]}
    assert owner.asked.all == [("roots/list", {}), ("later/ask", {"x": 1})]
    assert "no AI client" in (await relay.server.copy.ask("elicitation/create"))["message"]
    [greeted] = [asked.params for asked in relay.server.asked.all if asked.method == "initialize"]
    assert greeted == json.loads(bytes(INTRODUCTION))


async def test_a_modern_owners_roots_are_not_known_before_it_calls(connect: Any) -> None:
    """A list without any would be kept by servers that ask once."""
    legacy = await connect(ScriptedServer(), owner=Client(introduction=INTRODUCTION), is_isolated=True)
    assert await legacy.server.copy.ask("roots/list") == {"roots": []}
    owner = Client()
    relay = await connect(ScriptedServer(tool("t")), owner=owner, is_isolated=True)
    assert "no AI client with a call in flight" in (await relay.server.copy.ask("roots/list"))["message"]
    relay.calling("hang", owner)
    await relay.server.call("hang")
    assert await relay.server.copy.ask("roots/list") == {"roots": []}


async def test_what_an_extension_asks_of_the_owner_belongs_to_its_latest_request(connect: Any) -> None:
    owner = Client(answer={}, introduction=INTRODUCTION)
    relay = await connect(ScriptedServer(tool("t")), owner=owner)
    request = Envelope(id=Raw(b"9"), method="tools/call", params=dump({"name": "hang"}))
    relay.keeper.spawn(relay.relay(request, owner), name="call")
    await relay.server.call("hang")
    await relay.server.copy.ask("later/ask")
    assert owner.abouts == [9]


async def test_it_is_known_before_whom_a_question_lies(connect: Any) -> None:
    hanging: asyncio.Event = asyncio.Event()

    async def answer(method: str) -> Any:
        await hanging.wait()
        return {"action": "cancel"}

    client = Client(capabilities={"elicitation": {}}, answer=answer)
    relay = await connect(ScriptedServer(tool("t")))
    relay.calling("hang", client)
    await relay.server.call("hang")
    assert not relay.client.is_asking(client)
    asking = relay.keeper.spawn(relay.server.copy.ask("elicitation/create"), name="ask")
    await client.asked.wait()
    assert relay.client.is_asking(client)
    assert not relay.client.is_asking(Client())
    hanging.set()
    await asking
    assert not relay.client.is_asking(client)


async def test_what_a_client_says_outside_of_requests_is_passed_on(relay: Relay) -> None:
    relay.client.notify("notifications/later", Raw(b'{"x":1e400}'))
    told = await relay.server.told.wait(lambda told: told.method == "notifications/later")
    assert told.params == {"x": float("inf")}


async def test_a_request_that_stays_open_carries_the_envelope_too(connect: Any) -> None:
    relay = await connect(ScriptedServer(tool("t"), eras=("modern",)))
    relay.server.handlers["subscriptions/listen"] = never
    pending = relay.client.start_request("subscriptions/listen", {"notifications": {}})
    asked = await relay.server.request("subscriptions/listen")
    assert asked.params["_meta"]["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"
    waiting = relay.keeper.spawn(relay.client.dispatcher.calls.outcome(pending), name="listen")
    relay.server.copy.die()
    assert (await waiting).error


async def test_a_cancellation_by_the_server_ends_no_call(connect: Any) -> None:
    relay = await connect(ScriptedServer(tool("t"), eras=("modern",)))
    go_on = relay.server.hold("tools/call")
    calling = relay.calling("t")
    ours = (await relay.server.call("t")).id
    relay.server.copy.say(b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}' % ours)
    go_on.set()
    assert (await calling)["result"]["content"]


@pytest.mark.parametrize("method", ["ping", "elicitation/create", "later/method"])
async def test_a_modern_server_that_asks_gets_no_answer(connect: Any, method: str) -> None:
    relay = await connect(ScriptedServer(tool("t"), eras=("modern",)))
    sent: list[bytes] = []
    relay.client.dispatcher.tap = lambda is_ours, message: sent.append(bytes(message)) if is_ours else None
    relay.server.copy.say(b'{"jsonrpc":"2.0","id":"q","method":"%b","params":{}}' % method.encode())
    await relay.call("t")  # what comes later is answered
    assert not any(b'"q"' in message for message in sent)


async def test_a_question_in_the_response_to_a_call_goes_to_the_client_of_that_call(relay: Relay) -> None:
    clients = [Client(capabilities={"elicitation": {}}, answer={"action": "accept", "content": {"n": number}}) for number in range(2)]
    for number, client in enumerate(clients):
        request = Envelope(id=Raw(b"%d" % number), method="tools/call", params=dump({"name": "hang"}))
        relay.keeper.spawn(relay.relay(request, client), name="call")
    await relay.server.call("hang", count=2)
    ours = [Raw(str(asked.id).encode()) for asked in relay.server.asked.all if asked.method == "tools/call"]
    for number in (1, 0):
        question = b'{"jsonrpc":"2.0","id":"q%d","method":"elicitation/create","params":{}}' % number
        relay.client.dispatcher.receive(question, along_with=ours[number])
        assert relay.client.dispatcher.came_with(Raw(b'"q%d"' % number)) == ours[number]
        await clients[number].asked.wait()
    assert [len(client.asked.all) for client in clients] == [1, 1]
    assert [client.abouts for client in clients] == [[0], [1]]
    heard: list[Any] = []
    relay.on_said = lambda: heard.append(relay.client.exchanges())
    relay.client.dispatcher.receive(b'{"jsonrpc":"2.0","method":"notifications/message","params":{}}', along_with=ours[1])
    assert [[each.caller for each in exchanges] for exchanges in heard] == [[clients[1]]]
    assert len(relay.client.exchanges()) == 2


async def test_requests_of_one_token_are_one_client_to_a_server_that_asks(relay: Relay) -> None:
    clients = [Client(capabilities={"elicitation": {}}, answer={"action": "cancel"}) for _ in range(2)]
    for client in clients:
        client.identity = "the same token"
        relay.calling("hang", client)
    await relay.server.call("hang", count=2)
    assert await relay.server.copy.ask("elicitation/create") == {"action": "cancel"}
    assert [len(client.asked.all) for client in clients] == [0, 1]
