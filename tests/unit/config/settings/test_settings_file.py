import itertools
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.editor_saves import Save, save_by_rename, save_in_place
from tests.fakes.full_disk import full_disk
from tests.fakes.modes import has_mode

from tooltray.config.settings.document import CURRENT_VERSION, Document
from tooltray.config.settings.settings_file import MAX_SETTINGS_BYTES, Loaded, SettingsFile
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.files.edited_files import EditedFiles

TODAY = {"version": CURRENT_VERSION}
HASTY = EditedFiles(pause=lambda _: None)
ONE_SERVER = TODAY | {"mcpServers": {"a": {"command": "x"}}}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "settings.json"


def put(path: Path, document: Any) -> bytes:
    path.write_text(json.dumps(document))
    return path.read_bytes()


def load(path: Path) -> Loaded:
    return SettingsFile(path, ("hub",), HASTY).load()


def pause(document: Document) -> None:
    document["mcpEnabled"] = False


def opened(path: Path) -> tuple[SettingsFile, Loaded]:
    file = SettingsFile(path, (), HASTY)
    return file, file.load()


def paused(path: Path) -> None:
    file, loaded = opened(path)
    file.change(loaded, pause)


def titles(loaded: Loaded) -> list[str]:
    return [problem.title for problem in loaded.notices]


def others(path: Path) -> list[Path]:
    return sorted(entry for entry in path.parent.iterdir() if entry.name != "settings.json")


def broken_copy(path: Path) -> bytes:
    (copy,) = others(path)
    assert re.fullmatch(r"settings\.json\.broken-\d{8}T\d{6}Z", copy.name)
    return copy.read_bytes()


def test_a_missing_file_means_defaults_and_is_not_made(path: Path) -> None:
    loaded = load(path)
    assert loaded == Loaded()
    assert not path.exists()


def test_a_file_of_today_is_read_and_left_alone(path: Path) -> None:
    content = put(path, ONE_SERVER)
    loaded = load(path)
    assert list(loaded.reading.settings.mcp_servers) == ["a"]
    assert (loaded.notices, path.read_bytes(), others(path)) == ((), content, [])


def test_a_byte_order_mark_is_accepted(path: Path) -> None:
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(ONE_SERVER).encode())
    assert load(path).notices == ()


@pytest.mark.parametrize("content", [b"", b" \n"])
def test_an_empty_file_is_told_and_written_over(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    file, loaded = opened(path)
    assert titles(loaded) == ["The settings are empty"]
    file.change(loaded, pause)
    assert json.loads(path.read_bytes()) == TODAY | {"mcpEnabled": False}
    assert others(path) == []


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"[]", "the file must be an object"),
        (b'"text"', "the file must be an object"),
        (b'{"mcpServers": {', "line 1, column 17"),
        (b"\xff\xfe{\x00", "not UTF-8"),
        (b"\x00" * 100, "line 1, column 1"),
        (b"[" * 100_000, "nested too deeply"),
    ],
)
def test_a_broken_file_is_set_aside_and_told(path: Path, content: bytes, reason: str) -> None:
    path.write_bytes(content)
    loaded = load(path)
    assert titles(loaded) == ["The settings were broken and have been set aside"]
    assert reason in loaded.notices[0].message
    assert str(others(path)[0]) in loaded.notices[0].message
    assert broken_copy(path) == content
    assert not path.exists()
    assert load(path).notices == ()


def test_a_second_broken_file_does_not_replace_the_first(path: Path) -> None:
    for content in (b"first", b"second", b"third"):
        path.write_bytes(content)
        load(path)
    assert {copy.read_bytes() for copy in others(path)} == {b"first", b"second", b"third"}


@pytest.mark.posix
def test_a_broken_file_behind_a_link_is_set_aside_and_the_link_stays(tmp_path: Path, path: Path) -> None:
    folder = tmp_path / "dotfiles"
    folder.mkdir()
    (folder / "tray.json").write_bytes(b"broken")
    path.symlink_to(folder / "tray.json")
    paused(path)
    assert path.is_symlink()
    assert json.loads((folder / "tray.json").read_bytes()) == TODAY | {"mcpEnabled": False}
    assert any(entry.name.startswith("tray.json.broken-") for entry in folder.iterdir())


