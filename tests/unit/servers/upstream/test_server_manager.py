"""server_manager.py"""

import asyncio
import json
import sys
import threading
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Any

import pytest
from tests.fakes import fake_server
from tests.fakes.hub_parts import HubParts, Shell, entry, hub_parts, one_server, settled, started
from tests.fakes.scripted_server import ScriptedServer, error, never, text, tool

from tooltray.foundation.errors import NotFound, Problem, TooltrayError
from tooltray.foundation.events import (
    ClientListUpdated,
    ProblemReported,
    ServerChanged,
    ServerRemoved,
    ServerStarted,
    ServerStatusChanged,
    ServerStopped,
)
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.protocol.eras import Era
from tooltray.servers.launch.program_launch import CannotStart
from tooltray.servers.transports.server_output import SEPARATOR
from tooltray.servers.transports.stdio_transport import StdioTransport
from tooltray.servers.upstream.start_limits import StartGate
from tooltray.servers.upstream.stops import StoppedServers

SIX = (ServerStarted, ServerStopped, ServerStatusChanged, ClientListUpdated, ServerRemoved, ProblemReported)
UP = [ServerStarted("s"), ServerStatusChanged("s", "running"), ClientListUpdated()]
DOWN = [ServerStopped("s"), ServerStatusChanged("s", "stopped"), ClientListUpdated()]


@pytest.fixture
def program() -> ScriptedServer:
    return ScriptedServer()


@pytest.fixture
async def parts(tmp_path: Path, program: ScriptedServer) -> AsyncIterator[HubParts]:
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        yield parts


def states(parts: HubParts, name: str = "s") -> list[ServerState]:
    """Those that a card would have shown, one after the other."""
    shown = [event.server.state for event in parts.heard.of(ServerChanged) if event.server.name == name]
    return [state for number, state in enumerate(shown) if number == 0 or state is not shown[number - 1]]


# what there is


async def test_loading_makes_all_servers_and_starts_none(tmp_path: Path) -> None:
    builtin = ScriptedServer()
    servers = {"a": entry("a"), "off": entry("off", disable=True), "p": entry("p", deferredStartup=True)}
    async with hub_parts(tmp_path, servers=servers, default=("a",), builtins={"hub": builtin}) as parts:
        assert [(each.name, each.state, each.is_builtin) for each in parts.servers] == [
            ("hub", ServerState.ON_DEMAND, True),
            ("a", ServerState.ON_DEMAND, False),
            ("off", ServerState.STOPPED, False),
            ("p", ServerState.WAITING, False),
        ]
        assert [parts.servers.is_default(name) for name in ("hub", "a", "off")] == [True, True, False]
        assert parts.servers.find("a") is parts.servers.get("a")
        assert parts.servers.find("b") is None
        with pytest.raises(TooltrayError, match="'a' does not start for projects"):
            parts.servers.find_deferred("a")
        assert parts.servers.find_deferred("p") is parts.servers.get("p").by_project
        assert (parts.servers.running_clients(), parts.servers.pids) == ([], frozenset())


async def test_asking_for_a_server_that_is_not_there_says_which_are(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, servers={"a": entry("a"), "b": entry("b")}) as parts:
        with pytest.raises(TooltrayError, match=r"server 'c' not found: there are: a, b. See `tooltray servers list`"):
            parts.servers.get("c")


async def test_asking_for_a_server_whose_entry_cannot_be_used_says_why(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, servers={"a": entry("a"), "other": {}, "odd": {}}) as parts:
        with pytest.raises(
            NotFound, match=r"'odd' cannot be used: line \d+: it has neither a command nor a URL. Correct it in settings.json"
        ):
            parts.servers.get("odd")


async def test_the_running_connections_are_known(tmp_path: Path) -> None:
    programs = {"a": ScriptedServer(), "b": ScriptedServer(eras=("legacy", "modern"))}
    async with hub_parts(tmp_path, servers={"a": entry("a"), "b": entry("b")}, default=("a",), programs=programs) as parts:
        await started(parts, "a", "b")
        await parts.servers.get("b").running(Era.LEGACY, timeout_s=10)
        assert [client.name for client in parts.servers.running_clients()] == ["a", "b", "b"]
        assert len(parts.servers.pids) == 3


