"""confined_starts.py"""

import asyncio
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.fakes.hub_parts import settled
from tests.unit.servers.confinement.test_watches import Servers

from tooltray.config.settings.server_config import MCPServerConfig, what_runs
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.events import EventBus
from tooltray.foundation.home.home import Home
from tooltray.servers.confinement.confined_starts import ConfinedStart, ConfinedStarts
from tooltray.servers.confinement.confinements import Confinements, Support
from tooltray.servers.confinement.launch_line import CARRIED
from tooltray.servers.confinement.profiles import state_folder
from tooltray.servers.confinement.refusals import Refusals
from tooltray.servers.confinement.shared_files import SMALLEST_BYTES
from tooltray.servers.confinement.watches import Watches
from tooltray.servers.launch.program_launch import CannotStart, Launch

PERSONS = {
    "PATH": "/usr/bin",
    "LC_ALL": "C",
    "AWS_SECRET_ACCESS_KEY": "k",
    "SSH_AUTH_SOCK": "/s",
    "HTTPS_PROXY": "http://corp:1",
    "LANG": "C",
}
INDEXES = {"UV_INDEX": "https://me:pw@index.example/simple", "PIP_INDEX_URL": "https://index.example/simple"}


SUPPORT = Support("linux", 7, True)


class OneDoor(msgspec.Struct, frozen=True):
    port: int = 4711
    variables: Mapping[str, str] = msgspec.field(
        default_factory=lambda: {"HTTPS_PROXY": "http://127.0.0.1:4711", "NODE_USE_ENV_PROXY": "1"}
    )


class Proxies:
    async def door(self, server: str, hosts: tuple[str, ...]) -> OneDoor:
        assert (server, hosts) == ("s", ("a.org",))
        return OneDoor()


def no_task(*_: object, **__: object) -> Any:
    raise AssertionError("nothing is begun here")


class World:
    def __init__(self, tmp_path: Path, support: Support = SUPPORT, proxies: Proxies | None = None, watches: Watches | None = None) -> None:
        self.me = tmp_path / "me"
        self.home = Home(self.me / ".tooltray")
        self.home.root.mkdir(parents=True)
        self.fields: dict[str, Any] = {}  # of its entry
        self.bin = tmp_path / "bin"
        self.bin.mkdir()
        self.confinements = Confinements(support=support)
        self.refusals = Refusals(bus=EventBus(), spawn=no_task)
        self.starts = ConfinedStarts(
            confinements=self.confinements, refusals=self.refusals, home=self.home, user_folder=self.me, watches=watches, proxies=proxies
        )
        self.have_ended = True  # the processes of an installation
        self.ran: list[tuple[Sequence[str], Mapping[str, str], str]] = []

    async def begin(self, confinement: Any, server: str = "s") -> ConfinedStart | None:
        entry = {"command": "p", "confinement": confinement, **self.fields}
        config = MCPServerConfig.model_validate(entry)
        return await self.starts.begin(server, config, "", PERSONS)

    async def line(self, confinement: Any, command: str, *args: str, server: str = "s") -> Sequence[str]:
        start = await self.begin(confinement, server)
        assert start
        env = {
            **start.environment,
            "PATH": "/nowhere",
            "API_KEY": "of the entry",
            "PUPPETEER_SKIP_DOWNLOAD": "1",
            **start.variables({"npm_config_registry": "http://127.0.0.1:9/"}),
        }
        launch = start.put_around(Launch(command, args, env, start.folder))
        assert launch.around
        line = await launch.around.command(f"{self.bin}/{command}", launch, self.run)
        assert self.confinements.support.system == "darwin" or all(name.startswith(CARRIED) for name in line.env)
        return line.words

    async def run(self, line: Sequence[str], env: Mapping[str, str], cwd: str) -> bool:
        """As npm installs a package."""
        self.ran.append((line, {name.removeprefix(CARRIED): value for name, value in env.items()}, cwd))
        modules = Path(cwd) / "node_modules"
        (modules / "notes").mkdir(parents=True)
        (modules / ".bin").mkdir()
        (modules / ".bin" / "notes").touch()
        (modules / "notes" / "package.json").write_text('{"name": "notes", "bin": "x.js"}')
        (Path(cwd) / "package.json").write_text('{"dependencies": {"notes": "1"}}')
        (modules / ".package-lock.json").write_text('{"packages": {"node_modules/notes": {}}}')
        (modules / "notes" / "big.js").write_text("x" * SMALLEST_BYTES)
        await asyncio.sleep(0)
        return self.have_ended


