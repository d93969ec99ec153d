"""views/client_profiles.py and the data that come with Tooltray"""

from pathlib import Path

import pytest

from tooltray.resources import resource
from tooltray.views.client_profiles import ClientProfiles, read_client_profiles


@pytest.fixture(scope="module")
def shipped() -> ClientProfiles:
    return read_client_profiles(resource("client-profiles.json"))


@pytest.mark.parametrize(
    ("name", "title", "obeys_changes", "tool_cap"),
    [
        ("claude-code", "Claude Code", True, None),
        ("codex-mcp-client", "Codex", False, None),
        ("cursor-vscode", "Cursor", None, 40),
        ("Visual Studio Code", "VS Code", True, 128),
        ("qwen-cli-mcp-client-files", "Qwen Code", None, None),
        ("windsurf-client", "Windsurf", True, 100),
        ("Windsurf", "Windsurf", True, 100),
    ],
)
def test_a_client_is_known_by_the_name_that_it_gives_itself(
    shipped: ClientProfiles, name: str, title: str, obeys_changes: bool | None, tool_cap: int | None
) -> None:
    found = shipped.find(name)

    assert found is not None
    assert (found.title, found.obeys_changes, found.tool_cap) == (title, obeys_changes, tool_cap)


@pytest.mark.parametrize("name", ["", "Claude-Code", "claude-code-2", "my qwen-cli-mcp-client-files", "*"])
def test_nothing_is_known_of_others(shipped: ClientProfiles, name: str) -> None:
    assert shipped.find(name) is None


def test_each_kind_of_client_says_where_it_is_known_from_and_no_name_is_two(shipped: ClientProfiles) -> None:
    profiles = list(shipped)
    names = [name for each in profiles for name in each.names]

    assert all(each.note and each.title for each in profiles)
    assert len(names) == len(set(names))


def test_a_file_that_is_none_is_no_installation(tmp_path: Path) -> None:
    (tmp_path / "profiles.json").write_text('{"clients": [{"names": ["x"]}]}')

    with pytest.raises(ValueError, match="title"):
        read_client_profiles(tmp_path / "profiles.json")