# starting


async def test_what_starts_with_the_hub_is_started_together_and_nothing_else(tmp_path: Path) -> None:
    programs = {name: ScriptedServer() for name in "abc"}
    servers = {"a": entry("a"), "b": entry("b"), "c": entry("c"), "off": entry("c", disable=True)}
    async with hub_parts(tmp_path, servers=servers, default=("a", "b", "off", "gone"), programs=programs) as parts:
        parts.servers.start_defaults()
        for name in "ab":
            await parts.heard.event(ServerStarted, server_name=name)
        assert [len(programs[name].copies.all) for name in "abc"] == [1, 1, 0]
        parts.servers.start_defaults()
        assert parts.servers.get("a").state is ServerState.RUNNING


async def test_no_more_than_so_many_servers_are_starting_at_once(tmp_path: Path) -> None:
    program = ScriptedServer()
    go_on = program.hold("initialize")
    names = [f"s{number}" for number in range(5)]
    servers = {name: entry("program") for name in names}
    gate = StartGate(places=2)
    async with hub_parts(tmp_path, servers=servers, default=tuple(names), programs={"program": program}, gate=gate) as parts:
        parts.servers.start_defaults()
        await program.request("initialize", count=2)
        assert len(program.copies.all) == 2
        go_on.set()
        for name in names:
            await parts.heard.event(ServerStarted, server_name=name)
        assert len(program.running) == 5


async def test_one_slow_server_delays_nobody(tmp_path: Path) -> None:
    slow, quick = ScriptedServer(), ScriptedServer()
    slow.handlers["initialize"] = never
    servers = {"slow": entry("slow"), **{f"q{number}": entry("quick") for number in range(3)}}
    programs = {"slow": slow, "quick": quick}
    gate = StartGate(places=1, held_for_s=0.02)
    async with hub_parts(tmp_path, servers=servers, default=tuple(servers), programs=programs, gate=gate) as parts:
        parts.servers.start_defaults()
        for number in range(3):
            await parts.heard.event(ServerStarted, server_name=f"q{number}")
        assert parts.servers.get("slow").state is ServerState.STARTING


async def test_a_server_that_is_started_by_hand_is_waited_for(parts: HubParts) -> None:
    await parts.servers.start("s")
    assert parts.servers.get("s").state is ServerState.RUNNING
    assert parts.servers.get("s").is_used
    await parts.servers.start("s")
    assert len(parts.programs["program"].copies.all) == 1


async def test_a_server_that_does_not_start_says_why(tmp_path: Path) -> None:
    program = ScriptedServer()
    program.handlers["initialize"] = lambda copy, params: error(-32603, "no API key")
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        with pytest.raises(TooltrayError, match=r"server 's' is not running: 's' could not be opened: no API key"):
            await parts.servers.start("s")


async def test_the_users_variables_are_read_again_before_a_failed_server_is_started(tmp_path: Path) -> None:
    shell = Shell()
    async with hub_parts(tmp_path, **one_server(ScriptedServer(), env={"KEY": "${NOT_SET}"}), shell=shell) as parts:
        for expired in (0, 1):
            with pytest.raises(TooltrayError, match="NOT_SET"):
                await parts.servers.start("s")
            assert shell.expired == expired


async def test_a_server_that_is_switched_off_is_not_started(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, **one_server(ScriptedServer(), disable=True)) as parts:
        for act in (parts.servers.start, parts.servers.restart):
            with pytest.raises(TooltrayError, match=r"server 's' is disabled. `disable` is true in its settings. Enable it first"):
                await act("s")
        assert parts.servers.get("s").state is ServerState.STOPPED


async def test_a_server_that_was_stopped_by_hand_is_started_by_hand(parts: HubParts) -> None:
    await started(parts)
    await parts.servers.stop("s")
    assert parts.servers.get("s").state is ServerState.STOPPED
    await started(parts)
    assert states(parts) == [ServerState[name] for name in ["STARTING", "RUNNING", "STOPPING", "STOPPED", "STARTING", "RUNNING"]]


