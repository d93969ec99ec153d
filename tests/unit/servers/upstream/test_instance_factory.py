"""instance_factory.py"""

from pathlib import Path
from typing import Any

import pytest
from tests.fakes.heard import Record
from tests.fakes.http_server import serving
from tests.fakes.hub_parts import HubParts, Shell, entry, hub_parts, one_server, settled, started
from tests.fakes.npm_cache import SPEC, install_node, unpack
from tests.fakes.scripted_server import ScriptedServer, tool

from tooltray.foundation.errors import Problem, TooltrayError
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
from tooltray.servers.confinement.confined_starts import ConfinedStart
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


@pytest.mark.posix  # programs that are scripts
async def test_a_server_gets_the_persons_variables_then_its_own_with_placeholders_filled_in(tmp_path: Path) -> None:
    fields = {"args": ["${WHO:-nobody}"], "env": {"KEY": "${secret:s/KEY}", "PATH": "/own"}}
    async with hub_parts(tmp_path, **one_server(ScriptedServer(), **fields), shell=Shell(WHO="me", LANG="C")) as parts:
        await parts.secrets.set("s/KEY", "s3cret")
        await started(parts)
        launch = parts.launches[0]
        assert (launch.command, launch.args) == ("program", ("me",))
        assert launch.env == {"PATH": "/own:/usr/bin:/bin", "WHO": "me", "LANG": "C", "KEY": "s3cret"}
        assert launch.cwd == str(parts.person)


@pytest.mark.posix
async def test_a_secret_that_is_kept_elsewhere_is_fetched_for_each_start_and_never_for_the_doctor(tmp_path: Path) -> None:
    value, fetched = tmp_path / "value", tmp_path / "fetched"
    settings = {"secretCommands": {"k": ["sh", "-c", f"echo >> {fetched}; cat {value}"]}}
    async with hub_parts(tmp_path / "hub", **one_server(ScriptedServer(), env={"KEY": "${secret:command:k}"}), settings=settings) as parts:
        for text in ("before", "after"):
            value.write_text(text)
            await parts.servers.restart("s")
        await parts.presenter.diagnose("s")
        assert [launch.env["KEY"] for launch in parts.launches] == ["before", "after"]
        assert fetched.read_text() == "\n\n"
        assert {"before", "after"} <= parts.secrets.known_values()


async def test_a_server_runs_in_the_folder_of_its_entry(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, **one_server(ScriptedServer(), cwd="/somewhere")) as parts:
        await started(parts)
        assert parts.launches[0].cwd == "/somewhere"


@pytest.mark.posix
async def test_a_confined_server_gets_its_own_environment_and_folder_and_others_nothing_new(tmp_path: Path) -> None:
    servers = {"s": entry("program", confinement="own", env={"KEY": "k"}), "open": entry("program")}
    shell = Shell(LANG="C", AWS_SECRET_ACCESS_KEY="x")
    async with hub_parts(tmp_path, servers=servers, programs={"program": ScriptedServer()}, shell=shell) as parts:
        await parts.servers.start("s")
        await parts.servers.start("open")
        confined, plain = parts.launches
        assert (confined.env["KEY"], confined.env["LANG"], "AWS_SECRET_ACCESS_KEY" in confined.env) == ("k", "C", False)
        assert Path(confined.cwd).parent.parent == parts.home.confined
        assert isinstance(confined.around, ConfinedStart)
        assert plain.around is None
        assert plain.env["AWS_SECRET_ACCESS_KEY"] == "x"


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"env": {"KEY": "${NOT_SET}"}}, "Variable NOT_SET is not set"),
        ({"env": {"KEY": "${secret:s/KEY}"}}, "Secret 's/KEY' not found"),
        ({"env": {"KEY": "${secret:command:gone}"}}, "your command 'gone' gave no value"),
    ],
)
async def test_settings_that_cannot_work_are_an_error_at_once(tmp_path: Path, fields: dict[str, Any], said: str) -> None:
    async with hub_parts(tmp_path, **one_server(ScriptedServer(), **fields)) as parts:
        with pytest.raises(TooltrayError, match=f"server 's' is not running: {said}"):
            await started(parts)
        states = [event.server.state for event in parts.heard.of(ServerChanged) if event.server.name == "s"]
        assert states[-1] is ServerState.ERROR
        assert ServerState.RESTARTING not in states
        assert parts.launches == []
        [reported] = parts.heard.of(ProblemReported, ServerStarted, ServerStopped, ServerStatusChanged)
        assert (type(reported), reported.server, reported.problem.title) == (ProblemReported, "s", said)


