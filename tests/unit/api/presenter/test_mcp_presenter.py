"""mcp_presenter.py"""

import os
from typing import Any

import pytest
from tests.fakes.exchanges import exchange_of
from tests.fakes.hub_parts import HubParts, opened
from tests.fakes.refusal import refusal
from tests.fakes.scripted_server import ScriptedServer, never, text

from tooltray.foundation.events import KeyringAwaited, ServerStarted, SessionsChanged
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.protocol.envelope import Envelope, dump
from tooltray.protocol.eras import Era, Head
from tooltray.protocol.sessions.session_state import SessionState

NO_SERVER = "server 'gone' not found"


# the hub


async def test_what_a_client_declares_is_kept_of_its_session_and_for_servers_that_clients_share(parts: HubParts) -> None:
    state, declared = SessionState("s1"), {"extensions": {"com.example/x": {}}}
    parts.session_clients.declare(state, {})
    assert (state.declared, parts.client_extensions.declared()) == ({}, {})
    parts.session_clients.declare(state, declared)
    assert (state.declared, parts.client_extensions.declared()) == (declared, declared)


async def test_the_snapshot_has_every_server_as_a_card_shows_it(parts: HubParts) -> None:
    await parts.presenter.start_server("s")
    await parts.listed()
    await parts.call("get_it")
    parts.bus.publish(SessionsChanged(2))
    parts.bus.publish(KeyringAwaited(is_awaited=True))
    hub = await parts.presenter.get_snapshot()
    assert (hub.pid, hub.is_paused, hub.session_count, hub.notices) == (os.getpid(), False, 2, ())
    assert hub.awaits_keyring
    built_in, server = hub.servers
    assert (built_in.name, built_in.is_builtin, built_in.is_default, built_in.transport) == ("hub", True, True, "inmemory")
    assert (server.name, server.state, server.transport, server.target, server.tool_count) == (
        "s",
        ServerState.RUNNING,
        "stdio",
        "program",
        2,
    )
    assert (server.calls_today, sum(server.calls), server.auto_approve, len(server.pids)) == (1, 1, ("all",), 1)
    assert parts.heard.of(SessionsChanged) == [SessionsChanged(2)]


async def test_a_paused_hub_keeps_what_runs_and_starts_nothing_new(parts: HubParts, program: ScriptedServer) -> None:
    await parts.presenter.set_mcp_enabled(False)
    assert await parts.presenter.get_mcp_enabled() is False
    assert parts.presenter.snapshot().is_paused
    assert parts.settings_on_disk["mcpEnabled"] is False
    await parts.presenter.initialize()
    await parts.presenter.add_mcp_server("t", {"command": "program"})
    assert program.copies.all == []
    await parts.presenter.set_mcp_enabled(True)
    await parts.heard.event(ServerStarted, server_name="t")
    await parts.heard.event(ServerStarted, server_name="s")  # to be listed once


async def test_the_hub_starts_its_default_servers_and_lists_the_others_once(parts: HubParts, program: ScriptedServer) -> None:
    await parts.presenter.initialize()
    await parts.heard.event(ServerStarted, server_name="hub")
    await parts.heard.state("s", ServerState.ON_DEMAND)
    assert await parts.listed() == ["drop", "get_it", "list_servers"]
    assert program.running == []


def test_a_verb_is_reached_by_its_part_and_by_its_name_alone(parts: HubParts) -> None:
    assert parts.presenter.restart_server == parts.presenter.verbs["restart_server"] == parts.presenter.servers.restart_server
    with pytest.raises(AttributeError, match="no verb 'restart_sever'"):
        parts.presenter.restart_sever  # noqa: B018


# for sessions


async def test_sessions_list_call_and_ask_for_more_through_the_presenter(parts: HubParts, program: ScriptedServer) -> None:
    program.handlers["prompts/list"] = lambda copy, params: {"prompts": [1]}
    assert parts.session_servers.has_server("s")
    client = await parts.session_servers.open_server("s", Era.LEGACY, session=parts.client(), timeout_s=10)
    assert client.greeting.capabilities == {"tools": {"listChanged": True}}
    assert parts.session_servers.server_pids == set(client.transport.pids)
    caller = parts.client()

    async def answer(method: str, server: str | None = None, **params: Any) -> Any:
        request = Envelope(method=method, params=dump(params))
        head = Head(name=params.get("name", ""))
        return opened(await parts.router.answer(exchange_of(request, caller, head=head, server=server, client="c")))

    assert [each["name"] for each in (await answer("tools/list"))["result"]["tools"]] == ["drop", "get_it"]
    assert (await answer("tools/call", name="get_it", arguments={"text": "hi"}))["result"] == text("hi")
    assert (await answer("prompts/list", "s"))["result"] == {"prompts": [1]}
    assert (await answer("prompts/list", "gone"))["error"]["message"] == "server 'gone' not found"
    assert (await answer("no/such"))["error"]["code"] == -32601


async def test_opening_a_server_that_is_not_there_or_does_not_come_up_is_an_error(parts: HubParts, program: ScriptedServer) -> None:
    program.handlers["initialize"] = never
    assert "it is starting" in await refusal(parts.session_servers.open_server("s", Era.LEGACY, session=parts.client(), timeout_s=0.02))
    assert (await refusal(parts.session_servers.open_server("gone", Era.LEGACY, session=parts.client(), timeout_s=1))).startswith(NO_SERVER)


# the doctor


async def test_the_doctor_looks_at_one_server_or_at_all(parts: HubParts) -> None:
    assert [each.server for each in await parts.presenter.diagnose()] == ["hub", "s"]
    [found] = await parts.presenter.diagnose("s")
    assert (found.server, found.is_ok) == ("s", False)
    assert (await refusal(parts.presenter.diagnose("gone"))).startswith(NO_SERVER)
