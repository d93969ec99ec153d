"""change_writer.py and change_undo.py: a record first, then the file; what is killed or refused in between is found out."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.fakes.ai_client_home import ClientHome
from tests.fakes.full_disk import full_disk

from tooltray.foundation.errors import Conflict, TooltrayError
from tooltray.foundation.files.edited_files import EditedFiles, FileChanged
from tooltray.foundation.files.json_places import CannotRead
from tooltray.sources.clients.change_store import ChangeRecord, ChangeStore
from tooltray.sources.clients.change_writer import ChangeWriter
from tooltray.sources.clients.client_kinds import read_client_kinds
from tooltray.sources.clients.entry_changes import without
from tooltray.sources.clients.file_edits import FileEdit, connecting, disconnecting, removing

CURSOR = ".cursor/mcp.json"
BEFORE = '{"mcpServers": {"a": {"command": "x"}}}'
KINDS = {kind.id: kind for kind in read_client_kinds()}


@pytest.fixture
def home(tmp_path: Path) -> ClientHome:
    return ClientHome(tmp_path)


@pytest.fixture
def store(home: ClientHome) -> ChangeStore:
    return ChangeStore(home.home.client_changes)


def _connect(home: ClientHome, client: str = "cursor") -> FileEdit:
    return next(connecting(KINDS[client], home.look_now(), home.own, home.environ))


def _disconnect(home: ClientHome, client: str = "cursor") -> FileEdit:
    return next(disconnecting(KINDS[client], home.look_now()))


class Killed(BaseException):
    """The process ends here."""


def _files_that(before: Callable[[], None] = lambda: None, after: Callable[[], None] = lambda: None) -> EditedFiles:
    class Files(EditedFiles):
        def replace(self, path: Path, data: bytes, *, based_on: str, new_mode: int = 0o600) -> None:
            before()
            super().replace(path, data, based_on=based_on, new_mode=new_mode)
            after()

    return Files(pause=lambda seconds: None)


def _kill() -> None:
    raise Killed


def test_killed_before_the_file_was_written_no_change_is_claimed(home: ClientHome, store: ChangeStore) -> None:
    file = home.write(CURSOR, BEFORE)
    with pytest.raises(Killed):
        ChangeWriter(store, _files_that(before=_kill)).make(_connect(home), None)
    assert file.read_text() == BEFORE
    assert ChangeWriter(store).changes() == []  # it has only begun
    ChangeWriter(store).settle()
    assert store.all() == []


@pytest.mark.parametrize("later", ["", "\n"])
def test_killed_after_the_file_was_written_the_change_is_known(home: ClientHome, store: ChangeStore, later: str) -> None:
    file = home.write(CURSOR, BEFORE)
    with pytest.raises(Killed):
        ChangeWriter(store, _files_that(after=_kill)).make(_connect(home), None)
    file.write_text(file.read_text() + later)  # the client may have written it since
    writer = ChangeWriter(store)
    writer.settle()
    ((record, undo),) = writer.changes()
    assert (record.state, undo) == ("made", "entries" if later else "exact")
    writer.undo(record, None)
    assert json.loads(file.read_text()) == json.loads(BEFORE)


def test_killed_and_the_file_rewritten_without_the_entry_no_change_is_claimed(home: ClientHome, store: ChangeStore) -> None:
    file = home.write(CURSOR, BEFORE)
    with pytest.raises(Killed):
        ChangeWriter(store, _files_that(after=_kill)).make(_connect(home), None)
    file.write_text("{}")
    ChangeWriter(store).settle()
    assert store.all() == []


def test_killed_while_undoing_what_was_undone_is_known(home: ClientHome, store: ChangeStore) -> None:
    file = home.write(CURSOR, BEFORE)
    record = ChangeWriter(store).make(_connect(home), None)
    with pytest.raises(Killed):
        ChangeWriter(store, _files_that(before=_kill)).undo(record, None)
    ChangeWriter(store).settle()
    assert [each.state for each in store.all()] == ["made"]
    with pytest.raises(Killed):
        ChangeWriter(store, _files_that(after=_kill)).undo(record, None)
    assert file.read_text() == BEFORE
    ChangeWriter(store).settle()
    assert [(each.action, each.state) for each in store.all()] == [("undo", "made"), ("connect", "undone")]


def test_killed_while_undoing_and_rewritten_since_the_undoing_is_forgotten(home: ClientHome, store: ChangeStore) -> None:
    file = home.write(CURSOR, BEFORE)
    record = ChangeWriter(store).make(_connect(home), None)
    with pytest.raises(Killed):
        ChangeWriter(store, _files_that(after=_kill)).undo(record, None)
    file.write_text("{}")
    ChangeWriter(store).settle()
    assert [(each.action, each.state) for each in store.all()] == [("connect", "made")]


def test_what_cannot_be_read_now_is_found_out_later(home: ClientHome, store: ChangeStore) -> None:
    file = home.write(CURSOR, BEFORE)
    with pytest.raises(Killed):
        ChangeWriter(store, _files_that(after=_kill)).make(_connect(home), None)
    written = file.read_text()
    file.write_text("{")
    ChangeWriter(store).settle()
    assert [each.state for each in store.all()] == ["begun"]
    file.write_text(written)
    ChangeWriter(store).settle()
    assert [each.state for each in store.all()] == ["made"]


def test_a_full_disk_changes_nothing(home: ClientHome, store: ChangeStore) -> None:
    before = json.dumps({"mcpServers": {}, "padding": "x" * 20_000})
    file = home.write(CURSOR, before)
    with full_disk(), pytest.raises(TooltrayError, match="copy from before the change cannot be written"):
        ChangeWriter(store).make(_connect(home), None)
    assert file.read_text() == before
    assert store.all() == []
    assert list(home.home.client_changes.glob("*.backup")) == []


def test_a_file_that_cannot_be_written_leaves_no_record(home: ClientHome, store: ChangeStore) -> None:
    def refuse() -> None:
        raise PermissionError(13, "Permission denied")

    edit = _connect(home)
    with pytest.raises(TooltrayError, match="Permission denied"):
        ChangeWriter(store, _files_that(before=refuse)).make(edit, None)
    assert store.all() == []
    assert not (home.root / ".cursor").exists()  # the folder that was made for it is gone again


def test_a_save_between_reading_and_writing_wins(home: ClientHome, store: ChangeStore) -> None:
    file = home.write(CURSOR, BEFORE)
    with pytest.raises(Conflict, match="has changed since"):
        ChangeWriter(store, _files_that(before=lambda: file.write_text("{}") and None)).make(_connect(home), None)
    assert file.read_text() == "{}"
    assert store.all() == []


def test_a_save_between_reading_and_undoing_wins(home: ClientHome, store: ChangeStore) -> None:
    file = home.write(CURSOR, BEFORE)
    record = ChangeWriter(store).make(_connect(home), None)
    with pytest.raises(Conflict):
        ChangeWriter(store, _files_that(before=lambda: file.write_text("{}") and None)).undo(record, None)
    assert file.read_text() == "{}"
    assert [each.state for each in store.all()] == ["made"]


def test_a_file_that_somebody_removed_counts_as_undone(home: ClientHome, store: ChangeStore) -> None:
    record = ChangeWriter(store).make(_connect(home), None)
    (home.root / CURSOR).unlink()
    ChangeWriter(store).undo(record, None)
    assert store.get(record.id).state == "undone"
    assert not (home.root / CURSOR).exists()


def test_an_entry_that_somebody_took_out_counts_as_undone(home: ClientHome, store: ChangeStore) -> None:
    file = home.write(CURSOR, BEFORE)
    record = ChangeWriter(store).make(_connect(home), None)
    file.write_text('{"mcpServers": {}}')
    ((_, undo),) = ChangeWriter(store).changes()
    assert undo == "none"
    ChangeWriter(store).undo(record, None)
    assert file.read_text() == '{"mcpServers": {}}'


def test_an_entry_that_a_person_has_added_to_is_ours_still(home: ClientHome, store: ChangeStore) -> None:
    file = home.write(CURSOR, BEFORE)
    record = ChangeWriter(store).make(_connect(home), None)
    document = json.loads(file.read_text())
    document["mcpServers"]["tooltray"]["env"] = {"A": "b"}
    file.write_text(json.dumps(document))
    ChangeWriter(store).undo(record, None, own_url=home.own.url)
    assert json.loads(file.read_text()) == json.loads(BEFORE)


def test_an_entry_that_is_another_server_by_now_stays(home: ClientHome, store: ChangeStore) -> None:
    file = home.write(CURSOR, BEFORE)
    record = ChangeWriter(store).make(_connect(home), None)
    file.write_text(other := '{"mcpServers": {"tooltray": {"command": "theirs"}}}')
    with pytest.raises(Conflict, match="is another server by now"):
        ChangeWriter(store).undo(record, None)
    assert file.read_text() == other


def test_what_was_taken_out_does_not_replace_what_came_since(home: ClientHome, store: ChangeStore) -> None:
    file = home.write(CURSOR, BEFORE)
    ChangeWriter(store).make(_connect(home), None)
    record = ChangeWriter(store).make(_disconnect(home), None)
    file.write_text(other := '{"mcpServers": {"tooltray": {"command": "theirs"}}}')
    with pytest.raises(Conflict, match="there is another entry"):
        ChangeWriter(store).undo(record, None)
    assert file.read_text() == other


def test_without_the_copy_what_was_taken_out_cannot_be_put_back(home: ClientHome, store: ChangeStore) -> None:
    file = home.write(CURSOR, BEFORE)
    (entry,) = home.look_now().files(KINDS["cursor"])[0].entries
    record = ChangeWriter(store).make(next(removing([entry])), None)
    next(home.home.client_changes.glob("*.backup")).unlink()
    ((_, undo),) = ChangeWriter(store).changes()
    assert undo == "none"
    with pytest.raises(TooltrayError, match="cannot be read"):
        ChangeWriter(store).undo(record, None)
    assert json.loads(file.read_text()) == {"mcpServers": {}}


def test_an_unreadable_file_is_not_undone(home: ClientHome, store: ChangeStore) -> None:
    file = home.write(CURSOR, BEFORE)
    record = ChangeWriter(store).make(_connect(home), None)
    file.write_text("{")
    ((_, undo),) = ChangeWriter(store).changes()
    assert undo == "none"
    with pytest.raises(TooltrayError, match="cannot be read"):
        ChangeWriter(store).undo(record, None)


def test_holders_that_were_made_go_and_those_with_more_in_them_stay(home: ClientHome, store: ChangeStore) -> None:
    file = home.write(CURSOR, '{"x": 1}')
    record = ChangeWriter(store).make(_connect(home), None)
    document = json.loads(file.read_text())
    file.write_text(json.dumps(document | {"y": 2}))
    ChangeWriter(store).undo(record, None)
    assert json.loads(file.read_text()) == {"x": 1, "y": 2}
    record = ChangeWriter(store).make(_connect(home), None)
    document = json.loads(file.read_text())
    document["mcpServers"]["b"] = {"command": "y"}
    file.write_text(json.dumps(document))
    ChangeWriter(store).undo(record, None)
    assert json.loads(file.read_text()) == {"x": 1, "y": 2, "mcpServers": {"b": {"command": "y"}}}


def test_a_yaml_list_that_was_made_goes_with_its_item(home: ClientHome, store: ChangeStore) -> None:
    file = home.write(".continue/config.yaml", "name: mine\n")
    record = ChangeWriter(store).make(_connect(home, "continue"), None)
    file.write_text(file.read_text() + "# later\n")
    ChangeWriter(store).undo(record, None)
    assert file.read_text() == "name: mine\n# later\n"


def test_what_the_clients_own_command_did_is_recorded_as_it_is(home: ClientHome, store: ChangeStore) -> None:
    file = home.write(".claude.json", "{}")
    edit = _connect(home, "claude-code")
    writer = ChangeWriter(store)
    file.write_text(json.dumps(json.loads(edit.text) | {"theirs": 1}))
    record = writer.end_elsewhere(writer.begin(edit, None))
    assert record is not None
    assert writer.changes()[0][1] == "exact"
    writer.undo(record, None)
    assert file.read_text() == "{}"


@pytest.mark.parametrize("after", ["{}", '{"theirs": 1}', "{"])
def test_what_the_clients_own_command_did_not_do_is_forgotten(home: ClientHome, store: ChangeStore, after: str) -> None:
    file = home.write(".claude.json", "{}")
    edit = _connect(home, "claude-code")
    writer = ChangeWriter(store)
    record = writer.begin(edit, None)
    file.write_text(after)
    assert writer.end_elsewhere(record) is None
    assert store.all() == []


def test_nothing_is_repaired_that_was_undone_or_cannot_be_read(home: ClientHome, store: ChangeStore) -> None:
    file = home.write(CURSOR, BEFORE)
    edit = _connect(home)
    writer = ChangeWriter(store)
    record = writer.make(edit, None)
    assert not writer.repair(edit, record.id)
    file.write_text("{")
    assert not writer.repair(edit, record.id)
    assert not writer.repair(edit, "20260101T000000-000000000-abcd")
    file.write_text(edit.text)
    writer.undo(record, None)
    assert not writer.repair(edit, record.id)
    assert file.read_text() == BEFORE


def test_a_record_of_an_undoing_whose_change_is_forgotten_is_kept(home: ClientHome, store: ChangeStore) -> None:
    file = home.write(CURSOR, BEFORE)
    record = ChangeWriter(store).make(_connect(home), None)
    store.drop(record)
    undone: ChangeRecord = ChangeWriter(store).undo(replace(record, has_backup=False), None)
    assert undone.action == "undo"
    assert file.read_text() == BEFORE


def test_a_file_that_is_saved_all_the_time_is_left_alone(home: ClientHome, store: ChangeStore) -> None:
    def saved() -> None:
        raise FileChanged

    file = home.write(CURSOR, BEFORE)
    with pytest.raises(Conflict):
        ChangeWriter(store, _files_that(before=saved)).make(_connect(home), None)
    assert file.read_text() == BEFORE


def test_a_toml_table_that_was_made_goes_and_what_came_since_stays(home: ClientHome, store: ChangeStore) -> None:
    file = home.write(".codex/config.toml", "a = 1\n")
    record = ChangeWriter(store).make(_connect(home, "codex"), None)
    file.write_text("b = 2\n" + file.read_text())
    ChangeWriter(store).undo(record, None)
    assert file.read_text() == "b = 2\na = 1\n"


def test_what_the_copy_does_not_have_cannot_be_put_back(home: ClientHome, store: ChangeStore) -> None:
    file = home.write(CURSOR, BEFORE)
    (entry,) = home.look_now().files(KINDS["cursor"])[0].entries
    record = ChangeWriter(store).make(next(removing([entry])), None)
    file.write_text(file.read_text() + "\n")
    with pytest.raises(Conflict, match="nobody knows"):
        ChangeWriter(store).undo(replace(record, before="", entries=(replace(record.entries[0], is_new=False),)), None)


def test_a_toml_server_is_taken_out_and_put_back_as_it_was(home: ClientHome, store: ChangeStore) -> None:
    file = home.write(".codex/config.toml", before := "[mcp_servers.a]\ncommand = 'x'\nsince = 1979-05-27\n")
    (entry,) = home.look_now().files(KINDS["codex"])[0].entries
    edit = next(removing([entry]))
    assert edit.problem is None
    record = ChangeWriter(store).make(edit, None)
    file.write_text("b = 2\n")
    ChangeWriter(store).undo(record, None)
    assert file.read_text() == 'b = 2\n\n[mcp_servers.a]\ncommand = "x"\nsince = 1979-05-27\n'
    assert before


def test_what_is_not_there_or_cannot_be_read_is_not_taken_out(home: ClientHome, store: ChangeStore) -> None:
    file = home.write(CURSOR, BEFORE)
    (entry,) = home.look_now().files(KINDS["cursor"])[0].entries
    file.write_text("{")
    assert next(removing([entry])).problem
    with pytest.raises(CannotRead, match="there is no a"):
        without("{}", "json", ("mcpServers", "a"))


def test_the_second_version_of_opencode_has_another_place(home: ClientHome, store: ChangeStore) -> None:
    file = home.write(".config/opencode/opencode.json", '{"mcp": {"servers": {}}}')
    ChangeWriter(store).make(_connect(home, "opencode"), None)
    assert json.loads(file.read_text()) == {"mcp": {"servers": {"tooltray": {"type": "local", "command": [str(home.bridge)]}}}}