async def test_a_server_with_a_url_is_reached_with_its_headers_and_variables_filled_in(tmp_path: Path) -> None:
    async with serving() as server:
        far = {"url": "http://127.0.0.1:${FAR_PORT}/mcp", "headers": {"Authorization": "Bearer ${FAR_KEY}"}}
        async with hub_parts(tmp_path, servers={"s": far}, shell=Shell(FAR_PORT=str(server.port), FAR_KEY="k")) as parts:
            await started(parts)
            assert parts.servers.get("s").pids == ()
            assert (await server.hit("initialize")).headers["Authorization"] == "Bearer k"


async def test_a_server_in_memory_waits_for_a_yes(tmp_path: Path) -> None:
    async with hub_parts(tmp_path, servers={"s": {"type": "inmemory", "command": "thing"}}) as parts:
        with pytest.raises(TooltrayError, match="'s' waits for your approval"):
            await started(parts)


async def test_a_server_that_is_one_of_the_hubs_own_endpoints_is_refused(tmp_path: Path) -> None:
    servers = {"s": {"url": "http://localhost:7717/mcp"}}
    async with hub_parts(tmp_path, servers=servers, own_url="http://127.0.0.1:7717") as parts:
        with pytest.raises(TooltrayError, match="'s' connects Tooltray to itself"):
            await parts.servers.start("s")


@pytest.fixture
def machine(tmp_path: Path) -> dict[str, Any]:
    """Options of hub_parts: a server by npx whose package is unpacked."""
    node = install_node(tmp_path / "node") / "node"
    unpack(tmp_path / "me" / ".npm")
    programs = {"npx": ScriptedServer(), str(node): ScriptedServer()}
    return {"programs": programs, "shell": Shell(PATH=str(node.parent), HOME=str(tmp_path / "me"))}


def servers(**fields: Any) -> dict[str, Any]:
    return {"s": entry("npx", args=["-y", SPEC], **fields)}


def saved(parts: HubParts) -> int:
    [server] = [server for server in parts.presenter.snapshot().servers if server.name == "s"]
    return server.saved_processes


@pytest.mark.posix  # programs that are scripts
async def test_a_server_whose_package_is_unpacked_runs_without_npx_and_says_so(tmp_path: Path, machine: Any) -> None:
    async with hub_parts(tmp_path / "home", servers=servers(), **machine) as parts:
        assert saved(parts) == 0
        await parts.servers.start("s")
        assert [Path(launch.command).name for launch in parts.launches] == ["node"]
        assert saved(parts) == parts.launches[0].saved_processes * len(parts.servers.get("s").pids) > 0
        await parts.servers.stop("s")
        assert saved(parts) == 0


@pytest.mark.posix  # programs that are scripts
async def test_a_person_may_have_it_started_by_npx_all_the_same(tmp_path: Path, machine: Any) -> None:
    async with hub_parts(tmp_path / "home", servers=servers(directStart=False), **machine) as parts:
        await parts.servers.start("s")
        assert [launch.command for launch in parts.launches] == ["npx"]
        assert saved(parts) == 0


@pytest.mark.posix  # programs that are scripts
async def test_a_server_that_does_not_run_without_npx_is_started_by_npx_the_next_time(tmp_path: Path, machine: Any) -> None:
    async with hub_parts(tmp_path / "home", servers=servers(), **machine) as parts:
        await parts.servers.start("s")
        silent_end = parts.launches[0].on_silent_end
        assert silent_end is not None
        silent_end()
        await parts.servers.restart("s")
        assert [Path(launch.command).name for launch in parts.launches] == ["node", "npx"]
        assert saved(parts) == 0


@pytest.mark.posix  # programs that are scripts
async def test_the_doctor_names_the_command_that_a_person_wrote(tmp_path: Path, machine: Any) -> None:
    async with hub_parts(tmp_path / "home", servers=servers(), **machine) as parts:
        [found] = await parts.presenter.diagnose("s")
        assert found.resolved_command == str(tmp_path / "node" / "bin" / "npx")