def test_a_folder_in_its_place_is_told_and_nothing_is_written(path: Path) -> None:
    path.mkdir()
    file, loaded = opened(path)
    assert [problem.message for problem in loaded.notices] == [f"{path}: it is a folder"]
    with pytest.raises(TooltrayError, match="it is a folder"):
        file.change(loaded, pause)


@pytest.mark.posix
def test_a_pipe_in_its_place_does_not_block(path: Path) -> None:
    os.mkfifo(path)
    assert load(path).notices[0].message == f"{path}: it is not a regular file"


@pytest.mark.posix
def test_a_file_that_cannot_be_read_is_not_overwritten(path: Path) -> None:
    path.symlink_to(path)
    file, loaded = opened(path)
    assert titles(loaded) == ["The settings cannot be read"]
    with pytest.raises(TooltrayError, match="Too many levels of symbolic links"):
        file.change(loaded, pause)
    path.unlink()
    put(path, ONE_SERVER)
    assert file.change(loaded, pause).reading.settings.mcp_servers.keys() == {"a"}


def test_a_file_of_an_absurd_size_is_not_read(path: Path) -> None:
    path.touch()
    os.truncate(path, MAX_SETTINGS_BYTES + 1)
    assert "it has 64 MB" in load(path).notices[0].message
    assert path.stat().st_size == MAX_SETTINGS_BYTES + 1


def test_a_file_of_50_mb_works(path: Path) -> None:
    put(path, ONE_SERVER | {"notes": "x" * 50_000_000})
    assert list(load(path).reading.settings.mcp_servers) == ["a"]


def test_settings_of_that_size_are_not_made(path: Path) -> None:
    content = put(path, ONE_SERVER)
    file = SettingsFile(path, (), HASTY)
    with pytest.raises(TooltrayError, match="they would have 64 MB"):
        file.change(file.load(), lambda document: document.update(notes="x" * MAX_SETTINGS_BYTES))
    assert path.read_bytes() == content


def test_a_change_without_a_json_form_is_refused(path: Path) -> None:
    content = put(path, ONE_SERVER)
    file = SettingsFile(path, (), HASTY)
    with pytest.raises(TooltrayError, match="a set in it has no JSON form"):
        file.change(file.load(), lambda document: document.update(notes={1}))
    assert path.read_bytes() == content


def test_an_older_file_is_copied_and_migrated_at_once(path: Path) -> None:
    content = put(path, {"mcpServers": {"a": {"command": "x"}}, "theme": "dark"})
    loaded = load(path)
    assert json.loads(path.read_bytes()) == loaded.document == ONE_SERVER | {"theme": "dark"}
    assert [(copy.name, copy.read_bytes()) for copy in others(path)] == [("settings.json.v0.bak", content)]
    assert (loaded.notices, loaded.is_migrated) == ((), False)


def test_a_later_older_file_gets_a_copy_of_its_own_and_the_same_one_does_not(path: Path) -> None:
    for document in ({"mcpServers": {}}, {"mcpServers": {}}, {"mcpEnabled": True}):
        put(path, document)
        load(path)
    assert [copy.name for copy in others(path)] == ["settings.json.v0.bak", "settings.json.v0.bak-2"]


def test_a_migration_that_cannot_be_written_is_used_and_told_and_made_up_for(path: Path) -> None:
    content = put(path, {"mcpServers": {"a": {"command": "x"}}})
    obstacle = path.with_name("settings.json.v0.bak")
    obstacle.mkdir()
    file, loaded = opened(path)
    assert titles(loaded) == ["The settings could not be written"]
    assert (list(loaded.reading.settings.mcp_servers), path.read_bytes()) == (["a"], content)
    obstacle.rmdir()
    file.change(loaded, pause)
    assert obstacle.read_bytes() == content
    assert json.loads(path.read_bytes())["version"] == CURRENT_VERSION


