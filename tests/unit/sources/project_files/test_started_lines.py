"""started_lines.py: files that a shell line, a package's scripts or a Makefile start are part of what is allowed."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tooltray.config.settings.server_config import MCPServerConfig
from tooltray.sources.project_files.started_files import started_files
from tooltray.sources.project_files.started_lines import starts_others

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
