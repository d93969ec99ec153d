"""version_control.py: files that their person commits."""

from pathlib import Path

import pytest
from tests.fakes.client_files import put

from tooltray.sources.clients.version_control import MARKS, WorkTrees


@pytest.mark.parametrize("mark", MARKS)
def test_a_file_in_a_work_tree_is_known(tmp_path: Path, mark: str) -> None:
    file = put(tmp_path / "p/a/b/file", "")
    assert not WorkTrees().holds(file)
    (tmp_path / "p" / mark).mkdir()
    trees = WorkTrees()
    assert trees.holds(file)
    assert trees.holds(file.with_name("other"))
    assert not trees.holds(tmp_path / "file")


@pytest.mark.posix
def test_a_link_into_a_work_tree_counts(tmp_path: Path) -> None:
    real = put(tmp_path / "dotfiles/mcp.json", "")
    (tmp_path / "dotfiles/.git").write_text("gitdir: elsewhere")
    (tmp_path / "mcp.json").symlink_to(real)
    assert WorkTrees().holds(tmp_path / "mcp.json")
