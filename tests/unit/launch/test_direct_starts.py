"""A launcher is left out, and comes back when its program did not run without it."""

from pathlib import Path

import pytest
from tests.fakes.npm_cache import SPEC, install_node, program, unpack

from tooltray.launch.direct_starts import DirectStarts
from tooltray.launch.program_launch import Launch


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
    again = starts.shorten(launch)
    assert (again, again.saved_processes) == (launch, 0)
    assert starts.shorten(launch) == launch


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