def test_a_newer_file_is_used_and_never_written(path: Path) -> None:
    content = put(path, ONE_SERVER | {"version": CURRENT_VERSION + 1})
    file, loaded = opened(path)
    assert titles(loaded) == ["The settings come from a newer Tooltray"]
    assert list(loaded.reading.settings.mcp_servers) == ["a"]
    with pytest.raises(TooltrayError, match="this Tooltray knows versions up to 1"):
        file.change(loaded, pause)
    assert (path.read_bytes(), others(path)) == (content, [])


def test_a_file_that_became_newer_meanwhile_is_not_written_either(path: Path) -> None:
    put(path, ONE_SERVER)
    file, loaded = opened(path)
    content = put(path, {"version": 99})
    with pytest.raises(TooltrayError, match="has version 99"):
        file.change(loaded, pause)
    assert path.read_bytes() == content


def test_a_name_given_twice_is_told_and_kept_in_a_copy_before_the_first_change(path: Path) -> None:
    content = b'{"version": 1, "mcpServers": {"a": {"command": "lost"}, "a": {"command": "used"}}}'
    path.write_bytes(content)
    file, loaded = opened(path)
    assert titles(loaded) == ["The settings give a name twice"]
    assert others(path) == []
    loaded = file.change(loaded, pause)
    assert broken_copy(path) == content
    assert titles(loaded) == ["The settings give a name twice"]
    file.change(loaded, pause)
    assert broken_copy(path) == content


def test_a_change_keeps_what_it_does_not_touch(path: Path) -> None:
    path.write_text('{"version": 1, "x": [1e400, {"\\ud800": null}], "mcpServers": {"bad": 3}, "big": 0.1000000000000000055}')
    before = path.read_text()
    paused(path)
    after = path.read_text()
    assert json.loads(after) == json.loads(before) | {"mcpEnabled": False}
    assert "1E+400" in after
    assert "0.1000000000000000055" in after


@given(st.dictionaries(st.text(max_size=5), st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists, max_leaves=5)))
def test_any_unknown_fields_survive_a_change(tmp_path_factory: pytest.TempPathFactory, fields: dict[str, Any]) -> None:
    path = tmp_path_factory.mktemp("home") / "settings.json"
    put(path, fields | ONE_SERVER)
    paused(path)
    assert json.loads(path.read_bytes()) == fields | ONE_SERVER | {"mcpEnabled": False}


def test_a_change_that_fails_leaves_everything(path: Path) -> None:
    content = put(path, ONE_SERVER)
    file, loaded = opened(path)

    def fail(document: Document) -> None:
        document.clear()
        raise TooltrayError("no")

    with pytest.raises(TooltrayError, match="no"):
        file.change(loaded, fail)
    assert path.read_bytes() == content
    assert loaded.document == ONE_SERVER


def test_an_edit_by_somebody_else_is_kept_under_the_change(path: Path) -> None:
    put(path, ONE_SERVER)
    file, loaded = opened(path)
    put(path, TODAY | {"mcpServers": {"b": {"command": "y"}}})
    loaded = file.change(loaded, pause)
    assert json.loads(path.read_bytes()) == TODAY | {"mcpServers": {"b": {"command": "y"}}, "mcpEnabled": False}
    assert list(loaded.reading.settings.mcp_servers) == ["b"]


@pytest.mark.parametrize("save", [save_in_place, save_by_rename])
def test_a_save_in_the_middle_of_a_change_is_kept_and_the_change_is_made_to_it(path: Path, save: Save) -> None:
    put(path, ONE_SERVER)
    file = SettingsFile(path, (), HASTY)
    saves = iter([TODAY | {"note": "of a person"}])

    def edit(document: Document) -> None:
        for document_of_person in saves:
            save(path, json.dumps(document_of_person).encode())
        pause(document)

    loaded = file.change(file.load(), edit)
    assert json.loads(path.read_bytes()) == loaded.document == TODAY | {"note": "of a person", "mcpEnabled": False}
    assert others(path) == []


