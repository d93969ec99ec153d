"""A launcher is left out, and comes back when its program did not run without it."""

from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.fakes.npm_cache import SPEC, install_node, program, unpack

from tooltray.servers.launch.direct_starts import DirectStarts, uvx_program
from tooltray.servers.launch.program_launch import DirectProgram, Launch

pytestmark = pytest.mark.posix  # programs that are scripts, by their mode; tests/windows has PATHEXT and .cmd

RECEIPT = """
[tool]
requirements = [{ name = "server-toy" }]
python = "/usr/bin/python3"
entrypoints = [
    { name = "server-toy", install-path = "/home/me/.local/bin/server-toy", from = "server-toy" },
]
"""


class Machine:
    """A person's machine with uv and a tool that it has installed."""

    def __init__(self, root: Path) -> None:
        self.home, self.bin = root / "home", root / "bin"
        program(self.bin / "uvx")
        program(self.bin / "uv")
        self.tool = self.install(self.home / ".local" / "share")

    def install(self, data: Path) -> Path:
        tool = data / "uv" / "tools" / "server-toy"
        program(tool / "bin" / "server-toy")
        program(tool / "bin" / "python")
        (tool / "uv-receipt.toml").write_text(RECEIPT)
        return tool

    def find(self, *args: str, command: str = "uvx", **environ: str) -> DirectProgram | None:
        env = {"HOME": str(self.home), "PATH": str(self.bin), **environ}
        return uvx_program(Launch(command, args or ("server-toy",), env, "/"))


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_a_tool_that_the_person_installed_is_run_itself(machine: Machine) -> None:
    env = {"PATH": f"{machine.tool}/bin:{machine.bin}", "UV": str(machine.bin / "uv")}
    found = DirectProgram(str(machine.tool / "bin" / "server-toy"), ("--local", "x"), env, saved_processes=1)
    assert machine.find("server-toy", "--local", "x") == found
    assert machine.find("server-toy", "--local", "x", command=str(machine.bin / "uvx")) == found


def test_tools_may_be_where_data_goes(machine: Machine, tmp_path: Path) -> None:
    moved = machine.install(tmp_path / "data")
    found = machine.find(XDG_DATA_HOME=str(tmp_path / "data"))
    assert found is not None
    assert found.program == str(moved / "bin" / "server-toy")


@pytest.mark.parametrize(
    "args",
    [
        *(
            ["server-toy@1.2.3"],
            ["server-toy@latest"],
            ["server-toy==1.2.3"],
            ["server-toy[extra]"],
            ["Server_Toy"],
            ["../server-toy"],
            ["other"],
        ),
        *(["--from", "server-toy", "server-toy"], ["--isolated", "server-toy"], ["-"], [""]),
    ],
)
def test_anything_but_a_bare_name_is_left_to_uvx(machine: Machine, args: list[str]) -> None:
    assert machine.find(*args) is None


def test_without_an_argument_there_is_nothing_to_run(machine: Machine) -> None:
    assert uvx_program(Launch("uvx", (), {"HOME": str(machine.home), "PATH": str(machine.bin)}, "/")) is None


@pytest.mark.parametrize("name", ["UV_DEFAULT_INDEX", "UV_PYTHON", "UV_TOOL_DIR"])
def test_settings_of_uv_in_the_environment_leave_it_to_uvx(machine: Machine, name: str) -> None:
    assert machine.find(**{name: "x"}) is None


@pytest.mark.parametrize("file", ["uv.toml", ".python-version"])
def test_settings_of_uv_in_a_file_leave_it_to_uvx(machine: Machine, tmp_path: Path, file: str) -> None:
    for folder, environ in ((machine.home / ".config", {}), (tmp_path / "config", {"XDG_CONFIG_HOME": str(tmp_path / "config")})):
        assert machine.find(**environ) is not None
        (folder / "uv").mkdir(parents=True)
        (folder / "uv" / file).touch()
        assert machine.find(**environ) is None


def test_settings_of_uv_for_the_whole_machine_leave_it_to_uvx(machine: Machine, tmp_path: Path) -> None:
    environ = {"XDG_CONFIG_DIRS": f"{tmp_path / 'none'}:{tmp_path / 'all'}"}
    assert machine.find(**environ) is not None
    (tmp_path / "all" / "uv").mkdir(parents=True)
    (tmp_path / "all" / "uv" / "uv.toml").touch()
    assert machine.find(**environ) is None


