"""foreign_configs/client_entries.py: our entries leave AI clients' configs."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.client_files import BRIDGE as OURS
from tests.fakes.client_files import put as write
from tests.fakes.modes import has_mode

from tooltray.errors import TooltrayError
from tooltray.files.edited_files import EditedFiles
from tooltray.foreign_configs.client_entries import ClientEntry, remove_entry


def found(home: Path, *names: str) -> list[ClientEntry]:
    return [ClientEntry("Cursor", home / ".cursor/mcp.json", ("mcpServers", name)) for name in names or ("tooltray",)]


def test_two_entries_go_one_after_the_other_and_the_file_is_kept_as_it_was(tmp_path: Path) -> None:
    ours = json.dumps(OURS)
    content = f'{{\n  // mine\n  "mcpServers": {{"a": {ours}, "b": {ours}}},\n  "x": 1.50\n}}\n'
    file = write(tmp_path / ".cursor/mcp.json", content)
    file.chmod(0o640)
    kept = [remove_entry(entry) for entry in found(tmp_path, "a", "b")]
    assert file.read_text() == '{\n  // mine\n  "mcpServers": {},\n  "x": 1.50\n}\n'
    assert has_mode(file, 0o640)
    assert {path.read_text() for path in kept} == {content}


@pytest.mark.posix
def test_a_link_stays_a_link(tmp_path: Path) -> None:
    real = write(tmp_path / "dotfiles/mcp.json", {"mcpServers": {"tooltray": OURS}})
    link = tmp_path / ".cursor/mcp.json"
    link.parent.mkdir()
    link.symlink_to(real)
    remove_entry(found(tmp_path)[0])
    assert link.is_symlink()
    assert json.loads(real.read_text()) == {"mcpServers": {}}


def test_a_file_that_changed_meanwhile_is_left_alone(tmp_path: Path) -> None:
    file = write(tmp_path / ".cursor/mcp.json", {"mcpServers": {"tooltray": OURS}})
    [entry] = found(tmp_path)
    file.write_text("{}")
    with pytest.raises(TooltrayError, match="there is no mcpServers"):
        remove_entry(entry)
    file.unlink()
    with pytest.raises(TooltrayError, match="No such file"):
        remove_entry(entry)


def test_a_client_that_is_just_saving_is_waited_for(tmp_path: Path) -> None:
    file = write(tmp_path / ".cursor/mcp.json", {"mcpServers": {"tooltray": OURS}})
    [entry] = found(tmp_path)
    whole = file.read_text().replace("{", '{"theirs": 1, ', 1)
    file.write_text("")
    remove_entry(entry, EditedFiles(pause=lambda _: file.write_text(whole) and None))
    assert json.loads(file.read_text()) == {"theirs": 1, "mcpServers": {}}


def test_a_client_that_saves_all_the_time_is_left_alone(tmp_path: Path) -> None:
    file = write(tmp_path / ".cursor/mcp.json", {"mcpServers": {"tooltray": OURS}})
    [entry] = found(tmp_path)

    class Busy(EditedFiles):
        def replace(self, *args: Any, **about: Any) -> None:
            file.write_text(file.read_text() + " ")
            super().replace(*args, **about)

    with pytest.raises(TooltrayError, match="again and again"):
        remove_entry(entry, Busy(pause=lambda _: None))
    assert "tooltray" in file.read_text()


def test_an_entry_that_stands_there_twice_is_for_the_person(tmp_path: Path) -> None:
    ours = json.dumps(OURS)
    file = write(tmp_path / ".cursor/mcp.json", f'{{"mcpServers": {{"t": {ours}, "t": {ours}}}}}')
    before = file.read_text()
    with pytest.raises(TooltrayError, match="would change more"):
        remove_entry(found(tmp_path, "t")[0])
    assert file.read_text() == before
