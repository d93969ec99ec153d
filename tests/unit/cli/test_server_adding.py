"""cli/server_adding.py: what is written into a project's own file."""

from pathlib import Path
from typing import Any

import pytest

from tooltray.cli.server_adding import project_entry


@pytest.mark.parametrize(
    ("entry", "written"),
    [
        ({"command": "npx", "args": ["a"]}, {"command": "npx", "args": ["a"]}),
        ({"command": "{folder}/bin/run"}, {"command": "./bin/run"}),
        ({"command": "/usr/bin/run"}, {"command": "/usr/bin/run"}),
        ({"command": "run", "cwd": "{folder}"}, {"command": "run"}),
        ({"command": "run", "cwd": "{folder}/web"}, {"command": "run", "cwd": "web"}),
        ({"command": "run", "cwd": "/srv"}, {"command": "run", "cwd": "/srv"}),
        ({"url": "https://a.example/mcp"}, {"url": "https://a.example/mcp"}),
    ],
)
def test_what_is_in_the_project_is_named_from_its_folder(tmp_path: Path, entry: dict[str, Any], written: dict[str, Any]) -> None:
    folder = str(tmp_path.resolve())
    entry = {name: value.replace("{folder}", folder) if isinstance(value, str) else value for name, value in entry.items()}
    assert project_entry(entry, folder, is_approval_chosen=False) == written


def test_what_goes_through_unasked_is_written_where_a_person_chose_it(tmp_path: Path) -> None:
    entry = {"command": "run", "autoApprove": ["read"]}
    assert project_entry(entry, str(tmp_path), is_approval_chosen=True) == entry
    assert project_entry(entry, str(tmp_path), is_approval_chosen=False) == {"command": "run"}