@pytest.mark.parametrize("is_at_once", [False, True])
async def test_a_start_by_hand_ends_the_stop_also_for_a_successor(parts: HubParts, is_at_once: bool) -> None:
    await started(parts)
    await parts.servers.stop("s")
    if is_at_once:
        await parts.servers.start_soon("s")
    else:
        await parts.servers.allow_start(parts.servers.get("s"))
        parts.servers.get("s").start()
    await parts.heard.event(ServerStarted, count=2)
    await change(parts, args=["--verbose"])
    await parts.heard.event(ServerStarted, count=3)


async def test_a_restart_is_one_state_until_it_runs_and_tools_stay_listed_meanwhile(tmp_path: Path) -> None:
    program = ScriptedServer(tool("t"))
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        await started(parts)
        assert await parts.listed() == ["t"]
        parts.heard.all.clear()
        go_on = program.hold("initialize")
        restart = asyncio.create_task(parts.servers.restart("s"))
        await program.request("initialize", count=2)
        assert states(parts) == [ServerState.RESTARTING]
        assert await parts.listed() == ["t"]
        go_on.set()
        await restart
        assert states(parts) == [ServerState.RESTARTING, ServerState.RUNNING]
        assert (len(program.copies.all), parts.servers.get("s").restarts) == (2, 0)


async def test_a_restart_that_fails_is_over_and_shows_the_failure(tmp_path: Path) -> None:
    program = ScriptedServer(tool("t"))
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        await started(parts)
        parts.heard.all.clear()
        program.fails_to_open = CannotStart("'s' cannot be started", "no such command")
        with pytest.raises(TooltrayError, match="is not running"):
            await parts.servers.restart("s")
        assert states(parts) == [ServerState.RESTARTING, ServerState.ERROR]


async def test_a_first_restart_of_a_server_that_does_not_run_is_shown_as_one_too(parts: HubParts) -> None:
    await parts.servers.restart("s")
    assert states(parts) == [ServerState.RESTARTING, ServerState.RUNNING]


async def test_a_restart_of_a_server_that_a_person_has_stopped_is_shown_from_the_first_moment(parts: HubParts) -> None:
    await parts.servers.stop("s")
    parts.heard.all.clear()
    restart = asyncio.create_task(parts.servers.restart("s"))
    await asyncio.sleep(0)
    assert states(parts) == [ServerState.RESTARTING]
    await restart
    assert states(parts) == [ServerState.RESTARTING, ServerState.RUNNING]


async def test_a_server_that_is_not_there_cannot_be_stopped_or_restarted(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, servers={}) as parts:
        for act in (parts.servers.start, parts.servers.stop, parts.servers.restart):
            with pytest.raises(TooltrayError, match=r"server 'x' not found"):
                await act("x")


# what a server is started with


async def test_a_server_in_memory_runs_without_a_process(tmp_path: Path) -> None:
    class Memory:
        async def answer(self, request: Any) -> Any:
            return error(-32601, "Method not found") if request.method != "initialize" else _greeting()

    async with hub_parts(tmp_path, servers={}, builtins={"hub": Memory()}) as parts:
        await started(parts, "hub")
        assert (parts.servers.pids, parts.launches) == (frozenset(), [])
        assert not parts.home.eras.exists()


def _greeting() -> Any:
    from tooltray.protocol.envelope import success

    return success({"protocolVersion": "2025-11-25", "capabilities": {}})


# events


async def test_start_and_stop_are_told_once_and_in_order(parts: HubParts) -> None:
    await started(parts)
    await parts.servers.stop("s")
    assert parts.heard.of(*SIX) == UP + DOWN


async def test_the_copy_for_another_era_is_no_second_start(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, **one_server(ScriptedServer(eras=("legacy", "modern")))) as parts:
        await started(parts)
        await parts.servers.get("s").running(Era.LEGACY, timeout_s=10)
        await parts.servers.stop("s")
        assert parts.heard.of(*SIX) == UP + DOWN


