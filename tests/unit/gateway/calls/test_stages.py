"""stages.py: the tools about servers, and stages that only some calls pass."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec import Raw
from msgspec.structs import replace
from tests.fakes.approval_desk import FORM, Desk, desk
from tests.fakes.exchanges import exchange_of
from tests.fakes.file_servers import SHOP, in_project
from tests.fakes.hub_parts import MODERN_META, Client, opened

from tooltray.catalogue import auto_approve
from tooltray.catalogue.definition import read_definition
from tooltray.catalogue.tool_routes import Route
from tooltray.foundation.events import EventBus
from tooltray.foundation.snapshots.hub import HubSnapshot
from tooltray.foundation.snapshots.servers import ServerSnapshot, ServerState
from tooltray.gateway.calls.stage import Terms
from tooltray.gateway.calls.stages import Activating, Addressing, FlowNotes, NotingTasks, Recording, SeenServers, ServerUses
from tooltray.protocol.envelope import Envelope, dump, load, success
from tooltray.protocol.eras import Era, Head
from tooltray.protocol.output_schemas import LegacyOutput
from tooltray.protocol.sessions.exchange import Exchange, Work
from tooltray.protocol.sessions.session_state import SessionState
from tooltray.records.journal.journal_event import JournalEvent
from tooltray.servers.builtin.hub_server import ABOUT_SERVERS, HubServer

DB = ServerSnapshot("db", "stdio", "db", ServerState.RUNNING)
OPEN = ServerSnapshot("open", "stdio", "open", ServerState.RUNNING)


def sees(state: SessionState, server: str) -> bool:
    return server == "open" or state.project is not None


async def said(tool: str, state: SessionState, *, is_modern: bool = False, **params: Any) -> dict[str, Any]:
    hub = HubServer(get_snapshot=lambda: HubSnapshot(1, "1", False, 0, 0.0, (DB, OPEN)), takes_reports=lambda: False, bus=EventBus())
    client = Client()
    client.state = state
    params = {"name": "published", **params, **({"_meta": MODERN_META} if is_modern else {})}
    request = Envelope(method="tools/call", params=dump(params))
    return opened(await SeenServers(hub, tool, sees=sees)(exchange_of(request, client)))


def test_they_are_all_the_hubs_tools_about_servers() -> None:
    assert ABOUT_SERVERS == ("list_servers", "server_status")


@pytest.mark.parametrize("is_modern", [False, True])
async def test_a_session_hears_of_the_servers_that_exist_for_it(is_modern: bool) -> None:
    for state, names in ((SessionState("s1"), ["open"]), (in_project(SHOP), ["db", "open"])):
        result = (await said("list_servers", state, is_modern=is_modern))["result"]
        assert [each["name"] for each in result["structuredContent"]["servers"]] == names
        assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
        assert ("resultType" in result) is is_modern


async def test_the_status_of_another_projects_server_is_that_of_none() -> None:
    arguments = {"name": "db"}
    assert (await said("server_status", in_project(SHOP), arguments=arguments))["result"]["structuredContent"]["state"] == "running"
    refused = (await said("server_status", SessionState("s1"), arguments=arguments))["result"]
    assert (refused["isError"], "server 'db' not found" in refused["content"][0]["text"]) == (True, True)


@pytest.mark.parametrize("arguments", [None, [], "db", 7])
async def test_odd_arguments_name_no_server(arguments: Any) -> None:
    assert (await said("server_status", in_project(SHOP), arguments=arguments))["result"]["isError"]


async def test_arguments_that_cannot_be_read_are_refused() -> None:
    deep = b'{"name":"x","arguments":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    hub = HubServer(get_snapshot=lambda: HubSnapshot(1, "1", False, 0, 0.0, ()), takes_reports=lambda: False, bus=EventBus())
    request = Envelope(method="tools/call", params=type(dump({}))(deep))
    reply = await SeenServers(hub, "list_servers", sees=sees)(exchange_of(request, Client(), head=Head(name="x")))
    assert opened(reply)["error"]["code"] == -32602


def terms(*, has_view: bool = False, **changed: bool) -> Terms:
    view = b',"_meta":{"ui":{"resourceUri":"ui://v"}}' if has_view else b""
    definition = read_definition(b'{"name":"t"%b}' % view)
    route = Route("s", definition, auto_approve.decide("s", "t", None, ["all"]))
    return replace(Terms(route, Era.LEGACY, is_alone=False, is_plain=True, shows_views=False, may_be_task=False), **changed)


async def answers(exchange: Exchange) -> Envelope:
    return success({"content": []})


def rest(terms: Terms) -> Work:
    return answers


@pytest.mark.parametrize(
    ("of_call", "used", "opened_views"),
    [
        (terms(is_plain=False), ["s"], ()),
        (terms(is_free=False), ["s"], ()),
        (terms(has_view=True, shows_views=True), [], ("s",)),
        (terms(has_view=True, shows_views=True, is_plain=False), ["s"], ("s",)),
    ],
)
async def test_a_called_server_is_shown_where_it_may_be_hidden_and_its_view_where_it_has_one(
    of_call: Terms, used: list[str], opened_views: tuple[str, ...]
) -> None:
    found: list[str] = []
    stage = Activating(views=SimpleNamespace(used=lambda state, server: found.append(server)))  # type: ignore[arg-type]
    exchange = exchange_of(Envelope(method="tools/call", params=dump({})), Client())
    assert not (await stage.bind(of_call, rest)(exchange)).error
    assert (found, exchange.session.state.opened_views) == (used, opened_views)


async def test_what_a_call_returned_is_noted_for_the_flow_guard_and_a_task_before_the_client_has_it() -> None:
    noted: list[object] = []
    exchange = exchange_of(Envelope(method="tools/call", params=dump({})), Client())

    async def begun(server: str, tool: str, exchange: Exchange, sending: Any) -> Envelope:
        noted.append((server, tool))
        return await sending

    guard = SimpleNamespace(is_on=True, note=lambda route, exchange: noted.append(route))
    of_call = terms(may_be_task=True)
    for stage in (FlowNotes(flow_guard=guard), NotingTasks(server_tasks=SimpleNamespace(noted=begun))):  # type: ignore[arg-type]
        assert not (await stage.bind(of_call, rest)(exchange)).error
    assert noted == [of_call.route, ("s", "t")]


def test_what_a_session_uses_besides_tools_is_shown_to_it_and_noted_and_what_passes_is_only_noted() -> None:
    done: list[str] = []
    views = SimpleNamespace(used=lambda state, server: done.append(f"shown {server}"))
    guard = SimpleNamespace(is_on=True, note_other=lambda server, state: done.append(f"noted {server}"))
    uses = ServerUses(views=views, flow_guard=guard)  # type: ignore[arg-type]
    uses.used(SessionState("1"), "a")
    uses.passed(SessionState("1"), "b")
    guard.is_on = False
    uses.passed(SessionState("1"), "c")
    assert done == ["shown a", "noted a", "noted b"]


@pytest.mark.parametrize(
    ("schema", "is_alone", "era", "wraps"),
    [
        (Raw(b"{}"), False, Era.LEGACY, True),
        (Raw(b"{}"), True, Era.LEGACY, True),
        (None, False, Era.LEGACY, True),
        (None, True, Era.LEGACY, None),
        (Raw(b"{}"), False, Era.MODERN, None),
    ],
)
async def test_what_a_legacy_client_reads_of_an_odd_output_is_wrapped(
    schema: Raw | None, is_alone: bool, era: Era, wraps: bool | None
) -> None:
    of_call = terms(is_alone=is_alone)
    definition = replace(of_call.route.definition, output=LegacyOutput(schema, is_wrapped=True))
    of_call = replace(of_call, era=era, route=replace(of_call.route, definition=definition))
    exchange = exchange_of(Envelope(method="tools/call", params=dump({"name": "t"})), Client())
    await Addressing().bind(of_call, rest)(exchange)
    assert exchange.wraps_content is wraps
    exchange.wraps_content = False
    await Addressing().bind(terms(), rest)(exchange)
    assert exchange.wraps_content is False


@pytest.mark.parametrize(("cut_from", "outcome", "reason"), [(0, "ok", ""), (500, "ok", "cut 500"), (500, "error", "")])
async def test_the_journal_hears_from_which_size_a_result_was_cut(cut_from: int, outcome: str, reason: str) -> None:
    bus, found, exchange = EventBus(), list[JournalEvent](), exchange_of(Envelope(method="tools/call", params=dump({})), Client())
    bus.subscribe(JournalEvent, found.append)
    exchange.timings.cut_from, exchange.timings.outcome = cut_from, outcome
    stats, under_way = SimpleNamespace(add=lambda *call: None), SimpleNamespace(calls={})
    recording = Recording(stats=stats, own={}, under_way=under_way, bus=bus)  # type: ignore[arg-type]
    await recording.bind(terms(), rest)(exchange)
    assert [each.reason for each in found] == [reason]


@pytest.mark.parametrize(
    ("outcome", "server_s", "counted"),
    [
        ("ok", 0.1, ["timed"]),
        ("error", 0.1, ["timed"]),
        ("error", None, ["untimed"]),  # the server did not start
        ("cancelled", 0.1, ["timed"]),
        ("cancelled", None, []),  # while its approval was pending
        ("refused", None, []),
    ],
)
async def test_a_call_that_never_reached_its_server_does_not_count_in_the_times_of_it(
    outcome: str, server_s: float | None, counted: list[str]
) -> None:
    exchange, found = exchange_of(Envelope(method="tools/call", params=dump({})), Client()), list[str]()
    exchange.timings.outcome, exchange.timings.server_s = outcome, server_s
    stats = SimpleNamespace(add=lambda server, duration_s, now: found.append("untimed" if duration_s is None else "timed"))
    recording = Recording(stats=stats, own={}, under_way=SimpleNamespace(calls={}), bus=EventBus())  # type: ignore[arg-type]
    await recording.bind(terms(), rest)(exchange)
    assert found == counted


def test_a_stage_that_has_nothing_to_do_is_not_passed() -> None:
    idle: Any = SimpleNamespace(is_on=False)
    for of_call in (terms(), terms(shows_views=True), terms(has_view=True)):
        for stage in (Activating(views=idle), FlowNotes(flow_guard=idle), NotingTasks(server_tasks=idle)):
            assert stage.bind(of_call, rest) is answers


QUESTION = {"message": "sure?", "requestedSchema": {"type": "object", "properties": {}}}


async def ask(exchange: Exchange) -> Envelope:
    answer = await exchange.ask("elicitation/create", dump(QUESTION))
    return success({"content": [], "answer": load(answer.result)})


def with_own(here: Desk) -> None:
    here.parts.own["s", "write_it"] = ask


@pytest.mark.parametrize("is_modern", [False, True])
async def test_a_tool_of_the_hub_asks_a_client_of_either_era(tmp_path: Path, is_modern: bool) -> None:
    async with desk(tmp_path, autoApprove=["all"]) as here:
        with_own(here)
        answer: Any = {"action": "accept", "content": {}}
        client = here.session("Own", capabilities=FORM, answer=answer)
        reply = await here.call(client=client, is_modern=is_modern)
        if is_modern:
            assert reply["result"]["inputRequests"] == {"1": {"method": "elicitation/create", "params": QUESTION}}
            state = reply["result"]["requestState"]
            reply = await here.call(client=client, is_modern=True, requestState=state, inputResponses={"1": answer})
        assert reply["result"]["answer"] == answer
        assert here.calls == 0
