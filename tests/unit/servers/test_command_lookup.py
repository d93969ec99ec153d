"""Commands are found as a shell would find them, and what is said where they are not."""

import os
from pathlib import Path

import pytest

from tooltray.errors import Problem
from tooltray.servers.command_lookup import DEFAULT_PATH, Lookup, is_launcher, look_up, not_found


def program(path: Path, *, is_executable: bool = True) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755 if is_executable else 0o644)
    return path


def test_a_name_is_looked_for_in_every_folder_of_the_path_in_order(tmp_path: Path) -> None:
    first, second = program(tmp_path / "a" / "server"), program(tmp_path / "b" / "server")
    path = f"{tmp_path}/none:{first.parent}:{second.parent}"
    lookup = look_up("server", env={"PATH": path}, cwd="/")
    assert lookup == Lookup("server", str(first), (f"{tmp_path}/none", str(first.parent), str(second.parent)), path)


def test_what_cannot_be_run_is_passed_over(tmp_path: Path) -> None:
    program(tmp_path / "a" / "server", is_executable=False)
    (tmp_path / "b" / "server").mkdir(parents=True)
    found = program(tmp_path / "c" / "server")
    assert look_up("server", env={"PATH": f"{tmp_path}/a:{tmp_path}/b:{tmp_path}/c"}, cwd="/").resolved == str(found)


@pytest.mark.parametrize("folder", ["", ".", "bin/.."])
def test_a_relative_folder_of_the_path_is_meant_from_where_the_command_would_run(tmp_path: Path, folder: str) -> None:
    found = program(tmp_path / "server")
    (tmp_path / "bin").mkdir()
    lookup = look_up("server", env={"PATH": f"/no/such:{folder}"}, cwd=str(tmp_path))
    assert os.path.isabs(lookup.resolved)
    assert os.path.samefile(lookup.resolved, found)


@pytest.mark.parametrize("env", [{}, {"PATH": ""}])
def test_without_a_path_the_usual_folders_are_searched(env: dict[str, str]) -> None:
    lookup = look_up("sh", env=env, cwd="/")
    assert lookup.path == DEFAULT_PATH
    assert os.path.basename(lookup.resolved) == "sh"


def test_a_path_is_taken_as_it_is_and_a_relative_one_from_the_folder(tmp_path: Path) -> None:
    found = program(tmp_path / "bin" / "server")
    for command in (str(found), "bin/server", "./bin/server"):
        lookup = look_up(command, env={"PATH": "/usr/bin"}, cwd=str(tmp_path))
        assert os.path.samefile(lookup.resolved, found)
        assert lookup.searched == (str(found.parent),)


@pytest.mark.parametrize("command", ["bin/gone", "/no/such/server", "./text", "./folder", "", "no such", "a\0b", "./a\0b"])
def test_what_is_not_there_or_no_program_is_not_found(tmp_path: Path, command: str) -> None:
    program(tmp_path / "text", is_executable=False)
    (tmp_path / "folder").mkdir()
    assert look_up(command, env={"PATH": str(tmp_path)}, cwd=str(tmp_path)).resolved == ""


@pytest.mark.parametrize(
    ("command", "comes_with"), [("npx", "Node.js"), ("uvx", "uv"), ("docker", "Docker"), ("python3", "Python"), ("bunx", "Bun")]
)
def test_a_well_known_command_that_is_missing_is_told_with_what_it_comes_with(command: str, comes_with: str) -> None:
    error = not_found(look_up(command, env={"PATH": "/no/such:/neither"}, cwd="/"))
    assert error.problem == Problem(
        f"command '{command}' not found",
        f"looked in /no/such, /neither; {comes_with} is not on PATH",
        f"Install {comes_with}, or set the command's full path.",
    )


def test_any_other_command_that_is_missing_is_told_with_where_it_was_looked_for() -> None:
    error = not_found(look_up("npx-like", env={"PATH": "/no/such"}, cwd="/"))
    assert error.problem == Problem("command 'npx-like' not found", "looked in /no/such", "Install it, or set the command's full path.")


def test_a_path_that_leads_nowhere_is_told_as_such() -> None:
    error = not_found(look_up("/no/such/npx", env={}, cwd="/"))
    assert error.problem == Problem("'/no/such/npx' is not there or may not be run", "looked in /no/such", "Correct the command's path.")


@pytest.mark.parametrize(
    ("command", "is_one"),
    [("npx", True), ("uvx", True), ("/usr/local/bin/npx", True), ("bunx", True), ("pnpx", True), ("npx-server", False), ("node", False)],
)
def test_launchers_are_known_by_their_exact_name(command: str, is_one: bool) -> None:
    assert is_launcher(command) is is_one
