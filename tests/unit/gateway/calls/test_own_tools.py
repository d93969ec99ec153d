"""own_tools.py: the tools about servers."""

import json
from typing import Any

import pytest
from tests.fakes.exchanges import exchange_of
from tests.fakes.file_servers import SHOP, in_project
from tests.fakes.hub_parts import MODERN_META, Client, opened

from tooltray.foundation.events import EventBus
from tooltray.foundation.snapshots.hub import HubSnapshot
from tooltray.foundation.snapshots.servers import ServerSnapshot, ServerState
from tooltray.gateway.calls.stages import SeenServers
from tooltray.protocol.envelope import Envelope, dump
from tooltray.protocol.eras import Head
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
    assert (refused["isError"], "there is no server 'db'" in refused["content"][0]["text"]) == (True, True)


@pytest.mark.parametrize("arguments", [None, [], "db", 7])
async def test_odd_arguments_name_no_server(arguments: Any) -> None:
    assert (await said("server_status", in_project(SHOP), arguments=arguments))["result"]["isError"]


async def test_arguments_that_cannot_be_read_are_refused() -> None:
    deep = b'{"name":"x","arguments":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    hub = HubServer(get_snapshot=lambda: HubSnapshot(1, "1", False, 0, 0.0, ()), takes_reports=lambda: False, bus=EventBus())
    request = Envelope(method="tools/call", params=type(dump({}))(deep))
    reply = await SeenServers(hub, "list_servers", sees=sees)(exchange_of(request, Client(), head=Head(name="x")))
    assert opened(reply)["error"]["code"] == -32602
