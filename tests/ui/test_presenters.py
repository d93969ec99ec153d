"""The Qt presenter layer: snapshots as properties, events as signals, and nothing of its own besides."""

import asyncio
import sys
import weakref
from collections.abc import AsyncIterator

import pytest
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication
from shiboken6 import delete
from tests.fakes.desk import until
from tests.fakes.fake_presenter import FakePresenter
from tests.fakes.server_snapshots import BUILTIN, server, tool
from tests.fakes.verb_table import PART_OF

from tooltray.foundation.errors import Problem
from tooltray.foundation.events import (
    ClientListUpdated,
    ConfigChanged,
    KeyringAwaited,
    ProblemReported,
    ReleaseNewsChanged,
    ServerChanged,
    ServerRemoved,
    ServerStarted,
    ServerStatusChanged,
    ServerStopped,
    SessionsChanged,
    ToolCallResult,
)
from tooltray.foundation.snapshots.hub import HubSnapshot, ReleaseNews
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.foundation.snapshots.tools import MCPToolResponse
from tooltray.ui.link.link import EngineLink
from tooltray.ui.link.qt_mcp_client import QtMcpClient
from tooltray.ui.link.qt_mcp_presenter import QtMcpPresenter, applied
from tooltray.ui.link.qt_server_manager import QtServerManager
from tooltray.ui.link.qt_tool_manager import QtToolManager

RESPONSE = MCPToolResponse(tool="t", server="a", client="c", outcome="ok", duration_s=0.1, argument_bytes=1, result_bytes=2)


class Layer:
    def __init__(self) -> None:
        self.engine = FakePresenter([server("a"), server("b")], [tool("read", "a"), tool("write", "b")])
        self.link = EngineLink(news_every_s=0.0)
        self.hub = QtMcpPresenter(self.link)
        self.servers = QtServerManager(self.hub)
        self.tools = QtToolManager(self.link)


@pytest.fixture
async def layer(app: QApplication) -> AsyncIterator[Layer]:
    layer = Layer()
    layer.link.attach(layer.engine.verbs, layer.engine.bus, asyncio.get_running_loop())
    await until(lambda: layer.hub.snapshot is not None)
    yield layer
    layer.link.detach()


async def test_each_event_is_a_signal_with_its_value(layer: Layer) -> None:
    heard: list[object] = []
    layer.hub.server_started.connect(heard.append)
    layer.hub.server_stopped.connect(heard.append)
    layer.hub.tool_call_result.connect(heard.append)
    layer.hub.config_changed.connect(heard.append)
    layer.hub.server_status_changed.connect(heard.append)
    layer.hub.client_list_updated.connect(lambda: heard.append("client list"))
    layer.hub.on(ProblemReported, heard.append, layer.hub)
    config = ConfigChanged({}, (), True)
    status = ServerStatusChanged("a", "running")
    problem = ProblemReported(Problem("x"))
    for event in (ServerStarted("a"), ServerStopped("b"), ToolCallResult(RESPONSE), config, status, ClientListUpdated(), problem):
        layer.engine.bus.publish(event)
    await until(lambda: len(heard) == 7)
    assert heard[0] is RESPONSE  # calls come before what they led to
    assert heard[1:] == ["a", "b", config, status, "client list", problem]


async def test_a_receiver_gets_the_events_of_its_type_in_the_order_of_the_receivers_and_goes_with_its_owner(layer: Layer) -> None:
    owner, heard = QObject(), list[object]()
    layer.hub.on(ServerStarted, lambda news: heard.append(("first", news.server_name)), layer.hub)
    layer.hub.on(ServerStarted, lambda news: heard.append(("owned", news.server_name)), owner)
    layer.hub.on_any((ServerStarted, ServerStopped), lambda: heard.append("any"), layer.hub)
    for event in (ServerStarted("a"), ServerStopped("a")):
        layer.engine.bus.publish(event)
    await until(lambda: len(heard) == 4)
    assert heard == [("first", "a"), ("owned", "a"), "any", "any"]
    heard.clear()
    heard_by = weakref.WeakSet([owner])
    delete(owner)
    del owner
    assert not heard_by  # nothing keeps what is left of it
    layer.engine.bus.publish(ServerStarted("b"))
    await until(lambda: len(heard) == 2)
    assert heard == [("first", "b"), "any"]
    layer.hub.on(ServerStarted, lambda _: heard.append("last"), layer.hub)
    layer.engine.bus.publish(ServerStarted("c"))
    await until(lambda: len(heard) == 5)
    assert heard[2:] == [("first", "c"), "any", "last"]


