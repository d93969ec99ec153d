"""hub_server.py"""

import json
from typing import Any

import pytest
from msgspec import Raw
from tests.fakes.heard import Record
from tests.fakes.hub_parts import opened

from tooltray.foundation.errors import Problem
from tooltray.foundation.events import ConfigChanged, EventBus
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.hub import HubSnapshot
from tooltray.foundation.snapshots.servers import ServerSnapshot, ServerState
from tooltray.protocol.envelope import Envelope, dump
from tooltray.servers.builtin.hub_server import COLLECT_FEEDBACK, NAME, HubServer

GITHUB = ServerSnapshot("github", "stdio", "npx server", ServerState.RUNNING, is_default=True, description="Code", tool_count=3)
NOT_FOUND = Problem(Phrase("command '{command}' not found", command="x"), Phrase("looked in {folders}", folders="/bin"), "Install it.")
BROKEN = ServerSnapshot("broken", "stdio", "x", ServerState.ERROR, is_disabled=True, problem=NOT_FOUND, is_listed=False)


class Switch:
    """The setting by which models may report."""

    is_on = False


def made(switch: Switch, bus: EventBus) -> HubServer:
    snapshot = HubSnapshot(1, "1", False, 0, 0.0, (GITHUB, BROKEN))
    return HubServer(get_snapshot=lambda: snapshot, takes_reports=lambda: switch.is_on, bus=bus)


@pytest.fixture
def hub() -> HubServer:
    return made(Switch(), EventBus())


async def test_models_may_report_as_long_as_the_settings_say_so_and_every_change_of_that_is_told() -> None:
    switch, bus, told = Switch(), EventBus(), Record[str]()
    hub = made(switch, bus)
    end = hub.listen(told.add)
    bus.publish(ConfigChanged({}, (), True))
    assert told.all == []
    switch.is_on = True
    bus.publish(ConfigChanged({}, (), True))
    bus.publish(ConfigChanged({}, (), True))
    assert told.all == ["notifications/tools/list_changed"]
    (tool, *others) = (await ask(hub, "tools/list"))["result"]["tools"]
    assert (tool["name"], len(others)) == (COLLECT_FEEDBACK, 2)
    assert tool["annotations"] == {"readOnlyHint": True, "openWorldHint": False}
    assert (tool["inputSchema"]["required"], tool["inputSchema"]["additionalProperties"]) == (["work_summary"], False)
    end()
    end()
    switch.is_on = False
    bus.publish(ConfigChanged({}, (), True))
    assert len(told.all) == 1


async def ask(hub: HubServer, method: str, params: Any = None) -> dict[str, Any]:
    return opened(await hub.answer(Envelope(method=method, params=Raw(b"") if params is None else dump(params))))


async def call(hub: HubServer, name: Any, arguments: Any = None) -> dict[str, Any]:
    return await ask(hub, "tools/call", {"name": name} | ({} if arguments is None else {"arguments": arguments}))


async def test_it_lists_two_tools_that_only_read(hub: HubServer) -> None:
    tools = (await ask(hub, "tools/list"))["result"]["tools"]
    assert [each["name"] for each in tools] == ["list_servers", "server_status"]
    for each in tools:
        assert each["annotations"] == {"readOnlyHint": True, "openWorldHint": False}
        assert (each["inputSchema"]["type"], each["inputSchema"]["additionalProperties"]) == ("object", False)
        assert each["description"]


@pytest.mark.parametrize(
    ("asked", "answered"), [("2024-11-05", "2024-11-05"), ("1999-01-01", "2025-11-25"), (None, "2025-11-25"), ([], "2025-11-25")]
)
async def test_it_greets_in_the_version_it_is_asked_for_if_it_speaks_that(hub: HubServer, asked: Any, answered: str) -> None:
    result = (await ask(hub, "initialize", {"protocolVersion": asked}))["result"]
    assert (result["protocolVersion"], result["capabilities"], result["serverInfo"]["name"]) == (
        answered,
        {"tools": {"listChanged": True}},
        NAME,
    )


async def test_it_is_alive(hub: HubServer) -> None:
    assert (await ask(hub, "ping"))["result"] == {}


@pytest.mark.parametrize("method", ["server/discover", "resources/list", ""])
async def test_it_knows_nothing_else(hub: HubServer, method: str) -> None:
    assert (await ask(hub, method))["error"]["code"] == -32601


async def test_the_servers_are_listed_with_their_states(hub: HubServer) -> None:
    result = (await call(hub, "list_servers"))["result"]
    assert result["isError"] is False
    assert result["structuredContent"] == {
        "servers": [
            {"name": "github", "state": "running", "transport": "stdio", "tools": 3},
            {"name": "broken", "state": "error", "transport": "stdio", "tools": None},
        ]
    }
    assert result["content"][0]["text"] == json.dumps(result["structuredContent"], indent=2)
    [seen] = opened(hub.call("list_servers", {}, sees=lambda name: name == "broken"))["result"]["structuredContent"]["servers"]
    assert seen["name"] == "broken"


async def test_the_status_of_one_server_says_what_is_wrong_and_what_can_be_done(hub: HubServer) -> None:
    assert (await call(hub, "server_status", {"name": "broken"}))["result"]["structuredContent"] == {
        "name": "broken",
        "state": "error",
        "transport": "stdio",
        "tools": None,
        "startsWithHub": False,
        "disabled": True,
        "problem": {"title": "command 'x' not found", "message": "looked in /bin", "hint": "Install it."},
    }
    assert (await call(hub, "server_status", {"name": "github"}))["result"]["structuredContent"] == {
        "name": "github",
        "state": "running",
        "transport": "stdio",
        "tools": 3,
        "startsWithHub": True,
        "disabled": False,
        "description": "Code",
    }


@pytest.mark.parametrize("arguments", [None, {}, {"name": "gone"}, {"name": ["github"]}, [], "github", 5])
async def test_the_status_of_no_server_is_an_error_of_the_tool(hub: HubServer, arguments: Any) -> None:
    result = (await call(hub, "server_status", arguments))["result"]
    assert result["isError"] is True
    wanted = arguments.get("name") if isinstance(arguments, dict) else None
    assert f"server {wanted!r} not found" in result["content"][0]["text"]


@pytest.mark.parametrize("name", ["delete_everything", None, 5, ["list_servers"]])
async def test_an_unknown_tool_is_refused(hub: HubServer, name: Any) -> None:
    assert (await call(hub, name))["error"]["code"] == -32602


@pytest.mark.parametrize("params", [[1], "x", 5])
async def test_params_that_are_no_object_are_refused(hub: HubServer, params: Any) -> None:
    assert (await ask(hub, "tools/call", params))["error"] == {"code": -32602, "message": "Invalid request parameters"}
