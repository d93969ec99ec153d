from typing import Any

import pytest

from tooltray.launch.child_environment import prepare_launch
from tooltray.launch.file_surroundings import folder_of, placed, placeholder_variables, process_variables
from tooltray.settings.expansion import ResolvedServer
from tooltray.settings.file_server import FileEntry, FileServer, Origin
from tooltray.settings.server_config import MCPServerConfig

HOME = "/person"


def file_server(*, folder: str = "/shop", origin: Origin = "project", **entry: Any) -> FileServer:
    written = {"command": "x"}
    return FileServer(FileEntry("s", MCPServerConfig(command="x"), written, **entry), "/shop/.mcp.json", origin, folder=folder)


def resolved(command: str | None = "node", cwd: str | None = None, **env: str) -> ResolvedServer:
    return ResolvedServer(command=command, args=(), env=env, cwd=cwd, url=None, headers={}, secret_names=())


@pytest.mark.parametrize(
    ("command", "cwd", "runs", "where"),
    [
        ("node", None, "node", "/shop"),
        ("./run.sh", None, "/shop/./run.sh", "/shop"),
        ("bin/run", "sub", "/shop/bin/run", "/shop/sub"),
        ("/usr/bin/node", "/elsewhere", "/usr/bin/node", "/elsewhere"),
        (None, None, None, "/shop"),
    ],
)
def test_paths_of_a_projects_entry_are_taken_from_its_folder(command: str | None, cwd: str | None, runs: str | None, where: str) -> None:
    found = placed(resolved(command, cwd), file_server())
    assert (found.command, found.cwd) == (runs, where)


@pytest.mark.parametrize("file", [None, file_server(folder="", origin="served")])
def test_without_a_folder_paths_stay_as_they_are(file: FileServer | None) -> None:
    assert placed(resolved("./run.sh", "sub"), file) == resolved("./run.sh", "sub")
    assert folder_of(file, HOME) == HOME


def test_a_server_runs_in_its_files_folder() -> None:
    assert folder_of(file_server(), HOME) == "/shop"


def test_the_files_variables_go_before_the_persons_and_what_commands_give_before_both() -> None:
    file = file_server(variables={"A": "file", "B": "file"})
    found = placeholder_variables(file, {"A": "person", "B": "person", "C": "person"}, {"B": "command"})
    assert found == {"A": "file", "B": "command", "C": "person"}


def test_a_server_of_the_settings_finds_the_persons_variables_alone() -> None:
    assert placeholder_variables(None, {"A": "person"}, {}) == {"A": "person"}


def test_a_projects_server_knows_its_folder_unless_its_entry_says_otherwise() -> None:
    launch = prepare_launch(resolved(), environ={"PATH": "/bin"}, variables={}, folder=HOME, file=file_server())
    assert (launch.env["CLAUDE_PROJECT_DIR"], launch.cwd) == ("/shop", "/shop")
    own = prepare_launch(resolved(CLAUDE_PROJECT_DIR="/own"), environ={}, variables={}, folder=HOME, file=file_server())
    assert own.env["CLAUDE_PROJECT_DIR"] == "/own"


@pytest.mark.parametrize("file", [None, file_server(origin="served", variables={"workspaceFolder": "/shop"})])
def test_no_other_server_is_told_of_a_project(file: FileServer | None) -> None:
    assert process_variables(file) == {}
