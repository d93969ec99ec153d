"""project_edits.py: a project's own file is written, and nothing of it is lost."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.editor_saves import Save, save_by_rename, save_in_place
from tests.fakes.modes import has_mode

from tooltray.foundation.errors import Conflict, NotFound, TooltrayError
from tooltray.foundation.files import edited_files
from tooltray.foundation.files.edited_files import EditedFiles
from tooltray.foundation.files.file_history import FileHistory
from tooltray.foundation.files.file_swap import exchange
from tooltray.foundation.files.json_text import digest_of, revision_of
from tooltray.sources.project_files import project_servers as module
from tooltray.sources.project_files.project_servers import ProjectEdits

ONE: dict[str, Any] = {"command": "run", "args": ["one"]}
TEXT = '\ufeff{\r\n  // ours\r\n  "mcpServers": {\r\n    "one": {"command": "run",},\r\n  },\r\n  "more": [1,2]\r\n}\r\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path.resolve()


def file(folder: Path) -> Path:
    return folder / ".mcp.json"


async def test_a_file_that_is_not_there_yet_is_made_and_is_the_persons_alone(folder: Path) -> None:
    assert await ProjectEdits().add(str(folder), "one", ONE) == digest_of(ONE)
    assert json.loads(file(folder).read_text()) == {"mcpServers": {"one": ONE}}
    assert has_mode(file(folder), 0o600)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be"])
async def test_all_else_in_the_file_stays_as_it_is(folder: Path, encoding: str) -> None:
    file(folder).write_bytes(TEXT.encode(encoding))
    file(folder).chmod(0o644)
    edits = ProjectEdits()
    await edits.add(str(folder), "two", ONE)
    after = file(folder).read_bytes().decode(encoding)
    assert after.startswith('\ufeff{\r\n  // ours\r\n  "mcpServers": {\r\n    "one": {"command": "run",},\r\n')
    assert after.endswith('  "more": [1,2]\r\n}\r\n')
    assert "\n" not in after.replace("\r\n", "")
    await edits.change(str(folder), "two", {**ONE, "args": []}, revision_of(ONE))
    await edits.remove(str(folder), "two", "")
    assert '"two"' not in file(folder).read_bytes().decode(encoding)
    assert has_mode(file(folder), 0o644)


@pytest.mark.posix
async def test_a_link_stays_a_link(folder: Path) -> None:
    (folder / "mcp.json").write_text("{}")
    file(folder).symlink_to("mcp.json")
    await ProjectEdits().add(str(folder), "one", ONE)
    assert file(folder).is_symlink()
    assert "one" in json.loads((folder / "mcp.json").read_text())["mcpServers"]


async def test_what_is_another_one_by_now_is_not_touched(folder: Path) -> None:
    file(folder).write_text(TEXT, encoding="utf-8", newline="")
    edits, other = ProjectEdits(), revision_of(ONE)
    for work, kind in (
        (edits.add(str(folder), "one", ONE), Conflict),
        (edits.change(str(folder), "one", ONE, other), Conflict),
        (edits.remove(str(folder), "one", other), Conflict),
        (edits.change(str(folder), "two", ONE, ""), NotFound),
        (edits.remove(str(folder), "two", ""), NotFound),
    ):
        with pytest.raises(kind):
            await work
    assert file(folder).read_bytes() == TEXT.encode()


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ({"args": ["x"]}, "neither a command nor a URL"),
        ({"command": "run", "args": ["x" * 1_000_000]}, "its entry has more than"),
    ],
    ids=["no target", "large"],
)
async def test_what_could_not_be_read_again_is_not_written(folder: Path, entry: dict[str, Any], reason: str) -> None:
    with pytest.raises(TooltrayError, match=reason):
        await ProjectEdits().add(str(folder), "one", entry)
    assert not file(folder).exists()


async def test_a_file_that_would_become_too_large_to_be_read_is_not_written(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_FILE_BYTES", 2**20)
    text = json.dumps({"mcpServers": {}, "more": "x" * (2**20 - 100)})
    file(folder).write_text(text)
    with pytest.raises(TooltrayError, match="more than 1 MB"):
        await ProjectEdits().add(str(folder), "one", {"command": "run", "args": ["x" * 200]})
    assert file(folder).read_text() == text


@pytest.mark.parametrize("text", ["{", "[1]", '{"mcpServers": []}'])
async def test_a_file_that_is_not_understood_is_left_to_the_person(folder: Path, text: str) -> None:
    file(folder).write_text(text)
    with pytest.raises(TooltrayError, match="Correct the file by hand"):
        await ProjectEdits().add(str(folder), "one", ONE)
    assert file(folder).read_text() == text


async def test_what_is_no_file_and_a_folder_that_is_gone_are_said(folder: Path) -> None:
    file(folder).mkdir()
    with pytest.raises(TooltrayError, match="it is a folder"):
        await ProjectEdits().add(str(folder), "one", ONE)
    with pytest.raises(TooltrayError, match="No such file"):
        await ProjectEdits().add(str(folder / "gone"), "one", ONE)


async def test_what_another_program_writes_meanwhile_is_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It writes each time that the file has been read, at first: what it wrote is seen, or the change is given up."""
    monkeypatch.setattr(edited_files, "MOST_TRIES", 5)
    pipe = file(folder)
    pipe.write_text("{}")

    class Entry(dict[str, Any]):
        left = 1

        def items(self) -> Any:  # asked for when the new text is made
            if self.left:
                self.left -= 1
                document = json.loads(pipe.read_text())
                document.setdefault("mcpServers", {})[f"other{self.left}"] = ONE
                os.replace(_written(folder, json.dumps(document)), pipe)
            return super().items()

    entry, edits = Entry(ONE), ProjectEdits(files=EditedFiles(pause=lambda _: None))
    await edits.add(str(folder), "one", entry)
    assert set(json.loads(pipe.read_text())["mcpServers"]) == {"one", "other0"}
    entry.left = 1000
    with pytest.raises(TooltrayError, match="again and again"):
        await edits.add(str(folder), "two", entry)