async def test_a_crash_is_a_stop_and_a_start(parts: HubParts, program: ScriptedServer) -> None:
    await started(parts)
    program.copy.die()
    await parts.heard.event(ServerStarted, count=2)
    assert parts.heard.of(*SIX) == UP + DOWN + UP


# the settings change


async def change(parts: HubParts, **fields: Any) -> None:
    await parts.conf.change_server("s", **fields)


async def test_a_server_that_is_added_is_there_and_not_started(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, servers={}, is_live=False) as parts:
        await parts.conf.set_server("s", entry("program"))
        assert parts.servers.get("s").state is ServerState.ON_DEMAND
        assert states(parts) == [ServerState.ON_DEMAND]


async def test_another_era_in_the_settings_restarts_a_running_server_in_it(tmp_path: Path) -> None:
    program = ScriptedServer(eras=("legacy", "modern"))
    async with hub_parts(tmp_path, **one_server(program, era="legacy")) as parts:
        await started(parts)
        await change(parts, era="modern")
        await parts.heard.event(ServerStarted, count=2)
        assert parts.servers.get("s").eras == {"modern"}


async def test_a_server_in_use_whose_settings_change_runs_on_after_its_new_tools_are_listed(
    parts: HubParts, program: ScriptedServer
) -> None:
    await parts.servers.start_soon("s")
    await parts.tools.listed(parts.servers.get("s")).wait()
    await change(parts, env={"A": "1"})
    await program.request("tools/list", count=2)
    await parts.tools.listed(parts.servers.get("s")).wait()
    await settled()
    assert parts.servers.get("s").state is ServerState.RUNNING


async def test_a_start_whose_server_gets_other_settings_meanwhile_is_that_of_its_successor(
    parts: HubParts, program: ScriptedServer
) -> None:
    go_on = program.hold("initialize")
    starting = asyncio.create_task(parts.servers.start("s"))
    await program.request("initialize")
    await change(parts, env={"A": "1"})
    await program.request("initialize", count=2)
    assert not starting.done()
    go_on.set()
    await starting
    assert len(program.running) == 1
    assert parts.servers.get("s").client


async def test_a_start_whose_server_is_switched_off_with_other_settings_meanwhile_starts_nothing(
    parts: HubParts, program: ScriptedServer
) -> None:
    go_on = program.hold("initialize")
    starting = asyncio.create_task(parts.servers.start("s"))
    await program.request("initialize")
    await change(parts, env={"A": "1"}, disable=True)
    go_on.set()
    with pytest.raises(TooltrayError, match="server 's' is disabled"):
        await starting
    assert (parts.servers.get("s").state, len(program.copies.all)) == (ServerState.STOPPED, 1)


async def test_a_start_whose_server_gets_other_settings_while_its_stop_is_dropped_is_that_of_its_successor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, may_save, save = ScriptedServer(), threading.Event(), StoppedServers.save
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        await parts.servers.stop("s")
        monkeypatch.setattr(StoppedServers, "save", lambda store: may_save.wait(10) and save(store))
        starting = asyncio.create_task(parts.servers.start("s"))
        await change(parts, env={"A": "1"})
        may_save.set()
        await starting
        assert len(program.running) == 1
        assert parts.servers.get("s").client


async def test_ten_restarts_at_once_all_end_with_one_running_server(parts: HubParts, program: ScriptedServer) -> None:
    await started(parts)
    go_on = program.hold("initialize")
    restarts = [asyncio.create_task(parts.servers.restart("s")) for _ in range(9)]
    await program.request("initialize", count=2)
    restarts.append(asyncio.create_task(parts.servers.restart("s")))
    await program.request("initialize", count=3)
    go_on.set()
    await asyncio.gather(*restarts)
    assert len(program.running) == 1
    assert parts.servers.get("s").client


async def test_a_start_of_a_server_that_is_removed_meanwhile_fails(parts: HubParts, program: ScriptedServer) -> None:
    program.hold("initialize")
    starting = asyncio.create_task(parts.servers.start("s"))
    await program.request("initialize")
    await parts.conf.remove_server("s")
    with pytest.raises(TooltrayError, match="is not running"):
        await starting


