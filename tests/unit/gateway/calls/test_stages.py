"""stages.py: the tools about servers."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.approval_desk import FORM, Desk, desk
from tests.fakes.exchanges import exchange_of
from tests.fakes.file_servers import SHOP, in_project
from tests.fakes.hub_parts import MODERN_META, Client, opened

from tooltray.foundation.events import EventBus
from tooltray.foundation.snapshots.hub import HubSnapshot
from tooltray.foundation.snapshots.servers import ServerSnapshot, ServerState
from tooltray.gateway.calls.stages import SeenServers
from tooltray.protocol.envelope import Envelope, dump, load, success
from tooltray.protocol.eras import Head
from tooltray.protocol.sessions.exchange import Exchange
from tooltray.protocol.sessions.session_state import SessionState
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
