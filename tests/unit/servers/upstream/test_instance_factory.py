"""instance_factory.py"""

from pathlib import Path
from typing import Any

from tests.fakes.heard import Record
from tests.fakes.hub_parts import HubParts, entry, hub_parts, one_server, settled, started
from tests.fakes.scripted_server import ScriptedServer, tool

from tooltray.foundation.errors import Problem
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
from tooltray.servers.upstream.managed_server import ServerNotified

SIX = (ServerStarted, ServerStopped, ServerStatusChanged, ClientListUpdated, ServerRemoved, ProblemReported)


def states(parts: HubParts, name: str = "s") -> list[ServerState]:
    """Those that a card would have shown, one after the other."""
    shown = [event.server.state for event in parts.heard.of(ServerChanged) if event.server.name == name]
    return [state for number, state in enumerate(shown) if number == 0 or state is not shown[number - 1]]


async def test_a_launcher_is_installing_until_its_server_was_listed(tmp_path: Path) -> None:
    program = ScriptedServer(tool("t"))
    async with hub_parts(tmp_path, servers={"s": entry("npx", args=["pkg"])}, programs={"npx": program}) as parts:
        await started(parts)
        assert await parts.listed() == ["t"]
        await parts.servers.stop("s")
        await started(parts)
        starts = [state for state in states(parts) if state in (ServerState.STARTING, ServerState.INSTALLING)]
        assert starts == [ServerState.INSTALLING, ServerState.STARTING]


async def test_a_launcher_s_server_that_was_removed_and_is_brought_back_is_installed_already(tmp_path: Path) -> None:
    program = ScriptedServer(tool("t"))
    async with hub_parts(tmp_path, servers={"s": entry("npx", args=["pkg"])}, programs={"npx": program}) as parts:
        await started(parts)
        assert await parts.listed() == ["t"]
        await parts.conf.remove_server("s")
        await parts.conf.set_server("s", entry("npx", args=["pkg"]))
        await parts.servers.start("s")
        starts = [state for state in states(parts) if state in (ServerState.STARTING, ServerState.INSTALLING)]
        assert starts == [ServerState.INSTALLING, ServerState.STARTING]


async def test_what_was_learned_of_the_eras_spares_the_next_hub_the_probe(tmp_path: Path) -> None:
    for count in (1, 1):
        program = ScriptedServer()
        async with hub_parts(tmp_path, **one_server(program)) as parts:
            known = parts.eras.eras(parts.servers.get("s").config_hash)
            await started(parts)
            assert program.count("server/discover") == (count if not known else 0)
            await parts.ended()
    assert known == {"legacy"}


async def test_a_server_that_spoke_the_legacy_era_and_is_modern_now_is_found_out(tmp_path: Path) -> None:
    program = ScriptedServer()
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        await started(parts)
        program.eras = ("modern",)
        await parts.servers.restart("s")
        client = parts.servers.get("s").client_for(Era.MODERN)
        assert client is not None
        assert client.era is Era.MODERN
        assert parts.eras.eras(parts.servers.get("s").config_hash) == {"legacy", "modern"}


async def test_a_server_that_is_given_up_is_reported_once(tmp_path: Path) -> None:
    program = ScriptedServer()
    program.handlers["initialize"] = lambda copy, params: copy.die("out of cheese")
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        parts.servers.get("s").start()
        reported = await parts.heard.event(ProblemReported)
        assert "out of cheese" in str(reported.problem)
        assert parts.servers.get("s").state is ServerState.ERROR  # and not while it was tried again
        assert parts.heard.of(*SIX) == [reported]


async def test_what_a_server_says_reaches_the_listeners_once_it_has_greeted(tmp_path: Path) -> None:
    program = ScriptedServer()

    def initialize(copy: Any, params: Any) -> Any:
        copy.notify("notifications/message", {"too": "early"})
        return program.copy.usual("initialize")(copy, params)

    program.handlers["initialize"] = initialize
    said: Record[tuple[str, str]] = Record()
    async with hub_parts(tmp_path, **one_server(program)) as parts:
        parts.bus.subscribe(ServerNotified, lambda event: said.add((event.client.name, event.method)))
        await started(parts)
        program.copy.notify("notifications/tools/list_changed")
        await said.wait()
        assert said.all == [("s", "notifications/tools/list_changed")]


async def test_a_sign_in_that_is_wanted_is_reported_once_for_all_copies(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, **one_server(ScriptedServer(eras=("legacy", "modern")))) as parts:
        await started(parts)
        server = parts.servers.get("s")
        await server.running(Era.LEGACY, timeout_s=10)
        assert len(list(server.instances)) == 2
        server.require_sign_in(Problem("sign in"))
        await settled()
        assert [report.problem.title for report in parts.heard.of(ProblemReported)] == ["sign in"]
