"""relay.py: one request to one server, and what stands between."""

from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw
from tests.fakes.exchanges import exchange_of
from tests.fakes.hub_parts import Client, HubParts, hub_parts, one_server, opened
from tests.fakes.scripted_server import Copy, ScriptedServer, text, tool

from tooltray.protocol.envelope import NOT_DELIVERED, Envelope, dump
from tooltray.records.journal.journal_event import START, JournalEvent

MODERN = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}


async def relayed(parts: HubParts, method: str, client: Client | None = None, **params: Any) -> dict[str, Any]:
    client = client or parts.client()
    request = Envelope(id=Raw(b"1"), method=method, params=dump(params))
    return opened(await parts.relay.send_with_retry(parts.servers.get("s"), exchange_of(request, client)))


def lose_session(copy: Copy, params: Any) -> Envelope:
    """As a transport whose server has forgotten it: the request was never taken, and the connection is over."""
    copy.has_expired = True
    hub: Any = copy._hub
    for id in hub.calls.unanswered():
        hub.calls.settle(id, NOT_DELIVERED)
    copy.die()
    return NOT_DELIVERED


async def test_a_request_that_a_server_never_took_is_sent_once_more_to_its_next_session(tmp_path: Path) -> None:
    program = ScriptedServer(tool("t"))
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        await parts.servers.start("s")
        program.calls["t"] = lambda copy, params: lose_session(copy, params) if copy is program.copies.all[0] else text("done")
        assert (await relayed(parts, "tools/call", name="t"))["result"] == text("done")
        assert len(program.copies.all) == 2
        assert program.count("tools/call") == 2


async def test_a_server_that_again_and_again_takes_no_request_is_an_error(tmp_path: Path) -> None:
    program = ScriptedServer(tool("t"))
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        await parts.servers.start("s")
        program.calls["t"] = lose_session
        assert "did not accept the request" in (await relayed(parts, "tools/call", name="t"))["error"]["message"]
        assert program.count("tools/call") == 3


async def test_a_request_to_a_server_that_does_not_start_says_why(tmp_path: Path) -> None:
    program = ScriptedServer()
    program.handlers["initialize"] = lambda copy, params: copy.die()
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        assert "out of cheese" in (await relayed(parts, "prompts/list"))["error"]["message"]


async def test_a_paused_hub_carries_nothing(tmp_path: Path) -> None:
    program = ScriptedServer()
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        await parts.conf.set_enabled(False)
        assert parts.relay.is_paused
        assert "Tooltray is paused" in (await relayed(parts, "prompts/list"))["error"]["message"]
        assert program.copies.all == []


@pytest.mark.parametrize("level", ["warning", None])
async def test_a_modern_server_is_told_the_level_that_a_legacy_client_has_set(tmp_path: Path, level: str | None) -> None:
    program = ScriptedServer(tool("t"), eras=("modern",))
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        await parts.servers.start("s")
        client = parts.client()
        if level:
            await parts.log_levels.set(client, level, [])
        await relayed(parts, "tools/call", client, name="t")
        [asked] = [asked.params for asked in program.asked.all if asked.method == "tools/call"]
        assert asked["_meta"].get("io.modelcontextprotocol/logLevel") == level


@pytest.mark.parametrize("level", ["debug", None])
async def test_a_modern_client_hears_of_a_modern_server_what_its_call_names(tmp_path: Path, level: str | None) -> None:
    heard: list[bool] = []
    async with hub_parts(tmp_path, **one_server(program := ScriptedServer(tool("t"), eras=("modern",)))) as parts:
        client = parts.client()
        program.calls["t"] = lambda copy, params: heard.append(parts.log_levels.wants(client, "debug")) or text("done")
        await parts.servers.start("s")
        meta = {**MODERN, **({"io.modelcontextprotocol/logLevel": level} if level else {})}
        await relayed(parts, "tools/call", client, name="t", _meta=meta)
        assert heard == [level == "debug"]


@pytest.mark.parametrize("era", ["legacy", "modern"])
@pytest.mark.parametrize(
    ("wraps", "given", "gets"), [(True, {}, {"result": {}}), (False, {}, {}), (False, [], {"result": []}), (None, {}, {})]
)
async def test_a_legacy_client_gets_structured_content_as_objects(
    tmp_path: Path, era: str, wraps: bool | None, given: Any, gets: Any
) -> None:
    program = ScriptedServer(tool("t"), eras=(era,))
    program.calls["t"] = lambda copy, params: text("done") | {"structuredContent": given}
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        exchange = exchange_of(Envelope(id=Raw(b"1"), method="tools/call", params=dump({"name": "t"})), parts.client())
        exchange.wraps_content = wraps
        reply = opened(await parts.relay.send_with_retry(parts.servers.get("s"), exchange))
        assert reply["result"]["structuredContent"] == (gets if era == "modern" or wraps is not True else given)


@pytest.mark.parametrize(("name", "known_as"), [("Cursor", "Cursor"), ("", "test")])
async def test_a_server_that_a_call_starts_is_started_by_its_client(tmp_path: Path, name: str, known_as: str) -> None:
    async with hub_parts(tmp_path, **one_server(ScriptedServer(tool("t")))) as parts:
        started: list[JournalEvent] = []
        parts.bus.subscribe(JournalEvent, started.append)
        client = parts.client()
        client.state.client = name
        await relayed(parts, "tools/call", client, name="t")
        assert [(event.kind, event.reason, event.client) for event in started] == [(START, "client", known_as)]


TRACE = {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01", "tracestate": "a=1", "baggage": "b=2"}


@pytest.mark.parametrize("is_modern_client", [False, True])
@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_the_trace_of_a_client_reaches_the_server_and_that_of_a_result_the_client(
    tmp_path: Path, is_modern_client: bool, era: str
) -> None:
    program = ScriptedServer(tool("t"), eras=(era,))
    program.calls["t"] = lambda copy, params: text("done") | {"_meta": TRACE}
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        meta = TRACE | (MODERN if is_modern_client else {})
        reply = await relayed(parts, "tools/call", name="t", _meta=meta)
        assert reply["result"]["_meta"] == TRACE
        [asked] = [asked.params for asked in program.asked.all if asked.method == "tools/call"]
        assert {name: asked["_meta"][name] for name in TRACE} == TRACE


async def test_the_trace_of_a_servers_question_reaches_the_client(tmp_path: Path) -> None:
    program = ScriptedServer(tool("t"))

    async def ask(copy: Copy, params: Any) -> Any:
        return text(str(await copy.ask("elicitation/create", {"message": "?", "requestedSchema": {}, "_meta": TRACE})))

    program.calls["t"] = ask
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        client = Client(capabilities={"elicitation": {}}, answer={"action": "decline"})
        await relayed(parts, "tools/call", client, name="t")
        [(_, asked)] = client.asked.all
        assert asked["_meta"] == TRACE