async def test_what_is_open_and_where_nothing_can_be_done_starts_as_ever(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    assert await World(tmp_path).begin(None) is None
    assert await World(tmp_path / "other", Support()).begin("own") is None


async def test_a_server_gets_its_own_environment_and_folder(tmp_path: Path) -> None:
    world = World(tmp_path)
    start = await world.begin("own")
    assert start
    assert dict(start.environment) == {"PATH": "/usr/bin", "LC_ALL": "C", "LANG": "C", "HTTPS_PROXY": "http://corp:1"}
    state = state_folder(world.home.confined, "s")
    variables = start.variables({"npm_config_registry": "r"})
    assert (variables["npm_config_registry"], variables["TMPDIR"]) == ("r", str(state.tmp))
    assert variables["npm_config_cache"].startswith(str(state.cache))
    assert start.folder == str(state.work)
    assert {oct(folder.stat().st_mode & 0o777) for folder in (state.root.parent, state.root, state.tmp)} == {"0o700"}
    await world.starts.forget("s")
    assert not state.root.exists()
    await world.starts.forget("s")


async def test_its_program_is_run_with_its_policy_and_what_it_does_not_get_stands_on_its_card(tmp_path: Path) -> None:
    world = World(tmp_path)
    assert tuple(await world.line({"read": ["~"]}, "env", "x"))[-2:] == (f"{world.bin}/env", "x")
    config = MCPServerConfig.model_validate({"command": "p", "confinement": {"read": ["~"]}})
    shown = world.confinements.of("s", config)
    assert shown
    assert shown.missing[-1] == "It does not get ~: ~ contains all your files"


async def test_a_package_is_installed_once_by_what_lies_beside_its_launcher_with_the_network_and_outside_what_the_server_writes(
    tmp_path: Path,
) -> None:
    world = World(tmp_path, proxies=Proxies())
    (world.bin / "npm").touch(0o755)
    world.fields = {"env": {"PUPPETEER_SKIP_DOWNLOAD": "1", "API_KEY": "of the entry"}}
    line = await world.line({"hosts": ["a.org"], "files": "own"}, "npx", "-y", "notes", "--stdio")
    [(install, env, cwd)] = world.ran
    packages = str(state_folder(world.home.confined, "s").packages)
    assert str(world.bin / "npm") in install
    assert "install" in install
    assert cwd.startswith(packages)
    assert env["HTTPS_PROXY"] == "http://corp:1"
    assert not env.keys() & {"NODE_USE_ENV_PROXY", "API_KEY"}, "scripts of the package have the network"
    assert env["PUPPETEER_SKIP_DOWNLOAD"] == "1", "install scripts read it"
    assert all(env[name].startswith(f"{cwd}/.installing") for name in ("npm_config_cache", "TMPDIR"))
    assert env["npm_config_registry"] == "http://127.0.0.1:9/"
    assert tuple(line)[-2:] == (f"{cwd}/node_modules/.bin/notes", "--stdio")
    assert tuple(await world.line({"hosts": ["a.org"], "files": "own"}, "npx", "-y", "notes"))
    assert len(world.ran) == 1


NO_NETWORK = {"files": "own", "network": "none"}


def big_files(world: World) -> list[Path]:
    return sorted(world.home.confined.glob("*/packages/npm-*/node_modules/notes/big.js"))


def with_npm(world: World) -> World:
    (world.bin / "npm").touch(0o755)
    return world


@pytest.mark.posix
async def test_servers_share_the_files_of_a_package_until_the_last_one_is_removed(tmp_path: Path) -> None:
    world = with_npm(World(tmp_path))
    for server in "ab":
        await world.line(NO_NETWORK, "npx", "notes", server=server)
    first, second = big_files(world)
    assert first.samefile(second)
    await world.line({"files": "open", "network": "none"}, "npx", "notes", server="b")
    assert not first.samefile(second), "it may change all files"
    await world.line({"files": "open", "network": "none"}, "npx", "notes", server="c")
    assert [each.stat().st_nlink for each in big_files(world)] == [2, 1, 1]
    await world.starts.forget("a")
    assert os.listdir(world.home.confined / "shared") == []


@pytest.mark.posix
@pytest.mark.parametrize(
    ("support", "have_ended", "links"),
    [
        (SUPPORT, True, 2),
        (Support("linux", 0, True, bwrap="/usr/bin/bwrap"), True, 2),
        (SUPPORT, False, 1),
        (Support("linux", 0, True), True, 1),
        (Support("darwin", sandbox_exec="/usr/bin/sandbox-exec"), True, 1),
    ],
)
async def test_a_file_that_something_may_still_change_is_not_shared(tmp_path: Path, support: Support, have_ended: bool, links: int) -> None:
    world = with_npm(World(tmp_path, support))
    world.have_ended = have_ended
    await world.line(NO_NETWORK, "npx", "notes")
    assert [each.stat().st_nlink for each in big_files(world)] == [links]


async def test_two_instances_of_a_server_install_its_package_once(tmp_path: Path) -> None:
    world = with_npm(World(tmp_path))
    await asyncio.gather(*(world.line(NO_NETWORK, "npx", "notes") for _ in range(2)))
    assert len(world.ran) == 1


@pytest.mark.parametrize(
    ("words", "has_store"),
    [(("npx", "-y", "a"), False), (("pnpm", "dlx", "a"), True), (("sh", "-c", "exec /usr/bin/pnpx a"), True), (("npx", "pnpm-a"), False)],
)
async def test_a_setting_of_pnpm_of_which_npm_warns_is_given_to_pnpm_alone(tmp_path: Path, words: tuple[str, ...], has_store: bool) -> None:
    start = await World(tmp_path).begin("own")
    assert start
    launch = start.put_around(Launch(words[0], words[1:], start.variables({}), start.folder))
    assert ("npm_config_store_dir" in launch.env) is has_store


async def test_a_server_that_is_kept_to_hosts_gets_the_door_in_the_place_of_every_other_proxy(tmp_path: Path) -> None:
    start = await World(tmp_path, proxies=Proxies()).begin({"hosts": ["a.org"], "files": "own"})
    assert start
    assert "HTTPS_PROXY" not in start.environment
    launch = start.put_around(Launch("node", (), {"HTTPS_PROXY": "http://entry:1"}, "/"))
    assert dict(launch.env) == dict(OneDoor().variables)


@pytest.mark.parametrize(("network", "gets"), [("none", {"PIP_INDEX_URL"}), ("open", {"HTTPS_PROXY", *INDEXES})])
async def test_without_a_network_of_its_own_it_gets_no_passwords_of_proxies_and_indexes(
    tmp_path: Path, network: str, gets: set[str]
) -> None:
    world = World(tmp_path)
    config = MCPServerConfig.model_validate({"command": "p", "confinement": {"files": "own", "network": network}})
    start = await world.starts.begin("s", config, "", PERSONS | INDEXES)
    assert start
    assert start.environment.keys() & {"HTTPS_PROXY", *INDEXES} == gets


async def test_what_cannot_be_had_starts_nothing(tmp_path: Path) -> None:
    world = World(tmp_path)
    with pytest.raises(CannotStart, match="npm"):
        await world.line({"files": "own", "network": "none"}, "npx", "notes")
    world.home.confined.joinpath("x").touch()
    state = state_folder(world.home.confined, "s").root
    os.rename(state, f"{state}-gone")
    state.touch()
    with pytest.raises(TooltrayError, match="the folder of 's' cannot be made"):
        await world.begin("own")


async def test_a_watched_server_gets_the_same_and_runs_through_the_tracer(tmp_path: Path) -> None:
    servers = Servers(tmp_path / "watched")
    world = World(tmp_path, proxies=Proxies(), watches=servers.watches)
    assert await world.begin(None) is None
    config = MCPServerConfig.model_validate({"command": "p"})
    await servers.watches.start("s", 60.0, what_runs(config))
    start = await world.begin({"hosts": ["a.org"]})
    assert start
    assert (start.door, start.folder) == (None, str(state_folder(world.home.confined, "s").work))
    launch = start.put_around(Launch("env", ("x",), {"A": "1"}, start.folder))
    assert launch.around
    line = await launch.around.command("/usr/bin/env", launch, world.run)
    assert list(line.words)[-3:] == ["--", "/usr/bin/env", "x"]
    assert dict(line.env) == {"A": "1"}
    await servers.watches.stop("s")
    with pytest.raises(TooltrayError, match="not being watched"):  # a start that began before does not run it unconfined for good
        await launch.around.command("/usr/bin/env", launch, world.run)
    await servers.tasks.close()


async def test_the_folder_of_a_renamed_server_follows_when_it_has_ended_and_before_it_starts_again(tmp_path: Path) -> None:
    world = World(tmp_path)
    start = await world.begin("own")
    assert start
    (start.state.work / "notes").write_text("mine")
    state_folder(world.home.confined, "new").prepare()  # of an earlier server of this name
    ended = asyncio.Event()

    async def end() -> None:
        await ended.wait()

    moving = asyncio.ensure_future(world.starts.rename("s", "new", end()))
    await asyncio.sleep(0)
    assert (start.state.work / "notes").exists()
    again = await world.begin("own", "new")
    assert again
    assert (again.state.work / "notes").read_text() == "mine"
    assert not start.state.root.exists()
    ended.set()
    await moving
    await world.starts.rename("s", "new", settled())  # nothing is left
    assert (again.state.work / "notes").read_text() == "mine"


async def test_a_folder_that_cannot_be_moved_starts_nothing_and_is_moved_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(tmp_path)
    start = await world.begin("own")
    assert start
    with monkeypatch.context() as patched:
        patched.setattr(Path, "rename", lambda *_: (_ for _ in ()).throw(OSError(5, "I/O error")))
        with pytest.raises(OSError, match="I/O"):
            await world.starts.rename("s", "new", settled())
        with pytest.raises(CannotStart, match="cannot be made"):
            await world.begin("own", "new")
    assert await world.begin("own", "new")
    assert not start.state.root.exists()
