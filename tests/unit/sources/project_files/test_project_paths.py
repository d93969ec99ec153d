"""project_paths.py: whether a program lies in the project, and who can change it."""

from pathlib import Path
from typing import Any

import pytest

from tooltray.config.settings.given_entries import read_entry
from tooltray.foundation.errors import Denied
from tooltray.sources.project_files.project_paths import MOST_WORDS, check_stays_inside, found_inside, is_writable_by_others


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


@pytest.mark.posix
def test_a_link_within_the_project_is_followed_and_one_out_of_it_is_not(tmp_path: Path) -> None:
    folder = tmp_path.resolve() / "shop"
    folder.mkdir()
    check_stays_inside(str(folder))
    (folder / "mcp.json").write_text("{}")
    (folder / ".mcp.json").symlink_to("mcp.json")
    check_stays_inside(str(folder))
    (folder / ".mcp.json").unlink()
    (folder / ".mcp.json").symlink_to(tmp_path / "elsewhere.json")
    with pytest.raises(Denied, match="leads out of the project"):
        check_stays_inside(str(folder))


@pytest.mark.posix
def test_a_file_is_others_when_one_of_the_bits_lets_them_write(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    file.chmod(0o620)
    assert is_writable_by_others(str(file), 0o022)
    assert not is_writable_by_others(str(file), 0o002)
    assert not is_writable_by_others(str(tmp_path / "no such file"), 0o777)
