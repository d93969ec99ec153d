"""Commands are found as a shell would find them, and what is said where they are not."""

import os
import shlex
from pathlib import Path
from typing import Any

import pytest

from tooltray.foundation.errors import Problem
from tooltray.servers.launch.command_lookup import (
    DEFAULT_PATH,
    MOST,
    Lookup,
    downloads,
    find_elsewhere,
    is_launcher,
    look_up,
    look_up_on_windows,
    not_found,
    program_name,
    read_launcher_line,
    runs_by_name,
    why_not_run,
)

pytestmark = pytest.mark.posix  # programs that are scripts, by their mode; tests/windows has PATHEXT and .cmd


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
    assert error.problem == Problem("'/no/such/npx' is not there", "looked in /no/such", "Correct the command's path.")


@pytest.mark.parametrize(
    ("command", "is_one"),
    [("npx", True), ("uvx", True), ("/usr/local/bin/npx", True), ("bunx", True), ("pnpx", True), ("npx-server", False), ("node", False)],
)
def test_launchers_are_known_by_their_exact_name(command: str, is_one: bool) -> None:
    assert is_launcher(command) is is_one


# Windows, where the endings of names say what a program is


def on_windows(command: str, *files: str, **env: str) -> Lookup:
    """Looks up a command on a machine that has these files."""
    known = {file.lower() for file in files}
    return look_up_on_windows(
        command, env={"Path": r"C:\Windows;C:\Node", **env}, cwd=r"C:\Work", is_file=lambda file: file.lower() in known
    )


def test_on_windows_a_name_is_tried_with_each_ending_in_their_order() -> None:
    assert on_windows("npx", r"C:\Node\npx", r"C:\Node\npx.cmd", r"C:\Node\npx.ps1").resolved == r"C:\Node\npx.cmd"
    assert on_windows("uv", r"C:\Node\uv.cmd", r"C:\Node\uv.exe").resolved == r"C:\Node\uv.exe"
    assert on_windows("uv", r"C:\Node\uv.exe", r"C:\Windows\uv.bat").resolved == r"C:\Windows\uv.bat"


def test_on_windows_a_name_with_an_ending_is_looked_for_as_it_is() -> None:
    assert on_windows("NPX.CMD", r"C:\Node\npx.cmd").resolved == r"C:\Node\NPX.CMD"
    assert on_windows("npx.exe", r"C:\Node\npx.cmd", r"C:\Node\npx.exe.cmd").resolved == ""
    assert on_windows("server.js", r"C:\Node\server.js", r"C:\Node\server.js.cmd").resolved == r"C:\Node\server.js.cmd"


def test_on_windows_the_person_says_which_endings_count() -> None:
    assert on_windows("run", r"C:\Node\run.py", PathExt=".PY;;.EXE").resolved == r"C:\Node\run.py"
    assert on_windows("run", r"C:\Node\run.cmd", PathExt=".EXE").resolved == ""


def test_on_windows_a_path_is_meant_from_the_folder() -> None:
    found = on_windows(r"bin\run", r"C:\Work\bin\run.bat")
    assert (found.resolved, found.searched) == (r"C:\Work\bin\run.bat", (r"C:\Work\bin",))
    assert on_windows("./run.exe", r"C:\Work\run.exe").resolved == r"C:\Work\run.exe"
    assert on_windows(r"D:\x\run", r"D:\x\run.exe").resolved == r"D:\x\run.exe"


def test_on_windows_every_spelling_of_path_counts_and_the_current_folder_only_if_it_is_on_it() -> None:
    found = on_windows("run", r"C:\Work\run.exe")
    assert (found.resolved, found.searched, found.path) == ("", (r"C:\Windows", r"C:\Node"), r"C:\Windows;C:\Node")
    named = look_up_on_windows("run", env={"PATH": r';"C:\My Tools";.'}, cwd=r"C:\Work", is_file=lambda file: True)
    assert (named.resolved, named.searched) == (r"C:\My Tools\run.com", (r"C:\My Tools", "C:\\Work\\."))


def test_on_windows_there_may_be_no_path() -> None:
    assert look_up_on_windows("run", env={}, cwd="C:\\").resolved == ""


@pytest.mark.parametrize(
    ("command", "name"),
    [
        *(("npx", "npx"), (r"C:\Node\NPX.CMD", "npx"), ("C:/Node/uvx.exe", "uvx"), (r"C:\Node\npx.ps1", "npx")),
        *(("npx.js", "npx.js"), ("npx-server.cmd", "npx-server"), ("npx.", "npx.")),
    ],
)
def test_on_windows_the_name_of_a_program_has_no_ending(command: str, name: str) -> None:
    assert program_name(command, is_windows=True) == name


def test_elsewhere_the_name_of_a_program_has_its_ending() -> None:
    assert program_name("/usr/bin/npx.cmd", is_windows=False) == "npx.cmd"


# what downloads


@pytest.mark.parametrize(
    "line",
    [
        *("npx -y pkg", "/usr/bin/uvx tool", "bunx pkg", "npm exec pkg", "pnpm dlx pkg", "uv run server.py", "uv tool run tool"),
        *("pipx run tool", "docker run -i --rm image", "podman run image", "deno run npm:pkg", "go run ./cmd", "cargo run", "bun x pkg"),
        *("bash -c 'cd /x && exec npx -y pkg'", "env A=1 uvx tool", "sh -lc 'docker run image'"),
    ],
)
def test_what_has_to_be_downloaded_or_built_first_may_take_its_time(line: str) -> None:
    command, *args = shlex.split(line)
    assert downloads(command, args)


