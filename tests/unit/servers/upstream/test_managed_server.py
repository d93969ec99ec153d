"""managed_server.py, server_copy.py: one server of the settings, with a copy per era. Driven through ServerManager, which makes it."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.hub_parts import Client, HubParts, entry, hub_parts, settled
from tests.fakes.scripted_server import ScriptedServer, error, never

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.events import ProblemReported
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.protocol.envelope import dump
from tooltray.protocol.eras import Era
from tooltray.servers.upstream.managed_server import ManagedServer

BOTH = ("legacy", "modern")


class One:
    """A hub with one server `s`."""

    def __init__(self, parts: HubParts, program: ScriptedServer) -> None:
        self.parts, self.program = parts, program
        self.tasks: list[asyncio.Task[Any]] = []

    @property
    def server(self) -> ManagedServer:
        return self.parts.servers.get("s")

    async def running(self, era: Era) -> Any:
        return await self.server.running(era, timeout_s=10)

    def spawn(self, work: Any) -> "asyncio.Task[Any]":
        self.tasks.append(asyncio.create_task(work))
        return self.tasks[-1]


@pytest.fixture
async def hub(tmp_path: Path) -> AsyncIterator[Callable[..., Any]]:
    async with contextlib.AsyncExitStack() as stack:

        async def _hub(program: ScriptedServer, **fields: Any) -> One:
            parts = await stack.enter_async_context(
                hub_parts(tmp_path / "home", servers={"s": entry("program", **fields)}, programs={"program": program})
            )
            one = One(parts, program)
            stack.push_async_callback(lambda: asyncio.gather(*one.tasks, return_exceptions=True))
            return one

        yield _hub


@pytest.mark.parametrize("eras", [("legacy",), ("modern",)])
async def test_a_server_of_one_era_has_one_copy_that_serves_everybody(hub: Any, eras: tuple[str, ...]) -> None:
    one = await hub(ScriptedServer(eras=eras))
    clients = [await one.running(Era.LEGACY), await one.running(Era.MODERN), await one.running(Era.LEGACY)]
    assert len({id(client) for client in clients}) == 1
    assert clients[0].era.value == eras[0]
    assert [one.server.client_for(era) for era in Era] == clients[:2]
    await one.program.copies.until(lambda: len(one.program.running) == 1)  # one that was tried in the other era has ended
    assert one.server.eras == set(eras)


async def test_a_server_of_both_eras_gets_a_legacy_copy_when_the_first_legacy_client_comes(hub: Any) -> None:
    one = await hub(ScriptedServer(eras=BOTH))
    modern = await one.running(Era.MODERN)
    assert len(one.program.running) == 1
    assert one.server.client_for(Era.LEGACY) is None
    legacy = await one.running(Era.LEGACY)
    assert (modern.era, legacy.era) == (Era.MODERN, Era.LEGACY)
    assert await one.running(Era.LEGACY) is legacy is one.server.client_for(Era.LEGACY)
    assert await one.running(Era.MODERN) is modern is one.server.client_for(Era.MODERN)
    assert len(one.server.pids) == 2
    assert one.server.eras == set(BOTH)
    (copy,) = one.server.copies
    for client in (modern, legacy):
        assert copy.is_called is False
        client.usage.begin()
        assert copy.is_called is True
        client.usage.end()


async def test_two_legacy_clients_at_once_share_the_legacy_copy(hub: Any) -> None:
    one = await hub(ScriptedServer(eras=BOTH))
    first, second = await asyncio.gather(one.running(Era.LEGACY), one.running(Era.LEGACY))
    assert first is second
    assert len(one.program.copies.all) == 2


async def test_stopping_ends_the_copies_of_both_eras_together(hub: Any) -> None:
    one = await hub(ScriptedServer(eras=BOTH))
    await one.running(Era.LEGACY)
    one.program.may_end.clear()
    stopping = one.spawn(one.server.stop())
    await one.program.closing.wait(count=2)
    one.program.may_end.set()
    await stopping
    assert one.program.running == []
    assert len(one.server.instances) == 1


async def test_a_server_that_is_modern_by_its_settings_has_no_legacy_copy(hub: Any) -> None:
    one = await hub(ScriptedServer(eras=BOTH), era="modern")
    modern = await one.running(Era.MODERN)
    assert await one.running(Era.LEGACY) is modern
    assert len(one.program.copies.all) == 1


async def test_the_refused_legacy_copy_of_a_modern_server_is_tried_once_and_troubles_nobody(hub: Any) -> None:
    one = await hub(ScriptedServer(eras=("modern",)))
    await one.running(Era.LEGACY)
    await one.running(Era.LEGACY)
    assert one.program.count("initialize") == 1
    assert not one.parts.heard.of(ProblemReported)
    assert one.server.state is ServerState.RUNNING


async def test_a_server_that_refuses_both_eras_is_reported(hub: Any) -> None:
    one = await hub(ScriptedServer(eras=()))
    one.program.handlers["initialize"] = lambda copy, params: error(-32022, "from the future")
    with pytest.raises(TooltrayError, match="from the future"):
        await one.running(Era.MODERN)
    assert one.server.state is ServerState.ERROR
    assert len(one.parts.heard.of(ProblemReported)) == 1


async def test_a_legacy_copy_that_was_given_up_is_not_tried_with_every_call(hub: Any) -> None:
    one = await hub(ScriptedServer(eras=BOTH))
    one.program.handlers["initialize"] = lambda copy, params: error(-32603, "database is locked")
    for _ in range(2):
        with pytest.raises(TooltrayError, match="database is locked"):
            await one.running(Era.LEGACY)
    assert one.program.count("initialize") == 4
    assert await one.running(Era.MODERN) is one.server.client_for(Era.MODERN)


async def test_a_server_that_somebody_stopped_is_not_started_by_a_call(hub: Any) -> None:
    one = await hub(ScriptedServer())
    await one.running(Era.LEGACY)
    await one.server.stop()
    with pytest.raises(TooltrayError, match=r"server 's' is stopped: you stopped it. Start it in Tooltray"):
        await one.running(Era.LEGACY)
    assert len(one.program.copies.all) == 1


async def test_a_call_while_somebody_stops_it_is_refused_and_one_while_it_is_put_to_rest_waits(hub: Any) -> None:
    one = await hub(ScriptedServer())
    await one.running(Era.LEGACY)
    one.program.may_end.clear()
    one.spawn(one.server.stop())
    await one.program.closing.wait()
    with pytest.raises(TooltrayError, match="is stopped"):
        await one.running(Era.LEGACY)
    one.spawn(one.server.stop(then=ServerState.ON_DEMAND))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    waiting = one.spawn(one.running(Era.LEGACY))
    await asyncio.sleep(0)
    one.program.may_end.set()
    assert (await waiting).transport is one.program.copies.all[1]


async def test_from_the_moment_in_which_it_is_put_to_rest_nobody_gets_the_connection_that_ends(hub: Any) -> None:
    one = await hub(ScriptedServer())
    await one.running(Era.LEGACY)

    async def in_the_next_turn() -> Any:
        return one.server.client_for(Era.LEGACY)

    one.spawn(one.server.stop(then=ServerState.ON_DEMAND))
    assert await one.spawn(in_the_next_turn()) is None
    assert (await one.running(Era.LEGACY)).transport is one.program.copies.all[1]


async def test_a_legacy_copy_that_is_called_for_while_it_is_put_to_rest_stays_one_of_its_copies(hub: Any) -> None:
    one = await hub(ScriptedServer(eras=BOTH))
    await one.running(Era.LEGACY)
    _, legacy = one.program.copies.all
    legacy.may_end = asyncio.Event()
    resting = one.spawn(one.server.stop(then=ServerState.ON_DEMAND))
    await one.program.closing.wait(count=2)
    waiting = one.spawn(one.running(Era.LEGACY))
    await one.parts.heard.state("s", ServerState.RUNNING, count=2)
    await settled()
    legacy.may_end.set()
    await resting
    assert (await waiting).transport in one.program.running
    assert len(one.server.instances) == 2
    await one.server.stop()
    assert one.program.running == []
    assert len(one.server.instances) == 1


async def test_a_server_that_is_switched_off_is_not_started_by_a_call(hub: Any) -> None:
    one = await hub(ScriptedServer(), disable=True)
    assert one.server.state is ServerState.STOPPED
    with pytest.raises(TooltrayError, match=r"server 's' is disabled. Enable it in Tooltray"):
        await one.running(Era.MODERN)
    assert one.program.copies.all == []


async def test_a_server_that_was_given_up_is_not_tried_with_every_call(hub: Any) -> None:
    one = await hub(ScriptedServer())
    one.program.handlers["initialize"] = lambda copy, params: error(-32603, "no API key")
    for _ in range(3):
        with pytest.raises(TooltrayError, match=r"server 's' is not running: 's' could not be opened.*no API key"):
            await one.running(Era.LEGACY)
    assert len(one.program.copies.all) == 4


async def test_a_server_that_does_not_come_up_in_time_is_an_error_and_goes_on_starting(hub: Any) -> None:
    one = await hub(ScriptedServer())
    one.program.handlers["initialize"] = never
    with pytest.raises(TooltrayError, match="it is starting"):
        await one.server.running(Era.LEGACY, timeout_s=0.02)
    assert one.server.state is ServerState.STARTING


async def test_it_knows_whether_its_settings_name_secrets(hub: Any) -> None:
    one = await hub(ScriptedServer(), env={"KEY": "${secret:s/KEY}"})
    assert one.server.needs_secrets
    await one.parts.conf.change_server("s", env={"KEY": "plain"})
    assert not one.server.needs_secrets


async def test_it_is_used_once_somebody_wanted_it_until_it_is_stopped(hub: Any) -> None:
    one = await hub(ScriptedServer())
    assert not one.server.is_used
    await one.running(Era.LEGACY)
    assert one.server.is_used
    await one.server.stop()
    assert not one.server.is_used


# a copy for each session


async def test_each_session_of_an_isolated_server_has_its_own_copy_opened_as_its_client_introduces_itself(hub: Any) -> None:
    one = await hub(ScriptedServer(), isolation="session")
    introduction = {"protocolVersion": "2025-03-26", "capabilities": {"sampling": {"x": 1}}, "clientInfo": {"name": "a", "version": "7"}}
    first, second = Client(introduction=dump(introduction)), Client()
    own = await one.server.running(Era.LEGACY, timeout_s=10, session=first)
    assert own.owner is first
    [greeted] = [asked.params for asked in one.program.asked.all if asked.method == "initialize" and "x" in str(asked.params)]
    assert greeted == introduction
    other = await one.server.running(Era.LEGACY, timeout_s=10, session=second)
    shared = await one.running(Era.LEGACY)
    assert len({id(client) for client in (own, other, shared)}) == 3
    assert [one.server.client_for(Era.LEGACY, session) for session in (first, second, None)] == [own, other, shared]
    assert await one.server.running(Era.LEGACY, timeout_s=10, session=first) is own
    assert len(one.server.pids) == 3


async def test_the_own_copies_of_a_session_end_with_it(hub: Any) -> None:
    one = await hub(ScriptedServer(eras=BOTH), isolation="session")
    session = Client()
    await one.running(Era.MODERN)
    for era in Era:
        assert (await one.server.running(era, timeout_s=10, session=session)).era is era
    assert len(one.program.running) == 3
    await one.parts.servers.end_session(session)
    assert len(one.program.running) == 1
    assert one.server.client_for(Era.LEGACY, session) is None
    await one.parts.servers.end_session(session)


async def test_stopping_a_server_ends_the_copies_of_sessions_too(hub: Any) -> None:
    one = await hub(ScriptedServer(), isolation="session")
    session = Client()
    await one.server.running(Era.LEGACY, timeout_s=10, session=session)
    await one.server.stop()
    assert one.program.running == []
    with pytest.raises(TooltrayError, match="is stopped"):
        await one.server.running(Era.LEGACY, timeout_s=10, session=session)


async def test_a_request_that_stands_for_itself_uses_the_shared_copy(hub: Any) -> None:
    one = await hub(ScriptedServer(), isolation="session")
    session = Client()
    session.is_lasting = False
    assert await one.server.running(Era.MODERN, timeout_s=10, session=session) is await one.running(Era.MODERN)


async def test_a_shared_server_has_no_copies_for_sessions(hub: Any) -> None:
    one = await hub(ScriptedServer())
    assert await one.server.running(Era.LEGACY, timeout_s=10, session=Client()) is await one.running(Era.LEGACY)


async def test_a_legacy_session_of_an_isolated_modern_server_shares_the_copy_that_there_is(hub: Any) -> None:
    one = await hub(ScriptedServer(eras=("modern",)), isolation="session")
    session = Client(introduction=dump({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a"}}))
    shared = await one.running(Era.MODERN)
    for _ in range(2):
        assert await one.server.running(Era.LEGACY, timeout_s=10, session=session) is shared
    assert one.server.client_for(Era.LEGACY, session) is shared
    shared.transport.die()
    again = await one.server.running(Era.LEGACY, timeout_s=10, session=session)
    assert (again is shared, again.era) == (False, Era.MODERN)
    assert one.parts.heard.of(ProblemReported) == []


async def test_an_own_copy_that_does_not_start_fails_its_session_alone(hub: Any) -> None:
    one = await hub(ScriptedServer(), isolation="session")
    await one.running(Era.LEGACY)
    one.program.handlers["initialize"] = lambda copy, params: copy.die()
    session = Client()
    for _ in range(2):
        with pytest.raises(TooltrayError, match="out of cheese"):
            await one.server.running(Era.LEGACY, timeout_s=10, session=session)
    assert (one.server.state, one.server.problem) == (ServerState.RUNNING, None)
    assert one.parts.heard.of(ProblemReported) == []


async def test_a_server_that_wants_a_sign_in_of_one_session_shows_that_to_all(hub: Any) -> None:
    one = await hub(ScriptedServer(), isolation="session")
    await one.server.running(Era.LEGACY, timeout_s=10, session=Client())
    assert one.server.state is ServerState.ON_DEMAND
    one.server.require_sign_in(Problem("sign in"))
    await settled()
    assert one.server.state is not ServerState.ON_DEMAND


async def test_a_server_that_somebody_stopped_is_not_started_to_ask_for_a_sign_in(hub: Any) -> None:
    one = await hub(ScriptedServer())
    await one.running(Era.LEGACY)
    await one.server.stop()
    one.server.require_sign_in(Problem("sign in"))
    await settled()
    assert (one.server.state, len(one.program.copies.all)) == (ServerState.STOPPED, 1)


async def test_what_a_person_has_stopped_in_an_earlier_life_is_not_started_by_a_call(hub: Any) -> None:
    one = await hub(ScriptedServer())
    one.server.keep_stopped(5.0)
    assert one.server.state is ServerState.STOPPED
    with pytest.raises(TooltrayError, match="stopped"):
        await one.running(Era.LEGACY)
    assert one.program.copies.all == []


async def test_two_first_uses_of_one_session_at_once_share_its_own_copy(hub: Any) -> None:
    one = await hub(ScriptedServer(), isolation="session")
    session = Client()
    both = await asyncio.gather(*(one.server.running(Era.LEGACY, timeout_s=10, session=session) for _ in range(2)))
    assert both[0] is both[1]
    assert len(one.program.copies.all) == 1


async def test_a_server_that_a_person_stopped_stays_so_when_its_settings_are_read_again(hub: Any) -> None:
    one = await hub(ScriptedServer())
    resting = one.server.idle_state
    await one.server.stop()
    one.server.adopt(one.server.config)
    assert (resting, one.server.state) == (ServerState.ON_DEMAND, ServerState.STOPPED)