@pytest.mark.parametrize("save", [save_in_place, save_by_rename])
def test_a_file_that_is_half_written_is_waited_for(path: Path, save: Save) -> None:
    put(path, ONE_SERVER)
    loaded = load(path)
    saved = json.dumps(TODAY | {"note": "of a person"}).encode()
    rest = iter([saved[:10], saved[:10], saved])
    path.write_bytes(b"")
    file = SettingsFile(path, (), EditedFiles(pause=lambda _: save(path, next(rest))))
    assert file.load().document == json.loads(saved)
    rest = iter([saved])
    path.unlink()
    file.change(loaded, pause)
    assert json.loads(path.read_bytes()) == json.loads(saved) | {"mcpEnabled": False}
    assert others(path) == []


def test_a_broken_file_that_is_put_right_while_it_is_set_aside_counts(path: Path) -> None:
    class Late(EditedFiles):
        def move_away(self, *args: Any, **about: Any) -> None:
            if path.read_bytes() == b"{half":
                put(path, TODAY | {"note": "of a person"})
            super().move_away(*args, **about)

    path.write_bytes(b"{half")
    assert SettingsFile(path, (), Late(pause=lambda _: None)).load().document == TODAY | {"note": "of a person"}
    assert others(path) == []


def test_a_program_that_saves_all_the_time_is_told(path: Path) -> None:
    put(path, ONE_SERVER)
    count = itertools.count()
    file = SettingsFile(path, (), HASTY)
    with pytest.raises(TooltrayError, match="another program writes it again and again"):
        file.change(file.load(), lambda _: put(path, TODAY | {"note": next(count)}) and None)
    assert "note" in json.loads(path.read_bytes())


def test_a_change_keeps_the_mode_of_the_file(path: Path) -> None:
    put(path, ONE_SERVER)
    path.chmod(0o640)
    paused(path)
    assert has_mode(path, 0o640)


def test_a_broken_edit_by_somebody_else_is_set_aside_and_what_was_known_goes_on(path: Path) -> None:
    put(path, ONE_SERVER)
    file, loaded = opened(path)
    path.write_bytes(b"{half")
    loaded = file.change(loaded, pause)
    assert broken_copy(path) == b"{half"
    assert json.loads(path.read_bytes()) == ONE_SERVER | {"mcpEnabled": False}
    assert titles(loaded) == ["The settings were broken and have been set aside"]


@pytest.mark.parametrize("content", [None, b""])
def test_a_file_that_vanished_or_was_emptied_is_written_again_from_memory(path: Path, content: bytes | None) -> None:
    put(path, ONE_SERVER)
    file, loaded = opened(path)
    path.unlink() if content is None else path.write_bytes(content)
    file.change(loaded, pause)
    assert json.loads(path.read_bytes()) == ONE_SERVER | {"mcpEnabled": False}


@pytest.mark.posix
def test_a_broken_file_that_cannot_be_set_aside_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / ("x" * 250)  # one character more than leaves room for the suffix
    path.write_bytes(b"broken")
    file, loaded = opened(path)
    assert titles(loaded) == ["The settings are broken"]
    assert "could not be renamed: File name too long" in loaded.notices[0].message
    with pytest.raises(TooltrayError, match="could not be renamed"):
        file.change(loaded, pause)
    assert path.read_bytes() == b"broken"


def test_a_full_disk_is_told_and_the_old_content_stays(path: Path) -> None:
    content = put(path, ONE_SERVER)
    file, loaded = opened(path)
    with full_disk(), pytest.raises(TooltrayError, match="The settings could not be written") as caught:
        file.change(loaded, lambda document: document.update(notes="x" * 10_000))
    assert caught.value.problem.hint == "Free some space on that disk; nothing was changed"
    assert (path.read_bytes(), others(path)) == (content, [])


def test_a_file_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    file = SettingsFile(tmp_path / "missing/settings.json", (), HASTY)
    with pytest.raises(TooltrayError, match="The settings could not be written") as caught:
        file.change(file.load(), pause)
    assert caught.value.problem.hint == "Make it writable; nothing was changed"