async def test_settings_that_change_twice_while_the_old_server_ends_start_the_last_one(tmp_path: Path) -> None:
    program = ScriptedServer(eras=("legacy", "modern"))
    async with hub_parts(tmp_path, **one_server(program, era="legacy")) as parts:
        await started(parts)
        program.may_end.clear()
        await change(parts, era="modern")
        await program.closing.wait()
        await change(parts, era="legacy")
        program.may_end.set()
        await program.request("initialize", count=2)
        await parts.servers.get("s").settled()
        assert (parts.servers.get("s").eras, len(program.running)) == ({"legacy"}, 1)


async def test_a_stop_by_the_user_while_the_server_before_other_settings_ends_counts(tmp_path: Path) -> None:
    program = ScriptedServer(eras=("legacy", "modern"))
    async with hub_parts(tmp_path, **one_server(program, era="legacy")) as parts:
        await started(parts)
        program.may_end.clear()
        await change(parts, era="modern")
        await program.closing.wait()
        await parts.servers.stop("s")
        program.may_end.set()
        await program.copies.until(lambda: not program.running)
        await settled()
        assert (parts.servers.get("s").state, len(program.copies.all)) == (ServerState.STOPPED, 1)


async def test_settings_that_do_not_change_what_runs_count_from_the_next_start(parts: HubParts, program: ScriptedServer) -> None:
    await started(parts)
    await change(parts, isolation="session")
    await parts.servers.restart("s")
    declared = [asked.params["capabilities"] for asked in program.asked.all if asked.method == "initialize"]
    assert ["sampling" in each for each in declared] == [False, True]


async def test_a_server_that_is_removed_is_stopped_and_then_gone(parts: HubParts, program: ScriptedServer) -> None:
    await started(parts)
    program.may_end.clear()
    await parts.conf.remove_server("s")
    assert parts.servers.find("s") is None
    await program.closing.wait()
    assert not parts.heard.of(ServerRemoved)
    program.may_end.set()
    await parts.heard.event(ServerRemoved, name="s")
    assert parts.heard.of(*SIX) == [*UP, *DOWN, ServerRemoved("s")]
    assert program.running == []


async def test_a_hub_that_ends_waits_for_a_removed_server_that_still_ends(parts: HubParts, program: ScriptedServer) -> None:
    await started(parts)
    program.may_end.clear()
    await parts.conf.remove_server("s")
    await program.closing.wait()
    closing = asyncio.create_task(parts.servers.close())
    await settled()
    assert not closing.done()
    program.may_end.set()
    await closing
    assert program.running == []


async def test_a_server_that_is_removed_and_added_again_is_not_said_to_be_gone_and_waits_for_the_old_process(
    parts: HubParts, program: ScriptedServer
) -> None:
    await started(parts)
    program.may_end.clear()
    await parts.conf.remove_server("s")
    await parts.conf.set_server("s", entry("program"))
    starting = asyncio.create_task(parts.servers.start("s"))
    await program.closing.wait()
    await settled()
    assert len(program.copies.all) == 1
    program.may_end.set()
    await starting
    assert parts.heard.of(*SIX) == UP + DOWN + UP


async def test_a_server_that_is_removed_and_added_again_and_not_started_has_stopped_and_is_not_gone(
    parts: HubParts, program: ScriptedServer
) -> None:
    await started(parts)
    program.may_end.clear()
    await parts.conf.remove_server("s")
    await parts.conf.set_server("s", entry("program"))
    program.may_end.set()
    await parts.ended()
    assert parts.heard.of(*SIX) == UP + DOWN


async def test_a_running_server_with_another_command_line_is_started_anew(parts: HubParts, program: ScriptedServer) -> None:
    await started(parts)
    program.may_end.clear()
    await change(parts, args=["--verbose"])
    await program.closing.wait()
    assert len(program.copies.all) == 1
    program.may_end.set()
    await parts.heard.event(ServerStarted, count=2)
    assert [launch.args for launch in parts.launches] == [(), ("--verbose",)]
    assert len(program.running) == 1
    assert parts.heard.of(*SIX) == UP + DOWN + UP


