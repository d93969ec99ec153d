"""What the process of a server gets in its environment: the person's, the hub's, the entry's, in that order."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tooltray.config.settings.expansion import ResolvedServer
from tooltray.config.settings.file_server import FileEntry, FileServer, Origin
from tooltray.config.settings.server_config import MCPServerConfig
from tooltray.servers.launch.child_environment import (
    child_environment,
    folder_of,
    placed,
    placeholder_variables,
    prepare_launch,
    process_variables,
    with_default_folders,
)
from tooltray.servers.launch.program_launch import Launch


def resolved(**fields: object) -> ResolvedServer:
    options = {"command": "server", "args": ("a",), "env": {}, "cwd": None, "url": None, "headers": {}, "secret_names": (), "oauth": None}
    return ResolvedServer(**{**options, **fields})  # type: ignore[arg-type]


def child(environ: dict[str, str], own: dict[str, str], variables: dict[str, str] | None = None) -> dict[str, str]:
    return child_environment(environ, variables or {}, own, is_windows=False)


def on_windows(environ: dict[str, str], own: dict[str, str]) -> dict[str, str]:
    return child_environment(environ, {}, own, is_windows=True)


def test_the_entrys_variables_go_before_the_hubs_and_those_before_the_persons() -> None:
    env = child({"A": "person", "B": "person", "C": "person"}, {"A": "entry"}, {"A": "hub", "B": "hub"})
    assert env == {"A": "entry", "B": "hub", "C": "person"}


FOLDERS = st.lists(st.sampled_from(["/a", "/b", "/c", "/d"]))


@given(FOLDERS, FOLDERS)
def test_whatever_the_paths_are_every_folder_stays_once_and_the_entrys_come_first(own: list[str], persons: list[str]) -> None:
    path = child({"PATH": ":".join(persons)}, {"PATH": ":".join(own)}).get("PATH", "").split(":")
    assert [folder for folder in path if folder] == list(dict.fromkeys([*own, *persons]))


def test_a_path_of_the_entry_goes_in_front_of_the_persons() -> None:
    assert child({"PATH": "/usr/bin:/bin"}, {"PATH": "/opt/x:/opt/y"})["PATH"] == "/opt/x:/opt/y:/usr/bin:/bin"


def test_a_folder_that_is_on_the_path_twice_counts_where_it_comes_first() -> None:
    assert child({"PATH": "/usr/bin:/bin"}, {"PATH": "/opt/x:/bin:/usr/bin:/bin"})["PATH"] == "/opt/x:/bin:/usr/bin"


@pytest.mark.parametrize(
    ("persons", "own", "path"),
    [
        ({"PATH": "/bin"}, {"PATH": ""}, {"PATH": "/bin"}),
        ({}, {"PATH": "/opt"}, {"PATH": "/opt"}),
        ({"PATH": ""}, {"PATH": ""}, {}),
        ({"PATH": "/bin::/usr/bin"}, {}, {"PATH": "/bin::/usr/bin"}),
        ({}, {}, {}),
    ],
)
def test_an_empty_path_is_none_and_an_empty_folder_of_one_stays(persons: dict[str, str], own: dict[str, str], path: dict[str, str]) -> None:
    assert child(persons, own) == path


def test_a_folder_of_the_path_may_begin_with_the_persons_own() -> None:
    assert child({"PATH": "/bin", "HOME": "/home/me"}, {"PATH": "~/bin:~x/bin"})["PATH"] == "/home/me/bin:~x/bin:/bin"
    assert child({"PATH": "/bin"}, {"PATH": "~/bin"})["PATH"] == "~/bin:/bin"


def test_other_spellings_of_path_are_other_variables_but_on_windows() -> None:
    assert child({"PATH": "/bin"}, {"Path": "/x"}) == {"PATH": "/bin", "Path": "/x"}
    assert on_windows({"Path": r"C:\Windows"}, {"PATH": r"C:\x", "path": r"C:\y"}) == {"Path": r"C:\x;C:\y;C:\Windows"}
    assert on_windows({}, {"pAtH": r"C:\x"}) == {"PATH": r"C:\x"}


@pytest.mark.parametrize("given", ["http_proxy", "HTTPS_PROXY", "no_proxy", "ALL_PROXY"])
def test_a_proxy_that_is_set_in_one_spelling_is_set_in_both(given: str) -> None:
    assert child({given: "value"}, {}) == {given.lower(): "value", given.upper(): "value"}


def test_a_proxy_that_is_set_in_both_spellings_keeps_both() -> None:
    both = {"http_proxy": "a", "HTTP_PROXY": "b"}
    assert child(both, {}) == both
    assert child({}, both) == both


@pytest.mark.parametrize("value", ["of the entry", ""])
def test_a_proxy_of_the_entry_goes_before_the_persons_in_both_spellings(value: str) -> None:
    env = child({"https_proxy": "of the person", "HTTPS_PROXY": "of the person"}, {"HTTPS_PROXY": value})
    assert env == {"https_proxy": value, "HTTPS_PROXY": value}


def test_where_both_spellings_are_the_same_variable_nothing_is_added() -> None:
    assert on_windows({"HTTP_PROXY": "a"}, {}) == {"HTTP_PROXY": "a"}


@pytest.mark.parametrize("variable", ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"])
def test_node_trusts_the_authorities_that_were_named_for_others(tmp_path: Path, variable: str) -> None:
    bundle = tmp_path / "company.pem"
    bundle.touch()
    assert child({variable: str(bundle)}, {})["NODE_EXTRA_CA_CERTS"] == str(bundle)
    assert child({variable: str(bundle)}, {"NODE_EXTRA_CA_CERTS": "/own"})["NODE_EXTRA_CA_CERTS"] == "/own"
    assert "NODE_EXTRA_CA_CERTS" not in child({variable: str(tmp_path / "missing.pem")}, {})


def test_others_do_not_trust_what_was_named_for_node_alone() -> None:
    assert child({"NODE_EXTRA_CA_CERTS": "/company.pem"}, {}) == {"NODE_EXTRA_CA_CERTS": "/company.pem"}


def test_what_is_run_is_the_command_in_its_folder_or_in_the_usual_one() -> None:
    options = {"environ": {"A": "1"}, "variables": {"B": "2"}, "folder": "/home/me"}
    assert prepare_launch(resolved(env={"C": "3"}), **options) == Launch("server", ("a",), {"A": "1", "B": "2", "C": "3"}, "/home/me")  # type: ignore[arg-type]
    launch = prepare_launch(resolved(command=None, cwd="/elsewhere"), **options)  # type: ignore[arg-type]
    assert (launch.command, launch.cwd) == ("", "/elsewhere")


@pytest.mark.posix
def test_the_usual_folders_stand_behind_the_persons_path(tmp_path: Path) -> None:
    (tmp_path / ".cargo" / "bin").mkdir(parents=True)
    environ = {"HOME": str(tmp_path), "PATH": f"{tmp_path}/mine:/bin", "A": "1"}
    found = with_default_folders(environ)
    path = found["PATH"].split(":")
    assert path[:3] == [f"{tmp_path}/mine", "/bin", f"{tmp_path}/.cargo/bin"]
    assert len(path) == len(set(path))
    assert found["A"] == "1"
    assert with_default_folders({"HOME": str(tmp_path)})["PATH"].startswith(f"{tmp_path}/.cargo/bin")


HOME = "/person"


def file_server(*, folder: str = "/shop", origin: Origin = "project", **entry: Any) -> FileServer:
    written = {"command": "x"}
    return FileServer(FileEntry("s", MCPServerConfig(command="x"), written, **entry), "/shop/.mcp.json", origin, folder=folder)


def entry_of(command: str | None = "node", cwd: str | None = None, **env: str) -> ResolvedServer:
    return ResolvedServer(command=command, args=(), env=env, cwd=cwd, url=None, headers={}, secret_names=(), oauth=None)


@pytest.mark.posix
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
    found = placed(entry_of(command, cwd), file_server())
    assert (found.command, found.cwd) == (runs, where)


@pytest.mark.parametrize("file", [None, file_server(folder="", origin="served")])
def test_without_a_folder_paths_stay_as_they_are(file: FileServer | None) -> None:
    assert placed(entry_of("./run.sh", "sub"), file) == entry_of("./run.sh", "sub")
    assert folder_of(file, HOME) == HOME


def test_a_server_runs_in_its_files_folder() -> None:
    assert folder_of(file_server(), HOME) == "/shop"


def test_the_files_variables_go_before_the_persons() -> None:
    file = file_server(variables={"A": "file"})
    assert placeholder_variables(file, {"A": "person", "B": "person"}) == {"A": "file", "B": "person"}


def test_a_server_of_the_settings_finds_the_persons_variables_alone() -> None:
    assert placeholder_variables(None, {"A": "person"}) == {"A": "person"}


def test_a_projects_server_knows_its_folder_unless_its_entry_says_otherwise() -> None:
    launch = prepare_launch(entry_of(), environ={"PATH": "/bin"}, variables={}, folder=HOME, file=file_server())
    assert (launch.env["CLAUDE_PROJECT_DIR"], launch.cwd) == ("/shop", "/shop")
    own = prepare_launch(entry_of(CLAUDE_PROJECT_DIR="/own"), environ={}, variables={}, folder=HOME, file=file_server())
    assert own.env["CLAUDE_PROJECT_DIR"] == "/own"


@pytest.mark.parametrize("file", [None, file_server(origin="served", variables={"workspaceFolder": "/shop"})])
def test_no_other_server_is_told_of_a_project(file: FileServer | None) -> None:
    assert process_variables(file) == {}