@pytest.mark.parametrize(
    "receipt",
    [
        RECEIPT.replace('{ name = "server-toy" }', '{ name = "server-toy", specifier = ">=1" }'),
        RECEIPT.replace('{ name = "server-toy" }', '{ name = "server-toy" }, { name = "plugin" }'),
        RECEIPT.replace("python =", "constraints ="),
        RECEIPT.replace('{ name = "server-toy", install', '{ name = "other", install'),
        "[tool]\nrequirements = [{ name = 'server-toy' }]\nentrypoints = 1",
        "[tool]\nrequirements = [{ name = 'server-toy' }]\nentrypoints = [1]",
        *("tool = 1", "", "[", "\0"),
    ],
)
def test_a_tool_that_was_installed_in_another_way_is_left_to_uvx(machine: Machine, receipt: str) -> None:
    (machine.tool / "uv-receipt.toml").write_text(receipt)
    assert machine.find() is None


@pytest.mark.parametrize("file", ["uv-receipt.toml", "bin/server-toy", "bin/python"])
def test_a_tool_that_lacks_something_is_left_to_uvx(machine: Machine, file: str) -> None:
    (machine.tool / file).unlink()
    assert machine.find() is None


@pytest.mark.parametrize("name", ["uv", "uvx"])
def test_without_uv_there_is_nothing_to_leave_out(machine: Machine, name: str) -> None:
    (machine.bin / name).unlink()
    assert machine.find() is None


def test_without_a_home_it_is_left_to_uvx(machine: Machine) -> None:
    assert machine.find(HOME="") is None


@pytest.fixture
def launch(tmp_path: Path) -> Launch:
    """What npx has unpacked already."""
    folder = install_node(tmp_path / "node")
    unpack(tmp_path / "home" / ".npm")
    return Launch("npx", ("-y", SPEC, "x"), {"HOME": str(tmp_path / "home"), "PATH": str(folder), "KEY": "1"}, str(tmp_path))


def ended_in_silence(launch: Launch) -> None:
    assert launch.on_silent_end is not None
    launch.on_silent_end()


def test_an_unpacked_package_is_started_without_its_launcher(launch: Launch, tmp_path: Path) -> None:
    direct = DirectStarts().shorten(launch)
    assert direct.command == str(tmp_path / "node" / "bin" / "node")
    assert direct.args[-1] == "x"
    assert (direct.env["KEY"], direct.env["npm_command"], direct.cwd) == ("1", "exec", launch.cwd)
    assert direct.saved_processes >= 1


@pytest.mark.parametrize(
    ("command", "args"),
    [("npx", ("-y", "other@1.0.0")), ("bunx", ("-y", SPEC)), ("npx-like", ("-y", SPEC)), ("node", ("server.js",)), ("uvx", ("x",))],
)
def test_everything_else_is_started_as_it_is(launch: Launch, command: str, args: tuple[str, ...]) -> None:
    other = Launch(command, args, launch.env, launch.cwd)
    assert DirectStarts().shorten(other) is other


@pytest.mark.parametrize("folder", ["a\0b", "home/gone"])
def test_what_cannot_be_looked_at_is_started_as_it_is(launch: Launch, tmp_path: Path, folder: str) -> None:
    other = Launch("npx", launch.args, {**launch.env, "HOME": str(tmp_path / folder)}, str(tmp_path / folder))
    assert DirectStarts().shorten(other) is other


def test_what_ended_in_silence_is_started_with_its_launcher_from_then_on(launch: Launch) -> None:
    starts = DirectStarts()
    ended_in_silence(starts.shorten(launch))
    for _ in range(2):
        assert replace(starts.shorten(launch), on_silent_end=None) == launch


def test_what_ends_in_silence_with_its_launcher_too_is_not_its_fault(launch: Launch) -> None:
    starts = DirectStarts()
    ended_in_silence(starts.shorten(launch))
    ended_in_silence(starts.shorten(launch))
    assert starts.shorten(launch).saved_processes >= 1


def test_another_server_of_the_same_package_is_not_touched_by_it(launch: Launch) -> None:
    starts = DirectStarts()
    ended_in_silence(starts.shorten(launch))
    other = Launch("npx", ("-y", SPEC, "y"), launch.env, launch.cwd)
    assert starts.shorten(other).saved_processes >= 1


def test_a_tool_of_uv_is_started_without_uvx(tmp_path: Path) -> None:
    for name in ("uv", "uvx"):
        program(tmp_path / "bin" / name)
    tool = tmp_path / "home" / ".local" / "share" / "uv" / "tools" / "toy"
    program(tool / "bin" / "toy")
    program(tool / "bin" / "python")
    (tool / "uv-receipt.toml").write_text('[tool]\nrequirements = [{ name = "toy" }]\nentrypoints = [{ name = "toy" }]\n')
    launch = Launch("uvx", ("toy",), {"HOME": str(tmp_path / "home"), "PATH": str(tmp_path / "bin")}, "/")
    assert (DirectStarts().shorten(launch).command, DirectStarts().shorten(launch).saved_processes) == (str(tool / "bin" / "toy"), 1)