async def test_a_receiver_that_fails_keeps_an_event_from_no_other(layer: Layer, monkeypatch: pytest.MonkeyPatch) -> None:
    failed, heard = list[type[BaseException]](), list[str]()
    monkeypatch.setattr(sys, "excepthook", lambda kind, *_: failed.append(kind))
    layer.hub.on(ServerStarted, lambda _: {}[""], layer.hub)
    layer.hub.on(ServerStarted, lambda news: heard.append(news.server_name), layer.hub)
    layer.engine.bus.publish(ServerStarted("a"))
    await until(lambda: heard)
    assert (failed, heard) == ([KeyError], ["a"])


async def test_the_snapshot_follows_the_events(layer: Layer) -> None:
    layer.engine.set_sessions(4)
    layer.engine.set_state("a", ServerState.ERROR)
    await until(lambda: layer.hub.snapshot == layer.engine.snapshot)
    assert layer.hub.snapshot is not None
    assert layer.hub.snapshot.session_count == 4
    assert layer.servers.find("a") == layer.engine.find("a")


async def test_a_server_s_change_is_told_once_and_only_for_that_server(layer: Layer) -> None:
    heard: list[object] = []
    layer.servers.server_changed.connect(heard.append)
    layer.engine.set_state("b", ServerState.STOPPED)
    await until(lambda: heard)
    assert heard == [layer.engine.find("b")]


async def test_a_removed_server_is_told_and_gone(layer: Layer) -> None:
    heard: list[str] = []
    layer.servers.server_removed.connect(heard.append)
    client = QtMcpClient(layer.hub, layer.servers, "a")
    removed: list[bool] = []
    client.removed.connect(lambda: removed.append(True))
    await layer.hub.servers.remove_mcp_server("a")
    await until(lambda: heard == ["a"])
    assert layer.servers.find("a") is None
    assert removed == [True]
    assert client.snapshot is None


async def test_a_client_follows_its_own_server(layer: Layer) -> None:
    client = QtMcpClient(layer.hub, layer.servers, "a")
    changes: list[ServerState] = []
    client.snapshot_changed.connect(lambda: changes.append(client.snapshot.state))
    layer.engine.set_state("b", ServerState.ERROR)
    layer.engine.set_state("a", ServerState.RESTARTING)
    await until(lambda: changes)
    assert changes == [ServerState.RESTARTING]


async def test_tools_are_asked_for_and_their_change_is_told_once_per_delivery(layer: Layer) -> None:
    changed: list[str] = []
    layer.tools.tool_list_changed.connect(changed.append)
    layer.engine.set_tools([tool("other", "a")], "a")
    layer.engine.set_tools([tool("another", "a")], "a")
    await until(lambda: changed)
    assert changed == ["a"]
    assert [each.name for each in await layer.hub.tools.get_tools("a")] == ["another"]


async def test_when_the_engine_is_gone_nothing_is_known_any_more(layer: Layer) -> None:
    layer.hub.forget()
    assert layer.hub.snapshot is None
    assert layer.servers.servers == ()