async def test_a_running_server_whose_settings_change_is_shown_as_restarting_and_not_as_sleeping(
    parts: HubParts, program: ScriptedServer
) -> None:
    await started(parts)
    parts.heard.all.clear()
    program.may_end.clear()
    await change(parts, args=["--verbose"])
    await program.closing.wait()
    assert parts.servers.get("s").shown_state is ServerState.RESTARTING
    program.may_end.set()
    await parts.heard.event(ServerStarted)
    assert ServerState.ON_DEMAND not in states(parts)
    assert parts.servers.get("s").restarts == 0


async def test_of_two_changes_in_a_row_the_last_one_runs_and_only_once(parts: HubParts, program: ScriptedServer) -> None:
    await started(parts)
    program.may_end.clear()
    await change(parts, args=["1"])
    await change(parts, args=["2"])
    program.may_end.set()
    await parts.servers.start("s")
    assert [launch.args for launch in parts.launches] == [(), ("2",)]
    assert len(program.running) == 1


async def test_a_server_is_being_replaced_until_the_process_with_the_old_command_line_has_ended(
    parts: HubParts, program: ScriptedServer
) -> None:
    await started(parts)
    assert not parts.servers.is_being_replaced("s")
    program.may_end.clear()
    await change(parts, args=["1"])
    assert (parts.servers.is_being_replaced("s"), parts.servers.is_being_replaced("hub")) == (True, False)
    program.may_end.set()
    await parts.heard.event(ServerStarted, count=2)
    assert not parts.servers.is_being_replaced("s")


async def test_a_server_that_is_removed_while_it_is_replaced_is_not_started(parts: HubParts, program: ScriptedServer) -> None:
    await started(parts)
    program.may_end.clear()
    await change(parts, args=["1"])
    await parts.conf.remove_server("s")
    program.may_end.set()
    await parts.ended()
    await settled()
    assert (len(parts.launches), program.running) == (1, [])


async def test_a_running_server_with_another_command_line_that_is_switched_off_too_stops(parts: HubParts) -> None:
    await started(parts)
    await change(parts, args=["--verbose"], disable=True)
    await parts.heard.event(ServerStopped)
    assert parts.servers.get("s").state is ServerState.STOPPED
    assert parts.heard.of(*SIX) == UP + DOWN


async def test_a_server_in_error_whose_command_line_was_corrected_is_started(tmp_path: Path) -> None:
    program = ScriptedServer()
    async with hub_parts(tmp_path, **one_server(program, env={"KEY": "${NOT_SET}"})) as parts:
        parts.servers.get("s").start()
        await parts.heard.state("s", ServerState.ERROR)
        await change(parts, env={"KEY": "x"})
        await parts.heard.event(ServerStarted)


async def test_a_server_that_does_not_run_is_not_started_by_a_change(tmp_path: Path) -> None:
    program = ScriptedServer()
    async with hub_parts(tmp_path, **one_server(program), is_live=False) as parts:
        await change(parts, args=["--verbose"])
        await parts.ended()
        assert program.copies.all == []


async def test_a_server_that_rests_again_after_a_change_is_not_started_by_the_next_one(tmp_path: Path) -> None:
    program = ScriptedServer()
    async with hub_parts(tmp_path, **one_server(program), is_live=False) as parts:
        await started(parts)
        await change(parts, args=["--verbose"])
        await parts.heard.event(ServerStarted, count=2)
        server = parts.servers.get("s")
        await server.stop(then=server.idle_state)
        await change(parts, args=["--quiet"])
        await parts.ended()
        assert len(program.copies.all) == 2


async def test_a_change_of_what_is_approved_or_shown_restarts_nothing(parts: HubParts, program: ScriptedServer) -> None:
    await started(parts)
    server = parts.servers.get("s")
    await change(parts, auto_approve=["read"], descriptions="my own", disabled_tools=["t"], call_timeout=5.0)
    assert parts.servers.get("s") is server
    assert (server.state, server.config.auto_approve) == (ServerState.RUNNING, ("read",))
    assert len(program.copies.all) == 1