@pytest.mark.parametrize("line", ["node server.js", "python3 -m server", "docker ps", "uv pip", "bash server.sh", "env", "sh -c 'sleep 5'"])
def test_other_commands_download_nothing(line: str) -> None:
    command, *args = shlex.split(line)
    assert not downloads(command, args)


# what is there and cannot be run


def test_a_file_that_is_not_executable_is_told_to_be_so(tmp_path: Path) -> None:
    file = program(tmp_path / "README.md", is_executable=False)
    error = not_found(look_up(str(file), env={}, cwd="/"))
    assert error.problem == Problem(f"'{file}' is not executable", "", f"If it is a program: chmod +x {file}")


def test_a_relative_one_is_told_with_its_place(tmp_path: Path) -> None:
    file = program(tmp_path / "server.py", is_executable=False)
    error = not_found(look_up("./server.py", env={}, cwd=str(tmp_path)))
    assert (error.problem.title, error.problem.message) == ("'./server.py' is not executable", str(file))


def test_a_name_whose_file_on_the_path_is_not_executable_is_told_where_that_is(tmp_path: Path) -> None:
    file = program(tmp_path / "b" / "server", is_executable=False)
    error = not_found(look_up("server", env={"PATH": f"{tmp_path}/a:{tmp_path}/b"}, cwd="/"))
    assert (error.problem.title, error.problem.message) == ("'server' is not executable", str(file))


def test_a_folder_is_no_program(tmp_path: Path) -> None:
    error = not_found(look_up(f"{tmp_path}/", env={}, cwd="/"))
    assert error.problem == Problem(f"'{tmp_path}/' is a folder, not a program", "", "Name the program in it.")


@pytest.mark.parametrize(
    ("content", "what", "hint"),
    [
        (b"#!/no/such/python\nprint()", "its first line names '/no/such/python', which is not there", "Install that"),
        (b"#!/bin/sh\r\necho", "its first line names '/bin/sh', which is not there", "correct the file's first line"),
        (b"#!\n", "its first line names '', which is not there", "Install that"),
        (b"\x7fELF\x02\x01", "it is a program for another system (why)", "Get the one for this computer"),
        (
            b"print('hello')\n",
            "it is a text file whose first line does not name a program to run it (why)",
            "Put that in front as the command",
        ),
        (b"#!/bin/sh\necho", "why", "Check that the command is a program"),
        (b"\x00\x01", "why", "Check that the command is a program"),
    ],
)
def test_why_an_executable_file_is_not_run_is_seen_from_its_beginning(tmp_path: Path, content: bytes, what: str, hint: str) -> None:
    file = tmp_path / "server"
    file.write_bytes(content)
    said, to_do = why_not_run(str(file), "why")
    assert said == what
    assert hint in to_do


def test_of_a_file_that_cannot_be_read_the_systems_words_are_told(tmp_path: Path) -> None:
    assert why_not_run(str(tmp_path / "gone"), "why")[0] == "why"


def installed(path: Path, text: str = "#!/bin/sh\n") -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


def test_a_person_s_own_comes_first_and_of_several_versions_the_newest(tmp_path: Path) -> None:
    home = tmp_path / "home"
    old = installed(home / ".nvm/versions/node/v9.11.2/bin/npx")
    new = installed(home / ".nvm/versions/node/v20.1.0/bin/npx")
    own = installed(home / ".local/bin/npx")
    common = installed(tmp_path / "opt/node/bin/npx")
    assert find_elsewhere("npx", home=home, common=(f"{tmp_path}/opt/*/bin",)) == (own, new, old, common)


def test_what_cannot_be_run_and_what_is_called_otherwise_is_not_found(tmp_path: Path) -> None:
    installed(tmp_path / ".local/bin/npx2")
    (tmp_path / ".local/bin/npx").write_text("no program")
    (tmp_path / ".cargo/bin/npx").mkdir(parents=True)
    assert find_elsewhere("npx", home=tmp_path, common=()) == ()


@pytest.mark.parametrize("command", ["", "/usr/bin/env", "bin/npx"])
def test_a_path_is_looked_for_nowhere_else(tmp_path: Path, command: str) -> None:
    assert find_elsewhere(command, home=tmp_path, common=("/usr/bin",)) == ()


def test_no_more_are_named_than_anybody_chooses_from(tmp_path: Path) -> None:
    for version in range(2 * MOST):
        installed(tmp_path / f".nvm/versions/node/v{version}.0.0/bin/npx")
    assert len(find_elsewhere("npx", home=tmp_path, common=())) == MOST


def test_a_folder_that_cannot_be_read_is_passed_over(tmp_path: Path) -> None:
    assert find_elsewhere("x" * 5000, home=tmp_path, common=("/usr/bin",)) == ()  # longer than any name may be


def test_a_script_whose_interpreter_is_looked_up_runs_by_name(tmp_path: Path) -> None:
    assert runs_by_name(installed(tmp_path / "a", "#!/usr/bin/env node\n"))
    assert not runs_by_name(installed(tmp_path / "b", "#!/bin/sh\n"))
    assert not runs_by_name(str(tmp_path / "missing"))


@pytest.mark.parametrize(
    ("args", "read"),
    [
        (["-y", "pkg", "-y", "a"], ({}, "pkg", ("-y", "a"))),
        (["--from=x", "--from", "y", "tool"], ({"package": ("x", "y")}, "tool", ())),
        (["-y", "--", "-odd"], ({}, "-odd", ())),
        (["--odd", "pkg"], None),
        (["-y"], None),
        (["--from"], None),
        ([], None),
    ],
)
def test_a_launchers_line_is_read_only_if_each_of_its_options_is_known(args: list[str], read: Any) -> None:
    line = read_launcher_line(args, {"--from": "package"}, flags=frozenset({"-y"}))
    assert (line and (line.options, line.word, line.rest)) == read
