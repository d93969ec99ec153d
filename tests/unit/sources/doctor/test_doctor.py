"""doctor.py: why a server does not run."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.hub_parts import HubParts, Shell, entry, hub_parts
from tests.fakes.lazy_hub import ready
from tests.fakes.scripted_server import ScriptedServer, tool

from tooltray.catalogue.list_pages import MAX_DEFINITIONS
from tooltray.config.settings.file_server import FileEntry, FileServer
from tooltray.config.settings.server_config import MCPServerConfig
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.snapshots.confinement import RefusedThing
from tooltray.foundation.snapshots.diagnosis import Diagnosis, Remedy
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.servers.confinement.launch_line import Policy
from tooltray.servers.confinement.profiles import state_folder
from tooltray.servers.launch.command_lookup import look_up, not_found
from tooltray.servers.transports.server_output import begin_attempt
from tooltray.servers.upstream.instance_status import Status
from tooltray.sources.doctor.doctor import variable_origins

pytestmark = pytest.mark.posix  # programs that are scripts, by their mode; tests/windows has PATHEXT and .cmd


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A program that can be found, in a folder of its own."""
    path = tmp_path / "bin" / "my-server"
    path.parent.mkdir()
    path.write_text("#!/bin/sh\n")
    path.chmod(0o700)
    return path


@pytest.fixture
def sick(tmp_path: Path, program: Path) -> Callable[..., Any]:
    def _sick(command: str | None = "my-server", *, scripted: ScriptedServer | None = None, **fields: Any) -> Any:
        return hub_parts(
            tmp_path / "home",
            servers={"s": entry(command, **fields) if command else fields},
            programs={"my-server": scripted or ScriptedServer(), str(program): scripted or ScriptedServer()},
            shell=Shell(PATH=f"{tmp_path}/empty:{program.parent}", FLAG="--flag"),
        )

    return _sick


async def examine(parts: HubParts) -> Diagnosis:
    [found] = await parts.presenter.diagnose("s")
    return found


async def test_of_a_confined_server_which_runs_in_a_folder_of_its_own_no_other_folder_is_said(sick: Any) -> None:
    async with sick(confinement="own") as parts:
        assert (await examine(parts)).cwd == ""


async def test_a_server_that_could_run_is_found_and_nothing_is_started(sick: Any, program: Path, tmp_path: Path) -> None:
    scripted = ScriptedServer()
    async with sick(args=["${FLAG}"], scripted=scripted) as parts:
        found = await examine(parts)
        assert found.is_ok
        assert (found.server, found.transport, found.state) == ("s", "stdio", "on_demand")
        assert found.command == ("my-server", "${FLAG}")
        assert found.resolved_command == str(program)
        assert found.searched == (f"{tmp_path}/empty", str(program.parent))
        assert found.path == f"{tmp_path}/empty:{program.parent}"
        assert found.cwd == str(parts.person)
        assert (found.problem, found.remedies, found.exit_code, found.stderr) == (None, (), None, ())
        assert scripted.copies.all == []


async def test_the_path_of_the_entry_counts_before_the_persons(sick: Any, program: Path, tmp_path: Path) -> None:
    async with sick(env={"PATH": "/nowhere"}) as parts:
        found = await examine(parts)
        assert (found.path, found.resolved_command) == (f"/nowhere:{tmp_path}/empty:{program.parent}", str(program))


async def test_a_command_that_does_not_exist_says_where_it_was_looked_for_and_what_to_do(sick: Any, tmp_path: Path, program: Path) -> None:
    async with sick("npx") as parts:
        found = await examine(parts)
        assert not found.is_ok
        assert found.problem.title == "command 'npx' not found"
        assert found.problem.message == f"looked in {tmp_path}/empty, {program.parent}; Node.js is not on PATH"
        assert found.remedies == (
            Remedy("install_runtime", "Install Node.js", "https://nodejs.org/en/download"),
            Remedy("advice", "Install Node.js, or set the command's full path."),
        )