def _written(folder: Path, text: str) -> Path:
    path = folder / "new"
    path.write_text(text)
    return path


@pytest.mark.parametrize("save", [save_in_place, save_by_rename])
async def test_what_a_person_saves_in_the_very_moment_is_kept(folder: Path, save: Save) -> None:
    saves = iter([{"mcpServers": {"theirs": ONE}}])

    def save_and_exchange(one: str, other: str) -> bool:
        for document in saves:
            save(file(folder), json.dumps(document).encode())
        return exchange(one, other)

    file(folder).write_text("{}")
    await ProjectEdits(files=EditedFiles(exchange=save_and_exchange)).add(str(folder), "one", ONE)
    assert set(json.loads(file(folder).read_text())["mcpServers"]) == {"one", "theirs"}
    assert [each.name for each in folder.iterdir()] == [file(folder).name]


async def test_a_half_written_file_is_waited_for(folder: Path) -> None:
    file(folder).write_text('{"mcpServers": {')
    whole = json.dumps({"mcpServers": {"theirs": ONE}}).encode()
    await ProjectEdits(files=EditedFiles(pause=lambda _: save_in_place(file(folder), whole))).add(str(folder), "one", ONE)
    assert set(json.loads(file(folder).read_text())["mcpServers"]) == {"one", "theirs"}


async def test_what_was_there_before_is_kept_in_the_history(folder: Path, tmp_path: Path) -> None:
    file(folder).write_text('{"mine": 1}')
    history = FileHistory(tmp_path / "history", clean=lambda content: content)
    await ProjectEdits(history).add(str(folder), "one", ONE)
    assert [each.read_bytes() for each in history.versions(file(folder))] == [b'{"mine": 1}']
