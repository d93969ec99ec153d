"""instance.py, server_copy.py, managed_server.py, server_manager.py: a server that wants a person to sign in, without any HTTP."""

from pathlib import Path
from typing import Any

import pytest
from tests.fakes.hub_parts import FOR_EVER, HubParts, Shell, entry, hub_parts, settled
from tests.fakes.scripted_server import ScriptedServer, never, tool

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.events import ProblemReported
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.servers.upstream.instance import TRANSITIONS

RUNNING, NEEDS_SIGN_IN, ON_DEMAND, STOPPED, ERROR = (
    ServerState[name] for name in ["RUNNING", "NEEDS_SIGN_IN", "ON_DEMAND", "STOPPED", "ERROR"]
)
PROBLEM = Problem("'s' wants you to sign in", "", "Sign in.")


def one_server(root: Path, server: ScriptedServer, **fields: Any) -> Any:
    return hub_parts(root, servers={"s": entry("s", **fields)}, programs={"s": server}, shell=Shell())


async def running(parts: HubParts) -> None:
    await parts.presenter.start_server("s")
    assert parts.servers.get("s").state is RUNNING


async def state(parts: HubParts, wanted: ServerState) -> None:
    await parts.heard.until(lambda: parts.servers.get("s").state is wanted)


def problems(parts: HubParts) -> list[Problem]:
    return [event.problem for event in parts.heard.of(ProblemReported)]


async def test_its_connections_are_given_up_and_not_opened_again(tmp_path: Path) -> None:
    server = ScriptedServer(tool("t"), tool("hang"))
    async with one_server(tmp_path, server) as parts:
        await running(parts)
        await parts.listed()
        call = parts.keeper.spawn(parts.call("hang"), name="call")
        await server.asked.wait(lambda asked: asked.method == "tools/call")
        parts.servers.require_sign_in("s", PROBLEM)
        assert "wants you to sign in" in (await call)["error"]["message"]
        await state(parts, NEEDS_SIGN_IN)
        assert parts.servers.get("s").problem == PROBLEM
        assert "wants you to sign in" in (await parts.call("t"))["error"]["message"]
        await settled()
        assert len(server.copies.all) == 1
        assert problems(parts) == [PROBLEM]


async def test_its_tools_stay_listed(tmp_path: Path) -> None:
    async with one_server(tmp_path, ScriptedServer(tool("t"))) as parts:
        await running(parts)
        assert await parts.listed() == ["t"]
        parts.servers.require_sign_in("s", PROBLEM)
        await state(parts, NEEDS_SIGN_IN)
        assert await parts.listed() == ["t"]


async def test_a_list_does_not_wait_for_one_that_never_listed(tmp_path: Path) -> None:
    server = ScriptedServer(tool("t"))
    server.handlers["server/discover"] = never
    patient = hub_parts(tmp_path, servers={"s": entry("s")}, programs={"s": server}, waits=FOR_EVER)
    async with patient as parts:
        parts.servers.get("s").start()
        await server.asked.wait(lambda asked: asked.method == "server/discover")
        listing = parts.keeper.spawn(parts.listed(), name="list")
        await settled()
        assert not listing.done()
        parts.servers.require_sign_in("s", PROBLEM)
        assert await listing == []


async def test_one_that_is_being_opened_ends_there(tmp_path: Path) -> None:
    server = ScriptedServer(tool("t"))
    server.handlers["server/discover"] = never
    async with one_server(tmp_path, server) as parts:
        parts.servers.get("s").start()
        await server.asked.wait(lambda asked: asked.method == "server/discover")
        parts.servers.require_sign_in("s", PROBLEM)
        await state(parts, NEEDS_SIGN_IN)
        assert len(server.copies.all) == 1


async def test_it_is_started_again_by_a_person_also_while_it_is_still_ending(tmp_path: Path) -> None:
    server = ScriptedServer(tool("t"))
    async with one_server(tmp_path, server) as parts:
        await running(parts)
        server.may_end.clear()
        parts.servers.require_sign_in("s", PROBLEM)
        await state(parts, NEEDS_SIGN_IN)
        parts.servers.get("s").start()
        server.may_end.set()
        await state(parts, RUNNING)
        parts.servers.require_sign_in("s", PROBLEM)
        await state(parts, NEEDS_SIGN_IN)
        await parts.presenter.start_server("s")
        assert parts.servers.get("s").state is RUNNING


@pytest.mark.parametrize("then", [STOPPED, ON_DEMAND])
async def test_it_can_be_stopped(tmp_path: Path, then: ServerState) -> None:
    async with one_server(tmp_path, ScriptedServer(tool("t"))) as parts:
        await running(parts)
        parts.servers.require_sign_in("s", PROBLEM)
        await state(parts, NEEDS_SIGN_IN)
        await parts.servers.get("s").stop(then=then)
        assert parts.servers.get("s").state is then
        assert parts.servers.get("s").problem is None


async def test_all_its_copies_wait_and_all_come_back(tmp_path: Path) -> None:
    server = ScriptedServer(tool("t"), eras=("legacy",))
    async with one_server(tmp_path, server, isolation="session") as parts:
        await running(parts)
        await parts.listed()
        client = parts.client()
        assert "result" in await parts.call("t", client)
        parts.servers.require_sign_in("s", PROBLEM)
        await state(parts, NEEDS_SIGN_IN)
        assert "error" in await parts.call("t", client)
        assert problems(parts) == [PROBLEM]  # once, not for each copy
        await parts.presenter.start_server("s")
        assert "result" in await parts.call("t", client)
        await parts.session_clients.end_session(client)


async def test_where_only_a_clients_own_copy_ran_the_first_one_finds_out_too(tmp_path: Path) -> None:
    server = ScriptedServer(tool("t"))
    async with one_server(tmp_path, server, isolation="session") as parts:
        await running(parts)
        await parts.listed()
        await parts.servers.get("s").stop(then=ON_DEMAND)
        client = parts.client()
        assert "result" in await parts.call("t", client)
        assert parts.servers.get("s").state is ON_DEMAND
        parts.servers.require_sign_in("s", PROBLEM)
        await state(parts, RUNNING)  # this server lets it in; one that does not would say so now
        await parts.session_clients.end_session(client)


async def test_a_server_that_is_gone_needs_nothing(tmp_path: Path) -> None:
    async with one_server(tmp_path, ScriptedServer()) as parts:
        parts.servers.require_sign_in("none", PROBLEM)
        parts.servers.require_sign_in("s", PROBLEM)
        await settled()
        with pytest.raises(TooltrayError, match="server 'none' not found"):
            await parts.presenter.sign_out("none")


def test_a_server_that_is_not_being_opened_cannot_come_to_need_a_sign_in() -> None:
    assert [state for state, others in TRANSITIONS.items() if NEEDS_SIGN_IN in others] == [ServerState.STARTING, RUNNING]
