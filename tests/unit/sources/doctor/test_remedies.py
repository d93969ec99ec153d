"""remedies.py: what can be done about a server that does not run."""

from pathlib import Path
from typing import Any

import pytest
from tests.fakes.hub_parts import HubParts, Shell, entry, hub_parts
from tests.fakes.scripted_server import Copy, ScriptedServer

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.snapshots.diagnosis import Remedy
from tooltray.foundation.snapshots.hub import NpmRegistryStatus, RegistryMeasurement
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.servers.confinement.profiles import state_folder
from tooltray.servers.transports.transport import ConnectionFailure
from tooltray.servers.upstream.instance_status import Status
from tooltray.sources.doctor.remedies import PAGES, moving_line

pytestmark = pytest.mark.posix  # programs that are scripts, by their mode; tests/windows has PATHEXT and .cmd

FAST = RegistryMeasurement("https://fast.example/", "Fast", "mirror", milliseconds=5.0)
SLOW = RegistryMeasurement("https://slow.example/", "Slow", "mirror", milliseconds=50.0)
BROKEN = RegistryMeasurement("https://broken.example/", "Broken", "mirror", problem="no answer")


class Measured:
    """npm registries that were measured already."""

    status = NpmRegistryStatus(url=FAST.url, measurements=(FAST, SLOW, BROKEN))


def hub(tmp_path: Path, command: str = "npx", **fields: Any) -> Any:
    (tmp_path / "home" / "person").mkdir(parents=True, mode=0o700, exist_ok=True)
    (tmp_path / "home").chmod(0o700)
    nowhere = Shell(PATH=str(tmp_path / "empty"))
    return hub_parts(tmp_path / "home", servers={"s": entry(command, **fields)}, programs={"npx": ScriptedServer()}, shell=nowhere)


def program(parts: HubParts, place: str, text: str) -> str:
    path = parts.home.root / "person" / place
    path.parent.mkdir(parents=True)
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


async def offered(parts: HubParts) -> tuple[Remedy, ...]:
    [diagnosis] = await parts.presenter.diagnose("s")
    return tuple(diagnosis.remedies)


async def test_a_program_beside_the_path_is_offered_and_used(tmp_path: Path) -> None:
    async with hub(tmp_path, "uvx") as parts:
        path = program(parts, ".local/bin/uvx", "#!/bin/sh\n")
        first, second, *_ = await offered(parts)
        assert first == Remedy("use_absolute_path", f"Use {path}", path, is_automatic=True)
        assert second == Remedy("install_runtime", "Install uv", PAGES["uv"])
        parts.programs[path] = ScriptedServer()  # type: ignore[index]
        assert await parts.presenter.apply_remedy("s", first.kind, first.value) == f"'s' is run as {path}"
        assert parts.conf.entries["s"]["command"] == path
        await parts.heard.until(lambda: parts.servers.get("s").state is ServerState.RUNNING)


async def test_a_script_that_needs_its_neighbour_is_put_on_the_path(tmp_path: Path) -> None:
    async with hub(tmp_path, env={"PATH": "/mine"}) as parts:
        folder = str(Path(program(parts, ".nvm/versions/node/v20.0.0/bin/npx", "#!/usr/bin/env node\n")).parent)
        first, *_ = await offered(parts)
        assert first == Remedy("add_to_path", f"Look in {folder} too", folder, is_automatic=True)
        assert await parts.presenter.apply_remedy("s", first.kind, first.value) == f"'s' looks in {folder} too"
        assert parts.conf.entries["s"]["env"] == {"PATH": f"{folder}:/mine"}


async def test_a_path_that_was_not_given_before_has_the_folder_alone(tmp_path: Path) -> None:
    async with hub(tmp_path) as parts:
        await parts.presenter.apply_remedy("s", "add_to_path", str(tmp_path))
        assert parts.conf.entries["s"]["env"] == {"PATH": str(tmp_path)}


async def test_an_unknown_program_has_no_page(tmp_path: Path) -> None:
    async with hub(tmp_path, "my-own-server") as parts:
        assert [remedy.kind for remedy in await offered(parts)] == ["advice"]


async def test_a_secret_that_is_missing_is_named_and_one_that_is_there_is_not(tmp_path: Path) -> None:
    async with hub(tmp_path, env={"A": "${secret:a}", "B": "${secret:b}"}) as parts:
        await parts.presenter.set_secret("a", "value")
        first, *_ = await offered(parts)
        assert first == Remedy("store_secret", "Store the secret b", "tooltray secrets set b")