async def test_another_confinement_is_another_process_of_the_same_program_and_other_hosts_are_not(
    parts: HubParts, program: ScriptedServer
) -> None:
    await started(parts)
    before = parts.servers.get("s")
    await change(parts, confinement={"files": "own", "hosts": ["a.org"]})
    await started(parts)
    confined = parts.servers.get("s")
    assert (confined is before, confined.config_hash, len(program.copies.all)) == (False, before.config_hash, 2)
    await change(parts, confinement={"files": "own", "hosts": ["a.org", "b.org"]})
    assert parts.servers.get("s") is confined


async def test_a_server_that_is_switched_off_stops_and_one_that_is_switched_on_waits_for_its_first_use(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, **one_server(ScriptedServer()), is_live=False) as parts:
        await started(parts)
        await change(parts, disable=True)
        await parts.heard.state("s", ServerState.STOPPED)
        await change(parts, disable=False)
        assert parts.servers.get("s").state is ServerState.ON_DEMAND
        await change(parts, disable=True)
        assert parts.servers.get("s").state is ServerState.STOPPED


async def test_a_server_that_was_stopped_by_hand_stays_so_when_something_else_changes(parts: HubParts) -> None:
    await started(parts)
    await parts.servers.stop("s")
    await change(parts, auto_approve=["read"])
    assert parts.servers.get("s").state is ServerState.STOPPED


async def test_a_server_that_was_stopped_by_hand_is_wanted_again_when_its_entry_is_switched_on(parts: HubParts) -> None:
    await parts.servers.stop("s")
    await change(parts, disable=True)
    await change(parts, disable=False)
    await parts.heard.state("s", ServerState.RUNNING)


async def test_the_built_in_server_outlives_every_change(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, **one_server(ScriptedServer()), builtins={"hub": ScriptedServer()}) as parts:
        await parts.conf.remove_server("s")
        assert [server.name for server in parts.servers] == ["hub"]


# a real process


@pytest.fixture
def child(tmp_path: Path) -> dict[str, Any]:
    return {
        "servers": {"s": entry(sys.executable, args=["-I", fake_server.__file__])},
        "start_process": StdioTransport,
        "shell": Shell(),
    }


async def seen(parts: HubParts) -> dict[str, Iterable[Any]]:
    reply = await parts.call("seen", server="s")
    found: dict[str, Iterable[Any]] = json.loads(reply["result"]["content"][0]["text"])
    return found


async def test_a_process_that_dies_answers_its_calls_with_its_last_words_and_comes_back(tmp_path: Path, child: dict[str, Any]) -> None:
    async with hub_parts(tmp_path / "home", **child) as parts:
        await started(parts)
        assert "echo" in await parts.listed("s")
        hanging = asyncio.create_task(parts.call("hang", server="s"))
        while not (await seen(parts))["hanging"]:
            pass
        dying = asyncio.create_task(parts.call("die", server="s"))
        for call in (hanging, dying):
            assert (await call)["error"]["message"] == "server 's' ended with exit code 1: out of cheese"
        again = await parts.call("echo", server="s", arguments={"text": "again"})  # waits for the server to come back
        assert again["result"] == {**text("again"), "unknown": {"kept": 1}}
        ready, last, separator, again_ready = parts.servers.get("s").log
        assert (ready, last, again_ready) == ("stdout: fake server ready", "out of cheese", "stdout: fake server ready")
        assert separator.startswith(SEPARATOR)


async def test_what_only_some_servers_are(parts: HubParts, program: ScriptedServer) -> None:
    state = parts.client().state
    assert (parts.servers.sees(state, "s"), parts.servers.is_for_all("s")) == (True, True)
    assert [config.command for config in parts.servers.configs if config.command] == ["program"]
    with pytest.raises(TooltrayError, match="'s' does not start for projects"):
        parts.servers.find_deferred("s")
    await started(parts)
    parts.servers.require_sign_in("gone", Problem("unknown"))
    parts.servers.publish_changed("gone")
    parts.servers.require_sign_in("s", Problem("'s' wants you to sign in"))
    await parts.heard.event(ServerStopped)
    assert parts.servers.get("s").state is ServerState.NEEDS_SIGN_IN
