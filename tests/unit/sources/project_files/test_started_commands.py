"""started_commands.py: what an entry starts in the project."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tooltray.config.settings.given_entries import read_entry
from tooltray.config.settings.server_config import MCPServerConfig
from tooltray.sources.project_files.started_commands import (
    MOST_WORDS,
    found_inside,
    runs_by_name,
    starts_others,
)
from tooltray.sources.project_files.started_files import started_files


@pytest.mark.parametrize(
    ("entry", "is_inside"),
    [
        ({"command": "./run"}, True),
        ({"command": "tools/run"}, True),
        ({"command": "${CLAUDE_PROJECT_DIR}/run"}, True),
        ({"command": "{folder}/run.js"}, True),
        pytest.param({"command": "/bin/sh"}, False, marks=pytest.mark.posix),
        ({"command": "~/run"}, False),
        ({"command": "node", "args": ["run.js"]}, True),
        ({"command": "node", "args": ["--require=./run.js"]}, True),
        ({"command": "node", "args": ["${CLAUDE_PROJECT_DIR}/run.js"]}, True),
        ({"command": "node", "args": ["run.js"], "cwd": "elsewhere"}, False),
        ({"command": "node", "args": ["../run.js"], "cwd": "elsewhere"}, True),
        pytest.param({"command": "node", "args": ["linked.js"], "cwd": ".."}, True, marks=pytest.mark.posix),
        ({"command": "node", "args": ["no such file"]}, False),
        ({"command": "npx", "args": ["-y", "run"]}, False),
        ({"command": "node", "args": ["x"] * MOST_WORDS + ["run.js"]}, False),
        ({"command": "node", "args": ["x"] * (MOST_WORDS - 1) + ["run.js"]}, True),
        ({"command": "node", "args": ["elsewhere"]}, False),
        ({"command": "$HOME/run"}, False),
        ({"command": "run.js"}, False),
        ({"command": "..\\run"}, True),
        ({"command": "node", "args": [], "startupArgsTemplate": ["run.js"], "deferredStartup": True}, True),
        ({"command": "node", "args": ["${CLAUDE_PROJECT_DIR:-/tmp}/run.js"]}, True),
    ],
)
def test_what_lies_in_the_project_itself_is_marked(tmp_path: Path, entry: dict[str, Any], is_inside: bool) -> None:
    folder = tmp_path.resolve() / "shop"
    (folder / "elsewhere").mkdir(parents=True)
    (folder / "run.js").write_text("")
    (folder.parent / "linked.js").symlink_to(folder / "run.js")
    entry = {**entry, "command": entry["command"].replace("{folder}", str(folder))}
    assert found_inside(read_entry("s", entry), str(folder)) is is_inside


@pytest.mark.parametrize(
    ("line", "modules", "folders"),
    [
        ("node .", (), (".",)),
        ("node --watch . rest", (), (".",)),
        ("node --title shop sub rest", (), ("shop", "sub")),
        ("node --require=./x.js sub", (), ("sub",)),
        ("node server.js .", (), ("server.js",)),
        ("python3.12 -u sub", (), ("sub",)),
        ("python -m server .", ("server",), ("server", ".")),
        ("python.exe -um server", ("server",), ("server",)),
        ("python -mserver", ("server",), ()),
        ("python -m", (), ()),
        ("bun run sub", (), ("run",)),
        ("npx -m x .", (), ()),
    ],
)
def test_modules_and_folders_that_an_interpreter_runs_are_found(line: str, modules: tuple[str, ...], folders: tuple[str, ...]) -> None:
    command, *args = line.split()
    assert runs_by_name(MCPServerConfig(command=command, args=tuple(args))) == (modules, folders)


PACKAGE = {
    "main": "lib/main",
    "bin": {"it": "bin/it.js"},
    "scripts": {"go": "NODE_ENV=x node ./srv.js && sh -c 'exec python3 tool.py'", "loop": "npm run loop", "odd": 5},
}


@pytest.mark.parametrize(
    ("command", "words", "found"),
    [
        ("sh", ["-c", "exec python3 ./srv.py"], {"srv.py"}),
        ("/bin/bash", ["-lc", "cd . && A=1 python3 srv.py; node srv.js"], {"srv.py", "srv.js"}),
        ("sh", ["-c", "python3 'srv.py"], set()),
        ("sh", ["-c", "A=1"], set()),
        ("npm", ["run", "go"], {"package.json", "srv.js", "tool.py"}),
        ("npm", ["run", "loop"], {"package.json"}),
        ("sh", ["-c", "npm run go"], {"package.json", "srv.js", "tool.py"}),
        ("node", ["."], {"package.json", "lib/main.js", "bin/it.js"}),
        ("make", ["serve"], {"Makefile"}),
    ],
)
def test_what_a_line_starts_is_found(tmp_path: Path, command: str, words: list[str], found: set[str]) -> None:
    for name in ("srv.py", "srv.js", "tool.py", "lib/main.js", "bin/it.js", "Makefile"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    (tmp_path / "package.json").write_text(json.dumps(PACKAGE))
    started = started_files(MCPServerConfig(command=command, args=tuple(words)), os.path.realpath(tmp_path))
    assert {name.replace(os.sep, "/") for name in started} == found


@pytest.mark.parametrize("package", ["no json", [], {"scripts": 5, "bin": "b.js"}])
def test_a_package_that_cannot_be_read_names_nothing(tmp_path: Path, package: Any) -> None:
    (tmp_path / "package.json").write_text(package if isinstance(package, str) else json.dumps(package))
    for command, words in (("npm", ("run", "go")), ("node", (".",))):
        started = started_files(MCPServerConfig(command=command, args=words), os.path.realpath(tmp_path))
        assert set(started) == {"package.json"}


@pytest.mark.parametrize(("command", "words", "is_other"), [("sh", ("-c", "run"), True), ("node", (".",), True), ("p", ("a.py",), False)])
def test_where_not_all_can_be_covered_it_is_known(tmp_path: Path, command: str, words: tuple[str, ...], is_other: bool) -> None:
    (tmp_path / "package.json").write_text('{"main": "a.js"}')
    (tmp_path / "a.js").write_text("")
    assert starts_others(MCPServerConfig(command=command, args=words), os.path.realpath(tmp_path)) is is_other