async def test_a_secret_that_is_missing_is_advised_once(tmp_path: Path) -> None:
    async with hub(tmp_path, env={"A": "${secret:a}"}) as parts:
        with pytest.raises(TooltrayError):
            await parts.presenter.start_server("s")
        assert [remedy.kind for remedy in await offered(parts)] == ["store_secret", "start"]


async def test_npm_s_own_registry_is_not_offered_while_it_is_in_use(tmp_path: Path) -> None:
    own = RegistryMeasurement("https://own.example/", "npm", "npm", milliseconds=5.0)

    class OwnInUse:
        status = NpmRegistryStatus(measurements=(own, SLOW))

    async with hub(tmp_path, disable=True) as parts:
        parts.remedies._registries = OwnInUse()
        parts.servers.get("s").log.append("npm error code E404")
        assert [remedy.value for remedy in await offered(parts) if remedy.kind == "switch_registry"] == [SLOW.url]
    async with hub(tmp_path, disable=True, customNpmRegistry=SLOW.url) as parts:
        parts.remedies._registries = OwnInUse()
        parts.servers.get("s").log.append("npm error code E404")
        assert [remedy.value for remedy in await offered(parts) if remedy.kind == "switch_registry"] == [own.url]


async def test_a_store_of_secrets_that_is_closed_names_none(tmp_path: Path) -> None:
    async with hub(tmp_path, env={"A": "${secret:a}"}) as parts:
        parts.home.secrets_file.write_bytes(b"no vault")
        parts.secrets.use("file")
        assert {remedy.kind for remedy in await offered(parts)} == {"advice"}


async def test_a_package_that_cannot_be_downloaded_is_offered_from_elsewhere(tmp_path: Path) -> None:
    async with hub(tmp_path, disable=True) as parts:
        parts.remedies._registries = Measured()
        assert "switch_registry" not in {remedy.kind for remedy in await offered(parts)}
        parts.servers.get("s").log.append("npm error code E404")
        remedy = next(remedy for remedy in await offered(parts) if remedy.kind == "switch_registry")
        assert remedy == Remedy("switch_registry", "Download from Slow", SLOW.url, is_automatic=True)
        assert await parts.presenter.apply_remedy("s", remedy.kind, remedy.value) == f"'s' downloads from {SLOW.url}"
        assert parts.conf.entries["s"]["customNpmRegistry"] == SLOW.url
        parts.servers.get("s").log.append("npm ERR! network timeout")
        assert [remedy.value for remedy in await offered(parts) if remedy.kind == "switch_registry"] == [FAST.url]


async def test_a_server_that_is_switched_off_is_switched_on_and_started(tmp_path: Path) -> None:
    async with hub(tmp_path, disable=True) as parts:
        assert (await offered(parts))[0] == Remedy("switch_on", "Switch it on", is_automatic=True)
        assert await parts.presenter.apply_remedy("s", "switch_on") == "'s' is switched on"
        await parts.heard.until(lambda: parts.servers.get("s").state is ServerState.RUNNING)
        (tmp_path / "empty").mkdir()
        (tmp_path / "empty" / "npx").touch(0o755)
        assert await offered(parts) == ()


async def test_a_server_that_was_given_up_can_be_tried_again(tmp_path: Path) -> None:
    async with hub(tmp_path) as parts:
        parts.programs["npx"].handlers["initialize"] = lambda copy, params: copy.die("gone", exit_code=1)
        with pytest.raises(TooltrayError):
            await parts.presenter.start_server("s")
        assert (await offered(parts))[-1] == Remedy("start", "Try again", is_automatic=True)
        del parts.programs["npx"].handlers["initialize"]
        assert await parts.presenter.apply_remedy("s", "start") == "'s' is being started"
        await parts.heard.until(lambda: parts.servers.get("s").state is ServerState.RUNNING)


def dies_with(failure: ConnectionFailure) -> ScriptedServer:
    def die(copy: Copy, params: Any) -> None:
        copy.failure = failure
        copy.die("gone")

    scripted = ScriptedServer()
    scripted.handlers["initialize"] = die
    return scripted


async def test_a_server_that_misses_a_variable_is_given_it_as_a_secret(tmp_path: Path) -> None:
    async with hub(tmp_path, env={"A": "1"}) as parts:
        parts.programs["npx"] = dies_with(ConnectionFailure(Problem("'s' needs MY_KEY"), True, ("MY_KEY",)))  # type: ignore[index]
        with pytest.raises(TooltrayError, match="needs MY_KEY"):
            await parts.presenter.start_server("s")
        remedy = next(remedy for remedy in await offered(parts) if remedy.kind == "give_variables")
        line = "tooltray servers set s --secret MY_KEY"
        assert remedy == Remedy("give_variables", "Give it MY_KEY, as a secret", line)