async def test_a_command_that_is_missing_is_looked_for_again_by_a_fresh_path(
    sick: Any, program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with sick() as parts:
        parts.shell.variables["PATH"] = "/nowhere"
        monkeypatch.setattr(parts.shell, "expire", lambda: parts.shell.variables.update(PATH=str(program.parent)))
        found = await examine(parts)
        assert (found.is_ok, found.resolved_command) == (True, str(program))


async def test_a_command_that_was_not_found_and_is_there_now_is_told_so_once(
    sick: Any, program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with sick() as parts:

        def missing(*_: Any, **__: Any) -> None:
            raise not_found(look_up("my-server", env={"PATH": "/nowhere"}, cwd="/"))

        monkeypatch.setattr(ScriptedServer, "__call__", missing)
        with pytest.raises(TooltrayError, match="not found"):
            await parts.presenter.start_server("s")
        found = await examine(parts)
        assert found.problem.title == "command 'my-server' was not found at the last start"
        assert (found.problem.message, found.problem.hint) == (f"it is at {program} now", "Start it again.")


@pytest.mark.parametrize(
    ("fields", "title"),
    [
        ({"args": ["${secret:s/KEY}"]}, "Secret 's/KEY' not found"),
        ({"env": {"A": "${NOT_SET}"}}, "Variable NOT_SET is not set"),
        ({"command": "tooltray"}, "'s' connects Tooltray to itself"),
    ],
)
async def test_settings_that_cannot_work_are_told_without_starting_anything(sick: Any, fields: dict[str, Any], title: str) -> None:
    async with sick(**fields) as parts:
        found = await examine(parts)
        assert (found.is_ok, found.problem.title, found.resolved_command, found.searched) == (False, title, "", ())
        assert found.remedies


async def test_no_secret_is_in_what_is_found(sick: Any) -> None:
    async with sick(args=["${secret:s/KEY}"]) as parts:
        await parts.secrets.set("s/KEY", "s3cret-value")
        assert "s3cret-value" not in repr(await examine(parts))


async def test_a_server_that_is_switched_off_is_told_to_be(sick: Any) -> None:
    async with sick(disable=True, cwd="/somewhere") as parts:
        found = await examine(parts)
        assert (found.is_ok, found.problem.title, found.cwd) == (False, "'s' is disabled", "/somewhere")


async def test_a_server_over_http_has_no_command(sick: Any, tmp_path: Path) -> None:
    async with sick(None, url="http://127.0.0.1:1/mcp") as parts:
        with pytest.raises(TooltrayError):
            await parts.servers.start("s")
        found = await examine(parts)
        assert (found.transport, found.command, found.resolved_command, found.cwd) == ("http", (), "", "")
        assert found.target == "http://127.0.0.1:1/mcp"
        assert found.problem.title == "nothing answers at 127.0.0.1:1"
        assert found.reached == "nothing answers at 127.0.0.1:1 (connection refused)"


async def test_the_way_to_a_server_elsewhere_is_gone_without_starting_it(sick: Any) -> None:
    listener = await asyncio.start_server(lambda reader, writer: writer.transport.abort(), "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    try:
        async with sick(None, url=f"http://127.0.0.1:{port}/mcp") as parts:
            found = await examine(parts)
            assert (found.is_ok, found.problem, found.state) == (True, None, "on_demand")
            assert (found.reached, found.proxy) == (f"127.0.0.1:{port} answers", "")
    finally:
        listener.close()
        await listener.wait_closed()


async def test_a_server_elsewhere_that_was_never_reached_says_why_it_would_not_be(sick: Any) -> None:
    async with sick(None, url="http://127.0.0.1:1/mcp") as parts:
        found = await examine(parts)
        assert found.problem.title == "nothing answers at 127.0.0.1:1 (connection refused)"
        assert found.remedies == (Remedy("advice", "Check its URL and your network."),)


@pytest.mark.parametrize(
    ("fields", "title"), [({"url": "http://${NOT_SET}/"}, "Variable NOT_SET is not set"), ({"disable": True}, "'s' is disabled")]
)
async def test_no_way_is_gone_where_the_settings_do_not_say_which_or_forbid_it(sick: Any, fields: dict[str, Any], title: str) -> None:
    async with sick(None, **{"url": "http://127.0.0.1:1/mcp", **fields}) as parts:
        found = await examine(parts)
        assert (found.problem.title, found.reached) == (title, "")


async def test_what_is_known_of_the_last_attempt_is_added(sick: Any) -> None:
    scripted = ScriptedServer()
    scripted.handlers["initialize"] = lambda copy, params: copy.die("out of cheese", exit_code=7)
    async with sick(scripted=scripted) as parts:
        with pytest.raises(TooltrayError):
            await parts.servers.start("s")
        await parts.servers.stop("s")
        found = await examine(parts)
        assert (found.exit_code, found.stderr[-1]) == (7, "out of cheese")


async def test_of_several_attempts_the_last_ones_words_are_shown(sick: Any) -> None:
    async with sick() as parts:
        log = parts.servers.get("s").log
        for _ in range(4):
            begin_attempt(log)
            log.append("out of cheese")
        assert (await examine(parts)).stderr == ("out of cheese",)


async def test_the_end_of_an_earlier_process_is_not_told_of_one_that_runs(sick: Any) -> None:
    scripted = ScriptedServer()
    scripted.handlers["initialize"] = lambda copy, params: copy.die("out of cheese", exit_code=7)
    async with sick(scripted=scripted) as parts:
        with pytest.raises(TooltrayError):
            await parts.servers.start("s")
        del scripted.handlers["initialize"]
        await parts.servers.start("s")
        assert parts.servers.get("s").first.exit_code == 7
        assert (await examine(parts)).exit_code is None


async def test_the_doctor_waits_for_servers_on_their_way_to_running_as_long_as_it_may(sick: Any) -> None:
    scripted = ScriptedServer()
    go_on = scripted.hold("initialize")
    async with sick(scripted=scripted) as parts:
        parts.servers.get("s").start()
        await scripted.request("initialize")
        waiting = asyncio.create_task(parts.presenter.diagnose("s", wait_s=60.0))
        [at_once] = await parts.presenter.diagnose("s", wait_s=0.001)
        await parts.presenter.diagnose()
        assert not waiting.done()
        go_on.set()
        found = (await waiting)[-1]
        assert (at_once.state, found.state, found.is_ok) == ("starting", "running", True)


async def test_a_server_that_is_tried_again_says_when(sick: Any) -> None:
    async with sick() as parts:
        parts.servers.get("s").first.status = Status(ServerState.STOPPED, detail="Restarting in 2 s")
        assert (await examine(parts)).detail == "Restarting in 2 s"


async def test_processes_that_a_direct_start_has_spared_are_counted(sick: Any) -> None:
    async with sick() as parts:
        await parts.servers.start("s")
        server = parts.servers.get("s")
        server.saved_processes = 2
        assert (await examine(parts)).saved_processes == 2 * len(server.pids) > 0


async def test_a_running_server_is_ok_with_its_tools_and_the_noise_it_makes(sick: Any) -> None:
    scripted = ScriptedServer({"name": "t", "inputSchema": {}})
    async with sick(scripted=scripted) as parts:
        await parts.servers.start("s")
        await parts.listed()
        scripted.copy.say(b"Listening on stdio")
        for number in range(30):
            parts.servers.get("s").log.append(f"line {number}")
        found = await examine(parts)
        assert (found.is_ok, found.state, found.tool_count, found.noise_lines) == (True, ServerState.RUNNING.value, 1, 1)
        assert found.stderr == tuple(f"line {number}" for number in range(20, 30))


# servers that wait for a project


async def test_a_server_that_waits_is_looked_at_with_its_template_and_says_what_it_waits_for(sick: Any, program: Path) -> None:
    template = ["${FLAG}", "{project_path}"]
    async with sick(args=["other"], startupArgsTemplate=template, deferredStartup=True, cwd="{project_path}") as parts:
        found = await examine(parts)
        assert (found.is_ok, found.state, found.projects) == (True, "waiting", ())
        assert (found.command, found.cwd) == (("my-server", *template), "{project_path}")
        assert "no ai client is connected" in found.detail.lower()
        assert found.resolved_command == str(program)


async def test_a_template_that_cannot_be_filled_in_is_found_before_any_project_is_known(sick: Any) -> None:
    async with sick(startupArgsTemplate=["${NOWHERE}"], deferredStartup=True) as parts:
        found = await examine(parts)
        assert found.problem
        assert "NOWHERE" in found.problem.title


async def test_where_a_server_runs_for_projects_they_are_named_and_the_first_is_filled_in(sick: Any, tmp_path: Path) -> None:
    (folder := tmp_path.resolve() / "one").mkdir()
    async with sick(deferredStartup=True, cwd="{project_path}") as parts:
        await parts.presenter.start_for_project("s", str(folder))
        found = await examine(parts)
        assert (found.projects, found.cwd) == ((f"one ({folder}): running",), str(folder))


async def test_what_was_started_without_a_project_is_looked_at_as_it_was_started(sick: Any, tmp_path: Path) -> None:
    async with sick(args=["${FLAG}"], startupArgsTemplate=["${NOWHERE}"], deferredStartup=True) as parts:
        await parts.presenter.start_without_project("s")
        found = await examine(parts)
        assert (found.problem, found.projects) == (None, ("started without a project: running",))


@pytest.mark.parametrize("url", ["https://localhost/{project_path}", "https://{project_name}.localhost"])
async def test_a_url_with_a_projects_place_in_it_is_not_tried_without_one(sick: Any, url: str) -> None:
    async with sick(None, url=url, deferredStartup=True) as parts:
        found = await examine(parts)
        assert (found.is_ok, found.reached) == (True, "not tried: its URL depends on the project, and no project is known")


async def test_a_server_that_lists_too_much_is_not_well(sick: Any) -> None:
    scripted = ScriptedServer(*(tool(f"t{number}") for number in range(MAX_DEFINITIONS + 1)))
    async with sick(scripted=scripted) as parts:
        await ready(parts, "s")
        found = await examine(parts)
        assert (found.is_ok, found.state) == (False, "running")
        assert "'s' lists too much" in str(found.problem)


async def test_it_says_where_variables_are_from(sick: Any) -> None:
    async with sick(args=["${FLAG}", "${NONE:-x}"], env={"PLAIN": "1"}) as parts:
        assert (await examine(parts)).variables == (
            "PLAIN comes from the entry",
            "FLAG comes from the login shell",
            "NONE: not set; the entry's default is used",
        )


async def test_passwords_of_arguments_and_addresses_are_masked(sick: Any) -> None:
    dsn = "postgres://me:hunter2@db.example/x"
    async with sick(args=["--api-key", "k-123", dsn, "--mode=fast"]) as parts:
        found = await examine(parts)
        assert found.command == ("my-server", "--api-key", "***", "postgres://me:***@db.example/x", "--mode=fast")
        assert found.target == "my-server --api-key '***' 'postgres://me:***@db.example/x' --mode=fast"
        server = parts.servers.get("s")
        begin_attempt(server.log)
        server.log.append(f"cannot connect to {dsn}")
        assert (await examine(parts)).stderr == ("cannot connect to postgres://me:***@db.example/x",)
    async with sick(None, type="http", url=f"https://127.0.0.1:9/{'a1' * 12}/mcp?key=k", disable=True) as parts:
        assert (await examine(parts)).target == "https://127.0.0.1:9/***/mcp"


async def test_a_secret_in_the_reason_is_masked(sick: Any) -> None:
    async with sick("postgres://me:hunter2@db") as parts:
        found = await examine(parts)
        assert (found.problem is not None, "hunter2" in str(found)) == (True, False)


async def test_a_known_server_that_was_kept_from_its_file_is_moved_to_its_own_folder(tmp_path: Path) -> None:
    package = ["-y", "@modelcontextprotocol/server-memory"]
    async with hub_parts(tmp_path / "home", servers={"s": entry("npx", args=package), "other": entry("npx", args=["-y", "x"])}) as parts:
        for name in ("s", "other"):
            parts.refusals.begin(name, Policy())
            parts.refusals._add(name, RefusedThing("path", "/opt/npx/dist", 1.0, is_write=True))
        line = f"tooltray servers set s --env MEMORY_FILE_PATH={state_folder(parts.home.confined, 's').work}/memory.jsonl"
        [found], [other] = await parts.presenter.diagnose("s"), await parts.presenter.diagnose("other")
        assert found.remedies[0] == Remedy("give_variables", "Keep its file where it may write", line)
        assert "give_variables" not in {each.kind for each in other.remedies}
        parts.refusals.begin("s", Policy())
        parts.refusals._add("s", RefusedThing("path", "/opt/npx/dist", 1.0, is_write=False))
        [found] = await parts.presenter.diagnose("s")
        assert "give_variables" not in {each.kind for each in found.remedies}


def config_of(**fields: object) -> MCPServerConfig:
    return MCPServerConfig.model_validate({"command": "c", **fields})


def origins(config: MCPServerConfig, file: FileServer | None = None, **environ: str) -> tuple[str, ...]:
    return variable_origins(config, file, environ, lambda name: f"where {name} is from")


def test_each_variable_of_an_entry_says_where_its_value_is_from_and_no_value_is_in_it() -> None:
    config = config_of(
        args=["${A}", "${MISSING}", "${EMPTY:-of-default}", "${B:-of-default}"],
        env={"PLAIN": "value", "KEY": "${secret:s/KEY}", "A": "${A}", "MIXED": "x-${A}"},
    )
    assert origins(config, A="value", B="value", EMPTY="") == (
        "PLAIN comes from the entry",
        "KEY comes from the secret s/KEY",
        "MIXED comes from the entry, with A filled in",
        "A comes from where A is from",
        "MISSING: not set",
        "EMPTY: not set; the entry's default is used",
        "B comes from where B is from",
    )


def test_variables_of_a_file_come_from_it() -> None:
    config = config_of(args=["${A}", "${B}", "${C}"], env={"PLAIN": "value"})
    entry = FileEntry("s", config, {}, variables={"A": "value"})
    assert origins(config, FileServer(entry, "/p/.mcp.json", "project", "/p"), A="value", C="value") == (
        "PLAIN comes from the entry in /p/.mcp.json",
        "A comes from /p/.mcp.json",
        "B: not set",
        "C comes from where C is from",
    )