@pytest.mark.parametrize(
    ("verb", "arguments"),
    [
        ("add_mcp_server", ("n", {"command": "x"}, False)),
        ("update_mcp_server", ("a", {"command": "y"})),
        ("remove_mcp_server", ("a",)),
        ("start_server", ("a",)),
        ("stop_server", ("a",)),
        ("restart_server", ("a",)),
        ("get_server_log", ("a", 7)),
        ("add_mcp_default_server", ("a",)),
        ("set_mcp_enabled", (False,)),
        ("get_tools", ("a",)),
        ("set_tool_enabled", ("a", "read", False)),
        ("call_tool", ("read", {"x": 1})),
        ("set_secret", ("n",)),
        ("unlock_secrets", ("p",)),
        ("set_secret_backend", ("file",)),
        ("diagnose", ("a",)),
        ("reset_tool_names", ()),
        ("set_http_enabled", (True, 7000)),
        ("create_client_token", ("c",)),
    ],
)
async def test_a_verb_reaches_the_engine_with_its_arguments(layer: Layer, verb: str, arguments: tuple[object, ...]) -> None:
    given = (*arguments, "value") if verb == "set_secret" else arguments  # a fake does not note values of secrets
    await getattr(getattr(layer.hub, PART_OF[verb]), verb)(*given)
    assert layer.engine.calls == [(verb, *arguments)]


async def test_verbs_that_ask_bring_the_answer(layer: Layer) -> None:
    assert await layer.hub.hub.get_snapshot() == layer.engine.snapshot
    assert await layer.hub.hub.get_mcp_enabled() is True
    assert await layer.hub.servers.toggle_mcp_default_server("a") is True
    assert await layer.hub.servers.get_mcp_default_servers() == ["a"]
    await layer.hub.servers.remove_mcp_default_server("a")
    assert await layer.hub.servers.get_mcp_default_servers() == []
    assert list(await layer.hub.servers.get_mcp_servers()) == ["a", "b"]
    assert await layer.hub.tools.get_all_tool_definitions("a") == [{"name": "read"}]
    assert await layer.hub.tools.call_tool("read", {}) == {"content": []}
    await layer.hub.secrets.set_secret("n", "v")
    assert await layer.hub.secrets.get_secret_names() == ["n"]
    assert (await layer.hub.access.get_http_status()).is_open is False
    assert await layer.hub.access.create_client_token("c") == "token of c"
    assert [client.name for client in await layer.hub.access.list_client_tokens()] == ["c"]
    await layer.hub.access.remove_client_token("c")
    assert await layer.hub.access.list_client_tokens() == []
    await layer.hub.secrets.remove_secret("n")
    assert await layer.hub.secrets.get_secret_names() == []


HUB = HubSnapshot(
    pid=1, version="0", is_paused=False, session_count=0, started_at=0.0, servers=(server("a"), BUILTIN), notices=(Problem("old"),)
)


def test_news_before_the_first_snapshot_say_nothing() -> None:
    assert applied(None, ServerChanged(server("a"))) is None


def test_a_new_server_comes_last() -> None:
    snapshot = applied(HUB, ServerChanged(server("new")))
    assert snapshot is not None
    assert [each.name for each in snapshot.servers] == ["a", "hub", "new"]


def test_a_changed_server_keeps_its_place() -> None:
    snapshot = applied(HUB, ServerChanged(server("a", ServerState.ERROR)))
    assert snapshot is not None
    assert [(each.name, each.state) for each in snapshot.servers] == [("a", ServerState.ERROR), ("hub", ServerState.RUNNING)]


@pytest.mark.parametrize(
    ("news", "field", "value"),
    [
        (ServerRemoved("a"), "servers", (BUILTIN,)),
        (SessionsChanged(7), "session_count", 7),
        (ConfigChanged({}, (), False), "is_paused", True),
        (KeyringAwaited(is_awaited=True), "awaits_keyring", True),
        (ReleaseNewsChanged(ReleaseNews(version="1.3.0")), "release", ReleaseNews(version="1.3.0")),
        (ServerStarted("a"), "notices", (Problem("old"),)),
    ],
)
def test_other_news_change_what_they_are_about(news: object, field: str, value: object) -> None:
    assert getattr(applied(HUB, news), field) == value