@pytest.mark.parametrize(("env", "is_offered"), [({}, True), ({"BRAVE_API_KEY": "1"}, False)])
async def test_what_a_known_server_usually_needs_is_offered_when_it_ends_without_it(
    tmp_path: Path, env: dict[str, str], is_offered: bool
) -> None:
    async with hub(tmp_path, args=["@modelcontextprotocol/server-brave-search"], env=env) as parts:
        parts.programs["npx"] = dies_with(ConnectionFailure(Problem("'s' ended at once"), True))  # type: ignore[index]
        with pytest.raises(TooltrayError):
            await parts.presenter.start_server("s")
        assert ("give_variables" in {remedy.kind for remedy in await offered(parts)}) is is_offered


@pytest.mark.parametrize(("variables", "is_told"), [({}, True), ({"BRAVE_API_KEY": "1"}, False)])
async def test_a_known_server_that_runs_without_what_it_usually_needs_is_remarked_on(
    tmp_path: Path, variables: dict[str, str], is_told: bool
) -> None:
    async with hub(tmp_path, args=["@modelcontextprotocol/server-brave-search"]) as parts:
        parts.shell.variables.update(variables)
        [diagnosis] = await parts.presenter.diagnose("s")
        assert diagnosis.remark == ("it usually needs BRAVE_API_KEY; add it with --secret BRAVE_API_KEY" if is_told else "")


async def test_who_has_to_sign_in_is_told_how(tmp_path: Path) -> None:
    far = {"url": "http://127.0.0.1:1/"}
    async with hub_parts(tmp_path / "home", servers={"s": far}) as parts:
        server = parts.servers.get("s")
        server.first.status = Status(ServerState.NEEDS_SIGN_IN, problem=Problem("'s' wants you to sign in"))
        assert await offered(parts) == (Remedy("sign_in", "Sign in", "tooltray servers sign-in s"),)
        server.first.status = Status(ServerState.STOPPED)


@pytest.mark.parametrize(
    ("kind", "value", "said"),
    [
        ("use_absolute_path", "/bin/sh", "'/bin/sh' is not the program 'npx'"),
        ("use_absolute_path", "npx", "'npx' is not the program 'npx'"),
        ("use_absolute_path", "/nowhere/npx", "'/nowhere/npx' is not the program 'npx'"),
        ("add_to_path", "bin", "folder 'bin' not found"),
        ("add_to_path", "/nowhere", "folder '/nowhere' not found"),
        ("switch_registry", "https://evil.example/", "is not a measured registry"),
        ("switch_registry", BROKEN.url, "is not a measured registry"),
        ("sign_in", "", "Tooltray cannot do 'sign_in' automatically"),
        ("install_runtime", "https://nodejs.org/en/download", "Tooltray cannot do '"),
    ],
)
async def test_what_was_not_offered_is_refused_and_changes_nothing(tmp_path: Path, kind: str, value: str, said: str) -> None:
    async with hub(tmp_path) as parts:
        parts.remedies._registries = Measured()
        before = parts.conf.entries
        with pytest.raises(TooltrayError, match=said):
            await parts.presenter.apply_remedy("s", kind, value)
        assert parts.conf.entries == before


async def test_a_server_that_comes_with_tooltray_has_no_remedies(tmp_path: Path) -> None:
    async with hub_parts(tmp_path / "home", servers={}, builtins={"hub": object()}) as parts:
        with pytest.raises(TooltrayError, match="comes with Tooltray"):
            await parts.presenter.apply_remedy("hub", "start")


async def test_a_known_server_s_file_is_moved_into_its_own_folder_by_its_variable(tmp_path: Path) -> None:
    memory = ["-y", "@modelcontextprotocol/server-memory"]
    servers = {"s": entry("npx", args=memory), "set": entry("npx", args=memory, env={"MEMORY_FILE_PATH": "/opt/a"}), "other": entry("npx")}
    async with hub_parts(tmp_path / "home", servers=servers) as parts:
        lines = {name: moving_line(name, config=parts.conf, known=parts.known, home=parts.home) for name in (*servers, "gone")}
        own = state_folder(parts.home.confined, "s").work
        assert lines == {"s": f"tooltray servers set s --env MEMORY_FILE_PATH={own}/memory.jsonl", "set": "", "other": "", "gone": ""}
